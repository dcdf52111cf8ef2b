"""Graphs: `mx.sym`."""
from . import _internal, contrib, image, linalg, op, random, sparse
from ._creation import *
from .op import *
from .symbol import Group, Symbol, Variable, fromjson, load, load_json, var
