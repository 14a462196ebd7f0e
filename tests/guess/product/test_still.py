"""An attribute about which nothing was released, beside one about which something was."""

import numpy as np
import pytest

import nowiser as nw
from nowiser.model.cost import Cost

PRIORS = [nw.Uniform(0, 9), nw.Truncated(nw.Normal(20, 5), 22, 31), nw.Truncated(nw.Normal(20, 5), -10, 12.5)]


@pytest.mark.parametrize(
    "words", ["x within 2 and y within 3", "x within 2 or y within 3", "x within 2 and not y within 3"]
)
@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: repr(p)[:40])
def test_the_worst_of_both_is_worse_than_any_pair(words, prior):
    priors, costs = {"x": nw.Normal(0, 4), "y": prior}, {"x": Cost(0.3), "y": Cost()}
    worst = nw.guess(priors, words, costs=costs)
    pairs = [
        {"x": float(x), "y": float(y)}
        for x in (-6, -3, 0, worst.victim["x"])
        for y in np.linspace(prior.low, prior.high, 9)
    ]
    for victim in [*pairs, worst.victim]:
        assert nw.guess(priors, words, costs=costs, victim=victim).gain <= worst.gain + 1e-12
    assert nw.guess(priors, words, costs=costs, victim=worst.victim).gain >= worst.gain * (1 - 1e-3)
    tiny = nw.guess(priors, words, costs=costs | {"y": Cost(1e-7)})
    assert tiny.gain == pytest.approx(worst.gain, rel=1e-3)
