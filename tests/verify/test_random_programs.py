"""Random programs: none that is proved loses more than was proved, by running it on all numbers that its noise can be."""

import json
import math
from fractions import Fraction

import pytest

from nowiser.verify.check.everyn import check_every
from nowiser.verify.check.follow import Rejected
from nowiser.verify.everyn.prove import every_length
from nowiser.verify.language.read import read
from nowiser.verify.outside import Outside
from nowiser.verify.question import ask
from nowiser.verify.symbolic.paths import Limits
from nowiser.verify.verify import verify
from support.programs import Writer, loops, loses_more, loses_more_in_loops


def judged(seeds):
    """Counts of verdicts; every proof is held against the program's own loss at the ε that was proved."""
    counts = {"proved": 0, "refuted": 0, "unknown": 0}
    for seed in seeds:
        writer = Writer(seed)
        text = writer.text()
        try:
            verdict = verify(text, neighbours="one", epsilon="20*eps", sizes=2 if writer.listed else None, seconds=20)
        except Outside as stop:
            raise AssertionError(text) from stop
        counts[verdict.verdict] += 1
        if verdict.verdict == "proved":
            least = verdict.smallest
            epsilon = math.log(float(least.removeprefix("ln "))) if least.startswith("ln") else float(Fraction(least))
            broken = loses_more(text, epsilon + 1e-9, listed=writer.listed)
            assert broken is None, f"seed {seed}: {least} is proved, and it is not so for {broken}\n{text}"
    return counts


def test_no_random_program_loses_more_than_is_proved():
    counts = judged(range(120))
    assert counts["proved"] > 20


@pytest.mark.long
def test_no_random_program_loses_more_than_is_proved_in_10_000():
    assert judged(range(1000, 11_000))["proved"] > 2000


def every_length_judged(seeds):
    """The same for proofs for every length, whatever short lists would say, against lists of up to three."""
    proved = 0
    for seed in seeds:
        text, neighbours = loops(seed)
        question = ask(read(text), None, neighbours, "100*eps")
        try:
            found = every_length(question, None, Limits.within(20))
            if found is None:
                continue
            cost = check_every(json.loads(json.dumps(found[1])), text, question.to_json(), None)
        except (Outside, Rejected):
            continue
        proved += 1
        broken = loses_more_in_loops(text, float(cost) + 1e-9, neighbours)
        assert broken is None, f"seed {seed}, {neighbours}: {cost} is proved, and it is not so for {broken}\n{text}"
    return proved


def test_no_random_loop_loses_more_than_is_proved():
    assert every_length_judged(range(150)) > 15


@pytest.mark.long
def test_no_random_loop_loses_more_than_is_proved_in_5_000():
    assert every_length_judged(range(1000, 6000)) > 500


def test_the_enumeration_sees_what_is_wrong():
    text = "def f(x: int, eps):\n    return x + discrete_laplace({}/eps)\n"
    assert loses_more(text.format("1"), 1.0, listed=False) is None
    assert loses_more(text.format("1"), 0.95, listed=False) is not None
    assert loses_more(text.format("0.9"), 1.0, listed=False) is not None
