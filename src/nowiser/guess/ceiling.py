"""From a question to its answer: labels, one number, independent attributes (product), or dependent ones (joint)."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.guess import labels
from nowiser.guess.figures import Figures, Found, Victims, Worst, odds_factor
from nowiser.guess.formula import Formula, Leaf, merged, name_of, simple_goals
from nowiser.guess.joint.asked import joint_found
from nowiser.guess.number import victims as numbers
from nowiser.guess.product import Part, found_of_victim, found_of_worst
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost, per_attribute
from nowiser.model.goal import And, Goal, On, Or, Present, Within
from nowiser.model.prior import JointAtoms, JointHistogram, MultivariateNormal, Prior
from nowiser.model.witness import Witness

TIGHT = 0.999  # of a ceiling: where a known mechanism reaches that much, the ceiling is said to be tight

Costs = Cost | Mapping[str, Cost]
Priors = Prior | Mapping[str, Prior]
JOINT = (JointAtoms, MultivariateNormal, JointHistogram)


def ceiling(prior: Priors, goal: Goal, costs: Costs, victim: Any = None) -> Advantage:
    """The ceiling; see `nowiser.guess.ask.guess` for the contract."""
    charged, found = _asked(prior, goal, costs, victim)
    figures, every = found.figures, _each(charged)
    return Advantage(
        before=figures.before,
        after=figures.after,
        gain=figures.after - figures.before,
        odds=odds_factor(figures.before, figures.after),
        smallest=figures.smallest,
        slope=sum(cost.slope for cost in every),
        jump=sum(cost.jump for cost in every),
        victim=found.victim,
        witness=found.witness,
        goal=str(goal),
        worst=victim is None,
        tight=found.attained >= TIGHT * figures.after,
        attained=found.attained,
        prior=prior,
        asked=goal,
        costs=costs,
    )


def gain_of(prior: Priors, goal: Goal, costs: Costs, victim: Any = None) -> tuple[float, float]:
    """Only before and after of `ceiling`, the very same: for searches."""
    figures = _asked(prior, goal, costs, victim)[1].figures
    return figures.before, figures.after


def _asked(prior: Priors, goal: Goal, costs: Costs, victim: Any) -> tuple[Costs, Found]:
    """What is charged, and what was found; where nothing is told, nobody gains anything."""
    if not isinstance(goal, Goal):
        raise Misconfigured(f"goal must be a goal or its text, found {goal!r}")
    charged = charged_to(prior, goal, costs)
    found = _found(prior, goal, charged, _as_floats(victim))
    if any(_each(charged)):
        return charged, found
    before = found.figures.before  # what is not known about the prior probability is no gain
    return charged, Found(Figures(before, before, before), found.victim, found.witness, before)


def _found(prior: Priors, goal: Goal, costs: Costs, victim: Any) -> Found:
    of, parts = parts_of(prior, goal, costs)
    if victim is None:
        return _worst(of, parts)
    if len(parts) == 1 and parts[0].together:
        return parts[0].found(victim)
    return found_of_victim(of, [Part(part.names, _victims(part)) for part in parts], victim)


@lru_cache(maxsize=64)  # calibration ends where guess asks
def _worst(of: Formula, parts: "tuple[Question, ...]") -> Found:
    if len(parts) == 1 and parts[0].together:
        return parts[0].found(None)
    told = any(part.costs for part in parts)
    return found_of_worst(of, [Part(part.names, _victims(part)) for part in parts], told=told)


@lru_cache(maxsize=64)  # they hold priors that are cut into pieces
def _victims(asked: "Question") -> Victims:
    """Everybody, as seen by a part of the goal."""
    if asked.together:
        return _Dependent(asked)
    present = any(isinstance(leaf, Present) for leaf in simple_goals(asked.goal))
    room = numbers if asked.priors[0].kind == "line" and not present else labels
    what = ", ".join(asked.goal.attributes) or "the attribute"
    assert isinstance(asked.costs, Cost)
    victims: Victims = room.victims_of(asked.priors[0], asked.goal, asked.costs, what)
    return victims


@dataclass(frozen=True)
class Question:
    """A part of a goal: on attributes of its own, with their priors and costs."""

    names: tuple[str | None, ...]  # (None,) for the only attribute, where it has no name
    priors: tuple[Prior, ...]  # one for each, or one for all
    goal: Goal
    costs: Cost | tuple[tuple[str, Cost], ...]

    @property
    def together(self) -> bool:
        """Whether it is asked by a joint prior, of one attribute or more."""
        return len(self.names) > 1 or isinstance(self.priors[0], JOINT)

    def found(self, victim: Any) -> Found:
        """The answer for attributes that depend on each other, or cannot be told apart in the goal."""
        joint = isinstance(self.priors[0], JOINT)
        prior: Any = self.priors[0] if joint else dict(zip(self.names, self.priors, strict=True))
        return joint_found(prior, self.goal, self.costs if isinstance(self.costs, Cost) else dict(self.costs), victim)


def parts_of(prior: Priors, goal: Goal, costs: Costs) -> tuple[Formula, tuple[Question, ...]]:
    """The goal as a formula over goals on independent attributes."""
    if isinstance(prior, JOINT):
        every = costs if isinstance(costs, Cost) else tuple(costs.items())
        return Leaf(0), (Question(prior.names, (prior,), goal, every),)
    priors: Mapping[str | None, Any] = _priors(prior, goal)
    only = next(iter(priors)) if len(priors) == 1 else None
    of, goals = merged(goal, only)
    found = []
    for each in goals:
        names: tuple[str | None, ...] = each.attributes or tuple(priors)
        charged = _cost(costs, names, alone=len(goals) == 1)
        found.append(Question(names, tuple(priors[name] for name in names), each, charged))
    return of, tuple(found)


def _priors(prior: Any, goal: Goal) -> Mapping[Any, Prior]:
    """The prior of each attribute; of the only one under None where it has no name."""
    if isinstance(prior, Prior):
        return dict.fromkeys(goal.attributes or (None,), prior)
    if not isinstance(prior, Mapping) or not prior:
        raise Misconfigured(f"prior must be a prior, or a mapping from attribute to prior, found {prior!r}")
    if len(prior) != 1 and any(name_of(leaf) is None for leaf in simple_goals(goal)):
        raise Misconfigured(f"the goal must name its attribute; the priors are about {', '.join(prior)}")
    for name in goal.attributes:
        if name not in prior:
            raise Misconfigured(f"there is no prior for {name}; there are priors for {', '.join(prior)}")
    for name in goal.attributes or prior:
        if not isinstance(prior[name], Prior) or isinstance(prior[name], JOINT):
            raise Misconfigured(f"prior must be a prior of one attribute ({name}), found {prior[name]!r}")
    return prior


def _cost(costs: Costs, names: tuple[str | None, ...], *, alone: bool) -> Cost | tuple[tuple[str, Cost], ...]:
    """What was released about these attributes: one cost for one attribute, or for a distance on a map."""
    if isinstance(costs, Cost):
        if not alone and costs:
            raise Misconfigured("a goal on several attributes needs costs per attribute, found one slope and jump")
        return costs
    if len(names) > 1:
        return tuple((name, cost) for name, cost in costs.items() if name in names)
    if names[0] is None and len(costs) == 1:
        return next(iter(costs.values()))
    return costs.get(names[0], Cost()) if names[0] is not None else Cost()


@dataclass(frozen=True, eq=False)
class _Dependent:
    """Everybody, as seen by a part of the goal that is about several attributes together.

    Of the worst victim only a bound G on the gain is known; `after` is at most A = min(1, B + G) with B the largest
    prior probability. So up·after − down·before is at most up·G, or down·G + (up − down)·A where up is larger.
    """

    asked: Question

    @cached_property
    def _found(self) -> Found:
        return self.asked.found(None)

    def _of(self, victim: Any) -> Found:
        return self._found if victim == self._found.victim else self.asked.found(victim)

    def at(self, victim: Any) -> Figures:
        return self._of(victim).figures

    def worst(self, up: float = 1.0, down: float = 1.0, *, sharp: float = 0.0) -> Worst:
        del sharp  # there is one bound
        before, after = self._found.figures.before, self._found.figures.after
        gain = after - before
        most = min(1.0, self.likeliest() + gain)
        return Worst(self._found.victim, before, after, min(up, down) * gain + max(up - down, 0.0) * most)

    def likeliest(self) -> float:
        return self._likeliest(self.asked.goal)

    def _likeliest(self, goal: Goal) -> float:
        """From above: a disc is met no more often than its shadow on any axis."""
        if isinstance(goal, And):
            return min(map(self._likeliest, goal.parts))
        if isinstance(goal, Or):
            return min(1.0, sum(map(self._likeliest, goal.parts)))
        if not isinstance(goal, On) or not isinstance(goal.goal, Within):
            return 1.0
        priors = dict(zip(self.asked.names, self.asked.priors, strict=True))
        return min(
            _victims(Question((name,), (priors[name],), On(name, goal.goal), Cost())).likeliest()
            for name in goal.attributes
        )

    def witness(self, victim: Any) -> Witness:
        return self._of(victim).witness

    def attained(self, victim: Any) -> float:
        return self._of(victim).attained


def _as_floats(victim: Any) -> Any:
    """The victim with fractions and decimals as floats, as costs may be given too."""
    if isinstance(victim, Mapping):
        return {name: _as_floats(value) for name, value in victim.items()}
    if isinstance(victim, (tuple, list)):
        return tuple(map(_as_floats, victim))
    return float(victim) if isinstance(victim, (Decimal, Fraction)) else victim


def charged_to(prior: Priors, goal: Goal, costs: Any) -> Costs:
    """The costs, each for an attribute that somebody speaks of: what is misspelt must not be free.

    Without those that tell nothing: of attributes that the goal is not about and that are independent of it, or cost
    nothing.
    """
    if isinstance(costs, Cost):
        return costs
    if isinstance(prior, Mapping):
        found = per_attribute(costs, prior)
        return {n: c for n, c in found.items() if n in goal.attributes} if goal.attributes else found
    names = getattr(prior, "names", None)
    if names is not None:
        return {n: c for n, c in per_attribute(costs, names).items() if c or n in goal.attributes}
    return per_attribute(costs, goal.attributes or None, "the goal is")


def _each(costs: Costs) -> list[Cost]:
    return [costs] if isinstance(costs, Cost) else list(costs.values())
