"""The benchmarks on the MXNet that an interpreter has: run by peers.py with the one that MXNET191_PYTHON names."""
import arrays
import autograd
import gluon
import module
import optimizers
import resnet


def cases(mx):
    """{name: callable}"""
    found = {}
    for family in (arrays, autograd, optimizers, gluon, resnet, module):
        found.update(family.nd_cases(mx))
    return found
