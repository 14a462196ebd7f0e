"""What a price takes: the first of a policy, some while its tables grow, later ones. `python -m benchmarks.pricing`.

Processor time, because a busy machine stretches the clock. Priors, goals with `and`, `or` and `not`, one to three
attributes, on average. A price: the largest multiple of a charge that keeps every promise, and how the attacker stands.
"""

import contextlib
import itertools
import random
import statistics
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

from nowiser import policy as policies
from nowiser.errors import Exhausted, NowiserError
from nowiser.guess.budget import allowance, frontier
from nowiser.model.charge import Account, Charge

POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    protect: values
    columns:
      id: {{identifier: integer}}
      x: {{sensitive: [0, 60], prior: {x}}}
      y: {{sensitive: [0, 60], prior: {y}}}
      z: {{sensitive: [0, 60], prior: {z}}}
independent: [[t.x], [t.y], [t.z]]
attackers:
  - {{guess: {guess}, gain: {gain}{average}}}
"""
PRIORS = {
    "uniform": "uniform",
    "normal": "{normal: {mean: 20, sd: 5}}",
    "lognormal": "{lognormal: {mean: 3, sd: .4}}",
    "histogram": "{histogram: {edges: [0, 10, 20, 40, 60], weights: [.2, .4, .3, .1]}}",
    "unknown": "unknown",
}
ONE = ("t.x within 2", "not t.x within 10", "t.x in [0, 10]", "t.x within 1 or t.x in [40, 60]")
TWO = ("t.x within 2 and t.y within 2", "t.x within 2 or t.y within 2", "t.x within 2 and not t.y within 5")
THREE = ("t.x within 2 and t.y within 2 and t.z within 2", "t.x within 2 or t.y within 2 or t.z within 2")
LATER = 24


def cases():
    """Name, and text of each policy."""
    for name, prior in PRIORS.items():
        for guess in (*ONE, *TWO, *THREE):
            yield f"{name}: {guess}", text(guess, prior, prior, prior)
    for (a, b), guess in itertools.product((("histogram", "normal"), ("uniform", "lognormal")), (*TWO, *THREE)):
        yield f"{a}, {b}: {guess}", text(guess, PRIORS[a], PRIORS[b], PRIORS["normal"])
    for name in ("uniform", "normal", "histogram"):
        yield f"{name}: on average", text(ONE[0], *[PRIORS[name]] * 3, average=", on: average")


def text(guess, *priors, gain="5%", average=""):
    return POLICY.format(guess=f'"{guess}"', gain=gain, average=average, **dict(zip("xyz", priors, strict=True)))


def one(policy):
    """Totals and a new charge of slopes and jumps, in other proportions each time, as different questions have them."""
    chance = random.Random(1)
    accounts = [Account(kind, (name,)) for name in ("t.x", "t.y", "t.z") for kind in ("slope", "jump")]

    def priced():
        totals, more = (Charge.of({a: chance.randrange(10**10) for a in accounts}) for _ in range(2))
        start = time.process_time()
        with contextlib.suppress(Exhausted):
            allowance.largest_multiple(policy, totals, more, Fraction(1, 50))
        allowance.standing(policy, totals)
        return 1e3 * (time.process_time() - start)

    first, *growing = (priced() for _ in range(LATER + 1))
    start = time.process_time()
    for parts in frontier.parts_of(policy).values():  # as the gateway does from the third question on, meanwhile
        for part in parts:
            part.fill()
    filling = time.process_time() - start
    later = [priced() for _ in range(LATER)]
    return {
        "first ms": first,
        "while tables grow, ms, middle": statistics.median(growing),
        "filling s": filling,
        "later ms, middle": statistics.median(later),
        "later ms, most": max(later),
    }


def run():
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for title, content in cases():
            path = Path(name) / "nowiser.yaml"
            path.write_text(content, encoding="utf-8")
            try:
                policy = policies.read(path)
            except NowiserError as error:
                rows.append({"policy": title, "refused": str(error)[:60]})
                continue
            rows.append({"policy": title} | one(policy))
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    for found in run():
        print(found)
