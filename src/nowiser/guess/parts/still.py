"""An attribute about which nothing was released, in a goal about several.

Its part of the goal is as probable after as before, whoever the victim: b. The gain of the whole goal is linear in b
(the formula is linear in each part), so it is largest where b is smallest or largest. On a density that rises and then
falls b is smallest at one of the two ends and largest in a goal around the mode, or as near to it as goals can be
without leaving the support: three victims stand for all.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.guess.density.line import UniformLine
from nowiser.guess.density.tilt import TiltLine
from nowiser.guess.number.profile import Near, Profile
from nowiser.model.priors.base import Floats


@dataclass(frozen=True, eq=False)
class Still(Near):
    """Within the radius of a victim about whom nothing was released."""

    mode: float = 0.0

    def start(self) -> tuple[Floats, Floats]:
        first, last = (float(end[i]) for i, end in zip((0, -1), self.line.victims(), strict=True))
        low, high = first + self.radius, last - self.radius
        around = min(max(self.mode, low), high) if low < high else (first + last) / 2
        every = np.array([around, first, last])
        return every, every


def still(profile: Profile) -> Profile:
    """The same with three victims instead of all, where that is the same."""
    if type(profile) is not Near or profile.rate or profile.jump or not profile.radius:
        return profile
    line = profile.line
    if isinstance(line, UniformLine):
        mode = (line.low + line.high) / 2
    elif isinstance(line, TiltLine) and len(line.pieces) == 1:
        mode = line.pieces[0].mean if line.pieces[0].sd else (line.low + line.high) / 2
    else:
        return profile
    return Still(line, profile.radius, 0.0, 0.0, profile.what, mode)
