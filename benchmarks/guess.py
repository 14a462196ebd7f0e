"""How fast the guess calculus answers, and how much noise its tight ceilings save. `python -m benchmarks.guess`."""

import subprocess
import sys
import time
from importlib.util import find_spec
from math import log, log1p

import numpy as np

import nowiser as nw
from nowiser.guess.programme import Programme, axis_rows, solve


def best_of(run, times=5):
    """The quickest of several runs, in seconds: the machine's noise only slows down."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


class Fresh:
    """A slightly different number each time, so that nothing is answered from memory."""

    def __init__(self, value):
        self.value, self.count = value, 0

    def __call__(self):
        self.count += 1
        return self.value * (1 + self.count * 1e-9)


def row(name, measured, unit, target, ratio=None):
    return {"name": name, "measured": measured, "unit": unit, "target": target, "ratio": ratio}


def speed():
    rng = np.random.default_rng(1)
    masses = rng.random(10_000)
    cells = nw.Histogram(np.linspace(0, 100, 10_001), masses / masses.sum())
    goal, slope, gain = nw.Within(2), Fresh(0.3), Fresh(0.05)
    uniform, normal = nw.Uniform(12, 28), nw.Normal(20, 5)
    for prior in (uniform, normal, cells):
        nw.guess(prior, goal, slope=slope())
    one = {p: best_of(lambda p=p: nw.guess(p, goal, slope=slope(), victim=20), 50) * 1e3 for p in (uniform, normal)}
    places, n = np.sort(rng.uniform(0, 100, 1000)), 1000
    rows, _ = axis_rows((n,), 0, (0.05, 0.0), places, n)
    programme, inside = Programme(np.full(n, 1 / n), rows), np.abs(places - 50) <= 10
    asked = ["guess", "--prior", "uniform:12:28", "--within", "2", "--slope", "1"]
    entry = [sys.executable, "-c", "from nowiser.cli.main import run; run()", *asked]
    shell = best_of(lambda: subprocess.run(entry, check=True, capture_output=True), 3)
    return [
        row("one victim, uniform prior", one[uniform], "ms", "< 0.2"),
        row("one victim, normal prior", one[normal], "ms", "< 0.2"),
        row("worst victim, 10,000 cells", best_of(lambda: nw.guess(cells, goal, slope=slope())) * 1e3, "ms", "< 20"),
        row("calibration, 10,000 cells", best_of(lambda: nw.largest(cells, goal, gain=gain()), 3), "s", "< 0.3"),
        row("linear programme, 1,000 cells", best_of(lambda: solve(programme, inside), 3), "s", "< 1"),
        row("`nowiser guess` from the shell", shell, "s", "< 0.5"),
    ]


def noise():
    """Laplace noise for the canteen (uniform 12-28, within 2, five points), beside what the tight ceiling needs."""
    tight = nw.largest(nw.Uniform(12, 28), nw.Within(2), gain="5%", victim=20).slope
    before, after = 0.25, 0.30
    # the simplified bound lets the odds move by e^{slope·16/2}, the whole range at once
    simplified = (log(after / (1 - after)) - log(before / (1 - before))) / 8
    unknown = 2 * log1p(2 * 0.05 / 0.95) / 8
    # pure ε by trade-off functions: success ≤ 1 − f(κ) = min(e^ε κ, 1 − e^{−ε}(1 − κ)), whichever ε keeps it
    peer = max(log(after / before), log((1 - before) / (1 - after))) / 8
    source = "riskcal" if find_spec("riskcal") else "trade-off bound, riskcal's way (it is not installed)"
    return [
        row("noise, tight ceiling", 2 / tight, "minutes·L", None, 1.0),
        row("noise, simplified bound", 2 / simplified, "minutes·L", ">= 4 times", tight / simplified),
        row("noise, nothing known about the prior", 2 / unknown, "minutes·L", None, tight / unknown),
        row(f"noise, {source}", 2 / peer, "minutes·L", None, tight / peer),
    ]


def run():
    return [*speed(), *noise()]


def main():
    from rich.console import Console
    from rich.table import Table

    table = Table("what", "measured", "unit", "target", "times the tight noise", title="The guess calculus")
    for found in run():
        ratio = "" if found["ratio"] is None else f"{found['ratio']:.2f}"
        table.add_row(found["name"], f"{found['measured']:.4g}", found["unit"], found["target"] or "", ratio)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
