"""Risk against utility for all candidates, so that the custodian chooses a point.

* **risk**: the largest gain of any attacker about any sensitive column, in shares (0.2: twenty points better);
* **utility**: the share of all two-column distributions that is kept, 1 − the average total variation of pairs.

A candidate is *dominated* if another one has no more risk and no less utility, and is better in one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Point:
    """One candidate on the map."""

    title: str
    risk: float
    utility: float
    low: float | None = None  # interval of the risk, where it was simulated
    high: float | None = None
    dominated: bool = False


def frontier(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points in order of risk, marked where another one is at least as good in both and better in one."""

    def beaten(p: Point) -> bool:
        return any(
            q.risk <= p.risk and q.utility >= p.utility and (q.risk < p.risk or q.utility > p.utility) for q in points
        )

    return tuple(sorted((replace(p, dominated=beaten(p)) for p in points), key=lambda p: (p.risk, -p.utility)))
