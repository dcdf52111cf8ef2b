"""Programs as *Dive into Deep Learning* writes them in its MXNet tab, small and in our words: convolutions, recurrent
networks, attention, detection, words, recommendations; each runs plainly, and as a graph where its blocks are hybrid.
"""
import math
import os
import subprocess

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon, init, np, npx
from mxnet.gluon import nn, rnn


@pytest.fixture(autouse=True)
def np_mode():
    mx.random.seed(3)
    npx.set_np()
    yield
    npx.reset_np()


def train(net, loss, args, label, steps=25, lr=0.05, optimizer='adam', hybridize=False):
    """-> (first loss, last loss)."""
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), optimizer, {'learning_rate': lr})
    losses = []
    for _ in range(steps):
        with autograd.record():
            value = loss(net(*args), label).mean()
        value.backward()
        trainer.step(1)
        losses.append(float(value))
    return losses[0], losses[-1]


def same_as_graph(net, *args):
    """Runs a net as it is and as a graph, in prediction; both must give the same."""
    plain = net(*args)
    net.hybridize()
    for _ in range(3):
        onp.testing.assert_allclose(net(*args).asnumpy(), plain.asnumpy(), rtol=1e-4, atol=1e-5)
    assert net._traces is False or net._traces.failure is None


# ---------------------------------------------------------------------- convolutions
def corr2d(X, K):
    h, w = K.shape
    Y = np.zeros((X.shape[0] - h + 1, X.shape[1] - w + 1))
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            Y[i, j] = (X[i:i + h, j:j + w] * K).sum()
    return Y


def test_edges_are_learned():
    X = np.ones((6, 8))
    X[:, 2:6] = 0
    Y = corr2d(X, np.array([[1, -1]]))
    conv = nn.Conv2D(1, kernel_size=(1, 2), use_bias=False)
    conv.initialize()
    X, Y = X.reshape(1, 1, 6, 8), Y.reshape(1, 1, 6, 7)
    for _ in range(40):
        with autograd.record():
            loss = (conv(X) - Y)**2
        loss.backward()
        conv.weight.data()[:] -= 3e-2 * conv.weight.grad()
    assert onp.abs(conv.weight.data().reshape((1, 2)).asnumpy() - [[1, -1]]).max() < 0.1


def test_channels_and_pooling():
    X = np.array([[[0, 1, 2], [3, 4, 5], [6, 7, 8]], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]])
    K = np.array([[[0, 1], [2, 3]], [[1, 2], [3, 4]]])

    def multi_in(X, K):
        return sum(corr2d(x, k) for x, k in zip(X, K))

    def multi_in_out(X, K):
        return np.stack([multi_in(X, k) for k in K], 0)

    assert multi_in(X, K).tolist() == [[56, 72], [104, 120]]
    K = np.stack((K, K + 1, K + 2), 0)
    got = multi_in_out(X, K)
    conv = nn.Conv2D(3, kernel_size=2, use_bias=False)
    conv.initialize()
    conv(X.reshape(1, 2, 3, 3))
    conv.weight.set_data(K)
    assert (conv(X.reshape(1, 2, 3, 3))[0] == got).all()
    X = np.arange(16).reshape(1, 1, 4, 4)
    assert nn.MaxPool2D(3)(X).tolist() == [[[[10]]]]
    X = np.concatenate((X, X + 1), axis=1)
    assert nn.MaxPool2D(3, padding=1, strides=2)(X).shape == (1, 2, 2, 2)


def lenet():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(channels=6, kernel_size=5, padding=2, activation='sigmoid'), nn.AvgPool2D(pool_size=2, strides=2),
            nn.Conv2D(channels=16, kernel_size=3, activation='sigmoid'), nn.AvgPool2D(pool_size=2, strides=2),
            nn.Dense(24, activation='sigmoid'), nn.Dense(10))
    return net


def test_lenet_layer_by_layer_and_trained():
    net = lenet()
    net.initialize(init.Xavier())
    X = np.random.uniform(size=(2, 1, 12, 12))
    shapes, value = [], X
    for layer in net:
        value = layer(value)
        shapes.append(value.shape)
    assert shapes == [(2, 6, 12, 12), (2, 6, 6, 6), (2, 16, 4, 4), (2, 16, 2, 2), (2, 24), (2, 10)]
    same_as_graph(net, X)
    first, last = train(net, gluon.loss.SoftmaxCrossEntropyLoss(), (X,), np.array([3, 7]), 40, hybridize=True)
    assert last < first / 2


def batch_norm(X, gamma, beta, moving_mean, moving_var, eps, momentum):
    if not autograd.is_training():
        X_hat = (X - moving_mean) / np.sqrt(moving_var + eps)
    else:
        axes = 0 if len(X.shape) == 2 else (0, 2, 3)
        mean = X.mean(axis=axes, keepdims=True)
        var = ((X - mean)**2).mean(axis=axes, keepdims=True)
        X_hat = (X - mean) / np.sqrt(var + eps)
        moving_mean = momentum * moving_mean + (1.0 - momentum) * mean
        moving_var = momentum * moving_var + (1.0 - momentum) * var
    return gamma * X_hat + beta, moving_mean, moving_var


class BatchNorm(nn.Block):
    def __init__(self, num_features, num_dims, **kwargs):
        super().__init__(**kwargs)
        shape = (1, num_features) if num_dims == 2 else (1, num_features, 1, 1)
        self.gamma = self.params.get('gamma', shape=shape, init=init.One())
        self.beta = self.params.get('beta', shape=shape, init=init.Zero())
        self.moving_mean, self.moving_var = np.zeros(shape), np.ones(shape)

    def forward(self, X):
        if self.moving_mean.ctx != X.ctx:
            self.moving_mean = self.moving_mean.copyto(X.ctx)
            self.moving_var = self.moving_var.copyto(X.ctx)
        Y, self.moving_mean, self.moving_var = batch_norm(X, self.gamma.data(), self.beta.data(), self.moving_mean,
                                                          self.moving_var, eps=1e-5, momentum=0.9)
        return Y


def test_batch_norm_from_scratch():
    mine, theirs = BatchNorm(3, num_dims=4), nn.BatchNorm()
    mine.initialize()
    theirs.initialize()
    X = np.random.normal(2, 3, size=(4, 3, 5, 5))
    with autograd.record():
        a, b = mine(X), theirs(X)
    mx.autograd.backward([a, b])
    assert onp.abs((a - b).asnumpy()).max() < 1e-4
    assert onp.abs((mine.moving_mean.reshape((3,)) - theirs.running_mean.data()).asnumpy()).max() < 1e-5
    mx.nd.waitall()
    assert onp.abs((mine(X) - theirs(X)).asnumpy()).max() < 1e-2      # the variance is taken over n or over n - 1
    assert mine.gamma.data().reshape((-1,)).tolist() == [1, 1, 1]


class Residual(nn.HybridBlock):
    """Written on arrays, as the book writes it with nn.Block."""

    def __init__(self, num_channels, use_1x1conv=False, strides=1, **kwargs):
        super().__init__(**kwargs)
        self.conv1 = nn.Conv2D(num_channels, kernel_size=3, padding=1, strides=strides)
        self.conv2 = nn.Conv2D(num_channels, kernel_size=3, padding=1)
        self.conv3 = nn.Conv2D(num_channels, kernel_size=1, strides=strides) if use_1x1conv else None
        self.bn1, self.bn2 = nn.BatchNorm(), nn.BatchNorm()

    def forward(self, X):
        Y = npx.relu(self.bn1(self.conv1(X)))
        Y = self.bn2(self.conv2(Y))
        if self.conv3:
            X = self.conv3(X)
        return npx.relu(Y + X)


class Inception(nn.HybridBlock):
    def __init__(self, c1, c2, c3, **kwargs):
        super().__init__(**kwargs)
        self.p1 = nn.Conv2D(c1, kernel_size=1, activation='relu')
        self.p2_1 = nn.Conv2D(c2[0], kernel_size=1, activation='relu')
        self.p2_2 = nn.Conv2D(c2[1], kernel_size=3, padding=1, activation='relu')
        self.p3_1 = nn.MaxPool2D(pool_size=3, strides=1, padding=1)
        self.p3_2 = nn.Conv2D(c3, kernel_size=1, activation='relu')

    def forward(self, x):
        return np.concatenate((self.p1(x), self.p2_2(self.p2_1(x)), self.p3_2(self.p3_1(x))), axis=1)


class DenseBlock(nn.HybridBlock):
    def __init__(self, num_convs, num_channels, **kwargs):
        super().__init__(**kwargs)
        self.net = nn.HybridSequential()
        for _ in range(num_convs):
            part = nn.HybridSequential()
            part.add(nn.BatchNorm(), nn.Activation('relu'), nn.Conv2D(num_channels, kernel_size=3, padding=1))
            self.net.add(part)

    def forward(self, X):
        for blk in self.net:
            X = np.concatenate((X, blk(X)), axis=1)
        return X


def test_modern_networks_of_array_blocks(tmp_path):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, kernel_size=3, padding=1), Residual(4), Residual(8, use_1x1conv=True, strides=2),
            Inception(2, (2, 4), 2), DenseBlock(2, 4), nn.GlobalAvgPool2D(), nn.Dense(3))
    net.initialize()
    X = np.random.uniform(size=(4, 1, 8, 8))
    same_as_graph(net, X)
    first, last = train(net, gluon.loss.SoftmaxCrossEntropyLoss(), (X,), np.array([0, 1, 2, 1]), 15, hybridize=True)
    assert last < first
    # the graph in files, with running averages as auxiliary states
    assert net.export(str(tmp_path / 'net')) is None
    symbol_file, params_file = [str(tmp_path / f'net{end}') for end in ('-symbol.json', '-0000.params')]
    loaded = gluon.SymbolBlock.imports(symbol_file, ['data'], params_file)
    larger = np.random.uniform(size=(7, 1, 12, 12))
    for batch in (X, larger):
        onp.testing.assert_allclose(loaded(batch).asnumpy(), net(batch).asnumpy(), rtol=1e-4, atol=1e-5)
    assert any(k.startswith('aux:') and k.endswith('running_mean') for k in npx.load(params_file))


# ---------------------------------------------------------------------- recurrent networks
TEXT = [(i * i + 3 * i) % 7 for i in range(60)]


def rnn_params(vocab, hidden):
    def normal(shape):
        return np.random.normal(scale=0.1, size=shape)

    params = [normal((vocab, hidden)), normal((hidden, hidden)), np.zeros(hidden), normal((hidden, vocab)),
              np.zeros(vocab)]
    for p in params:
        p.attach_grad()
    return params


def rnn_scratch(inputs, state, params):
    W_xh, W_hh, b_h, W_hq, b_q = params
    H, = state
    outputs = []
    for X in inputs:
        H = np.tanh(np.dot(X, W_xh) + np.dot(H, W_hh) + b_h)
        outputs.append(np.dot(H, W_hq) + b_q)
    return np.concatenate(outputs, axis=0), (H,)


def grad_clipping(params, theta):
    norm = math.sqrt(sum(float((p.grad**2).sum()) for p in params))
    if norm > theta:
        for p in params:
            p.grad[:] *= theta / norm


def test_rnn_from_scratch():
    vocab, hidden, steps = 7, 16, 5
    params = rnn_params(vocab, hidden)
    X = np.array([TEXT[i:i + steps] for i in range(20)])
    Y = np.array([TEXT[i + 1:i + steps + 1] for i in range(20)])
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    state = (np.zeros((20, hidden)),)
    history = []
    for _ in range(40):
        state = tuple(s.detach() for s in state)
        y = Y.T.reshape(-1)
        with autograd.record():
            y_hat, state = rnn_scratch(npx.one_hot(X.T, vocab), (np.zeros((20, hidden)),), params)
            value = loss(y_hat, y).mean()
        value.backward()
        grad_clipping(params, 1)
        for p in params:
            p[:] = p - 1.0 * p.grad
        history.append(math.exp(float(value)))
    assert history[-1] < history[0] / 2
    outputs = [TEXT[0]]
    state = (np.zeros((1, hidden)),)
    for _ in range(3):
        y_hat, state = rnn_scratch(npx.one_hot(np.array([[outputs[-1]]]), vocab), state, params)
        outputs.append(int(y_hat.argmax(axis=1).reshape(1)))
    assert all(0 <= o < vocab for o in outputs)


class RNNModel(nn.HybridBlock):
    def __init__(self, rnn_layer, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.rnn = rnn_layer
        self.vocab_size = vocab_size
        self.dense = nn.Dense(vocab_size)

    def forward(self, inputs, state):
        X = npx.one_hot(inputs.T, self.vocab_size)
        Y, state = self.rnn(X, state)
        return self.dense(Y.reshape(-1, Y.shape[-1])), state

    def begin_state(self, *args, **kwargs):
        return self.rnn.begin_state(*args, **kwargs)


@pytest.mark.parametrize('layer', [rnn.RNN, rnn.GRU, rnn.LSTM])
def test_rnn_layers(layer):
    net = RNNModel(layer(12), 7)
    net.initialize()
    X = np.array([TEXT[i:i + 5] for i in range(6)])
    Y = np.array([TEXT[i + 1:i + 6] for i in range(6)])
    state = net.begin_state(batch_size=6, ctx=npx.cpu())
    plain, (new, *_) = net(X, state)
    net.hybridize()
    for _ in range(2):
        graph, (new2, *_) = net(X, state)
        onp.testing.assert_allclose(graph.asnumpy(), plain.asnumpy(), rtol=1e-5, atol=1e-6)
        onp.testing.assert_allclose(new2.asnumpy(), new.asnumpy(), rtol=1e-5, atol=1e-6)
    assert net._traces.failure is None and new.shape == (1, 6, 12)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    first, last = train(net, lambda out, y: loss(out[0], y), (X, state), Y.T.reshape(-1), 40)
    assert last < first / 2


class Seq2SeqEncoder(nn.HybridBlock):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0, **kwargs):
        super().__init__(**kwargs)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = rnn.GRU(num_hiddens, num_layers, dropout=dropout)

    def forward(self, X, *args):
        X = self.embedding(X).swapaxes(0, 1)
        state = self.rnn.begin_state(batch_size=X.shape[1], ctx=X.ctx)
        return self.rnn(X, state)


class Seq2SeqDecoder(nn.HybridBlock):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0, **kwargs):
        super().__init__(**kwargs)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = rnn.GRU(num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Dense(vocab_size, flatten=False)

    def init_state(self, enc_outputs, *args):
        return enc_outputs[1]

    def forward(self, X, state):
        X = self.embedding(X).swapaxes(0, 1)
        context = state[0][-1]
        context = np.broadcast_to(context, (X.shape[0], context.shape[0], context.shape[1]))
        output, state = self.rnn(np.concatenate((X, context), 2), state)
        return self.dense(output).swapaxes(0, 1), state


class EncoderDecoder(nn.HybridBlock):
    def __init__(self, encoder, decoder, **kwargs):
        super().__init__(**kwargs)
        self.encoder, self.decoder = encoder, decoder

    def forward(self, enc_X, dec_X, *args):
        enc_outputs = self.encoder(enc_X, *args)
        return self.decoder(dec_X, self.decoder.init_state(enc_outputs, *args))


class MaskedSoftmaxCELoss(gluon.loss.SoftmaxCELoss):
    """As the book has it: the loss of a block is given weights by way of its parent's forward."""

    def forward(self, pred, label, valid_len):
        weights = np.expand_dims(np.ones_like(label), axis=-1)
        weights = npx.sequence_mask(weights, valid_len, True, axis=1)
        return super().forward(pred, label, weights)


@pytest.mark.parametrize('hybridize', [False, True])
def test_sequence_to_sequence(hybridize):
    net = EncoderDecoder(Seq2SeqEncoder(10, 8, 12, 2, 0.1), Seq2SeqDecoder(10, 8, 12, 2, 0.1))
    net.initialize(init.Xavier())
    X = np.random.randint(0, 10, (4, 6))
    Y = (X[:, ::-1] + 1) % 10
    length = np.array([6, 5, 4, 3])
    loss = MaskedSoftmaxCELoss()
    assert loss(np.ones((3, 4, 10)), np.ones((3, 4)), np.array([4, 2, 0])).tolist() == \
        pytest.approx([math.log(10), math.log(10) / 2, 0], rel=1e-5)
    if hybridize:
        net.hybridize()
        loss.hybridize()
    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.02})
    values = []
    for _ in range(30):
        bos = np.array([1] * Y.shape[0]).reshape(-1, 1)
        dec_input = np.concatenate([bos, Y[:, :-1]], 1)
        with autograd.record():
            Y_hat, _ = net(X, dec_input, length)
            value = loss(Y_hat, Y, length)
        value.backward()
        gluon.utils.clip_global_norm([p.grad() for p in net.collect_params().values()], 1)
        trainer.step(int(length.sum()))
        values.append(float(value.sum()))
    assert values[-1] < values[0] * 0.7
    if hybridize:
        assert net._traces.failure is None and loss._traces.failure is None
    # step by step, as in translation
    enc = net.encoder(X, length)
    state = net.decoder.init_state(enc)
    token = np.ones((4, 1))
    for _ in range(3):
        out, state = net.decoder(token, state)
        token = out.argmax(axis=2)
    assert token.shape == (4, 1)


# ---------------------------------------------------------------------- attention
def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return npx.softmax(X)
    shape = X.shape
    if valid_lens.ndim == 1:
        valid_lens = valid_lens.repeat(shape[1])
    else:
        valid_lens = valid_lens.reshape(-1)
    X = npx.sequence_mask(X.reshape(-1, shape[-1]), valid_lens, True, value=-1e6, axis=1)
    return npx.softmax(X).reshape(shape)


class AdditiveAttention(nn.HybridBlock):
    def __init__(self, num_hiddens, dropout, **kwargs):
        super().__init__(**kwargs)
        self.W_k = nn.Dense(num_hiddens, use_bias=False, flatten=False)
        self.W_q = nn.Dense(num_hiddens, use_bias=False, flatten=False)
        self.w_v = nn.Dense(1, use_bias=False, flatten=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = np.tanh(np.expand_dims(queries, axis=2) + np.expand_dims(keys, axis=1))
        scores = np.squeeze(self.w_v(features), axis=-1)
        return npx.batch_dot(self.dropout(masked_softmax(scores, valid_lens)), values)


class DotProductAttention(nn.HybridBlock):
    def __init__(self, dropout, **kwargs):
        super().__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[-1]
        scores = npx.batch_dot(queries, keys, transpose_b=True) / math.sqrt(d)
        return npx.batch_dot(self.dropout(masked_softmax(scores, valid_lens)), values)


def test_attention_ignores_what_is_masked():
    weights = masked_softmax(np.random.uniform(size=(2, 2, 4)), np.array([2, 3]))
    assert (weights[0, :, 2:] == 0).all() and (weights[1, :, 3:] == 0).all()
    weights = masked_softmax(np.random.uniform(size=(2, 2, 4)), np.array([[1, 3], [2, 4]]))
    assert weights[0, 0].tolist() == [1, 0, 0, 0]
    keys, values = np.ones((2, 10, 2)), np.arange(40).reshape(1, 10, 4).repeat(2, axis=0)
    queries, lengths = np.random.normal(0, 1, (2, 1, 20)), np.array([2, 6])
    attention = AdditiveAttention(8, 0.1)
    attention.initialize()
    expected = [[[2, 3, 4, 5]], [[10, 11, 12, 13]]]
    onp.testing.assert_allclose(attention(queries, keys, values, lengths).asnumpy(), expected, rtol=1e-5)
    same_as_graph(attention, queries, keys, values, lengths)
    attention = DotProductAttention(0.5)
    queries = np.random.normal(0, 1, (2, 1, 2))
    onp.testing.assert_allclose(attention(queries, keys, values, lengths).asnumpy(), expected, rtol=1e-5)
    same_as_graph(attention, queries, keys, values, lengths)
    assert attention(queries, keys, values).shape == (2, 1, 4)        # another call, another graph


class MultiHeadAttention(nn.HybridBlock):
    def __init__(self, num_hiddens, num_heads, dropout, use_bias=False, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Dense(num_hiddens, use_bias=use_bias, flatten=False)
                                                  for _ in range(4))

    def forward(self, queries, keys, values, valid_lens):
        queries = self.split(self.W_q(queries))
        keys, values = self.split(self.W_k(keys)), self.split(self.W_v(values))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat(self.num_heads, axis=0)
        output = self.attention(queries, keys, values, valid_lens)
        output = output.reshape(-1, self.num_heads, output.shape[1], output.shape[2]).transpose(0, 2, 1, 3)
        return self.W_o(output.reshape(output.shape[0], output.shape[1], -1))

    def split(self, X):
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, -1).transpose(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])


class PositionalEncoding(nn.HybridBlock):
    def __init__(self, num_hiddens, dropout, max_len=50):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.P = np.zeros((1, max_len, num_hiddens))
        X = np.arange(max_len).reshape(-1, 1) / np.power(10000, np.arange(0, num_hiddens, 2) / num_hiddens)
        self.P[:, :, 0::2] = np.sin(X)
        self.P[:, :, 1::2] = np.cos(X)

    def forward(self, X):
        X = X + self.P[:, :X.shape[1], :].as_in_ctx(X.ctx)
        return self.dropout(X)


class AddNorm(nn.HybridBlock):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm()

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)


class EncoderBlock(nn.HybridBlock):
    def __init__(self, num_hiddens, ffn_hiddens, num_heads, dropout):
        super().__init__()
        self.attention = MultiHeadAttention(num_hiddens, num_heads, dropout)
        self.addnorm1, self.addnorm2 = AddNorm(dropout), AddNorm(dropout)
        self.dense1 = nn.Dense(ffn_hiddens, flatten=False, activation='relu')
        self.dense2 = nn.Dense(num_hiddens, flatten=False)

    def forward(self, X, valid_lens):
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.addnorm2(Y, self.dense2(self.dense1(Y)))


class TransformerEncoder(nn.HybridBlock):
    def __init__(self, vocab_size, num_hiddens, ffn_hiddens, num_heads, num_blks, dropout):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.HybridSequential()
        for _ in range(num_blks):
            self.blks.add(EncoderBlock(num_hiddens, ffn_hiddens, num_heads, dropout))
        self.out = nn.Dense(vocab_size, flatten=False)

    def forward(self, X, valid_lens):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X = blk(X, valid_lens)
        return self.out(X)


def test_transformer(tmp_path):
    net = TransformerEncoder(12, 8, 16, 2, 2, 0.0)
    net.initialize(init.Xavier())
    X, lengths = np.random.randint(0, 12, (3, 5)), np.array([3, 5, 2])
    same_as_graph(net, X, lengths)
    first, last = train(net, gluon.loss.SoftmaxCrossEntropyLoss(axis=-1), (X, lengths), X, 30, lr=0.02, hybridize=True)
    assert last < first / 4
    assert net.export(str(tmp_path / 'transformer')) is None
    paths = [str(tmp_path / f'transformer{end}') for end in ('-symbol.json', '-0000.params')]
    loaded = gluon.SymbolBlock.imports(paths[0], ['data0', 'data1'], paths[1])
    onp.testing.assert_allclose(loaded(X, lengths).asnumpy(), net(X, lengths).asnumpy(), rtol=1e-4, atol=1e-5)
    more = np.random.randint(0, 12, (7, 5))          # the lengths of batches were read, and are kept as codes
    onp.testing.assert_allclose(loaded(more, np.array([5] * 7)).asnumpy(), net(more, np.array([5] * 7)).asnumpy(),
                                rtol=1e-4, atol=1e-5)


class MaskLM(nn.HybridBlock):
    def __init__(self, vocab_size, num_hiddens):
        super().__init__()
        self.mlp = nn.HybridSequential()
        self.mlp.add(nn.Dense(num_hiddens, flatten=False, activation='relu'), nn.LayerNorm(),
                     nn.Dense(vocab_size, flatten=False))

    def forward(self, X, pred_positions):
        num_pred = pred_positions.shape[1]
        pred_positions = pred_positions.reshape(-1)
        batch_idx = np.repeat(np.arange(0, X.shape[0]), num_pred)
        masked = X[batch_idx, pred_positions].reshape((X.shape[0], num_pred, -1))
        return self.mlp(masked)


def test_masked_language_model():
    net = MaskLM(20, 6)
    net.initialize()
    X, positions = np.random.normal(size=(2, 8, 4)), np.array([[1, 5, 2], [6, 1, 5]])
    assert net(X, positions).shape == (2, 3, 20)
    same_as_graph(net, X, positions)


# ---------------------------------------------------------------------- detection
class TinySSD(nn.HybridBlock):
    def __init__(self, num_classes, **kwargs):
        super().__init__(**kwargs)
        self.num_classes = num_classes
        anchors = 3
        self.blks, self.cls, self.box = nn.HybridSequential(), nn.HybridSequential(), nn.HybridSequential()
        for channels in (8, 8):
            blk = nn.HybridSequential()
            blk.add(nn.Conv2D(channels, kernel_size=3, padding=1), nn.BatchNorm(), nn.Activation('relu'),
                    nn.MaxPool2D(2))
            self.blks.add(blk)
            self.cls.add(nn.Conv2D(anchors * (num_classes + 1), kernel_size=3, padding=1))
            self.box.add(nn.Conv2D(anchors * 4, kernel_size=3, padding=1))

    def forward(self, X):
        anchors, classes, boxes = [], [], []
        for i, (blk, cls, box) in enumerate(zip(self.blks, self.cls, self.box, strict=True)):
            X = blk(X)
            sizes = ((0.2, 0.3), (0.5, 0.6))[i]
            anchors.append(npx.multibox_prior(X, sizes=sizes, ratios=(1, 2)))
            classes.append(npx.batch_flatten(cls(X).transpose(0, 2, 3, 1)))
            boxes.append(npx.batch_flatten(box(X).transpose(0, 2, 3, 1)))
        classes = np.concatenate(classes, axis=1)
        return (np.concatenate(anchors, axis=1), classes.reshape(classes.shape[0], -1, self.num_classes + 1),
                np.concatenate(boxes, axis=1))


@pytest.mark.parametrize('hybridize', [False, True])
def test_multi_scale_detection(hybridize):
    net = TinySSD(1)
    net.initialize(init.Xavier())
    if hybridize:
        net.hybridize()
    X = np.random.uniform(size=(2, 3, 16, 16))
    Y = np.array([[[0, 0.1, 0.1, 0.6, 0.6]], [[0, 0.3, 0.4, 0.9, 0.9]]])
    cls_loss, box_loss = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.loss.L1Loss()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.2, 'wd': 5e-4})
    values = []
    for _ in range(12):
        with autograd.record():
            anchors, cls_preds, bbox_preds = net(X)
            bbox_labels, bbox_masks, cls_labels = npx.multibox_target(anchors, Y, cls_preds.transpose(0, 2, 1))
            value = cls_loss(cls_preds, cls_labels) + box_loss(bbox_preds * bbox_masks, bbox_labels * bbox_masks)
        value.backward()
        trainer.step(2)
        values.append(float(value.mean()))
    assert anchors.shape == (1, (64 + 16) * 3, 4) and cls_preds.shape == (2, 240, 2)
    assert values[-1] < values[0]
    cls_probs = npx.softmax(cls_preds).transpose(0, 2, 1)
    output = npx.multibox_detection(cls_probs, bbox_preds, anchors)
    assert output.shape == (2, 240, 6)
    idx = [i for i, row in enumerate(output[0]) if row[0] != -1]
    assert output[0, idx].shape == (len(idx), 6)


def test_boxes_by_hand():
    """Centres, intersections over unions and non-maximum suppression with np functions."""
    def to_center(boxes):
        x1, y1, x2, y2 = boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3]
        return np.stack(((x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1), axis=-1)

    def iou(a, b):
        def area(boxes):
            return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        upper = np.maximum(a[:, None, :2], b[:, :2])
        lower = np.minimum(a[:, None, 2:], b[:, 2:])
        inner = (lower - upper).clip(min=0)
        inter = inner[:, :, 0] * inner[:, :, 1]
        return inter / (area(a)[:, None] + area(b) - inter)

    boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 1.8], [3, 3, 4, 4]])
    scores = np.array([0.9, 0.8, 0.7])
    assert to_center(boxes)[0].tolist() == [1, 1, 2, 2]
    order, keep = scores.argsort()[::-1], []
    while order.size > 0:
        i = order[0]
        keep.append(int(i))
        if order.size == 1:
            break
        overlaps = iou(boxes[i, :].reshape(-1, 4), boxes[order[1:], :].reshape(-1, 4)).reshape(-1)
        order = order[np.nonzero(overlaps <= 0.5)[0] + 1]
    assert keep == [0, 2]
    shift_y, shift_x = np.meshgrid(np.arange(2) / 2, np.arange(3) / 3)
    assert shift_y.shape == (3, 2) and shift_x.reshape(-1).shape == (6,)


class SynthesizedImage(nn.Block):
    def __init__(self, img_shape, **kwargs):
        super().__init__(**kwargs)
        self.weight = self.params.get('weight', shape=img_shape)

    def forward(self):
        return self.weight.data()


def test_style_transfer_style():
    def gram(X):
        num_channels, n = X.shape[1], X.size // X.shape[1]
        X = X.reshape(num_channels, n)
        return np.dot(X, X.T) / (num_channels * n)

    target = np.random.uniform(size=(1, 3, 6, 6))
    image = SynthesizedImage(target.shape)
    image.initialize(force_reinit=True)
    image.weight.set_data(np.random.uniform(size=(1, 3, 6, 6)))
    trainer = gluon.Trainer(image.collect_params(), 'adam', {'learning_rate': 0.1})
    style = gram(target)
    values = []
    for _ in range(20):
        with autograd.record():
            X = image()
            value = np.square(gram(X) - style).mean() + 0.1 * np.abs(X[:, :, 1:, :] - X[:, :, :-1, :]).mean()
        value.backward()
        trainer.step(1)
        values.append(float(value))
    assert values[-1] < values[0]


def test_transposed_convolutions_and_fine_tuning():
    conv, back = nn.Conv2D(4, 5, padding=2, strides=3, in_channels=2), nn.Conv2DTranspose(2, 5, padding=2, strides=3)
    conv.initialize()
    back.initialize()
    X = np.random.uniform(size=(1, 2, 16, 16))
    assert back(conv(X)).shape == X.shape
    pretrained = lenet()
    pretrained.initialize()
    pretrained(np.ones((1, 1, 12, 12)))
    finetune = nn.HybridSequential()
    finetune.add(*list(pretrained)[:-1])
    output = nn.Dense(2)
    output.initialize(init.Xavier())
    output.collect_params().setattr('lr_mult', 10)
    finetune.add(output)
    assert finetune(np.ones((3, 1, 12, 12))).shape == (3, 2) and output.weight.lr_mult == 10


# ---------------------------------------------------------------------- words
class SigmoidBCELoss(gluon.loss.SigmoidBCELoss):
    pass


def test_word2vec():
    vocab, size = 12, 6
    net = nn.Sequential()
    net.add(nn.Embedding(input_dim=vocab, output_dim=size), nn.Embedding(input_dim=vocab, output_dim=size))
    net.initialize()

    def skip_gram(center, contexts_and_negatives, embed_v, embed_u):
        v, u = embed_v(center), embed_u(contexts_and_negatives)
        return npx.batch_dot(v, u.swapaxes(1, 2))

    center = np.array([[1], [2]])
    context = np.array([[2, 5, 7, 0], [3, 9, 0, 0]])
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]])
    label = np.array([[1, 0, 0, 0], [1, 0, 0, 0]])
    loss = SigmoidBCELoss()
    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.05})
    values = []
    for _ in range(30):
        with autograd.record():
            pred = skip_gram(center, context, net[0], net[1])
            value = loss(pred.reshape(label.shape), label, mask) * mask.shape[1] / mask.sum(axis=1)
        value.backward()
        trainer.step(2)
        values.append(float(value.sum()))
    assert values[-1] < values[0] / 3
    W = net[0].weight.data()
    x = W[1]
    cos = np.dot(W, x) / np.sqrt(np.sum(W * W, axis=1) * np.sum(x * x) + 1e-9)
    assert npx.topk(cos, k=4, ret_typ='indices').asnumpy().astype('int32')[0] == 1


class TextCNN(nn.HybridBlock):
    def __init__(self, vocab_size, embed_size, kernel_sizes, num_channels, **kwargs):
        super().__init__(**kwargs)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.constant_embedding = nn.Embedding(vocab_size, embed_size)
        self.dropout = nn.Dropout(0.5)
        self.decoder = nn.Dense(2)
        self.pool = nn.GlobalMaxPool1D()
        self.convs = nn.HybridSequential()
        for c, k in zip(num_channels, kernel_sizes, strict=True):
            self.convs.add(nn.Conv1D(c, k, activation='relu'))

    def forward(self, inputs):
        embeddings = np.concatenate((self.embedding(inputs), self.constant_embedding(inputs)), axis=2)
        embeddings = embeddings.transpose(0, 2, 1)
        encoding = np.concatenate([np.squeeze(self.pool(conv(embeddings)), axis=-1) for conv in self.convs], axis=1)
        return self.decoder(self.dropout(encoding))


class BiRNN(nn.HybridBlock):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, **kwargs):
        super().__init__(**kwargs)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.encoder = rnn.LSTM(num_hiddens, num_layers=num_layers, bidirectional=True, input_size=embed_size)
        self.decoder = nn.Dense(2)

    def forward(self, inputs):
        embeddings = self.embedding(inputs.T)
        outputs = self.encoder(embeddings)
        return self.decoder(np.concatenate((outputs[0], outputs[-1]), axis=1))


@pytest.mark.parametrize('make', [lambda: TextCNN(20, 4, (2, 3), (4, 4)), lambda: BiRNN(20, 4, 5, 2)])
def test_sentiment(make):
    net = make()
    net.initialize(init.Xavier())
    X = np.random.randint(0, 20, (6, 7))
    same_as_graph(net, X)
    y = (X.sum(axis=1) > 66).astype('int32')
    first, last = train(net, gluon.loss.SoftmaxCrossEntropyLoss(), (X,), y, 30, hybridize=True)
    assert last < first


# ---------------------------------------------------------------------- recommendations
class MF(nn.HybridBlock):
    def __init__(self, num_factors, num_users, num_items, **kwargs):
        super().__init__(**kwargs)
        self.P, self.Q = nn.Embedding(num_users, num_factors), nn.Embedding(num_items, num_factors)
        self.user_bias, self.item_bias = nn.Embedding(num_users, 1), nn.Embedding(num_items, 1)

    def forward(self, user_id, item_id):
        P_u, Q_i = self.P(user_id), self.Q(item_id)
        b_u, b_i = self.user_bias(user_id), self.item_bias(item_id)
        return ((P_u * Q_i).sum(axis=1) + np.squeeze(b_u) + np.squeeze(b_i)).flatten()


def test_matrix_factorization_on_two_devices():
    ctx = [npx.cpu(0), npx.cpu(1)]
    net = MF(4, 6, 8)
    net.initialize(ctx=ctx, force_reinit=True, init=mx.init.Normal(0.1))
    net.hybridize()
    users, items = np.arange(24) % 6, np.arange(24) % 8
    ratings = ((users * 3 + items) % 5).astype('float32')
    loss = gluon.loss.L2Loss()
    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.05})
    values = []
    for _ in range(40):
        parts = [gluon.utils.split_and_load(v, ctx, even_split=False) for v in (users, items, ratings)]
        with autograd.record():
            parts_loss = [loss(net(u, i), r) for u, i, r in zip(*parts, strict=True)]
        autograd.backward(parts_loss)
        trainer.step(24)
        values.append(sum(float(v.sum()) for v in parts_loss))
    assert values[-1] < values[0] / 4
    assert [a.ctx for a in net.P.weight.list_data()] == ctx


class FM(nn.HybridBlock):
    def __init__(self, field_dims, num_factors):
        super().__init__()
        num_inputs = int(sum(field_dims))
        self.embedding = nn.Embedding(num_inputs, num_factors)
        self.fc = nn.Embedding(num_inputs, 1)
        self.linear_layer = nn.Dense(1, use_bias=True)

    def forward(self, x):
        square_of_sum = np.sum(self.embedding(x), axis=1)**2
        sum_of_square = np.sum(self.embedding(x)**2, axis=1)
        x = self.linear_layer(self.fc(x).sum(1)) + 0.5 * (square_of_sum - sum_of_square).sum(1, keepdims=True)
        return npx.sigmoid(x)


def test_factorization_machine():
    net = FM([4, 5, 6], 3)
    net.initialize(mx.init.Xavier())
    X = np.array([[1, 5, 10], [2, 6, 11], [3, 7, 12], [0, 8, 13]])
    same_as_graph(net, X)
    loss = gluon.loss.SigmoidBinaryCrossEntropyLoss(from_sigmoid=True)
    first, last = train(net, loss, (X,), np.array([[1], [0], [1], [0]]), 30, hybridize=True)
    assert last < first / 2


# ---------------------------------------------------------------------- hybridized, exported, on several devices
class HybridNet(nn.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.hidden, self.output = nn.Dense(4), nn.Dense(2)

    def hybrid_forward(self, F, x):
        self.seen = F
        x = F.npx.relu(self.hidden(x))
        return self.output(x)


def test_hybrid_forward_sees_both_faces(tmp_path):
    net = HybridNet()
    net.initialize()
    x = np.random.normal(size=(1, 3))
    plain = net(x)
    assert net.seen is mx.nd
    net.hybridize()
    assert (net(x) == plain).all() and net.seen is mx.sym
    net.export(str(tmp_path / 'my_mlp'))
    loaded = gluon.SymbolBlock.imports(str(tmp_path / 'my_mlp-symbol.json'), ['data'],
                                       str(tmp_path / 'my_mlp-0000.params'))
    assert type(loaded(x)) is np.ndarray and (loaded(x) == plain).all()
    npx.waitall()


def test_data_parallel_training():
    devices = [npx.cpu(0), npx.cpu(1)]
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation='relu'), nn.Dense(2))
    net.initialize(init=init.Normal(sigma=0.1), ctx=devices)
    net.hybridize()
    X, y = np.random.normal(size=(6, 4)), np.array([0, 1, 0, 1, 0, 1])
    loss, trainer = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.Trainer(net.collect_params(), 'sgd',
                                                                         {'learning_rate': 0.5})
    for _ in range(20):
        X_shards, y_shards = (gluon.utils.split_and_load(v, devices) for v in (X, y))
        with autograd.record():
            ls = [loss(net(a), b) for a, b in zip(X_shards, y_shards, strict=True)]
        for value in ls:
            value.backward()
        trainer.step(6)
    a, b = net[0].weight.list_data()
    assert (a.as_in_ctx(npx.cpu()) == b.as_in_ctx(npx.cpu())).all()
    assert net[0].weight.data(devices[1]).ctx == devices[1]

    def allreduce(data):
        for i in range(1, len(data)):
            data[0][:] += data[i].copyto(data[0].ctx)
        for i in range(1, len(data)):
            data[0].copyto(data[i])

    data = [np.ones((1, 2), ctx=d) * (i + 1) for i, d in enumerate(devices)]
    allreduce(data)
    assert data[1].tolist() == [[3, 3]]


def test_adversarial_networks():
    G, D = nn.Sequential(), nn.Sequential()
    G.add(nn.Dense(2))
    D.add(nn.Dense(5, activation='tanh'), nn.Dense(1))
    loss = gluon.loss.SigmoidBinaryCrossEntropyLoss()
    for net in (G, D):
        net.initialize(init.Normal(0.02), force_reinit=True)
    trainers = [gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.05}) for net in (G, D)]
    X = np.random.normal(size=(16, 2)) + 1
    for _ in range(3):
        Z = np.random.normal(0, 1, size=(16, 2))
        ones, zeros = np.ones((16,)), np.zeros((16,))
        with autograd.record():
            fake = G(Z)
            loss_D = (loss(D(X), ones) + loss(D(fake.detach()), zeros)) / 2
        loss_D.backward()
        trainers[1].step(16)
        before = D[0].weight.grad().copy()
        with autograd.record():
            loss_G = loss(D(G(Z)), ones)
        loss_G.backward()
        trainers[0].step(16)
    assert float(loss_D.sum()) > 0 and float(np.abs(G[0].weight.grad()).sum()) > 0
    assert before.shape == D[0].weight.grad().shape


READ_BY_UPSTREAM = """
import os
from mxnet import gluon, npx
npx.set_np()
arrays = npx.load('arrays')
net = gluon.SymbolBlock.imports('net-symbol.json', ['data0', 'data1'], 'net-0000.params')
inputs = arrays['x'], arrays['y']
out = net(*inputs)
npx.save('answer', out if not isinstance(out, (list, tuple)) else out[0])
os._exit(0)
"""


@pytest.mark.skipif(not os.environ.get('MXNET191_PYTHON'), reason='MXNET191_PYTHON names no Python with MXNet 1.9.1')
@pytest.mark.parametrize('make', [
    lambda: (TransformerEncoder(12, 8, 16, 2, 2, 0.0), np.ones((7, 5)), np.array([5] * 7)),
    lambda: (EncoderDecoder(Seq2SeqEncoder(10, 8, 12, 2), Seq2SeqDecoder(10, 8, 12, 2)), np.ones((7, 6)),
             np.ones((7, 6)))])
def test_mxnet_191_reads_what_was_traced(make, tmp_path):
    net, x, y = make()
    net.initialize()
    net.hybridize()
    net(x[:3], y[:3])
    net.export(str(tmp_path / 'net'))
    expected = flat(net(x, y))[0]
    npx.save(str(tmp_path / 'arrays'), {'x': x, 'y': y})
    subprocess.run([os.environ['MXNET191_PYTHON'], '-c', READ_BY_UPSTREAM], cwd=tmp_path, check=True, timeout=120,
                   env={k: v for k, v in os.environ.items() if k != 'PYTHONPATH'})
    found = npx.load(str(tmp_path / 'answer'))[0]
    onp.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)


def flat(value):
    return [value] if isinstance(value, np.ndarray) else [v for part in value for v in flat(part)]
