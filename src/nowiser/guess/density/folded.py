"""Families of scipy that are made of others: folded at their location, or with two equal halves.

foldnorm, foldcauchy    |X|: what lies right of zero and the mirror image of what lies left, added up
dgamma, dweibull        a gamma or Weibull value with a random sign
pearson3                a gamma value, moved, and mirrored where its skew is negative
vonmises                a circle cut open opposite to its location
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nowiser.guess.density.chords import Chords, chords_of, curved
from nowiser.guess.density.truncated import cut_off
from nowiser.model.prior import Frozen, Normal, Prior

STRAIGHT = 0.01  # a skew up to which Pearson's third is nearly normal, and as it is
LEAST = 1e-12  # mass of a half that counts as one


def halves_of(prior: Frozen, reach: tuple[float, float], cells: int) -> list[tuple[float, Chords]] | None:
    """The parts of which such a family is made, and their weights; None where they are not known."""
    shapes, loc, scale = _arguments(prior)
    if prior.name == "vonmises":
        whole = chords_of(Frozen("vonmises_line", *shapes, loc, scale), reach, cells)
        return None if whole is None else [(1.0, whole)]
    if prior.name == "dweibull":
        sides = [chords_of(Frozen(name, *shapes, loc, scale), reach, cells) for name in ("weibull_max", "weibull_min")]
        return None if sides[0] is None or sides[1] is None else [(0.5, sides[0]), (0.5, sides[1])]
    if prior.name == "dgamma":
        left = chords_of(Frozen("gamma", *shapes, -loc, scale), (-reach[1], -reach[0]), cells)
        right = chords_of(Frozen("gamma", *shapes, loc, scale), reach, cells)
        return None if left is None or right is None else [(0.5, mirrored(left)), (0.5, right)]
    if prior.name == "pearson3" and abs(shapes[0]) < STRAIGHT:
        whole = curved(prior, reach, cells)
        return None if whole is None else [(1.0, whole)]
    if prior.name == "pearson3":
        return _gamma(shapes[0], loc, scale, reach, cells)
    centres = loc + shapes[0] * scale, loc - shapes[0] * scale
    if prior.name == "foldnorm":
        return _folded([Normal(centre, scale) for centre in centres], loc, reach, cells)
    return _folded([Frozen("cauchy", centre, scale) for centre in centres], loc, reach, cells)


def _gamma(
    skew: float, loc: float, scale: float, reach: tuple[float, float], cells: int
) -> list[tuple[float, Chords]] | None:
    """Pearson's third: a gamma value from 2/skew below its mean on, mirrored where the skew is negative."""
    shape, unit, start = 4 / skew**2, scale * abs(skew) / 2, 2 * scale / skew
    if skew > 0:
        found = chords_of(Frozen("gamma", shape, loc - start, unit), reach, cells)
        return None if found is None else [(1.0, found)]
    found = chords_of(Frozen("gamma", shape, start - loc, unit), (-reach[1], -reach[0]), cells)
    return None if found is None else [(1.0, mirrored(found))]


def _folded(
    parts: Sequence[Prior], at: float, reach: tuple[float, float], cells: int
) -> list[tuple[float, Chords]] | None:
    """What lies right of the fold, of a distribution and of its mirror image."""
    wholes: list[tuple[Prior, Chords]] = []
    for part in parts:
        whole = chords_of(part, reach, cells)
        if whole is None:
            return None
        reach = min(reach[0], float(whole.points[0])), max(reach[1], float(whole.points[-1]))  # the second as far
        wholes.append((part, whole))
    found: list[tuple[float, Chords]] = []
    for part, whole in wholes:
        share = float(whole.exact(np.array([at]), np.array([np.inf]))[0])
        if share > LEAST:
            found.append((share, cut_off(whole, at, np.inf, part)))
        elif share > 0:  # too little to be told apart: it may be anywhere
            only = found[0][1]
            found[0] = found[0][0], replace(only, loose=((at, float(only.points[-1]), share),))
    return found


def _arguments(prior: Frozen) -> tuple[tuple[float, ...], float, float]:
    it = prior.scipy()
    shapes, loc, scale = it.dist._parse_args(*it.args, **it.kwds)  # noqa: SLF001 (nothing public tells)
    return tuple(float(v) for v in shapes), float(loc), float(scale)


def mirrored(of: Chords) -> Chords:
    """The same with x → −x."""
    exact = of.exact
    return Chords(
        -of.points[::-1],
        of.logs[::-1, ::-1],
        of.off,
        (-of.ends[1], -of.ends[0]),
        of.beyond[::-1],
        of.rates[::-1],
        (-of.victims[1], -of.victims[0]),
        of.concave,
        lambda a, b: exact(-b, -a),
        None if of.heaps is None else of.heaps[::-1],
        of.edges[::-1],
        tuple((-b, -a, mass) for a, b, mass in of.loose),
    )
