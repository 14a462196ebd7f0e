"""Goals on some of several attributes that depend on each other, by the prior of these alone.

The goal is about the attributes A. The likelihood of A alone is the average over the others, ℓ_A(v) = E[ℓ | A = v]. Let
the others, given A, be moved from their law at v to that at v', none of them (y) by more than d_y. Averages of
likelihoods that stay within a factor stay within it, so ln ℓ_A moves by at most what A's own costs say, and Σ_y
k_y·d_y, and all jumps. In a multivariate normal prior y is β·A and noise that does not depend on A: d_y = Σ_a
|β_ya|·|v_a − v'_a|, a slope. In a histogram d_y is at most the range of y: a jump.
"""

from dataclasses import replace

import numpy as np

from nowiser.guess.joint.terms import Rates
from nowiser.model.goal import Goal
from nowiser.model.prior import Histogram, JointHistogram, MultivariateNormal, Normal, Prior

ROOM = 1 + 1e-12  # for the roundings of an effective cost
Dense = MultivariateNormal | JointHistogram


def about(prior: Dense, names: tuple[str, ...]) -> Dense:
    """The prior of some of its attributes, in this order."""
    at = [prior.names.index(n) for n in names]
    if isinstance(prior, MultivariateNormal):
        return MultivariateNormal(names, prior.mean[at], prior.covariance[np.ix_(at, at)])
    masses = np.moveaxis(prior.masses, at, range(len(at)))
    return JointHistogram(names, [prior.edges[i] for i in at], masses.sum(axis=tuple(range(len(at), masses.ndim))))


def alone(prior: Dense, name: str) -> Prior:
    """The prior of one attribute."""
    one = about(prior, (name,))
    if isinstance(one, MultivariateNormal):
        return Normal(float(one.mean[0]), float(np.sqrt(one.covariance[0, 0])))
    return Histogram(one.edges[0], one.masses)


def that_matters(prior: Dense, goal: Goal, rates: Rates) -> tuple[Dense, Rates]:
    """The attributes of the goal, and those with a cost: others tell nothing."""
    every = zip(rates.names, rates.along, rates.jumps, strict=True)
    kept = tuple(n for n, r, j in every if n in goal.attributes or r or j)
    at = [rates.names.index(n) for n in kept]
    fewer = replace(rates, names=kept, rates=tuple(rates.rates[i] for i in at), jumps=tuple(rates.jumps[i] for i in at))
    return about(prior, kept), fewer


def without_others(prior: Dense, goal: Goal, rates: Rates) -> tuple[Dense, Rates]:
    """The prior of the attributes of the goal, and what all costs amount to for these; rounded up."""
    names = tuple(n for n in prior.names if n in goal.attributes)
    kept = [prior.names.index(n) for n in names]
    rest = [i for i in range(len(prior.names)) if i not in kept]
    every, jump = np.array(rates.rates), rates.jump
    own = every[kept]
    if isinstance(prior, MultivariateNormal):
        moved = np.linalg.solve(prior.covariance[np.ix_(kept, kept)], prior.covariance[np.ix_(kept, rest)])
        own = (own + np.abs(moved) @ every[rest]) * ROOM
    else:
        jump += float(sum(every[i] * np.ptp(prior.edges[i]) for i in rest))
    jumps = (jump * ROOM, *[0.0] * (len(names) - 1))
    return about(prior, names), Rates(names, tuple(own.tolist()), jumps)
