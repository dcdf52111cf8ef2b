"""The few functions of finance that NumPy once had: values of payments over time, on NumPy arrays."""
import numpy


def _due(when):
    """1 if payments are made at the beginning of a period, 0 at its end."""
    if isinstance(when, str):
        return {'begin': 1, 'b': 1, 'start': 1, 'end': 0, 'e': 0, 'finish': 0}[when.lower()]
    return when


def npv(rate, values):
    """What payments at times 0, 1, ... are worth now."""
    values = numpy.asarray(values)
    return (values / (1 + rate) ** numpy.arange(len(values))).sum(axis=0)


def _growth(rate, nper, when):
    """What one payment a period has become after `nper` of them."""
    rate, nper = numpy.broadcast_arrays(numpy.asarray(rate, dtype=float), nper)
    safe = numpy.where(rate == 0, 1.0, rate)
    return numpy.where(rate == 0, nper, (1 + rate * _due(when)) * ((1 + safe) ** nper - 1) / safe)


def pv(rate, nper, pmt, fv=0, when='end'):
    """What `nper` payments, and `fv` at their end, are worth now."""
    return -(fv + pmt * _growth(rate, nper, when)) / (1 + numpy.asarray(rate)) ** nper


def _payment(rate, nper, pv, fv, when):
    return -(fv + pv * (1 + numpy.asarray(rate)) ** nper) / _growth(rate, nper, when)


def ppmt(rate, per, nper, pv, fv=0, when='end'):
    """The part of the payment number `per` that pays the loan back: the payment without its interest."""
    payment = _payment(rate, nper, pv, fv, when)
    before = numpy.asarray(per) - 1
    debt = pv * (1 + numpy.asarray(rate)) ** before + payment * _growth(rate, before, when)
    interest = -debt * rate
    if _due(when):
        interest = numpy.where(numpy.asarray(per) == 1, 0.0, interest / (1 + numpy.asarray(rate)))
    return payment - interest


def rate(nper, pmt, pv, fv, when='end', guess=0.1, tol=1e-6, maxiter=100):
    """The interest rate at which `nper` payments turn `pv` into `fv`; NaN if it is not found."""
    def balance(r):
        return pv * (1 + r) ** nper + pmt * _growth(r, nper, when) + fv

    r, last = guess, guess * 1.1 + 1e-3
    for _ in range(maxiter):
        at, before = balance(r), balance(last)
        if at == before:
            break
        r, last = r - at * (r - last) / (at - before), r
        if numpy.all(abs(r - last) < tol):
            return r
    return numpy.nan


def mirr(values, finance_rate, reinvest_rate):
    """The rate of return if income is invested at one rate and spending paid at another."""
    values = numpy.asarray(values, dtype=float)
    count = len(values)
    if not ((values > 0).any() and (values < 0).any()):
        return numpy.nan
    income = abs(npv(reinvest_rate, numpy.where(values > 0, values, 0)))
    spending = abs(npv(finance_rate, numpy.where(values < 0, values, 0)))
    return (income / spending) ** (1 / (count - 1)) * (1 + reinvest_rate) - 1
