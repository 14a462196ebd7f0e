"""Trade-off functions of long compositions, through the privacy-loss distributions of dp-accounting.

A privacy-loss distribution keeps the whole law of the loss; convolving these laws composes mechanisms. dp-accounting
rounds them pessimistically, and δ(ε) is used on a grid, so that the result stays a bound.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.average.tradeoff import Tradeoff, from_curve
from nowiser.model.checks import number

_CELLS = 200_000  # losses kept per distribution; more only sharpens the bound


@dataclass(frozen=True)
class Answer:
    """One noisy answer, `times` times over: `loss` is ε for Laplace and pure, μ for Gaussian."""

    noise: Literal["laplace", "gaussian", "pure"]
    loss: float
    times: int = 1
    delta: float = 0.0  # only for "pure": an (ε, δ)-private answer of unknown shape

    def __post_init__(self) -> None:
        if self.noise not in ("laplace", "gaussian", "pure"):
            raise Misconfigured(f"noise must be 'laplace', 'gaussian' or 'pure'; found {self.noise!r}")
        number("loss", self.loss, low=0.0, high=100.0, strict=True)
        if number("times", self.times, low=1.0) % 1 != 0:
            raise Misconfigured(f"times must be a whole number ≥ 1; found {self.times!r}")
        if not number("delta", self.delta, low=0.0, high=1.0) < 1.0 or (self.delta and self.noise != "pure"):
            raise Misconfigured(f"delta must be in [0, 1) and is only for noise='pure'; found {self.delta!r}")


def composed(answers: Iterable[Answer]) -> Tradeoff:
    """What all the answers together allow an attacker on average. Needs the extra `nowiser[compositions]`."""
    answers = tuple(answers)
    for answer in answers:
        if not isinstance(answer, Answer):
            raise Misconfigured(f"composed takes answers; found {answer!r}")
    if not answers:
        raise Misconfigured("composed needs at least one answer; found none")
    # about the largest loss of all of them; only steers the grid
    width = sum(a.times * a.loss * (a.loss / 2 + 10 if a.noise == "gaussian" else 1) for a in answers)
    interval = max(1e-5, min(1e-3, width / _CELLS))
    each = (_distribution(answer, interval).self_compose(answer.times) for answer in answers)
    total = reduce(lambda one, other: one.compose(other), each)
    top, fine = min(width, 60.0), min(width, 8.0)  # where trade-offs bend; the tails need few points
    grid = np.unique(np.concatenate([np.linspace(-top, top, 601), np.linspace(-fine, fine, 4001), [0.0]]))
    deltas = np.clip(np.asarray(total.get_delta_for_epsilon(grid)), 0.0, 1.0)
    words = " + ".join(f"{a.times} × {a.noise}({a.loss:g})" for a in answers)
    return from_curve(grid.tolist(), deltas.tolist(), words)


def _distribution(answer: Answer, interval: float) -> Any:
    try:
        from dp_accounting.pld import common, privacy_loss_distribution as pld
    except ImportError as missing:
        raise Misconfigured(
            "long compositions need the package dp-accounting, which is not installed",
            hint="Install the extra: pip install 'nowiser[compositions]'. Without it, add up the ε and use pure(ε).",
        ) from missing
    if answer.noise == "laplace":
        return pld.from_laplace_mechanism(1.0 / answer.loss, value_discretization_interval=interval)
    if answer.noise == "gaussian":
        return pld.from_gaussian_mechanism(1.0 / answer.loss, value_discretization_interval=interval)
    both = common.DifferentialPrivacyParameters(answer.loss, answer.delta)
    return pld.from_privacy_parameters(both, value_discretization_interval=interval)
