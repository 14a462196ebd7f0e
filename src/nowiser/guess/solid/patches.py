"""A region of three attributes, each with its own cost, held against the rest through patches of its border.

The bound of `sharing` with small patches F of the border in place of its points: cells are boxes of a grid, a patch
is a face between a cell inside and one outside, and H = ∫ h dν stands for h(z), with ν the law on the patch whose
density has the slope of ln p at its middle. Of every cell and patch

    D·H  ≤  ∫_cell h dπ  ≤  U·H,

and shares of all cells among the patches bound the odds. Points would lose what it costs to go aside to them, at the
first order in the size of a cell; a cell goes straight to its patch, and what is lost is of the second order.

*U and D.* Let i be the axis across the patch, at b. Cut the cell along each other axis j into n equal windows, about
as wide as the patch (q). For given xᵢ, move the law on a window to ν axis by axis, quantile to quantile: first by the
law of one coordinate, then by that of the other given the first. If the slope of ln p along j is between α and β in
the cell, so is that of these laws. A law on a window of width δ whose density has slopes within g of those of e^{γx}
is moved to that by at most g·δ²/8 (below), with γ = slope of ν·q/δ; to ν it is then stretched, by at most |δ − q|/2
at the ends, and moved by the distance of their middles. So the cost of the way is at most

    kᵢ|xᵢ − b| + Σⱼ kⱼ·(distance of middles + |δ − q|/2 + g·δ²/8).

Weighing the windows of a cell with e^{±k·distance of middles} instead of e^{±k·distance of each point} needs the
average of e^{±k(x − middle)} over a window: over laws with slopes of at least α (at most β) it is least (largest)
where the slope is α (β) all along, M(α ± k)/M(α) with M(y) = sinh(yδ/2)/(yδ/2), because their densities are ordered
by likelihood ratios. The integrals ∫ e^{±…} dπ over a cell are those of `trivariate`. Along an axis on which cell and
patch are the same, nothing has to be moved but for g.

*g·δ²/8.* Where |(ln p)' − γ| ≤ g on [0, δ], the distribution function at x is at least that of e^{(γ+g)x}, as
∫_0^x/∫_x^δ is least there. The quantiles of e^{γx} move with γ at the rate τ = (1/p)·∫_x^δ (t − mean) dP = δ²·(F −
s)/y at x = sδ, y = γδ, with F = (1 − e^{−ys})/(1 − e^{−y}). Its largest value is δ²·(r − 1 − ln r)/y² with r = y/(1 −
e^{−y}); as r ≤ 1 + y/2 + y²/12 (y > 0; the other side is the same by symmetry) and the derivative of R − 1 − ln R for
that bound R is (y/4)(1 + y/2 + y²/18)/R ≤ y/4, it is at most δ²/8. ∎
"""

import itertools
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nowiser.guess.plane.region import Region, share
from nowiser.guess.plane.sharing import Effort, Shares, equalised
from nowiser.guess.ranges import distinct
from nowiser.guess.solid.trivariate import Cube, Tables, Trivariate
from nowiser.model.priors.base import Floats

Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.intp]
Law = Trivariate | Cube

SPARE = 1 + 1e-10  # far above the rounding error of sums of positive terms
LITTLE = 1e-3  # the smallest share of the outside that a patch must hold to be used
WIDEST = 8.0  # growth of cells beyond which their number is as it is
FAINT = 1e-6  # the smallest share of what is left at the border that is noticed


@dataclass(frozen=True)
class Fine:
    """How fine: cells across a band, growth of cells away from its ends, nats and cells at most."""

    across: int = 6
    growth: float = 1.7
    nats: float = 2.0
    cells: int = 6_000
    patches: int = 600
    widest: float = math.inf  # what the nats are along an axis


@dataclass(frozen=True, eq=False)
class Grid:
    """The cells of a region: borders along each axis, which are inside, their masses and slopes."""

    borders: list[Floats]
    inside: Flags
    tables: Tables
    slopes: tuple[Floats, Floats]
    endless: bool  # whether the region goes on beyond all cells

    @property
    def least(self) -> float:
        """The mass of the region, from below."""
        return float(self.tables.least[0, 0, 0][self.inside].sum())

    @property
    def most(self) -> float:
        """The mass of the region, from above."""
        found = 1 - float(self.tables.least[0, 0, 0][~self.inside].sum())
        return found if self.endless else min(found, float(self.tables.most[0, 0, 0][self.inside].sum()))


@dataclass(frozen=True, eq=False)
class Faces:
    """Patches: the axis across each, and the cell behind it (the last index of the node across, of cells beside)."""

    axis: Whole
    at: Whole  # one row per patch: the node on its own axis, cells on the others
    middle: Floats
    half: Floats  # of its sides
    leaning: Floats  # of ν

    def apart(self, rates: Floats) -> Floats:
        """By which factor H of one patch can be above that of another: its law is made even, moved, stretched and
        bent again.
        """
        found = np.zeros((len(self.at), len(self.at)))
        for i, k in enumerate(rates.tolist()):
            bent = np.abs(self.leaning[:, i]) * self.half[:, i] ** 2 / 2
            moved = np.abs(np.subtract.outer(self.middle[:, i], self.middle[:, i]))
            found += k * (
                moved + np.abs(np.subtract.outer(self.half[:, i], self.half[:, i])) + np.add.outer(bent, bent)
            )
        np.fill_diagonal(found, 0.0)
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(found))

    def only(self, some: Any) -> "Faces":
        """Some of the patches."""
        return Faces(self.axis[some], self.at[some], self.middle[some], self.half[some], self.leaning[some])


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound on the odds; the best cone (sign 1) or valley (−1), its peak and its odds; the patches that were used,
    and what is held inside and outside through each.
    """

    odds: float
    peak: Floats
    sign: int
    attained: float
    faces: Faces | None = None
    up: Floats = field(default_factory=lambda: np.zeros(0))
    down: Floats = field(default_factory=lambda: np.zeros(0))
    heights: Floats = field(default_factory=lambda: np.zeros(0))  # of the most telling likelihood of prior mean 1


class _Remembered(Shares):
    """Cells shared out among patches, which remembers the best shares: of which patches, and what is held through each.

    Masses are in the factors.
    """

    def __init__(
        self, up: Floats, down: Floats, apart: Floats, of: "_Remembered | None" = None, which: Any = None
    ) -> None:
        self.inner, self.outer, self.up, self.down = np.ones(len(up)), np.ones(len(down)), up, down
        self.apart = self._apart = apart
        self.which: Whole = np.arange(up.shape[1]) if of is None else of.which[which]
        self.best: list[tuple[float, Whole, Floats, Floats, Floats]] = [] if of is None else of.best

    def only(self, some: Any) -> "_Remembered":
        """Shared out among some of the patches only."""
        return _Remembered(self.up[:, some], self.down[:, some], self._apart[np.ix_(some, some)], self, some)

    def out(self, heights: Floats, temperature: float) -> tuple[Floats, Floats, tuple[Floats, Floats]]:
        """A, B, and how both bend with the heights."""
        a, b, bent = super().out(heights, temperature)
        with np.errstate(all="ignore"):
            worst = float(np.nan_to_num(a / b, nan=np.inf).max())
        if not self.best or worst < self.best[0][0]:
            self.best[:] = [(worst, self.which, a, b, heights)]
        return a, b, bent


def lines(ends: tuple[float, float], cuts: list[float], edges: Floats, size: float, fine: Fine) -> Floats:
    """Borders along an axis: all cuts and edges, and between them cells of whole multiples of one size."""
    low, high = ends
    fixed = distinct(np.array([low, high, *[c for c in (*cuts, *edges.tolist()) if low < c < high]]))
    widest = max(fine.widest, size)
    found = []
    for a, b in itertools.pairwise(fixed.tolist()):
        many = max(round((b - a) / size), 1)
        step = (b - a) / many
        if many <= fine.across and a in cuts and b in cuts:
            found.append(a + step * np.arange(many))
            continue
        away = np.abs(a + step * np.arange(many + 1)[:, None] - np.array(cuts)).min(axis=1)
        allowed = np.minimum(1 + (fine.growth - 1) * away / step, widest / step)
        i, starts = 0, []
        while i < many:
            starts.append(i)
            longest = 1
            while i + longest < many and longest + 1 <= min(allowed[i], allowed[i + longest + 1]):
                longest += 1
            i += longest
        found.append(a + step * np.array(starts))
    return np.append(np.concatenate(found), high)


def met(region: Region, at: Floats, borders: list[Floats], slack: Floats | None = None, *, above: bool = True) -> Flags:
    """Which cells are in the region of a victim; with a slack, in those of some victim (`above`) or of all."""
    known = []
    for band in region.bands:
        middle = (borders[band.axis][:-1] + borders[band.axis][1:]) / 2
        middle = middle.reshape([-1 if i == band.axis else 1 for i in range(3)])
        both = []
        for side in (-1.0, 1.0):
            low, high = band.ends(float(at[band.axis]), side * float(slack[band.axis]) if slack is not None else 0.0)
            both.append(((middle > low) & (middle < high)).astype(float))
        known.append((both[0], both[1]))
    return np.broadcast_to(share(region.of, known, above=above), [b.size - 1 for b in borders]) > 0


def faces_of(law: Law, grid: Grid, most: int) -> Faces:
    """All faces between inside and outside; those with the most mass beside them where there are too many."""
    axes, rows, weight = [], [], []
    mass = grid.tables.most[0, 0, 0]
    for i in range(3):
        first, second = (np.moveaxis(grid.inside, i, 0)[s] for s in (slice(None, -1), slice(1, None)))
        at = np.argwhere(first != second)
        at[:, 0] += 1
        beside = np.moveaxis(mass, i, 0)
        across = np.diff(grid.borders[i])
        dense = np.minimum(*[beside[tuple((at - [d, 0, 0]).T)] / across[at[:, 0] - d] for d in (0, 1)])
        rows.append(np.insert(at[:, 1:], i, at[:, 0], axis=1))
        axes.append(np.full(len(at), i))
        weight.append(dense)
    axis, at, dense = np.concatenate(axes), np.concatenate(rows), np.concatenate(weight)
    if axis.size > most:
        kept = np.sort(np.argsort(-dense)[:most])
        axis, at = axis[kept], at[kept]
    middle, half = np.empty(at.shape), np.zeros(at.shape)
    for i, b in enumerate(grid.borders):
        cell = np.minimum(at[:, i], b.size - 2)
        middle[:, i] = np.where(axis == i, b[at[:, i]], ((b[:-1] + b[1:]) / 2)[cell])
        half[:, i] = np.where(axis == i, 0.0, (np.diff(b) / 2)[cell])
    return Faces(axis, at, middle, half, law.leaning(middle))


def factors(grid: Grid, faces: Faces, rates: Floats, cells: Flags, *, above: bool) -> Floats:
    """U (above) or D of some cells (rows) and all patches."""
    where = np.argwhere(cells)
    sign = 1 if above else -1
    signs = np.zeros((len(where), len(faces.at), 3), np.int8)
    log = np.zeros((len(where), len(faces.at)))
    for i, (b, k) in enumerate(zip(grid.borders, rates.tolist(), strict=True)):
        middle, half = (b[:-1] + b[1:]) / 2, np.diff(b) / 2
        c, f = where[:, i, None], faces.at[None, :, i]
        across = faces.axis == i
        distance = np.abs(middle[where[:, i], None] - faces.middle[:, i])
        ahead = np.where(across, c >= f, c > f)
        apart = across | (c != f)
        signs[..., i] = np.where(apart, np.where(ahead, sign, -sign), 0)
        log += sign * k * distance
        beside = np.flatnonzero(~across)
        if beside.size:
            low, high = (s[i][cells] for s in grid.slopes)
            log[:, beside] += _aside(
                ((2 * half)[where[:, i], None], 2 * faces.half[beside, i]),
                (low[:, None], high[:, None]),
                faces.leaning[beside, i],
                signs[:, beside, i],
                (k, sign),
            )
    table = (grid.tables.most if above else grid.tables.least)[..., cells]
    code = signs % 3  # 0, 1, −1 as in trivariate.SIGNS
    flat = table.reshape(27, -1)
    mass = flat[(code[..., 0] * 3 + code[..., 1]) * 3 + code[..., 2], np.arange(len(where))[:, None]]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(mass > 0, mass * np.exp(log), 0.0)


def _aside(
    sides: tuple[Floats, Floats], slopes: tuple[Floats, Floats], leaning: Floats, tilt: Any, rate: tuple[float, int]
) -> Floats:
    """The logarithm of what U has more (D less) for moving windows of cells to patches along an axis beside them.

    sides: of cells and patches; rate: nats per unit; 1 for U and −1 for D.
    """
    (k, sign), (low, high), (wide, patch) = rate, slopes, sides
    if not k:
        return np.zeros((wide.shape[0], patch.size))
    sizes, which = np.unique(patch, return_inverse=True)
    windows = wide / np.maximum(np.round(wide / sizes), 1.0)
    # of e^{tilt·k·x} over a window: from below for U, from above for D
    slope = {side: low if side * sign > 0 else high for side in (1, -1)}
    averages = {side: _mean(at + side * k, windows) - _mean(at, windows) for side, at in slope.items()}
    window = np.where(tilt == 0, wide, windows[:, which])
    target = leaning * patch / window
    steep = np.maximum(np.abs(low - target), np.abs(high - target))
    average = np.where(tilt > 0, averages[1][:, which], averages[-1][:, which])
    return np.asarray(
        sign * k * (np.abs(window - patch) / 2 + steep * window**2 / 8) - np.where(tilt == 0, 0.0, average)
    )


def _mean(slope: Floats, width: Floats) -> Floats:
    """The logarithm of the average of e^{slope·x} over a window around zero: ln(sinh(y)/y)."""
    y = np.abs(slope) * width / 2
    big = np.maximum(y, 1e-2)
    return np.where(y > 1e-2, big + np.log(-np.expm1(-2 * big) / (2 * big)), y * y / 6 - y**4 / 180)


def bounded(law: Law, grid: Grid, rates: Floats, fine: Fine, effort: Effort, *, enough: float = 0.0) -> Bound:
    """The bound on the odds of a region. It stops as soon as that is at most `enough`."""
    inside = grid.inside
    if not inside.any():
        return Bound(0.0, np.zeros(3), 1, 0.0)
    if inside.all():
        return Bound(math.inf, np.zeros(3), 1, math.inf)
    peak, sign, attained = _peak(grid, rates)
    faces = faces_of(law, grid, fine.patches)
    up, down = factors(grid, faces, rates, inside, above=True), factors(grid, faces, rates, ~inside, above=False)
    left = down.max(axis=1)
    down = down[left > FAINT * left.sum()]
    if grid.endless:
        up = np.vstack([up, _beyond(law, faces, rates)])
    if not np.isfinite(up).all() or not down.size:
        return Bound(math.inf, peak, sign, attained)
    away = sign * (np.abs(faces.middle - peak) @ rates)
    heights = np.exp(np.maximum(away.min() - away, -600.0))
    cost = float(min(rates @ np.ptp(faces.middle, axis=0) / 2, 50.0))
    every = _Remembered(up, down, faces.apart(rates))
    worth = every.out(heights, effort.stages[0] * cost)[1] * heights
    least = np.sort(worth)[-min(effort.points, worth.size)]
    kept = (worth > LITTLE * worth.max()) & (worth >= least)
    shares = every.only(kept)
    odds = equalised(shares, heights[kept], cost, effort, enough) * SPARE
    _, which, a, b, heights = shares.best[0]
    return Bound(odds, peak, sign, attained, faces.only(which), a, b, heights / float(heights @ (a + b)))


def _beyond(law: Law, faces: Faces, rates: Floats) -> Floats:
    """U of all that is not in a cell: no point of a patch is farther from its middle than half of its sides."""
    with np.errstate(over="ignore"):
        return law.beyond(rates, faces.middle) * np.exp(faces.half @ rates)


def _peak(grid: Grid, rates: Floats) -> tuple[Floats, int, float]:
    """The best cone inside or valley outside, of those whose peaks are middles of cells."""
    middles = [(b[:-1] + b[1:]) / 2 for b in grid.borders]
    mass = grid.tables.least[0, 0, 0]
    best: tuple[float, Floats, int] = (0.0, np.zeros(3), 1)
    for sign in (1, -1):
        along = [
            np.exp(np.clip(-sign * k * np.abs(np.subtract.outer(m, m)), -300, 300))
            for k, m in zip(rates, middles, strict=True)
        ]
        inner, outer = (
            np.einsum("ijk,ai,bj,ck->abc", m, *along, optimize=True) for m in (mass * grid.inside, mass * ~grid.inside)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.nan_to_num(inner / outer, nan=0.0, posinf=0.0)
        at = np.unravel_index(int(np.argmax(odds)), odds.shape)
        if odds[at] > best[0]:
            best = float(odds[at]), np.array([m[i] for m, i in zip(middles, at, strict=True)]), sign
    return best[1], best[2], best[0]


def grid_of(law: Law, region: Region, at: Floats, rates: Floats, fine: Fine) -> Grid:
    """The cells of a victim's region."""
    borders, endless = borders_of(law, region, at, rates, fine)
    return Grid(borders, met(region, at, borders), law.tables(borders, rates), law.slopes(borders), endless)


def borders_of(law: Law, region: Region, at: Floats, rates: Floats, fine: Fine) -> tuple[list[Floats], bool]:
    """The borders of cells along all axes, and whether the region goes on beyond them."""
    cuts = [[e for b in region.bands if b.axis == i for e in b.ends(float(at[i]))] for i in range(3)]
    endless = goes_on(region, at, cuts)
    while True:
        borders = []
        for i in range(3):
            scale = min([b.scale for b in region.bands if b.axis == i] + [float(law.spread[i])])
            ends = law.ends(i, cuts[i] or [float(at[i])], rates, endless=endless)
            size = 2 * scale / fine.across
            widest = fine.nats / max(float(rates[i]), 1e-300)
            borders.append(lines(ends, cuts[i] or [float(at[i])], law.edges[i], size, replace(fine, widest=widest)))
        if math.prod(b.size - 1 for b in borders) <= fine.cells or fine.growth > WIDEST:
            return borders, endless
        fine = replace(fine, growth=1.3 * fine.growth, nats=1.3 * fine.nats)


def goes_on(region: Region, at: Floats, cuts: list[list[float]]) -> bool:
    """Whether a region goes on beyond all bands."""
    around = []
    for i, c in enumerate(cuts):
        own = distinct(np.array([float(at[i]), *c]))
        around.append(np.concatenate([own[:1] - 1, own, own[-1:] + 1]))
    inside = met(region, at, around)
    return any(bool(np.moveaxis(inside, i, 0)[[0, -1]].any()) for i in range(3))
