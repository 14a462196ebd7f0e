"""The auditor: does a black box keep its claim? It finds two inputs and an event that refute it, or says how it looked.

    run a little on every pair → choose an event → bet on fresh runs → choose again from all runs → … → confirm

It can refute and never prove. Of a mechanism that keeps its claim it says "refuted" with probability at most
1 − confidence, whatever it looks at and whenever it stops: bets are placed before the runs they are about.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.verify.auditor.betting import Bet, bet
from nowiser.verify.auditor.claims import Approximate, Claim, Concentrated, Gaussian, Pure
from nowiser.verify.auditor.events import Event, best_event
from nowiser.verify.auditor.exact import Rate, rate
from nowiser.verify.auditor.outputs import Outputs, Raised, outputs

Mechanism = Callable[[Any], Any]
FIRST = 100  # runs on each input of every pair before the first bet
LEVELS = 2.0 ** (np.arange(-48, 25) / 8)  # of the claim: where the lower bound is looked for
OWN = 48  # the claim itself


def silent(_done: int, _most: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True)
class Class:
    """Outputs of one kind: how often they came on the first and on the second input, and whether they are the event."""

    label: str
    first: float
    second: float
    inside: bool


@dataclass(frozen=True)
class Audit:
    """What an audit found. Nothing found is no proof: `refuted` is False, and `samples` says how hard it was looked."""

    claim: str
    refuted: bool
    confidence: float
    samples: int  # runs on each of the two inputs, all pairs together
    level: str  # the name of the level: ε, ρ, μ
    least: float  # with this confidence the level is at least that
    inputs: tuple[Any, Any]  # the event is likelier on the first of them
    event: str
    often: tuple[Rate, Rate]  # how often the event happened, with exact intervals; on fresh runs if it refutes
    seconds: float
    column: str = ""  # the outputs' column that the event is about
    classes: tuple[Class, ...] = field(default=(), compare=False, repr=False)

    @property
    def guess(self) -> tuple[float, float]:
        """An attacker who thought both inputs equally likely and saw the event: before, and at least after."""
        p, q = self.often[0].low, self.often[1].high
        return 0.5, p / (p + q) if p + q else 0.5

    def __str__(self) -> str:
        from nowiser.verify.auditor.words import told

        return told(self)

    def to_json(self) -> dict[str, Any]:
        from nowiser.verify.auditor.words import as_json

        return as_json(self)

    def _repr_html_(self) -> str:
        from nowiser.verify.auditor.picture import html

        return html(self)

    def chart(self) -> Any:
        """The two histograms of outputs, with the event shaded."""
        from nowiser.verify.auditor.picture import chart

        return chart(self)


def claim_of(
    epsilon: float | None = None, delta: float = 0.0, rho: float | None = None, mu: float | None = None
) -> Claim:
    """The claim these numbers state. Raises Misconfigured unless it is one of them, and no promise of nothing."""
    given = {"epsilon": epsilon, "rho": rho, "mu": mu}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise Misconfigured(f"state one of epsilon, rho and mu, not {' and '.join(named) or 'none'}")
    value = float(given[named[0]] or 0.0)
    if not (math.isfinite(value) and value > 0):
        raise Misconfigured(f"{named[0]} must be a positive number, not {value:g}")
    if not 0 <= delta < 1:
        raise Misconfigured(f"delta must be at least 0 and below 1, not {delta:g}")
    if delta and epsilon is None:
        raise Misconfigured(f"delta goes with epsilon, not with {named[0]}")
    if rho is not None:
        return Concentrated(value)
    if mu is not None:
        return Gaussian(value)
    return Approximate(value, delta) if delta else Pure(value)


def audit(
    mechanism: Mechanism,
    first: Any = None,
    second: Any = None,
    *,
    pairs: Sequence[tuple[Any, Any]] = (),
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    mu: float | None = None,
    samples: int = 100_000,
    seconds: float = 60.0,
    confidence: float = 0.95,
    progress: Callable[[int, int], None] = silent,
) -> Audit:
    """Look for an event that is likelier on one of two neighbouring inputs than the mechanism claims.

    The mechanism is called with one input and returns its output. `pairs`: further pairs of neighbours. The audit ends
    after so many samples (runs on each input) or seconds, or as soon as the claim is refuted at this confidence.
    """
    claim = claim_of(epsilon, delta, rho, mu)
    if not 0.5 <= confidence < 1:
        raise Misconfigured(f"confidence must be at least 50 % and below 100 %, not {confidence:g}")
    every = [*([(first, second)] if first is not None or second is not None or not pairs else []), *pairs]
    if samples < 4 * FIRST * len(every):
        raise Misconfigured(
            f"{samples} samples are too few for {len(every)} pairs: take {4 * FIRST * len(every)} at least"
        )
    begun = time.monotonic()
    end = begun + seconds
    rooms = [_Room(mechanism, a, b) for a, b in every]
    for room in rooms:
        room.run(FIRST)
    if all(_only_raises(room) for room in rooms):
        raise Misconfigured(f"the mechanism raises on every run: {rooms[0].seen()[0].labels['the output'][0]}")
    done = FIRST * len(rooms)
    purse = _Purse(claim, 1 - confidence)
    while True:
        room, event = _promising(rooms, claim)
        stakes = purse.stakes(event)
        start, more = room.size, min(room.size, samples - done)
        if more <= 0:
            break
        late = room.run(more, end)
        done += room.size - start
        x, y = room.happened(event, start)
        purse.settle(stakes, x, y)
        progress(done, samples)
        if purse.won or late:
            break
    fresh = (
        room.fresh(event, min(20_000, max(2 * FIRST, room.size)), end + seconds) if purse.won else room.counted(event)
    )
    a, b = (room.second, room.first) if event.swapped else (room.first, room.second)
    return Audit(
        claim=str(claim),
        refuted=purse.won,
        confidence=confidence,
        samples=done,
        level=claim.name,
        least=purse.least,
        inputs=(a, b),
        event=str(event),
        often=(rate(*fresh[0], confidence), rate(*fresh[1], confidence)),
        seconds=time.monotonic() - begun,
        column=event.classes.name,
        classes=room.classes(event),
    )


class _Purse:
    """The money of a bettor against each level of the claim."""

    def __init__(self, claim: Claim, risk: float) -> None:
        self._claims = [claim.at(float(level * claim.level)) for level in LEVELS]
        self._money = np.zeros(len(LEVELS))  # logarithms
        self._most = np.zeros(len(LEVELS))
        self._needed = -math.log(risk)

    def stakes(self, event: Event) -> list[Bet]:
        """A stake for each level."""
        q = np.array([event.q])
        return [bet(event.p, event.q, *(float(v[0]) for v in claim.line(q))) for claim in self._claims]

    def settle(self, stakes: Sequence[Bet], x: NDArray[np.bool_], y: NDArray[np.bool_]) -> None:
        if not len(x):
            return
        for i, stake in enumerate(stakes):
            if stake.growth > 0:
                path = self._money[i] + stake.earned(x, y)
                self._most[i] = max(self._most[i], float(path.max()))
                self._money[i] = path[-1]

    @property
    def _refuted(self) -> int:
        """How many levels are refuted together with all below them. Too many with the risk at most."""
        below = self._most < self._needed
        return int(below.argmax()) if below.any() else len(below)

    @property
    def won(self) -> bool:
        return self._refuted > OWN

    @property
    def least(self) -> float:
        """The largest of these levels; the true one is above it."""
        return self._claims[self._refuted - 1].level if self._refuted else 0.0


class _Room:
    """Two neighbouring inputs and all runs on them so far."""

    def __init__(self, mechanism: Mechanism, first: Any, second: Any) -> None:
        self.first, self.second = first, second
        self._mechanism = mechanism
        self._runs: tuple[list[Any], list[Any]] = ([], [])
        self._known: tuple[Outputs, Outputs] | None = None

    @property
    def size(self) -> int:
        return len(self._runs[1])

    def run(self, times: int, end: float = math.inf) -> bool:
        """So many further runs on both inputs in turn; True if there was no time for all of them."""
        self._known = None
        for _ in range(times):
            if time.monotonic() > end:
                return True
            for side, given in zip(self._runs, (self.first, self.second), strict=True):
                side.append(self._once(given))
        return False

    def _once(self, given: Any) -> Any:
        try:
            return self._mechanism(given)
        except Exception as error:  # noqa: BLE001 (which error was raised is an output, and may tell)
            return Raised(f"{type(error).__name__}: {error}" if not self.size else type(error).__name__)

    def seen(self) -> tuple[Outputs, Outputs]:
        if self._known is None:
            both = outputs([*self._runs[0], *self._runs[1]])
            self._known = both.take(slice(None, self.size)), both.take(slice(self.size, None))
        return self._known

    def happened(self, event: Event, start: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether the event happened in the runs from `start` on: on the input it is likelier on, and on the other."""
        late = [outputs(side[start:]) for side in self._runs]
        a, b = (event.holds(side) if len(side) else np.zeros(0, dtype=bool) for side in late)
        return (b, a) if event.swapped else (a, b)

    def fresh(self, event: Event, times: int, end: float) -> list[tuple[int, int]]:
        """Runs that nothing was chosen from: how often the event happened, of how many, on both inputs."""
        other = _Room(self._mechanism, self.first, self.second)
        other.run(times, end)
        if not other.size:
            return [(0, 0), (0, 0)]
        return [(int(np.count_nonzero(side)), len(side)) for side in other.happened(event, 0)]

    def counted(self, event: Event) -> list[tuple[int, int]]:
        """How often it happened in all runs so far."""
        return [(int(np.count_nonzero(side)), self.size) for side in self.happened(event, 0)]

    def classes(self, event: Event) -> tuple[Class, ...]:
        """The outputs seen so far by classes of the event's column, for a picture."""
        n = event.classes.count
        a, b = (np.bincount(event.classes.of(side), minlength=n) / self.size for side in self.seen())
        if event.swapped:
            a, b = b, a
        return tuple(
            Class(event.classes.label(i), float(a[i]), float(b[i]), bool(event.inside[i]))
            for i in range(n)
            if a[i] or b[i]
        )


def _promising(rooms: Sequence[_Room], claim: Claim) -> tuple[_Room, Event]:
    """The pair and event of most growth; among pairs that promise nothing the one that was looked at least."""
    found = [(room, best_event(*room.seen(), claim)) for room in rooms]
    return max(found, key=lambda each: (_growth(each[1], claim), -each[0].size))


def _growth(event: Event, claim: Claim) -> float:
    q = np.array([event.q])
    return bet(event.p, event.q, *(float(v[0]) for v in claim.line(q))).growth


def _only_raises(room: _Room) -> bool:
    return all(str(shape) == "Raised" for side in room.seen() for shape in side.labels["the shape of the output"])
