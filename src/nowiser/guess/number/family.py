"""Victims whose goals have one form: prior probability from below, and odds by the slope alone from above.

A jump multiplies odds, also those of unions, so that the odds found here serve beside every jump.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.guess.number.conditions import End, Form
from nowiser.guess.number.pieces import Flags, Ints, Pieces, Place, chosen
from nowiser.guess.number.sums import crossing, mass
from nowiser.guess.number.sweep import swept
from nowiser.guess.rounding import EPS, above, below, grain
from nowiser.model.priors.base import Floats

ONE, ALL_BUT_ONE = (False, True, False), (True, False, True)


@dataclass(frozen=True, eq=False)
class Family:
    """Victims from form.first to form.last."""

    pieces: Pieces
    k: float  # nats per unit
    form: Form

    def figures(self, x: Floats, form: Form | None = None, side: int = 0) -> tuple[Floats, Floats, list[Place]]:
        """Before from below, odds by the slope alone from above, and the ends of the goals rounded inward."""
        form = form or self.form
        core = self.places(x, form, out=False, side=side)
        odds = self.odds(self.places(x, form, out=True, side=side), form.inside, x.shape)
        return self.before(core, form.inside, x.shape), odds, core

    def contrary(self, x: Floats) -> Floats:
        """The largest odds of everything but the goal."""
        form = self.form.contrary()
        return self.odds(self.places(x, form, out=True), form.inside, x.shape)

    def places(self, x: Floats, form: Form, *, out: bool, side: int = 0) -> list[Place]:
        """The ends of the goals of these victims, rounded outward or inward.

        Single values within a rounding error of an end count as inside (`grain`). side: of victims a little to the
        right (1) or to the left (−1), for whom those single values have just been passed, or not yet.
        """
        found: list[Place] = []
        for j, end in enumerate(form.ends):
            place = self._place(end, x, up=form.inside[j] == out, side=side)
            found.append(chosen(found[-1].upto(place), place, found[-1]) if found else place)
        return found

    def _place(self, end: End, x: Floats, *, up: bool, side: int) -> Place:
        if not end.moves:
            return self.pieces.place(np.full(x.shape, end.at), end.after)
        after = side > 0 if side else end.after
        y, (meets, near) = (above if up else below)(x, end.at), self._meeting(x, end.at, after=after)
        if self.pieces.values.size:  # rounding brings in no others
            value = self.pieces.values[np.searchsorted(self.pieces.values[:-1], y)]
            beside = (value - x) - end.at  # of the end as it is
            wrong = (value == y) & (beside > 0 if end.after else beside < 0)
            y = np.where(meets, near, np.where(wrong, np.nextafter(y, -np.inf if end.after else np.inf), y))
        return self.pieces.place(y, after)

    def _meeting(self, x: Floats, at: float, *, after: bool) -> tuple[Flags, Floats]:
        """Whether ends `at` units away meet single values up to rounding, and the last (or first) of them."""
        values = self.pieces.values
        if not values.size:
            return np.zeros(x.shape, bool), np.full(x.shape, np.nan)
        spare = grain(x, abs(at)) if at else np.zeros(x.shape)
        i = np.searchsorted(values, x + at + spare, "right") - 1 if after else np.searchsorted(values, x + at - spare)
        near = values[np.clip(i, 0, values.size - 1)]
        return np.abs((near - x) - at) <= spare, near

    def touching(self, x: Floats) -> Ints:
        """Victims at whom an end of the goal meets a single value."""
        every = [self._meeting(x, end.at, after=end.after)[0] for end in self.form.ends if end.moves]
        return np.flatnonzero(np.any(every, axis=0)) if every else np.zeros(0, np.intp)

    def mass(self, places: list[Place], inside: tuple[bool, ...]) -> tuple[Floats, Floats]:
        """The probability of what is inside, and how wrong that may be."""
        shape = places[0].y.shape
        first, last = (self.pieces.place(np.full(shape, self.pieces.x[end]), after=bool(end)) for end in (0, -1))
        edges, found, wrong = [first, *places, last], np.zeros(shape), np.zeros(shape)
        for flag, a, b in zip(inside, edges[:-1], edges[1:], strict=True):
            if flag:
                one, off = mass(self.pieces, a, b)
                found, wrong = found + one, wrong + off
        return found, wrong

    def before(self, places: list[Place], inside: tuple[bool, ...], shape: tuple[int, ...]) -> Floats:
        if not places:
            return np.full(shape, float(inside[0]))
        found, wrong = self.mass(places, inside)
        return np.clip(np.nan_to_num(found - wrong, nan=0.0), 0.0, 1.0)

    def odds(self, places: list[Place], inside: tuple[bool, ...], shape: tuple[int, ...]) -> Floats:
        """The largest odds by the slope alone, from above."""
        if not places:
            return np.full(shape, np.inf if inside[0] else 0.0)
        if self.k and inside == ONE:
            return crossing(self.pieces, self.k, *places)[0]
        if self.k and inside == ALL_BUT_ONE:
            return 1 / crossing(self.pieces, -self.k, *places)[0]
        (inner, wrong), (rest, off) = (self.mass(places, f) for f in (inside, tuple(not f for f in inside)))
        most, outside = (inner + wrong + sum(self.pieces.lost)) * (1 + 8 * EPS), np.maximum(rest - off, 0.0)
        plain = np.where(most == 0, 0.0, most / outside)
        return swept(self.pieces, self.k, places, inside, plain * (1 - 1e-9)) if self.k else plain
