"""Randomised response: everybody blurs the own answer before it is collected.

*Why private.* With k possible answers, the truth is sent with probability `e^ε/(e^ε + k − 1)` and each other answer
with `1/(e^ε + k − 1)`. For two true values the probability of any answer sent differs by the factor `e^ε` or 1.
So one answer costs a jump of exactly ε. Nothing needs to be trusted but the device of the person who answers.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.noise.certified import Enclosure, Steps, exp_minus, ratio
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.explained import sentence
from nowiser.noise.integers import to_fraction
from nowiser.noise.uniform import below


@dataclass(frozen=True)
class Estimate:
    """How many people truly have each answer: unbiased, with its standard error."""

    domain: tuple[Hashable, ...]
    counts: tuple[float, ...]
    errors: tuple[float, ...]  # 95 % half-widths, normal approximation


@dataclass(frozen=True)
class RandomisedResponse:
    """Answers from a public `domain`, each costing a jump of `jump` nats."""

    domain: tuple[Hashable, ...]
    jump: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "jump", to_fraction("jump", self.jump))
        if len(set(self.domain)) != len(self.domain) or len(self.domain) < 2:
            raise Misconfigured(f"domain must list at least two different answers, got {len(self.domain)}")

    @property
    def truthful(self) -> float:
        """How often the true answer is sent."""
        odds = math.exp(min(700.0, float(self.jump)))
        return odds / (odds + len(self.domain) - 1)

    def collect(self, answers: Sequence[Hashable], entropy: Entropy = OS) -> tuple[Hashable, ...]:
        """What is sent in place of these true answers; exact probabilities."""
        index = {value: i for i, value in enumerate(self.domain)}
        unknown = sum(a not in index for a in answers)
        if unknown:
            raise Misconfigured(f"{unknown} of {len(answers)} answers are not in the domain of {len(index)} answers")
        k = len(self.domain)
        true = np.array([index[a] for a in answers], dtype=np.int64)
        lies = self._lies().draw(len(true), entropy).astype(bool)
        shift = np.zeros(len(true), dtype=np.int64)
        shift[lies] = 1 + below(k - 1, int(lies.sum()), entropy)
        return tuple(self.domain[i] for i in (true + shift) % k)

    def _lies(self) -> Steps:
        """1 with probability (k−1)/(e^ε + k − 1) = (k−1)e^(−ε)/(1 + (k−1)e^(−ε))."""
        others = len(self.domain) - 1

        def bounds(bits: int) -> list[Enclosure]:
            one = 1 << bits
            lo, hi = (others * end for end in exp_minus(self.jump, bits))
            return [(ratio((lo, lo), (one + lo, one + lo), bits)[0], ratio((hi, hi), (one + hi, one + hi), bits)[1])]

        return Steps(bounds)

    def estimate(self, sent: Sequence[Hashable]) -> Estimate:
        """Unbiased counts of the true answers: `(sent_j − n·r)/(p − r)`, p truth, r one other answer."""
        n, k, p = len(sent), len(self.domain), self.truthful
        r = (1 - p) / (k - 1)
        index = {value: i for i, value in enumerate(self.domain)}
        unknown = sum(a not in index for a in sent)
        if unknown:
            raise Misconfigured(f"{unknown} of {n} answers are not in the domain of {k} answers")
        seen = np.bincount(np.array([index[a] for a in sent], dtype=np.int64), minlength=k)
        counts = (seen - n * r) / (p - r)
        # sent_j is a sum of n independent coins: `true_j` of them with chance p, the others with chance r
        held = np.clip(counts, 0, n)
        variance = (held * p * (1 - p) + (n - held) * r * (1 - r)) / (p - r) ** 2
        return Estimate(self.domain, tuple(map(float, counts)), tuple(map(float, 1.959964 * np.sqrt(variance))))

    def explained(self, before: float) -> str:
        return f"Randomised response, truthful in {100 * self.truthful:.4g} %. {sentence(self.jump, before)}"


def randomised_response(domain: Sequence[Hashable], jump: Fraction | float) -> RandomisedResponse:
    """Collect answers from `domain` at `jump` nats each, and estimate how many people have each answer.

    >>> survey = randomised_response(["yes", "no"], jump=1)
    >>> sent = survey.collect(["yes", "no", "no"])
    >>> survey.estimate(sent).domain
    ('yes', 'no')
    """
    return RandomisedResponse(tuple(domain), Fraction(jump))
