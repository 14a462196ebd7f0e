"""How much better anybody may guess after several counted releases and the answers given so far.

The attacker knows everybody's quasi-identifiers, all releases and all answers, but not the others' rows. Releases count
together: components of few people exactly, the others by maximum entropy within certain bounds (see `exact`, `likely`,
`certain`). Answers multiply the odds of a guess by e to their reach, at most, for every record in which worlds differ
where the guess is right and where it is wrong (`people`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from nowiser.guess.budget.told import Lift
from nowiser.microdata.groups.compound import Guesses, Part, Tree, columns_of
from nowiser.microdata.releases.certain import bounds
from nowiser.microdata.releases.exact import exact
from nowiser.microdata.releases.likely import likely
from nowiser.microdata.releases.record import Record
from nowiser.microdata.releases.worlds import Values, Worlds, worlds
from nowiser.microdata.risk.intersection import Answered, with_answers
from nowiser.microdata.table.column import Floats

# Maximum entropy against exact counting on random tables (tests/microdata/releases): the largest gain is missed by less
# than this in 19 of 20 of them.
MARGIN = 0.06
AT_ONCE = 20_000_000  # cells × guesses
KEPT = 8  # guesses that are entered for answers to come; others are joined with the nearest, upwards


@dataclass(frozen=True)
class Told:
    """The largest gain anybody's group gives an attacker, over everybody who is in some release."""

    before: float
    after: float
    high: float  # the upper end of `after`: equal to it where every world was counted
    exact: bool
    releases: int
    lifts: tuple[Lift, ...] = ()  # without the answers: whichever guess gains most once more is answered is among them

    @property
    def gain(self) -> float:
        return self.high - self.before


def together(records: Sequence[Record], tree: Tree, answered: Answered | None = None) -> Told:
    """Before → after of the guess and the people who gain an attacker most."""
    w = worlds(records, columns_of(tree))
    expected, _ = likely(w)
    few, most = bounds(w)
    expected, done = exact(w, np.clip(expected, few, most))
    hits = Guesses.of(tree, parts_of(w.values, columns_of(tree))).hits.astype(np.float64)
    prior = np.bincount(w.value, weights=expected, minlength=len(w.values.rows)) / w.size.sum()
    before = hits @ prior
    sure = done.astype(bool)
    counted, estimated = _largest(w, expected, hits, sure), _largest(w, expected, hits, ~sure)
    reach, people = answered or Answered(), moved(w)
    best: Told | None = None
    highest = np.zeros(len(hits))
    for after, margin in [(counted, 0.0), (estimated, MARGIN)]:
        plain = np.where(after >= 0, np.minimum(1.0, after + margin), -1.0)
        highest = np.maximum(highest, plain)
        high = [with_answers(float(a), reach, people) if a >= 0 else -1.0 for a in plain]
        at = int(np.argmax(np.asarray(high) - before))
        if high[at] >= 0 and (best is None or high[at] - before[at] > best.gain):
            told = with_answers(min(1.0, float(after[at])), reach, people)
            best = Told(float(before[at]), told, high[at], margin == 0.0, len(w.releases))
    assert best is not None
    return replace(best, lifts=front(before, highest, people))


def moved(w: Worlds) -> int:
    """In how many records worlds differ in which somebody has one value or another.

    Two people of a group exchange their values; where groups of releases cross, everybody's groups must come out even.
    """
    apart = {tuple(np.unique(column, return_inverse=True)[1].reshape(-1).tolist()) for column in w.groups.T}
    return 2 if any(len(set(one)) == len(w.size) for one in apart) else int(2 ** len(apart))


def front(before: Floats, high: Floats, people: int) -> tuple[Lift, ...]:
    """Guesses of which no other one starts lower and ends higher; the nearest are joined until few are left."""
    kept: list[tuple[float, float]] = []
    for b, h in sorted(zip(before.tolist(), high.tolist(), strict=True), key=lambda pair: (pair[0], -pair[1])):
        if h > b and (not kept or h > kept[-1][1]):
            kept.append((b, h))
    while len(kept) > KEPT:
        at = min(range(len(kept) - 1), key=lambda i: kept[i + 1][1] - kept[i][0])
        kept[at : at + 2] = [(kept[at][0], kept[at + 1][1])]
    return tuple(Lift(b, h, people) for b, h in kept) or (Lift(float(before.max(initial=0.5)), 0.0, people),)


def _largest(w: Worlds, expected: Floats, hits: Floats, cells: np.ndarray) -> Floats:
    """Per guess the largest chance of being right about somebody in these cells; −1 without any."""
    out = np.full(len(hits), -1.0)
    chosen = np.flatnonzero(cells)
    shares = csr_array((expected / w.size[w.cell], (w.cell, w.value)), shape=(len(w.size), hits.shape[1]))
    for part in np.array_split(chosen, max(1, len(chosen) * len(hits) // AT_ONCE)) if len(chosen) else []:
        out = np.maximum(out, np.asarray(shares[part] @ hits.T).max(axis=0))
    return out


def parts_of(values: Values, columns: Sequence[str]) -> list[Part]:
    """The columns of a goal as the counting of joint goals takes them."""
    out = []
    for name in columns:
        own = [row[values.columns.index(name)] for row in values.rows]
        labels = sorted({v for v in own if v is not None})
        place: dict[str | None, int] = {v: i for i, v in enumerate(labels)}
        place[None] = len(labels)
        numbers = np.array([*(_number(v) for v in labels), np.nan])
        out.append(Part(name, (*labels, None), numbers, np.array([place[v] for v in own], np.int64)))
    return out


def _number(label: str) -> float:
    import pyarrow as pa

    from nowiser.microdata.table.column import numbers_of

    return float(numbers_of(pa.array([label], pa.string()))[0])
