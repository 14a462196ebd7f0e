"""Many runs at once: the paths of a program, evaluated on arrays of noise.

Noise lies on a grid of 2^-20 and data have few digits, so that floats compute exactly what the program would.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.verify.samples import many_floats
from nowiser.verify.symbolic.forms import Form
from nowiser.verify.symbolic.paths import Decision, Node, Noise, Path, entries, tree_of
from nowiser.verify.verdict import flat

Floats = NDArray[np.float64]
Draw = Callable[[str, Sequence[Fraction], int], Floats]
Point = Mapping[str, Fraction]


@dataclass(frozen=True)
class Runs:
    """Outputs by shape: a flattened row with None where numbers are, and the numbers of the runs that gave it."""

    count: int
    shapes: Mapping[tuple[Any, ...], Floats]


class Noises:
    """Noise that is drawn once for each place and used by every candidate, or drawn freshly for a confirmation."""

    def __init__(self, count: int, draw: Draw) -> None:
        self.count, self._draw = count, draw
        self._kept: dict[Any, Floats] = {}

    def of(self, place: int, noise: Noise) -> Floats:
        key = place, noise.kind, noise.scale.constant
        if key not in self._kept:
            self._kept[key] = self._draw(noise.kind, [noise.scale.constant], self.count)
        return self._kept[key]

    def coins(self, prefix: tuple[int, ...]) -> Floats:
        """Uniform numbers for the coin behind these decisions."""
        if prefix not in self._kept:
            self._kept[prefix] = self._draw("uniform", [], self.count)
        return self._kept[prefix]


def quick(seed: int = 1) -> Draw:
    """Floating noise for looking around: nothing is concluded from it."""
    rng = np.random.default_rng(seed)

    def draw(kind: str, arguments: Sequence[Fraction], n: int) -> Floats:
        scale = float(arguments[0]) if arguments else 1.0
        match kind:
            case "laplace":
                return rng.laplace(0, scale, n)
            case "exponential":
                return rng.exponential(scale, n)
            case "gaussian":
                return rng.normal(0, scale, n)
            case "geometric":
                return (rng.geometric(-np.expm1(-1 / scale), n) - 1).astype(np.float64)
            case "discrete_laplace":
                p = -np.expm1(-1 / scale)
                return rng.geometric(p, n).astype(float) - rng.geometric(p, n)
        return rng.random(n)

    return draw


def exact(kind: str, arguments: Sequence[Fraction], n: int) -> Floats:
    """Noise of the exact samplers."""
    return many_floats(kind, arguments, n)


def simulate(paths: Sequence[Path], point: Point, noises: Noises) -> Runs:
    """Run the program `noises.count` times on this input."""
    found: dict[tuple[Any, ...], list[Floats]] = {}
    waiting: list[tuple[Node, NDArray[np.int64], tuple[int, ...]]] = [(tree_of(paths), np.arange(noises.count), ())]
    while waiting:
        node, runs, prefix = waiting.pop()
        if not len(runs):
            continue
        decision = node.decision
        if decision is None:
            path = paths[node.path]
            numbers = [_values(f, path.noises, point, noises, runs) for f in entries(path.output)[1]]
            columns = np.column_stack(numbers) if numbers else np.zeros((len(runs), 0))
            found.setdefault(_shape(path.output), []).append(columns)
            continue
        outcomes = _outcomes(decision, _noises_below(node, paths), point, noises, runs, prefix)
        for value, child in node.next.items():
            waiting.append((child, runs[outcomes == value], (*prefix, value)))
    return Runs(noises.count, {shape: np.concatenate(parts) for shape, parts in found.items()})


def _noises_below(node: Node, paths: Sequence[Path]) -> Sequence[Noise]:
    """The noises drawn before this decision: those of any path through it (later ones are not mentioned in it)."""
    while node.decision is not None:
        node = next(iter(node.next.values()))
    return paths[node.path].noises


def _outcomes(  # noqa: PLR0917
    decision: Decision,
    drawn: Sequence[Noise],
    point: Point,
    noises: Noises,
    runs: NDArray[np.int64],
    prefix: tuple[int, ...],
) -> NDArray[np.int64]:
    if decision.kind == "row":
        value = _values(decision.form, drawn, point, noises, runs)
        return ((value > 0) if decision.strict else (value >= 0)).astype(np.int64)
    coins = noises.coins(prefix)[runs]
    if decision.kind == "flip":
        return (coins < float(decision.form.constant)).astype(np.int64)
    weights = np.exp([float(s.at(point)) for s in decision.scores])
    return np.searchsorted(np.cumsum(weights) / weights.sum(), coins, side="right")


def _values(form: Form, drawn: Sequence[Noise], point: Point, noises: Noises, runs: NDArray[np.int64]) -> Floats:
    fixed = form.constant
    value = np.zeros(len(runs))
    for name, c in form.terms.items():
        if name.startswith("x"):
            place = int(name[1:])
            value += float(c) * noises.of(place, drawn[place])[runs]
        else:
            fixed += c * point[name]
    return value + float(fixed)


def _shape(output: Any) -> tuple[Any, ...]:
    """The flattened output with None for numbers that depend on data, publics or noise."""
    return tuple(None if isinstance(v, Form) else float(v) if isinstance(v, Fraction) else v for v in flat(output))
