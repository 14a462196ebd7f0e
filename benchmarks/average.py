"""What a promise on average buys: error bars of n answers under five points, beside every answer and beside peers.

`python -m benchmarks average`. riskcal calibrates to a success on average, too; it knows no priors and no distances.
"""

import math
import time
from fractions import Fraction

from benchmarks.peers import ask
from nowiser.guess.budget import allowance
from nowiser.model.charge import Charge
from nowiser.policy import parse
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

POLICY = """
nowiser: 1
tables:
  visits:
    source: canteen.csv
    person: student
    protect: values
    columns:
      student: identifier
      time: {sensitive: [0, 60], prior: {normal: {mean: 20, sd: 5}}, nullable: false}
      place: {sensitive: [0, 16], prior: {uniform: [0, 16]}, nullable: false}
      dish: {sensitive: {values: [a, b, c, d]}, prior: {categories: {a: 1, b: 1, c: 1, d: 1}}, nullable: false}
attackers:
  - {guess: visits.%s, gain: 5%%%s}
independent: [[visits.time], [visits.place], [visits.dish]]
%s
"""
MANY = (1, 10, 100, 1000)
ASKED = {
    "counts, four labels, exactly": ("dish exactly", "SELECT COUNT(*) FROM visits WHERE dish = 'a'"),
    "counts, uniform, within an eighth": ("place within 2", "SELECT COUNT(*) FROM visits WHERE place > 8"),
    "counts, normal, within 2 of sd 5": ("time within 2", "SELECT COUNT(*) FROM visits WHERE time > 20"),
    "sums, normal, within 2 of sd 5": ("time within 2", "SELECT SUM(time) FROM visits"),
}
PROMISES = {
    "every answer": ("", ""),
    "every answer but 1e-9": ("", "delta: 1e-9"),
    "on average": (", promise: on average", ""),
}


def run():
    rows = []
    for what, (goal, sql) in ASKED.items():
        for name, (promise, more) in PROMISES.items():
            policy = parse(POLICY % (goal, promise, more))
            started = time.perf_counter()
            bars = {f"n = {n}": bar(policy, sql, n) for n in MANY}
            rows.append({"what": what, "promise": name, **bars, "seconds": time.perf_counter() - started})
    peer = ask("riskcal", "riskcal_average.py", before=0.25, after=0.30, many=MANY)
    for noise, wide in (("gaussian", 1.959964), ("laplace", math.log(20))):
        scales = {f"n = {n}": peer.get(f"{noise} {n}", {}) for n in MANY}
        bars = {name: wide * one["scale"] if one else peer.get("absent", "not reached") for name, one in scales.items()}
        took = sum(one.get("seconds", 0.0) for one in scales.values())
        name = f"on average, riskcal with dp-accounting, {noise}"
        rows.append({"what": "counts, from 25 % to 30 %", "promise": name, **bars, "seconds": took})
    return rows


def bar(policy, sql, n):
    """The narrowest 95 % bar of each of n answers that use the whole allowance together."""
    ways = plan(read(sql, policy), policy).ways
    each = [(way, allowance.largest_multiple(policy, Charge(), way.unit, Fraction(1, n))) for way in ways]
    return min(float(way.noise(s)[0].half_width()) for way, s in each)
