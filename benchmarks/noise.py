"""Noise for a million cells, beside OpenDP (which draws one cell at a time)."""

import time
from fractions import Fraction

from nowiser.noise import discrete_laplace, rounded_gaussian

MILLION = 1_000_000


def seconds(work, repeat=3):
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def run():
    rows = []
    for scale in (Fraction(1), Fraction(100), Fraction(10**6, 7)):
        ours = seconds(lambda s=scale: discrete_laplace(s, MILLION))
        row = {
            "what": f"discrete Laplace, b = {float(scale):g}",
            "seconds per million": ours,
            "target": 1.0,
            "met": ours < 1,
        }
        rows.append({**row, **_opendp("laplace", float(scale), ours)})
    for sigma in (2, 100, 10**5):
        ours = seconds(lambda s=sigma: rounded_gaussian(Fraction(s) ** 2, MILLION))
        rows.append({**_row(f"rounded Gaussian, σ = {sigma:g}", ours), **_opendp("gaussian", float(sigma), ours)})
    one = seconds(lambda: [discrete_laplace(Fraction(997 + i, 7), 1) for i in range(50)]) / 50
    rows.append({"what": "a single draw, new scale", "milliseconds": one * 1e3})
    return rows


def _row(what, ours):
    return {"what": what, "seconds per million": ours, "target": 1.0, "met": ours < 1}


def _opendp(kind, scale, ours):
    """OpenDP on 5,000 cells, scaled up."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return {"OpenDP": "not installed"}
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if kind == "laplace":
        mechanism = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)
    else:
        mechanism = dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=scale)
    cells = [0] * 5000
    theirs = seconds(lambda: mechanism(cells), repeat=1) * MILLION / len(cells)
    return {"OpenDP": theirs, "times faster": theirs / ours}
