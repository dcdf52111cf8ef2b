"""Loops that programs train with, plain and hybridized, give the same losses and the same parameters."""
import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

ROUNDS, BATCH = 8, 4


def network(outputs, hybridize, dropout=False):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, in_units=2, activation='tanh'))
    if dropout:
        net.add(gluon.nn.Dropout(0.3))
    net.add(gluon.nn.Dense(outputs, in_units=4))
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    return net


def trainer_of(net, name='sgd', **options):
    return gluon.Trainer(net.collect_params(), name, {'learning_rate': 0.1, **options})


def data():
    return nd.random.normal(shape=(BATCH, 2)), nd.array([0, 1, 2, 0])


def two_networks_against_each_other(hybridize):
    makes, judges = network(2, hybridize), network(1, hybridize)
    first, second = trainer_of(makes, 'adam'), trainer_of(judges, 'adam')
    loss_of, yes, no = gluon.loss.SigmoidBCELoss(), nd.ones((BATCH, 1)), nd.zeros((BATCH, 1))
    for _ in range(ROUNDS):
        real, noise = data()[0], data()[0]
        with autograd.record():
            loss = loss_of(judges(real), yes) + loss_of(judges(makes(noise).detach()), no)
        loss.backward()
        second.step(BATCH)
        yield loss
        with autograd.record():
            loss = loss_of(judges(makes(noise)), yes)
        loss.backward()
        first.step(BATCH)
        yield loss
    yield from (p.data() for net in (makes, judges) for p in net.collect_params().values())


def a_teacher_that_follows(hybridize):
    teacher, net = network(3, hybridize), network(3, hybridize)
    trainer, loss_of = trainer_of(net, momentum=0.9), gluon.loss.KLDivLoss(from_logits=False)
    for _ in range(ROUNDS):
        x, _ = data()
        expected = nd.softmax(teacher(x))
        with autograd.record():
            loss = loss_of(net(x), expected)
        loss.backward()
        trainer.step(BATCH)
        for its, mine in zip(teacher.collect_params().values(), net.collect_params().values(), strict=True):
            its.set_data(its.data() * 0.9 + mine.data() * 0.1)
        yield loss


def small_batches_that_add_up(hybridize):
    net = network(3, hybridize)
    net.collect_params().setattr('grad_req', 'add')
    trainer, loss_of = trainer_of(net, 'adam'), gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(ROUNDS):
        for _ in range(3):
            x, y = data()
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            yield loss
        yield nd.array([gluon.utils.clip_global_norm([p.grad() for p in net.collect_params().values()], 0.5)])
        trainer.step(3 * BATCH)
        net.collect_params().zero_grad()


def data_made_harder(hybridize):
    net = network(3, hybridize)
    trainer, loss_of = trainer_of(net), gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(ROUNDS):
        x, y = data()
        x.attach_grad()
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        harder = x + 0.1 * nd.sign(x.grad)
        with autograd.record():
            loss = loss_of(net(harder), y)
        loss.backward()
        trainer.step(BATCH)
        yield loss


def a_penalty_of_slopes(hybridize):
    net = network(1, hybridize, dropout=True)
    trainer = trainer_of(net)
    for _ in range(ROUNDS):
        x, _ = data()
        x.attach_grad()
        with autograd.record():
            out = net(x)
            slopes = autograd.grad(out, x, create_graph=True, retain_graph=True)[0]
            loss = (out.mean() + ((slopes ** 2).sum(axis=1).sqrt() - 1) ** 2).mean()
        loss.backward()
        trainer.step(BATCH)
        yield loss


def layers_that_thaw(hybridize):
    net = network(3, hybridize)
    trainer, loss_of = trainer_of(net, wd=0.01), gluon.loss.SoftmaxCrossEntropyLoss()
    net[0].collect_params().setattr('grad_req', 'null')
    for number in range(ROUNDS):
        if number == ROUNDS // 2:
            net[0].collect_params().setattr('grad_req', 'write')
            trainer.set_learning_rate(0.01)
        x, y = data()
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(BATCH)
        yield loss
        yield net(x)


@pytest.mark.parametrize('loop', [two_networks_against_each_other, a_teacher_that_follows, small_batches_that_add_up,
                                  data_made_harder, a_penalty_of_slopes, layers_that_thaw])
def test_loops(loop):
    found = []
    for hybridize in (False, True):
        mx.random.seed(2)
        numpy.random.seed(2)
        found.append([array.asnumpy() for array in loop(hybridize)])
    # the parts of a gradient that come from first and second derivatives are added up in another order
    rtol = 1e-4 if loop is a_penalty_of_slopes else 0
    for one, other in zip(*found, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)
