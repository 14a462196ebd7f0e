"""The worst guess about a table of records: every guess counts, also those that are nobody's record.

Boxes of guesses are bounded by the records that are right for some of their guesses and those that are right for all,
and halved, those with the largest bound first; where conditions are about one attribute each and few sets can be right,
there is one box without width for each. A box that leaves few records undecided becomes sets: with every choice of
these. What is left when the search ends is reported: an upper bound, whenever that is.
"""

import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.figures import Found, raised
from nowiser.guess.joint.carried import FULL, QUICK
from nowiser.guess.joint.programme import Indices, Mask
from nowiser.guess.joint.records import Costs, Right, Told, found_of
from nowiser.model.goal import Within
from nowiser.model.priors.base import Floats

RECORDS = 4_000  # up to which the worst guess is looked for
COMBINATIONS = 20_000  # of guesses about single attributes that are looked at one by one
PROGRAMMES = 60
EFFORTS = QUICK, FULL  # to sharpen a bound, before a programme is solved
BOXES, WORK = 20_000, 2e10  # of guesses, and pairs of records, that may be looked at in a search
BATCH = 128
# of the range: smaller boxes are settled with two, and with more records undecided; by how many axes have boxes
NEAR, NARROW = {1: 1e-3, 2: 1e-3, 3: 0.02}, {1: 1e-7, 2: 1e-6, 3: 1e-3}
UNDECIDED = 6  # records of a box about which every combination is tried


def worst_of_records(right: Right, costs: Costs) -> Found:
    """The guess about which most is told, its gain raised to what may be told about any other."""
    table = right.table
    if table.masses.size > RECORDS:
        raise Misconfigured(
            f"the worst victim is looked for among at most {RECORDS} records, found {table.masses.size}",
            hint="Name the victim, or group values.",
        )
    told, rest, at = _Search(right, costs).worst()
    before, after = told.before, max(told.solution.ceiling, told.before)
    if rest > told.gain:
        before, after = raised(before, after, rest)
    who = {n: table.value(i, float(at[i])) for i, n in enumerate(table.names)}
    return found_of(costs, told, who, (before, after))


@dataclass
class _Search:
    right: Right
    costs: Costs
    best: float = 0.0  # the largest gain that is attained
    rest: float = 0.0  # a bound for boxes that were given up
    sets: dict[bytes, tuple[float, Mask, Floats]] = field(default_factory=dict)  # bound, records, and a guess
    told: dict[bytes, Told] = field(default_factory=dict)
    boxes: list[tuple[float, int, Floats, Floats]] = field(default_factory=list)
    count: Iterator[int] = field(default_factory=itertools.count)

    def worst(self) -> tuple[Told, float, Floats]:
        """The set about which most is told, a bound on what may be told about others, and a guess."""
        table = self.costs.table
        records = np.unique(np.stack(table.columns, axis=1), axis=0)
        self._look(records, records)
        spent = len(records)
        for low, high in self._first():
            self._look(low, high)
            spent += len(low)
        most = spent + min(BOXES, WORK / table.masses.size**2)
        for step in itertools.count():
            if not self.boxes or -self.boxes[0][0] <= self._enough() or spent >= most:
                break
            if not step & (step - 1):  # now and then: what is told for certain leaves less to look at
                self._tell_some()
            some = [heapq.heappop(self.boxes) for _ in range(min(BATCH, len(self.boxes)))]
            low, high = self._halved([box for box in some if -box[0] > self._enough()])
            self._look(low, high)
            spent += len(low)
        return self._told(max([self.rest, *(-box[0] for box in self.boxes)]))

    def _enough(self) -> float:
        return self.best * (1 + 1e-9) + 1e-12

    def _told(self, rest: float) -> tuple[Told, float, Floats]:
        """The set with the largest bound, when that is its programme's: bounds are sharpened as they come first."""
        ranked = [(-bound, 0, key) for key, (bound, _, _) in self.sets.items()]
        heapq.heapify(ranked)
        programmes, real = 0, None
        while ranked:
            bound, stage, key = heapq.heappop(ranked)
            _, inside, at = self.sets[key]
            if real is not None and -bound <= max(rest, real[0].gain):
                break
            if key not in self.told and stage < len(EFFORTS):
                mass = float(inside @ self.costs.table.masses)
                sharper = max(0.0, self.costs.sharper(inside, EFFORTS[stage]) - mass + 1e-13)
                heapq.heappush(ranked, (-min(-bound, sharper), stage + 1, key))
            elif key not in self.told and programmes >= PROGRAMMES:
                rest = max(rest, -bound)
            elif stage <= len(EFFORTS):
                programmes += key not in self.told
                self.told[key] = told = self.told.get(key) or self.costs.told(inside)
                heapq.heappush(ranked, (-told.gain, len(EFFORTS) + 1, key))
            elif self._is_real(key):
                real = self.told[key], at
            else:
                rest = max(rest, -bound)  # perhaps nobody's guess
        if real is None:
            raise Misconfigured(f"no possible value meets `{self.right.goal}`: the goal is never met")
        return real[0], rest, real[1]

    def _tell_some(self) -> None:
        ranked = sorted(
            ((bound, key) for key, (bound, _, _) in self.sets.items() if key not in self.told), reverse=True
        )
        for bound, key in ranked[:3]:
            if bound > self._enough():
                _, inside, at = self.sets[key]
                self.told[key] = told = self.costs.told(inside)
                self.sets[key] = told.gain, inside, at
                if self._is_real(key):
                    self.best = max(self.best, told.attained)

    def _first(self) -> Iterator[tuple[Floats, Floats]]:
        """Boxes that hold all guesses; without width about attributes that few sets of values can be right about."""
        table = self.costs.table
        events = [self.right.events(i) for i in range(len(table.names))]
        wide = [e is None for e in events]
        listed = [np.zeros(1) if e is None else e for e in events]
        while math.prod(e.size for e in listed) > COMBINATIONS:
            numbers = [i for i, e in enumerate(listed) if e.size > 1 and self._may_be_wide(i)]
            if not numbers:
                break
            most = max(numbers, key=lambda i: listed[i].size)
            wide[most], listed[most] = True, np.zeros(1)
        if math.prod(e.size for e in listed) > 10 * COMBINATIONS:
            names = ", ".join(n for n, e in zip(table.names, listed, strict=True) if e.size > 1)
            raise Misconfigured(
                f"there are {math.prod(e.size for e in listed)} combinations of guesses about {names}, "
                f"at most {10 * COMBINATIONS} are looked at",
                hint="Name the victim, or group values.",
            )
        every = np.array(list(itertools.product(*listed)))
        for some in np.array_split(every, max(1, len(every) // 512)):
            low, high = some.copy(), some.copy()
            for i in np.flatnonzero(wide):
                low[:, i], high[:, i] = table.columns[i].min(), table.columns[i].max()
            yield low, high

    def _may_be_wide(self, column: int) -> bool:
        """Whether guesses between others say something: of numbers that are not asked for exactly."""
        name = self.costs.table.names[column]
        exact = any(p.attributes == (name,) and not isinstance(p.goal, Within) for p in self.right.parts)
        return self.costs.table.labels[column] is None and not exact

    def _halved(self, boxes: list[tuple[float, int, Floats, Floats]]) -> tuple[Floats, Floats]:
        low, high = (np.array([box[i] for box in boxes]).reshape(len(boxes), -1) for i in (2, 3))
        axis, row = np.argmax((high - low) / self._range, axis=1), np.arange(len(boxes))
        middle = (low[row, axis] + high[row, axis]) / 2
        upper, lower = low.copy(), high.copy()
        upper[row, axis], lower[row, axis] = middle, middle
        return np.concatenate([low, upper]), np.concatenate([lower, high])

    @cached_property
    def _alike(self) -> tuple[Indices, Indices]:
        """Records that the goal does not tell apart: the first of each kind, and the kind of each record."""
        table = self.costs.table
        own = [column for n, column in zip(table.names, table.columns, strict=True) if n in self.right.goal.attributes]
        _, firsts, kind = np.unique(np.stack(own, axis=1), axis=0, return_index=True, return_inverse=True)
        return firsts, kind.ravel()

    @cached_property
    def _range(self) -> Floats:
        return np.array([max(float(np.ptp(c)), 1e-300) for c in self.costs.table.columns])

    def _look(self, low: Floats, high: Floats) -> None:
        """Bounds for boxes: where few records are undecided they become sets, others are kept if they may matter."""
        if not len(low):
            return
        least, most = self.right(low, high)
        bounds, middle = self._bounds(least, most), low / 2 + high / 2
        seen = self.right(middle, middle)[0]
        gains = self.costs.attained(seen) - seen @ self.costs.table.masses
        top = int(np.argmax(gains))
        if gains[top] > self.best:
            self.best = float(gains[top])
            self._keep(seen[top], middle[top])
        wide, undecided = ((high - low) / self._range).max(axis=1), (most & ~least)[:, self._alike[0]].sum(axis=1)
        axes = int((high > low).any(axis=0).sum())
        settled = (undecided <= 1) | ((undecided <= 2) & (wide < NEAR.get(axes, 0.1))) | (wide < NARROW.get(axes, 0.05))
        for i in np.flatnonzero((bounds > self._enough()) | (undecided == 0)):
            if settled[i]:
                self._settle(float(bounds[i]), least[i], most[i], middle[i])
            else:
                heapq.heappush(self.boxes, (-float(bounds[i]), next(self.count), low[i], high[i]))

    def _settle(self, bound: float, least: Mask, most: Mask, at: Floats) -> None:
        """Whichever of the undecided records are right, it is one of these sets."""
        firsts, kind = self._alike
        undecided = np.flatnonzero((most & ~least)[firsts])
        if undecided.size > UNDECIDED:
            self.rest = max(self.rest, bound)
            return
        guesses = [at]
        if undecided.size:  # where data are round numbers, so are guesses right at a border
            places = 5 - np.floor(np.log10(self._range))
            guesses.append(np.round(at * 10**places) / 10**places)
        for guess in guesses:
            self._keep(self.right.at(guess), guess)
        for chosen in itertools.product((False, True), repeat=undecided.size):
            self._keep(least | np.isin(kind, undecided[list(chosen)]), at)

    def _keep(self, inside: Mask, at: Floats) -> None:
        key = inside.tobytes()
        if inside.any() and (key not in self.sets or not self._is_real(key)):
            self.sets[key] = float(self._bounds(inside[None], inside[None])[0]), inside, at

    def _is_real(self, key: bytes) -> bool:
        """Whether the guess that is kept with a set is right about it, and nothing else."""
        _, inside, at = self.sets[key]
        return bool((self.right.at(at) == inside).all())

    def _bounds(self, least: Mask, most: Mask) -> Floats:
        """What anybody gains whose records that are right are between these.

        With U the larger and I the smaller set, G between them: after(G) = after(U) − after(U∖G), and no set loses more
        than a factor of e^{−T}: after(U∖G) ≥ e^{−T}·π(U∖G). So G gains at most after(U) − π(U) + (1 − e^{−T})·π(U∖I).
        """
        masses = self.costs.table.masses
        ceiling, large, small = self.costs.ceilings(most), most @ masses, least @ masses
        known = ceiling - large - math.expm1(-self.costs.reach) * (large - small)
        return np.clip(np.minimum(known, ceiling - small) + 1e-13, 0.0, 1.0)
