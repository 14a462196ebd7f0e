"""Neighbouring inputs worth trying: the patterns on which wrong mechanisms are usually caught.

`one`: one element differs. `all`: every element differs by at most `by`. `length`: one element more.
"""

from collections.abc import Sequence
from typing import Literal

from nowiser.errors import Misconfigured

Neighbours = Literal["one", "all", "length"]
Pair = tuple[list[float], list[float]]


def patterns(n: int, neighbours: Neighbours, by: float = 1) -> list[Pair]:
    """Pairs of lists of n numbers, different ones only."""
    if n < 1:
        raise Misconfigured(f"lists need at least one element, not {n}")
    zero: list[float] = [0] * n
    half = n // 2
    if neighbours == "one":
        moved = [[by, *zero[1:]], [*zero[:-1], by]]
        found: list[Pair] = [(zero, b) for b in moved] + [([by] * n, [0, *[by] * (n - 1)])]
    elif neighbours == "all":
        found = [
            (zero, [by] * n),
            (zero, [by, *zero[1:]]),
            (zero, [*zero[:-1], by]),
            (zero, [-by, *[by] * (n - 1)]),
            (zero, [*[by] * half, *[-by] * (n - half)]),
            ([by, *zero[1:]], [0, *[by] * (n - 1)]),
        ]
    elif neighbours == "length":
        found = [(zero, [*zero, by]), ([by] * n, [by] * (n + 1)), (zero[1:], zero)]
    else:
        raise Misconfigured(f"neighbours are one, all or length, not {neighbours!r}")
    return _different(found)


def _different(pairs: Sequence[Pair]) -> list[Pair]:
    kept: list[Pair] = []
    for pair in pairs:
        if pair[0] != pair[1] and pair not in kept:
            kept.append(pair)
    return kept
