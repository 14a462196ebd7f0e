"""What would make an answer more precise: which attacker binds, and what each change would give.

Each alternative is planned and priced as a question would be, under the changed policy or with another spend; nothing
is estimated, and nothing secret is looked at.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import isinf
from typing import Any, Literal

from nowiser.errors import Exhausted, NowiserError
from nowiser.guess.budget.allowance import multiple
from nowiser.guess.budget.parts import touched
from nowiser.model.attacker import Attacker
from nowiser.model.charge import Charge
from nowiser.model.goal import Goal, Present
from nowiser.model.policy import Policy
from nowiser.model.prior import Unknown
from nowiser.model.schema import Protect
from nowiser.policy.priors import uniform
from nowiser.report.usefulness import Figure, Size, Usefulness, judged
from nowiser.sql.answer.expected import spread
from nowiser.sql.plan.choice import FREE, Chosen, choose
from nowiser.sql.plan.plan import Plan, plan
from nowiser.sql.plan.precision import Wish
from nowiser.sql.tree import Grouped, Query, parts, scans

SPENDS = (Fraction(1, 10), Fraction(1, 5))
GAIN = Fraction(1, 10)
BETTER = 0.9  # of the bar: less of a change is not worth a word
MOST = 6  # levers that are shown
ROUND = tuple(digit * 10**power for power in range(1, 11) for digit in (1, 2, 5))  # rows


@dataclass(frozen=True)
class Lever:
    """One change, and the bar that it would give to the number that is worst now.

    who: who can make it. ask: for the analyst, arguments of `query`; empty where the question itself is changed.
    """

    what: str
    who: Literal["analyst", "custodian"]
    figure: Figure
    useful: bool
    ask: dict[str, Any] = field(default_factory=dict)

    @property
    def bar(self) -> float:
        return self.figure.bar

    @property
    def share(self) -> float:
        """Of the range or of the expected size."""
        return self.figure.share

    def __str__(self) -> str:
        shown = self.figure.kind == "threshold"
        return f"{self.what}: {f'shown from {self.bar:,.0f} persons on' if shown else self.figure.width}"

    def to_json(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "who": self.who,
            "error": None if isinf(self.bar) else self.bar,
            "share": None if isinf(self.bar) else self.share,
            "useful": self.useful,
            "ask": self.ask,
        }


@dataclass(frozen=True)
class Case:
    """A planned question: everything that a lever is computed from. All of it is public.

    read: the question and its plan under another policy; None where it cannot be planned anew.
    left: the share of the allowance that is left for whoever asks.
    """

    policy: Policy
    plan: Plan
    wish: Wish
    size: Size
    totals: Charge = FREE
    left: Fraction = Fraction(1)
    analyst: str | None = None
    own: Charge = FREE
    read: Callable[[Policy], Plan] | None = None

    def judged(
        self,
        *,
        policy: Policy | None = None,
        planned: Plan | None = None,
        spend: Fraction | None = None,
        size: Size | None = None,
    ) -> Usefulness | None:
        """How useful the answer would be; None where it would not be given."""
        planned = planned or self.plan
        chosen = self._chosen(policy or self.policy, planned, spend)
        return (
            None
            if chosen is None
            else judged(planned.through(chosen.summed), chosen.noise, size or self.size, chosen.nats)
        )

    def _chosen(self, policy: Policy, planned: Plan, spend: Fraction | None = None) -> Chosen | None:
        share = spend or self.wish.spend or self.policy.spend  # what an error costs is another question
        try:
            return choose(policy, planned, Wish(spend=share), self.totals, analyst=self.analyst, own=self.own)
        except (Exhausted, OverflowError):
            return None

    @cached_property
    def now(self) -> Usefulness | None:
        return self.judged()

    @cached_property
    def binding(self) -> Attacker | None:
        """The attacker because of whom the answer is not more precise."""
        chosen = self._chosen(self.policy, self.plan)
        if chosen is None:
            return None
        return binding(self.policy, touched(self.totals + chosen.charge, chosen.charge))


def binding(policy: Policy, charge: Charge) -> Attacker | None:
    """The attacker whose limit a charge comes nearest to; None where nobody is after it."""
    found = [(m, a) for a in policy.attackers if (m := multiple(policy, a, charge)) is not None]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def levers(case: Case) -> tuple[Lever, ...]:
    """Changes that make the worst number at least a tenth more precise: the analyst's own first, then the custodian's.

    Where none of them alone makes the answer useful without spending all that is left, the last one is all changes of
    the policy together.
    """
    if case.now is None or case.now.worst is None:
        return ()
    worst = case.now.worst
    found = [lever for lever in _all(case, worst) if lever.share < BETTER * worst.share]
    if not any(lever.useful and "all" not in lever.what for lever in found):
        found += [lever for lever in _together(case, worst) if lever.share < BETTER * worst.share]
    return tuple(found)


def people_needed(case: Case) -> int | None:
    """From about how many rows on, of those its conditions leave, the answer would be useful with the noise it has.

    None where never.
    """
    if case.now is None or not case.size.total:
        return None
    return next(
        (n for n in ROUND if n > case.size.total and not _useless(case, case.size.times(n / case.size.total))), None
    )


def _useless(case: Case, size: Size) -> bool:
    found = case.judged(size=size)
    return found is None or found.useless


def _lever(
    case: Case, worst: Figure, words: tuple[str, Literal["analyst", "custodian"]], **changed: Any
) -> Iterator[Lever]:
    ask = changed.pop("ask", {})
    found = case.judged(**changed)
    figure = None if found is None else next((f for f in found.figures if f.name == worst.name), None)
    if found is not None and figure is not None:
        yield Lever(*words, figure, not found.useless, ask)


def _all(case: Case, worst: Figure) -> Iterator[Lever]:
    yield from _spending(case, worst)
    yield from _fewer_groups(case, worst)
    for what, policy, planned in _policies(case):
        yield from _lever(case, worst, (what, "custodian"), policy=policy, planned=planned)


def _spending(case: Case, worst: Figure) -> Iterator[Lever]:
    now = case.wish.spend or case.policy.spend
    for share in (s for s in SPENDS if now < s <= case.left):
        said = f"{float(100 * share):g}%"
        yield from _lever(case, worst, (f'spend="{said}"', "analyst"), spend=share, ask={"spend": said})
    whole = Fraction(int(case.left * 1000), 1000)  # rounded down
    if whole > max(now, SPENDS[-1]):
        said = f"{float(100 * whole):g}%"
        words = f'spend="{said}", all that is left'
        yield from _lever(case, worst, (words, "analyst"), spend=whole, ask={"spend": said})


def _fewer_groups(case: Case, worst: Figure) -> Iterator[Lever]:
    query = case.plan.query
    whole = without_groups(query)
    if whole is None:
        return
    try:
        planned = plan(whole, case.policy)
    except NowiserError:
        return
    size = Size(spread(planned, case.size.total), case.size.source)
    yield from _lever(case, worst, ("without GROUP BY", "analyst"), planned=planned, size=size)


def without_groups(query: Query) -> Query | None:
    """The same numbers over all groups together; None where there is one group, or a number needs the groups."""
    if not query.keys or query.after or any(a.function == "running" for a in query.aggregates):
        return None
    outputs = tuple(o for o in query.outputs if not any(isinstance(p, Grouped) for p in parts(o.expression)))
    if not outputs:
        return None
    return replace(
        query,
        keys=(),
        outputs=outputs,
        having=None,
        order=(),
        limit=None,
        offset=0,
        sets=None,
        distinct=False,
        marks=(),
    )


Change = tuple[str, Policy, Plan | None]


def _policies(case: Case) -> Iterator[Change]:
    """Changes of the policy, one at a time. Where the plan depends on it, the new plan."""
    policy = case.policy
    if (known := _with_priors(policy)) is not policy:
        names = [n for n in policy.priors if known.priors[n] is not policy.priors[n]]
        several = f"{len(names)} columns" if len(names) > 2 else " and ".join(names)
        yield f"`prior: uniform` for {several} instead of unknown", known, None
    if (wider := _with_gain(policy)) is not policy:
        yield f"`gain: {float(100 * GAIN):g}%` for every attacker", wider, None
    if (apart := _independent(policy)) is not policy:
        yield "`independent`, if the columns of the goals tell nothing about each other", apart, None
    if (values := _of_values(case)) is not None:
        yield "`protect: values` (who is in the table is no secret)", *values
    elif (absent := _without_presence(policy)) is not policy:
        yield "no attacker after `present in`", absent, None


def _together(case: Case, worst: Figure) -> Iterator[Lever]:
    """All changes of the policy at once, where there are several."""
    if len(list(_policies(case))) < 2:
        return
    values = _of_values(case)
    policy, planned = values if values is not None else (_without_presence(case.policy), None)
    policy = _independent(_with_gain(_with_priors(policy)))
    yield from _lever(case, worst, ("all of these together", "custodian"), policy=policy, planned=planned)


def _with_priors(policy: Policy) -> Policy:
    """With a uniform prior for every column of a goal about which nothing is declared."""
    found = dict(policy.priors)
    for name in {name for a in policy.attackers for name in a.goal.attributes}:
        table, _, column = name.partition(".")
        home = policy.table(table)
        declared = home.column(column) if home is not None and column else None
        even = uniform(declared) if declared is not None else None
        if even is not None and isinstance(found.get(name, Unknown()), Unknown):
            found[name] = even
    return policy if found == policy.priors else replace(policy, priors=found)


def _independent(policy: Policy) -> Policy:
    """With the columns of all goals declared independent of each other, and of the columns of no goal."""
    wanted = dict.fromkeys(n for a in policy.attackers for n in a.goal.attributes if "." in n)
    if policy.independent or len(wanted) < 2:
        return policy
    return replace(policy, independent=tuple((name,) for name in wanted))


def _with_gain(policy: Policy) -> Policy:
    wider = tuple(replace(a, gain=max(a.gain, GAIN)) for a in policy.attackers)
    return policy if wider == policy.attackers else replace(policy, attackers=wider)


def _without_presence(policy: Policy) -> Policy:
    others = tuple(a for a in policy.attackers if not _of_presence(a.goal))
    return policy if not others or others == policy.attackers else replace(policy, attackers=others)


def _of_presence(goal: Goal) -> bool:
    return isinstance(goal, Present) or any("." not in name for name in goal.attributes)


def _of_values(case: Case) -> tuple[Policy, Plan] | None:
    """Values instead of persons are protected, in all tables of the question; attackers after presence go with it."""
    if not any(s.table.protect is Protect.PERSONS and not s.table.is_public for s in scans(case.plan.query.relation)):
        return None
    policy = _without_presence(case.policy)
    if case.read is None or any(_of_presence(a.goal) for a in policy.attackers):
        return None
    tables = tuple(t if t.is_public else replace(t, protect=Protect.VALUES) for t in policy.tables)
    changed = replace(policy, tables=tables)
    try:
        planned = case.read(changed)
    except NowiserError:
        return None
    return None if planned.free else (changed, planned)
