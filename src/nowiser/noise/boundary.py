"""Where a condition stops holding: the one root finder outside `guess`, by halving.

It asks for the side and not for the value, so steps (error bars in whole grid units) do not mislead it, and what it
returns was itself found to hold. Not scipy's `brentq`: importing it takes 0.4 s, and every question with an error bar
comes by here.
"""

from collections.abc import Callable


def last_inside(holds: Callable[[float], bool], inside: float, outside: float, steps: int = 60) -> float:
    """The last number, on the way from `inside` to `outside`, at which the condition was found to hold.

    It must hold at `inside`, which is checked, and stop holding once on the way.
    """
    if not holds(inside):
        raise ValueError(f"the condition does not hold at {inside:g}, where the search begins")
    for _ in range(steps):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside
