"""How much better anybody may guess after several counted releases and the answers given so far.

The attacker knows everybody's quasi-identifiers, all releases and all answers, but not the others' rows. Releases count
together: components of few people exactly, the others by maximum entropy within certain bounds (see `exact`, `likely`,
`certain`). Answers multiply the odds of a guess by e to their reach, at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

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


@dataclass(frozen=True)
class Told:
    """The largest gain anybody's group gives an attacker, over everybody who is in some release."""

    before: float
    after: float
    high: float  # the upper end of `after`: equal to it where every world was counted
    exact: bool
    releases: int

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
    found = [(_largest(w, expected, hits, sure), 0.0), (_largest(w, expected, hits, ~sure), MARGIN)]
    reach = answered or Answered()
    best: Told | None = None
    for after, margin in found:
        high = [with_answers(min(1.0, float(a) + margin), reach) if a >= 0 else -1.0 for a in after]
        at = int(np.argmax(np.asarray(high) - before))
        if high[at] >= 0 and (best is None or high[at] - before[at] > best.gain):
            told = with_answers(min(1.0, float(after[at])), reach)
            best = Told(float(before[at]), told, high[at], margin == 0.0, len(w.releases))
    assert best is not None
    return best


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
