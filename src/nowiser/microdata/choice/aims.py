"""What the worlds are counted for: each guess that is printed about a release or limited by its recipe.

A guess is right about some of the joint secrets and wrong about the others, so a table of who has which secret how
often gives the chances of all guesses.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nowiser.microdata.candidates import Candidate
from nowiser.microdata.choice.possible import Possible
from nowiser.microdata.groups.groups import Groups, Target, targets_of, values_in
from nowiser.microdata.method_contract import Guessing, Run
from nowiser.microdata.models.gain import Gain
from nowiser.microdata.models.joint_gain import JointGain
from nowiser.microdata.table.column import Floats
from nowiser.microdata.table.micro_table import MicroTable

Model = Gain | JointGain


@dataclass(frozen=True, eq=False)
class Aim:
    """What is guessed, in words; guesses × joint secrets, 1 where one is right; the smallest gain that is promised."""

    said: Guessing
    hits: Floats
    limit: float | None

    def gained(self, after: Floats, before: Floats) -> tuple[float, float]:
        """Before → after of the guess that gains most; `after`: a row per person, a column per joint secret."""
        chances, known = (after @ self.hits.T).max(axis=0), self.hits @ before
        at = int((chances - known).argmax())
        return float(known[at]), float(chances[at])


def aims(run: Run, chosen: Candidate, possible: Possible) -> tuple[Aim, ...]:
    """The guesses that are printed as counted, and all that a `gain` or `joint-gain` of the recipe limits."""
    limited = list(_limited(run))
    shown: list[Model] = [Gain(about=g.column, within=g.within) for g in chosen.guesses if g.how == "counted"]
    one_each = possible.original.take(possible.there)
    out = []
    for model in dict.fromkeys(m for m in [*shown, *map(_plain, limited)] if _named(m) <= set(possible.columns)):
        limits = [m.limit for m in limited if _plain(m) == model and m.limit is not None]
        groups = _apart(one_each, run, model)
        out.append(Aim(_said(model, groups), _hits(model, groups), min(limits, default=None)))
    return tuple(out)


def _limited(run: Run) -> Iterator[Model]:
    for model in run.models:
        if isinstance(model, JointGain):
            yield model
        elif isinstance(model, Gain) and (model.knows is None or model.knows >= len(run.roles.quasi)):
            yield replace(model, knows=None)


def _plain(model: Model) -> Model:
    """What is guessed, without its limit."""
    return replace(model, gain=None)


def _named(model: Model) -> set[str]:
    return set(model.parts) if isinstance(model, JointGain) else {model.about}


def _apart(rows: MicroTable, run: Run, model: Model) -> Groups:
    """Every joint secret as a group of its own."""
    columns = [] if isinstance(model, JointGain) else [model.about]
    targets = targets_of(rows, columns, [model], run.hierarchies)
    ones = np.ones(rows.rows, np.int64)
    return Groups(
        np.arange(rows.rows, dtype=np.int32)[:, None], ones, tuple(_shown(rows, t) for t in targets), tuple(targets)
    )


def _shown(rows: MicroTable, target: Target) -> Any:
    return np.eye(len(target.totals), dtype=np.int32)[values_in(rows, target)]


def _hits(model: Model, groups: Groups) -> Floats:
    if isinstance(model, JointGain):
        return np.asarray(model.chances(groups)[0].T, dtype=np.float64)
    return np.asarray((model.lifts(groups) + model.before(groups.targets[0])).T.round(), dtype=np.float64)


def _said(model: Model, groups: Groups) -> Guessing:
    if isinstance(model, JointGain):
        return Guessing("", model.goal, 0.0, 0.0)
    name = model.about
    if model.among is not None:
        name += f" in {{{', '.join(model.among)}}}"
    elif model.between is not None:
        name += f" in [{model.between[0]:g}, {model.between[1]:g}]"
    number = groups.targets[0].ordered and name == model.about
    return Guessing("", f"not {name}" if model.outside else name, 0.0, 0.0, within=model.within, number=number)
