"""Non-uniform entropy: how many bits about the original value a released label leaves open.

A row whose value v became label g leaves log2(n(g) / n(v)) open, with n counted in the whole table; a
suppressed row leaves log2(N / n(v)). Within a label the values are averaged over the whole table, which is
exact without suppression. Scaled per attribute to 0 (untouched) … 1 (everything gone), then averaged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.losses.base import Levels, label_rows, label_sums
from nowiser.microdata.table.column import Floats, Ints


@dataclass(frozen=True, eq=False)
class _Bound:
    kept_bits: tuple[tuple[Floats, ...], ...]  # attribute, level, label: bits a kept row leaves open
    lost_bits: tuple[tuple[Floats, ...], ...]  # … and a suppressed one
    parts: tuple[Floats, ...]
    rising: bool = True

    def floor(self, levels: Levels, groups: Groups) -> float:
        """n(g) grows upward and is at most N, so kept rows bound both what lies above and suppression."""
        del groups
        return float(sum(part[level] for part, level in zip(self.parts, levels, strict=True)))

    def of(self, levels: Levels, groups: Groups, kept: NDArray[np.bool_]) -> float:
        if kept.all():
            return self.floor(levels, groups)
        total = 0.0
        for j, level in enumerate(levels):
            codes = groups.codes[:, j]
            bits = np.where(kept, self.kept_bits[j][level][codes], self.lost_bits[j][level][codes])
            total += float(groups.size @ bits)
        return total


@dataclass(frozen=True)
class NonUniformEntropy:
    name: ClassVar[str] = "entropy"

    def bind(self, hierarchies: Sequence[Hierarchy], base: Groups) -> _Bound:
        rows, q = int(base.size.sum()), max(1, len(hierarchies))
        kept, lost = [], []
        for j, h in enumerate(hierarchies):
            counts = label_rows(h, base.codes[:, j], base.size)
            n, used = counts[0], np.flatnonzero(counts[0])
            scale = float(n[used] @ np.log2(rows / n[used])) * q if rows else 0.0
            k_levels, l_levels = [], []
            label: Ints = used.astype(np.int64)
            for level, total in enumerate(counts):
                inside = np.zeros(len(total))
                np.add.at(inside, label, n[used] * np.log2(total[label] / n[used]))
                mean = np.divide(inside, total, out=np.zeros(len(total)), where=total > 0)
                rest = np.log2(np.divide(rows, total, out=np.ones(len(total)), where=total > 0))
                k_levels.append(mean / scale if scale else np.zeros(len(total)))
                l_levels.append((mean + rest) / scale if scale else np.zeros(len(total)))
                label = h.steps[level][label].astype(np.int64) if level < h.height else label
            kept.append(tuple(k_levels))
            lost.append(tuple(l_levels))
        return _Bound(tuple(kept), tuple(lost), tuple(label_sums(hierarchies, base, kept)))


LOSS = NonUniformEntropy()
