"""People who are known to share one value: a family, a household, a shift.

What is released about m people with one common value is released m times about that value. This is a bound, but only
for groups of this size, so it does not belong into a ledger of single persons.
"""

from typing import Any

from nowiser.guess.ask import guess
from nowiser.guess.correlated.revealed import Revealed, whole


def group(
    prior: Any, goal: Any, members: int, *, slope: float = 0.0, jump: float = 0.0, victim: Any = None
) -> Revealed:
    """The ceiling for a value that `members` people share, when each of them is charged slope and jump."""
    members = whole("members", members, 1, 10**9)
    alone = guess(prior, goal, slope=slope, jump=jump, victim=victim)
    # the worst victim of the whole group may be another one than that of a single person: compare the same one
    shared = guess(prior, goal, slope=members * slope, jump=members * jump, victim=victim)
    before = shared.before
    if victim is None and shared.victim is not None and shared.victim != alone.victim:
        alone = guess(prior, goal, slope=slope, jump=jump, victim=shared.victim)
    return Revealed(f"a value shared by {members} people", before, shared.after, alone.after, float("nan"))
