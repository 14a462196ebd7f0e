"""Three continuous attributes at once: the bound holds for every victim, and the named one comes near it."""

import numpy as np
import pytest

import nowiser as nw

PRIORS = {
    "bells": {"a": nw.Normal(0, 1), "b": nw.Normal(3, 2), "c": nw.Normal(-1, 0.5)},
    "mixed": {"a": nw.Normal(0, 1), "b": nw.Uniform(0, 10), "c": nw.Histogram([0, 2, 5, 9], [0.2, 0.5, 0.3])},
}
COSTS = {"a": nw.Cost(0.7), "b": nw.Cost(0.4, 0.2), "c": nw.Cost(1.1)}


def somebody(prior, rng):
    if isinstance(prior, nw.Normal):
        return float(rng.normal(prior.mean, 2 * prior.sd))
    return float(rng.uniform(0, 9))


@pytest.mark.parametrize("priors", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize(
    "goal",
    [
        "a within 1 and b within 1 and c within 1",
        "a within 1 or b within 1 or c within 1",
        "a within 1 and (b within 1 or not c within 1)",
    ],
)
def test_no_victim_of_three_attributes_gains_more(priors, goal):
    rng = np.random.default_rng(2)
    worst = nw.guess(priors, goal, costs=COSTS)
    for _ in range(25):
        victim = {name: somebody(prior, rng) for name, prior in priors.items()}
        assert nw.guess(priors, goal, costs=COSTS, victim=victim).gain <= worst.gain + 1e-12
    own = nw.guess(priors, goal, costs=COSTS, victim=worst.victim)
    assert worst.gain - 0.13 <= own.gain <= worst.gain + 1e-12
