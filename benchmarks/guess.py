"""How fast the guess calculus answers, and how much noise its tight ceilings save. `python -m benchmarks.guess`."""

import os
import subprocess
import sys
import time

import numpy as np

import nowiser as nw
from benchmarks.peers import ask
from nowiser.guess.beside import published
from nowiser.guess.ceiling import _worst


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
    edges, middle = np.linspace(0, 100, 10_001), (np.arange(10_000) + 0.5) / 100
    masses, bell = rng.random(10_000), np.exp(-((middle - 40) ** 2) / 450)
    cells, smooth = nw.Histogram(edges, masses / masses.sum()), nw.Histogram(edges, bell / bell.sum())
    goal, slope, gain = nw.Within(2), Fresh(0.3), Fresh(0.05)
    uniform, normal, cut = nw.Uniform(12, 28), nw.Normal(20, 5), nw.Truncated(nw.Normal(20, 5), 0, 60)
    for prior in (uniform, normal, cut, cells, smooth):
        nw.guess(prior, goal, slope=slope(), jump=0.1)
    one = {p: best_of(lambda p=p: nw.guess(p, goal, slope=slope(), victim=20), 50) * 1e3 for p in (uniform, normal)}
    people = {(float(x), float(y)): 1 / 500 for x, y in rng.uniform(0, 100, (500, 2))}
    records, middle = nw.JointAtoms(("x", "y"), people), {"x": 50.0, "y": 50.0}

    def on_records():
        costs = {"x": nw.Cost(slope()), "y": nw.Cost(slope())}
        return nw.guess(records, "x within 20 and y within 20", costs=costs, victim=middle)

    million = nw.Atoms(np.cumsum(rng.random(1_000_000)), np.full(1_000_000, 1e-6))
    square = nw.JointHistogram(("x", "y"), [[0, 16], [0, 16]], [[1.0]])

    def on_map(slope):
        return nw.guess(square, goal, slope=slope)

    def worst(prior, jump=0.0):
        _worst.cache_clear()
        times = 2 if prior is million or isinstance(prior, nw.Frozen) else 7
        return best_of(lambda: nw.guess(prior, goal, slope=slope(), jump=jump), times) * 1e3

    return [
        row("one victim, uniform prior", one[uniform], "ms", "< 0.2"),
        row("one victim, normal prior", one[normal], "ms", "< 0.2"),
        row("worst guess, 10,000 random cells", worst(cells), "ms", "< 20"),
        row("worst guess, 10,000 smooth cells", worst(smooth), "ms", "< 20"),
        row("worst guess, normal prior", worst(normal), "ms", None),
        row("worst guess, normal in a range, slope and jump", worst(cut, 0.1), "ms", None),
        row("worst guess, lognormal prior", worst(nw.LogNormal(3, 0.4)), "ms", None),
        row("calibration, 10,000 random cells", best_of(lambda: nw.largest(cells, goal, gain=gain()), 3), "s", "< 0.3"),
        row(
            "calibration, 10,000 smooth cells", best_of(lambda: nw.largest(smooth, goal, gain=gain()), 3), "s", "< 0.3"
        ),
        row("one victim, a table of 500 records", best_of(on_records, 3), "s", "< 1"),
        row("worst guess, 1,000,000 atoms", worst(million) / 1e3, "s", None),
        row("worst guess, Student t(3) of scipy", worst(nw.Frozen("t", 3, scale=3)) / 1e3, "s", None),
        row("worst guess on a map (square, within an eighth)", best_of(lambda: on_map(slope()), 1), "s", None),
        row("expected success, normal prior", best_of(lambda: nw.expected(normal, goal, slope=slope()), 3), "s", None),
        *(
            row(f"`nowiser guess` from the shell, {name}", shell(*asked), "s", None if name in UNBOUND else "< 0.5")
            for name, asked in STARTS.items()
        ),
        row(
            "`import nowiser`",
            best_of(lambda: subprocess.run([sys.executable, "-c", "import nowiser"], check=True), 3),
            "s",
            None,
        ),
    ]


WITHIN = ("--within", "2")
TWO = ("time=normal:20:5", "--prior", "dish=categories:soup=.3,pasta=.7", "--goal", "time within 2 and dish exactly")
STARTS = {
    "uniform prior": ("uniform:12:28", *WITHIN, "--slope", "1"),
    "normal prior": ("normal:20:5", *WITHIN, "--slope", "1"),
    "normal prior in a range": ("normal:20:5:0:60", *WITHIN, "--slope", "1"),
    "lognormal prior": ("lognormal:3:0.4", *WITHIN, "--slope", "1"),
    "lognormal prior in a range": ("lognormal:3:0.4:0:100", *WITHIN, "--slope", "1"),
    "histogram": ("histogram:0,10,20,40:.3,.5,.2", *WITHIN, "--slope", "1"),
    "atoms": ("atoms:0=.2,2=.3,5=.5", *WITHIN, "--slope", "1"),
    "categories": ("categories:soup=.3,pasta=.7", "--exactly", "--jump", "1"),
    "presence": ("present:.5", "--goal", "present", "--jump", "1"),
    "unknown prior": ("unknown:0:60", *WITHIN, "--slope", "1"),
    "two attributes": (*TWO, "--slope", "time=1", "--jump", "dish=.5"),
    "uniform prior, --gain": ("uniform:12:28", *WITHIN, "--gain", "5%"),
    "normal prior, --gain": ("normal:20:5", *WITHIN, "--gain", "5%"),
    "lognormal prior, --gain": ("lognormal:3:0.4", *WITHIN, "--gain", "5%"),
    "histogram, --gain": ("histogram:0,10,20,40:.3,.5,.2", *WITHIN, "--gain", "5%"),
    "atoms, --gain": ("atoms:0=.2,2=.3,5=.5", *WITHIN, "--gain", "5%"),
    "two attributes, --gain": (*TWO, "--slope", "time=1", "--jump", "dish=.5", "--gain", "5%"),
    "normal prior, --compare": ("normal:20:5", *WITHIN, "--slope", "1", "--compare"),
    "normal prior, --victim and --compare": ("normal:20:5", *WITHIN, "--slope", "1", "--victim", "20", "--compare"),
    "lognormal prior, --compare": ("lognormal:3:0.4", *WITHIN, "--slope", "1", "--compare"),
    "normal prior, --json": ("normal:20:5", *WITHIN, "--slope", "1", "--json"),
    # needs scipy.stats, whose import alone takes about as long as all the rest
    "gamma prior of scipy": ("scipy:gamma:2:scale=3", *WITHIN, "--slope", "1"),
}
UNBOUND = {"gamma prior of scipy"}


def shell(prior, *asked):
    """The whole command, from a warm disk and compiled modules: the quickest of ten."""
    entry = [sys.executable, "-c", "from nowiser.cli.main import run; run()", "guess", "--prior", prior]
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return best_of(lambda: subprocess.run([*entry, *asked], check=True, capture_output=True, env=kept), 10)


def noise():
    """Laplace noise for the canteen (uniform 12-28, within 2, five points), beside what the tight ceiling needs."""
    prior, goal, victim = nw.Uniform(12, 28), nw.Within(2), 20.0
    tight = nw.largest(prior, goal, gain="5%", victim=victim).slope
    bounds = {
        "main theorem": lambda s: published.main_theorem(prior, goal, s, 0.0, victim),
        "Pleak's": lambda s: published.pleak(prior, goal, s, 0.0, victim),
        "rings (a + 2)": lambda s: published.rings(prior, goal, s, 0.0, victim),
        "simplified bound": lambda s: published.simplified(prior, goal, s, 0.0, victim),
        "total variation (on average)": lambda s: published.total_variation(prior, goal, s, 0.0),
        "1 - f (on average)": lambda s: published.one_minus_f(prior, goal, s, 0.0),
    }
    slopes = {name: _allowed(bound, 0.30) for name, bound in bounds.items()}
    slopes["nothing known about the prior"] = nw.largest(nw.Unknown(12, 28), goal, gain="5%").slope
    targets = {"simplified bound": ">= 4 times"}
    rows = [row("noise, tight ceiling", 2 / tight, "minutes·L", None, 1.0)]
    rows += [row(f"noise, {n}", 2 / s, "minutes·L", targets.get(n), tight / s) for n, s in slopes.items()]
    peer = ask("riskcal", "riskcal_noise.py", reach=16.0, before=0.25, after=0.30, seconds=120)
    if "absent" in peer:
        return [*rows, row(f"noise, riskcal (absent: {peer['absent']})", float("nan"), "minutes·L", None)]
    return [*rows, row("noise, riskcal 1.5 (on average)", peer["scale"], "minutes·L", None, peer["scale"] * tight / 2)]


def _allowed(bound, after):
    """The largest slope whose bound stays below `after`."""
    low, high = 1e-4, 4.0
    for _ in range(22):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if bound(middle).value <= after else (low, middle)
    return low


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
