"""Everybody's secret bit, from answers to many random questions ("how many of these people have it?").

Dinur and Nissim, "Revealing Information while Preserving Privacy", 2003: too many answers that are too exact give all
bits away. Four attackers: exact (least squares), linear (ridge), message passing (AMP: Donoho, Maleki and Montanari
2009), linear programming (Dwork, McSherry and Talwar 2007), which does not care how the noise is distributed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import norm

from nowiser.attacks.view import Floats, Goal, Guesses, View

ROUNDS = 30


def questions(many: int, persons: int, random: np.random.Generator) -> NDArray[np.int8]:
    """Random sets: each person is in about half of them."""
    return random.integers(0, 2, (many, persons), np.int8)


def linear(sets: NDArray[np.generic], answers: Floats, noise: float, share: float = 0.5) -> Floats:
    """The best linear estimate of each bit. noise: its standard deviation; share: how many have the bit."""
    a = sets.astype(np.float64)
    rest = answers - a.sum(axis=1) * share
    spread = share * (1 - share)
    many, persons = a.shape
    ridge = max(noise**2 / spread, 1e-9)
    if many < persons:
        return np.asarray(share + a.T @ np.linalg.solve(a @ a.T + ridge * np.eye(many), rest))
    return np.asarray(share + np.linalg.solve(a.T @ a + ridge * np.eye(persons), a.T @ rest))


def passing(sets: NDArray[np.generic], answers: Floats, noise: float, share: float = 0.5) -> Floats:
    """Approximate message passing, which uses that a bit is 0 or 1. Signs instead of bits, columns of length one."""
    many, persons = sets.shape
    signs = 2.0 * sets.astype(np.float64) - 1.0
    # answers = sets·x, x = (1 + s)/2: four times the answers are signs·s + Σ s + signs·1 + persons, up to noise
    total = persons * (2 * share - 1)  # Σ s, estimated by the average of the answers
    y = 4 * answers - signs.sum(axis=1) - persons
    total = float(y.mean()) if many > 4 else total
    a, y = signs / np.sqrt(many), (y - total) / np.sqrt(many)
    s, old, z = np.zeros(persons), np.zeros(persons), y.copy()
    variance = max(float(z @ z) / many, 1e-12)
    tilt = np.log(share / (1 - share)) / 2
    floor = max(16 * noise**2 / many, 1e-9)
    for _ in range(ROUNDS):
        s = np.tanh((s + a.T @ z) / variance + tilt)
        onsager = persons / many * float((1 - s**2).mean()) / variance
        z = y - a @ s + z * onsager
        variance = max(float(z @ z) / many, floor)
        if np.abs(s - old).max() < 1e-6:
            break
        old = s
    return np.asarray((1 + s) / 2)


def programme(sets: NDArray[np.generic], answers: Floats) -> Floats:
    """The bits between 0 and 1 whose answers differ least from those given, in absolute sum."""
    many, persons = sets.shape
    a = sets.astype(np.float64)
    cost = np.concatenate([np.zeros(persons), np.ones(many)])
    upper = np.block([[a, -np.eye(many)], [-a, -np.eye(many)]])
    found = linprog(
        cost,
        A_ub=upper,
        b_ub=np.concatenate([answers, -answers]),
        bounds=[(0, 1)] * persons + [(0, None)] * many,
        method="highs",
    )
    return np.asarray(found.x[:persons])


def expected(persons: int, many: int, noise: float) -> float:
    """Share of the bits that the linear attacker gets right, for half of them set: closed form for large numbers."""
    own, per = 16 * noise**2 / many, persons / many
    b = 1 - own - per
    t = (-b + np.sqrt(b * b + 4 * own)) / 2
    return float(norm.cdf(1 / np.sqrt(t))) if t > 0 else 1.0


@dataclass(frozen=True)
class Bits:
    name: str = "bits from many answers"
    goal: Goal = "value"
    against: str = "answers"
    knows: str = "which people each answer is about"
    source: str = "Dinur and Nissim 2003; Dwork, McSherry and Talwar 2007; Donoho, Maleki and Montanari 2009"
    needs: frozenset[str] = frozenset({"answers"})
    minutes: float = 0.01

    def guess(self, view: View, random: np.random.Generator) -> Guesses:  # noqa: ARG002 (he tosses no coins)
        sets, answers, noise = view.more["sets"], view.more["answers"], float(view.more["noise"])
        exact = noise == 0
        likely = linear(sets, answers, noise) if exact else passing(sets, answers, noise)
        return Guesses.of((likely > 0.5).astype(np.int64), np.abs(likely - 0.5))


ATTACK = Bits()
