"""Every optimizer's formula, once more, in NumPy and float64: what tests compare with.

A function takes the weight, all gradients and the arguments of the optimizer, and returns the weight after them.
"""
import numpy as np


def prepared(g, rescale_grad=1.0, clip_gradient=None):
    g = g * rescale_grad
    return g if clip_gradient is None else g.clip(-clip_gradient, clip_gradient)


def sgd(w, grads, learning_rate=0.01, momentum=0.0, wd=0.0, **kw):
    mom = 0.0
    for g in grads:
        mom = momentum * mom - learning_rate * (prepared(g, **kw) + wd * w)
        w = w + mom
    return w


def nag(w, grads, learning_rate=0.01, momentum=0.0, wd=0.0, **kw):
    mom = 0.0
    for g in grads:
        g = prepared(g, **kw)
        step = g + wd * w
        w = w + momentum ** 2 * mom - learning_rate * (momentum + 1) * step if momentum else w - learning_rate * step
        mom = momentum * mom - learning_rate * (g + wd * w)
    return w


def signum(w, grads, learning_rate=0.01, momentum=0.9, wd=0.0, wd_lh=0.0, **kw):
    mom = 0.0
    for g in grads:
        if momentum:
            mom = momentum * mom - (1 - momentum) * (prepared(g, **kw) + wd * w)
            w = (1 - learning_rate * wd_lh) * w + learning_rate * np.sign(mom)
        else:
            w = (1 - learning_rate * wd) * w - learning_rate * np.sign(g)
    return w


def dcasgd(w, grads, learning_rate=0.01, momentum=0.0, lamda=0.04, wd=0.0, **kw):
    mom, previous = 0.0, w
    for g in grads:
        g = prepared(g, **kw)
        mom = momentum * mom - learning_rate * (g + wd * w + lamda * g * g * (w - previous))
        previous, w = w, w + mom
    return w


def adam(w, grads, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0.0, rescale_grad=1.0,
         clip_gradient=None):
    m = v = 0.0
    for t, g in enumerate(grads, 1):
        g = prepared(g * rescale_grad + wd * w, clip_gradient=clip_gradient)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        w = w - learning_rate * np.sqrt(1 - beta2 ** t) / (1 - beta1 ** t) * m / (np.sqrt(v) + epsilon)
    return w


def adamw(w, grads, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6, wd=0.0, correct_bias=True, **kw):
    m = v = 0.0
    for t, g in enumerate(grads, 1):
        g = prepared(g, **kw)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        correction = np.sqrt(1 - beta2 ** t) / (1 - beta1 ** t) if correct_bias else 1.0
        w = w - learning_rate * (correction * m / (np.sqrt(v) + epsilon) + wd * w)
    return w


def adamax(w, grads, learning_rate=0.002, beta1=0.9, beta2=0.999, wd=0.0, rescale_grad=1.0, clip_gradient=None):
    m = u = 0.0
    for t, g in enumerate(grads, 1):
        g = prepared(g * rescale_grad + wd * w, clip_gradient=clip_gradient)
        m, u = beta1 * m + (1 - beta1) * g, np.maximum(beta2 * u, abs(g))
        w = w - learning_rate / (1 - beta1 ** t) * m / u
    return w


def nadam(w, grads, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, schedule_decay=0.004, wd=0.0,
          rescale_grad=1.0, clip_gradient=None):
    m = v = 0.0
    product = 1.0
    for t, g in enumerate(grads, 1):
        g = prepared(g * rescale_grad + wd * w, clip_gradient=clip_gradient)
        now = beta1 * (1 - 0.5 * 0.96 ** (t * schedule_decay))
        following = beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * schedule_decay))
        product *= now
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        step = (1 - now) * g / (1 - product) + following * m / (1 - product * following)
        w = w - learning_rate * step / (np.sqrt(v / (1 - beta2 ** t)) + epsilon)
    return w


def adabound(w, grads, learning_rate=0.001, beta1=0.9, beta2=0.999, final_lr=0.1, gamma=0.001, epsilon=1e-8, wd=0.0,
             rescale_grad=1.0, clip_gradient=None, largest=False):
    m = v = peak = 0.0
    for t, g in enumerate(grads, 1):
        g = prepared(g * rescale_grad + wd * w, clip_gradient=clip_gradient)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        peak = np.maximum(peak, v) if largest else v
        rate = learning_rate * np.sqrt(1 - beta2 ** t) / (1 - beta1 ** t) / (np.sqrt(peak) + epsilon)
        low, high = final_lr * (1 - 1 / (gamma * t + 1)), final_lr * (1 + 1 / (gamma * t))
        w = w - rate.clip(low, high) * m
    return w


def amsbound(w, grads, **kw):
    return adabound(w, grads, largest=True, **kw)


def adagrad(w, grads, learning_rate=0.01, eps=1e-7, wd=0.0, **kw):
    history = 0.0
    for g in grads:
        g = prepared(g, **kw)
        history = history + g * g
        w = w - learning_rate * (g / np.sqrt(history + eps) + wd * w)
    return w


def groupadagrad(w, grads, learning_rate=0.01, eps=1e-5, **kw):
    history = 0.0
    for g in grads:
        g = prepared(g, **kw)
        history = history + (g * g).mean(1, keepdims=True)
        w = w - learning_rate * g / np.sqrt(history + eps)
    return w


def rmsprop(w, grads, learning_rate=0.001, gamma1=0.9, gamma2=0.9, epsilon=1e-8, centered=False, clip_weights=None,
            wd=0.0, rescale_grad=1.0, clip_gradient=None):
    n = mean = delta = 0.0
    for g in grads:
        g = prepared(g * rescale_grad + wd * w, clip_gradient=clip_gradient)
        n, mean = gamma1 * n + (1 - gamma1) * g * g, gamma1 * mean + (1 - gamma1) * g
        if centered:
            delta = gamma2 * delta - learning_rate * g / np.sqrt(n - mean * mean + epsilon)
        else:
            delta = -learning_rate * g / np.sqrt(n + epsilon)
        w = prepared(w + delta, clip_gradient=clip_weights)
    return w


def adadelta(w, grads, rho=0.9, epsilon=1e-5, wd=0.0, learning_rate=None, **kw):
    squares = deltas = 0.0
    for g in grads:
        g = prepared(g, **kw)
        squares = rho * squares + (1 - rho) * g * g
        delta = np.sqrt(deltas + epsilon) / np.sqrt(squares + epsilon) * g
        deltas = rho * deltas + (1 - rho) * delta * delta
        w = w - delta - wd * w
    return w


def ftrl(w, grads, lamda1=0.01, learning_rate=0.1, beta=1.0, wd=0.0, **kw):
    z = n = 0.0
    for g in grads:
        g = prepared(g, **kw)
        z = z + g - (np.sqrt(n + g * g) - np.sqrt(n)) * w / learning_rate
        n = n + g * g
        w = (np.sign(z) * lamda1 - z) / ((beta + np.sqrt(n)) / learning_rate + wd) * (abs(z) > lamda1)
    return w


def ftml(w, grads, learning_rate=0.01, beta1=0.6, beta2=0.999, epsilon=1e-8, wd=0.0, rescale_grad=1.0,
         clip_gradient=None):
    d = v = z = 0.0
    for t, g in enumerate(grads, 1):
        g = prepared(g * rescale_grad + wd * w, clip_gradient=clip_gradient)
        v = beta2 * v + (1 - beta2) * g * g
        now = (1 - beta1 ** t) / learning_rate * (np.sqrt(v / (1 - beta2 ** t)) + epsilon)
        z = beta1 * z + (1 - beta1) * g - (now - beta1 * d) * w
        d, w = now, -z / now
    return w


def lamb(w, grads, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6, lower_bound=None, upper_bound=None,
         bias_correction=True, wd=0.0, **kw):
    m = v = 0.0
    for t, g in enumerate(grads, 1):
        g = prepared(g, **kw)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        c1, c2 = (1 - beta1 ** t, 1 - beta2 ** t) if bias_correction else (1.0, 1.0)
        step = m / c1 / (np.sqrt(v / c2) + epsilon) + wd * w
        r1, r2 = np.linalg.norm(w), np.linalg.norm(step)
        r1 = max(r1, lower_bound or -np.inf)
        r1 = min(r1, upper_bound or np.inf)
        w = w - learning_rate * (r1 / r2 if r1 and r2 else 1.0) * step
    return w


def lars(w, grads, learning_rate=0.01, momentum=0.0, eta=0.001, eps=0, wd=0.0, rescale_grad=1.0, clip_gradient=None):
    mom = 0.0
    for g in grads:
        of_w, of_g = np.linalg.norm(w), np.linalg.norm(g * rescale_grad)
        lr = learning_rate * eta * of_w / (of_g + wd * of_w + eps) if of_w and of_g else learning_rate
        mom = momentum * mom - lr * (prepared(g, rescale_grad, clip_gradient) + wd * w)
        w = w + mom
    return w


def lbsgd(w, grads, learning_rate=0.01, momentum=0.0, warmup_strategy='linear', warmup_epochs=5, batch_scale=1,
          updates_per_epoch=32, begin_epoch=0, wd=0.0, **kw):
    mom = total = 0.0
    end = warmup_epochs * updates_per_epoch
    for count, g in enumerate(grads, begin_epoch * updates_per_epoch + 1):
        total = total + g
        if count % batch_scale:
            continue
        mean, total = total / batch_scale, 0.0
        part = {'linear': count / end, 'power2': (count / end) ** 2, 'sqrt': (count / end) ** 0.5}
        if warmup_strategy == 'lars':
            of_w, of_g = (w * w).sum(), (mean * mean).sum()
            factor = min(max(np.sqrt(of_w / (of_g + wd * of_w)), 0.01), 100)
        elif count >= end:
            factor = batch_scale
        else:
            factor = 1 + (batch_scale - 1) * part.get(warmup_strategy, 0.0)
        mom = momentum * mom - learning_rate * factor * (prepared(mean, **kw) + wd * w)
        w = w + mom
    return w
