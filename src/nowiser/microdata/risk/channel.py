"""What is published about a perturbation, as the attacker uses it: the likelihood of what he sees.

A channel tells, for a true value x and a released value y, how likely y was. With the prior of the
column that gives the posterior by Bayes: exact, because the method's parameters are in the codebook.

| channel    | methods                                   | likelihood                                     |
|------------|-------------------------------------------|------------------------------------------------|
| `Matrix`   | PRAM, randomised response                 | the entry of the published matrix              |
| `Noise`    | additive and correlated noise             | density of the noise at y − (c + f·(x − c))    |
|            | correlated noise, all columns `together`  | density of the joint noise of the whole row    |
| `Ranks`    | rank swapping                             | triangular in the distance of ranks            |
| `Released` | shuffling, record swapping, sampling, ... | unknown: the attacker takes values as they are |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nowiser.microdata.risk.best_guess import Floats, Ints
from nowiser.microdata.risk.together import Together
from nowiser.microdata.table.column import Column

Shape = Literal["normal", "laplace", "uniform"]


@dataclass(frozen=True, eq=False)
class Matrix:
    """`chances[s, i, j]`: in stratum s, true category i is seen as output j. `seen[r]` is the output of row r."""

    labels: tuple[str, ...]  # of the true categories
    chances: Floats
    strata: Ints
    seen: Ints

    def posterior(self, prior: Floats) -> Floats:
        """`post[s, j, i]`: belief in category i after seeing output j in stratum s. Outputs that never occur: prior."""
        joint = np.swapaxes(self.chances * prior[None, :, None], 1, 2)
        total = joint.sum(axis=2, keepdims=True)
        return np.where(total > 0, joint / np.where(total > 0, total, 1.0), prior[None, None, :])


@dataclass(frozen=True, eq=False)
class Noise:
    """`y = centre + factor·(x − centre) + noise`, the noise with this shape and standard deviation per stratum."""

    shape: Shape
    deviation: Floats
    factor: Floats | None = None
    centre: Floats | None = None
    strata: Ints | None = None
    together: Together | None = None  # the joint law, if several columns got their noise at once
    own: bool = False  # whether its spread was taken from the column, which tells something of all its values

    def likelihood(self, seen: Floats, strata: Ints, true: Floats) -> Floats:
        """Density of each seen value (rows) if the true value were each of `true` (columns)."""
        deviation = self.deviation[strata][:, None]
        factor = 1.0 if self.factor is None else self.factor[strata][:, None]
        centre = 0.0 if self.centre is None else self.centre[strata][:, None]
        away = seen[:, None] - (centre + factor * (true[None, :] - centre))
        scaled = np.where(
            deviation > 0, away / np.where(deviation > 0, deviation, 1.0), np.where(away == 0, 0.0, np.inf)
        )
        return np.asarray(np.exp(log_density(self.shape, scaled)))


@dataclass(frozen=True, eq=False)
class Ranks:
    """Values exchanged with a partner at most `width[s]` ranks away in stratum s, nearer ones likelier."""

    width: Ints
    strata: Ints


@dataclass(frozen=True)
class Released:
    """Nothing is published that would help beyond the released values themselves."""


Channel = Matrix | Noise | Ranks | Released


def estimated(original: Column, released: Column, origin: Ints) -> Channel:
    """The channel that an unknown perturbation looks like, from the rows themselves: more than an attacker has.

    Numbers: normal noise of the size that was really added. Categories: how often each was released as each.
    """
    if original.same_rows(released, origin):
        return Released()
    strata = np.zeros(len(released), dtype=np.int64)
    if original.is_numeric and released.is_numeric and len(original.values) > 20:
        away = released.numbers - original.numbers[origin]
        spread = float(np.nanstd(away)) if np.isfinite(away).any() else 0.0
        return Noise("normal", np.array([spread]), strata=strata) if spread > 0 else Released()
    inputs, outputs = len(original.values), len(released.values)
    shown = (original.codes[origin] >= 0) & (released.codes >= 0)
    if not shown.any() or inputs * outputs > 250_000:
        return Released()
    flat = original.codes[origin].astype(np.int64) * outputs + released.codes
    counts = np.bincount(flat[shown], minlength=inputs * outputs).reshape(inputs, outputs) + 1e-9
    return Matrix(
        original.labels, (counts / counts.sum(axis=1, keepdims=True))[None], strata, released.codes.astype(np.int64)
    )


def log_density(shape: Shape, scaled: Floats) -> Floats:
    """Log density, up to a constant, of noise with standard deviation one."""
    if shape == "normal":
        return -0.5 * scaled**2
    if shape == "laplace":
        return np.asarray(-np.sqrt(2) * np.abs(scaled))
    return np.asarray(np.where(np.abs(scaled) <= np.sqrt(3) * (1 + 1e-9), 0.0, -np.inf))


def parted_channel(channel: Matrix, joint: Ints, labels: Sequence[str], part: Ints) -> Matrix:
    """What a joint randomisation of several columns tells about one of them.

    `part[i]` is the category of that column in combination i. A true category a spreads over the
    combinations that contain it as the data do (per stratum), each of which is seen as any combination:
    the rows of the joint matrix are averaged with those shares. The outputs stay the joint ones, because the
    attacker sees all columns.
    """
    strata, combos, _ = channel.chances.shape
    out = np.zeros((strata, len(labels), channel.chances.shape[2]))
    for s in range(strata):
        shown = (channel.strata == s) & (joint >= 0)
        counts = np.bincount(joint[shown], minlength=combos) + 1e-9  # categories absent here spread evenly
        share = np.zeros((len(labels), combos))
        share[part, np.arange(combos)] = counts
        share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
        out[s] = share @ channel.chances[s]
        empty = out[s].sum(axis=1) == 0
        out[s][empty] = 1 / combos
    return Matrix(tuple(labels), out, channel.strata, channel.seen)
