"""The law of quantiles that are picked, from the candidates the gateway weighs."""

import math

import numpy as np

from nowiser.sql.aggregates.picked import candidates


def logs(buckets, rows, size, q, rate):
    """Where runs of equally likely buckets start, and ln Pr of one bucket of each."""
    starts, weights = candidates(buckets, rows, size, q, rate)
    order = np.argsort(starts)
    found = -weights.gaps[order] * float(weights.unit)
    return starts[order], found - math.log(float((weights.many[order] * np.exp(found)).sum()))


def laws(picking, counted, groups, nats):
    """`logs` of every group and target."""
    found = {}
    for g in range(groups):
        own = counted.group == g
        for t, (q, rate) in enumerate(zip(picking.targets, picking.rates, strict=True)):
            found[g, t] = logs(counted.bucket[own], counted.rows[own], picking.size, q, rate * nats)
    return found


def at(law, buckets):
    """ln Pr of these buckets."""
    starts, found = law
    return found[np.searchsorted(starts, buckets, side="right") - 1]


def told(picking, one, two, groups, nats=1):
    """The largest |log-ratio| of any picks between two tables: over groups and targets it adds up."""
    first, second = (laws(picking, counted, groups, nats) for counted in (one, two))
    found = 0.0
    for key, law in first.items():
        places = np.union1d(law[0], second[key][0])
        found += float(np.abs(at(law, places) - at(second[key], places)).max())
    return found


def allowed(picking, which, nats=1):
    """What is charged for the picks: for a change of the secrets (0), for presence (1)."""
    return float(nats * sum(r * moved[which] for r, moved in zip(picking.rates, picking.moves, strict=True)))
