"""A policy in words: what is secret, what everybody knows, what is promised, and to whom answers go."""

from collections.abc import Mapping, Sequence
from typing import Any

from nowiser.model.advantage import points
from nowiser.model.attacker import EVERYONE_ELSE, Attacker
from nowiser.model.goal import Exactly, On, Present, Within
from nowiser.model.policy import Policy
from nowiser.model.prior import (
    Atoms,
    Categories,
    Histogram,
    LogNormal,
    Normal,
    Presence,
    Prior,
    Truncated,
    Uniform,
    Unknown,
)
from nowiser.model.schema import Protect, Role, Table

MOST = 4  # names or values in a sentence
NOTHING_KNOWN = "nothing assumed: holds whatever he believes"


def tables(policy: Policy) -> list[dict[str, Any]]:
    """Per table: whose rows, what is secret, what everybody knows."""
    return [
        {"table": t.name, "person": _person(t), "secret": _secret(t), "known": _known(t), "protect": _protect(t)}
        for t in policy.tables
    ]


def _protect(table: Table) -> str:
    if table.ends is not None and table.link is None and not table.is_public:
        return "links"
    return "nothing" if table.is_public else table.protect.value


def _person(table: Table) -> str:
    if table.is_public:
        return "nobody: about no person"
    if table.ends is not None:
        return "each row joins two people"
    rows = "1 row" if table.rows_per_person == 1 else f"at most {table.rows_per_person:,} rows"
    who = table.link.columns if table.link is not None else table.person
    person = "each row is a person" if table.row_is_person else f"a person is one {', '.join(who)}, {rows}"
    return f"{person}; each {table.partition} has its own account" if table.partition else person


def _secret(table: Table) -> str:
    if table.is_public:
        return "nothing"
    if _protect(table) == "links":
        return "who is linked to whom"
    if table.protect is Protect.PERSONS:
        return "who is in it, and every column that is not public"
    return _listed([c.name for c in table.columns if c.role is Role.SENSITIVE])


def _known(table: Table) -> str:
    if table.is_public:
        return "all of it"
    public = [c.name for c in table.columns if c.role is Role.PUBLIC]
    if table.protect is Protect.VALUES:
        public = ["who is in it", *public]
    return _listed(public) if public else "only which values are possible"


def goal(attacker: Attacker) -> str:
    """What an attacker is after, in words; and how the promise about it is meant, where it is on average."""
    return _goal(attacker) + (", on average over everybody" if attacker.on_average else "")


def _goal(attacker: Attacker) -> str:
    match attacker.goal:
        case On(attribute=name, goal=Within(radius=radius)):
            return f"{name} to within {radius:g}"
        case On(attribute=name, goal=Exactly()):
            return f"the exact {name}"
        case Present():
            return f"whether a person is in {attacker.goal.table}"
    return attacker.text


def promises(policy: Policy) -> list[dict[str, Any]]:
    """Per attacker: what he is after, how much better he may become, what he is taken to believe beforehand."""
    return [
        {
            "guess": a.text,
            "words": goal(a),
            "gain": float(a.gain),
            "promise": a.promise,
            "believes": _beliefs({n: policy.priors[n] for n in a.goal.attributes if n in policy.priors}),
            "knows": "the records of everybody else" if a.knows == EVERYONE_ELSE else a.knows,
        }
        for a in policy.attackers
    ]


def _beliefs(priors: Mapping[str, Prior]) -> str:
    named = len(priors) > 1
    return "; ".join(f"{name}: {belief(prior)}" if named else belief(prior) for name, prior in priors.items())


def belief(prior: Prior) -> str:
    """A prior as people say it. Priors are public statements of the custodian, never taken from the data."""
    match prior:
        case Unknown():
            return NOTHING_KNOWN
        case Presence(probability=p):
            return f"{_share(p)} are in it"
        case Uniform(low=low, high=high):
            return f"equally likely from {low:g} to {high:g}"
        case Normal(mean=mean, sd=sd):
            return f"normal, {mean:g} ± {sd:g}"
        case LogNormal(mean=mean, sd=sd):
            return f"lognormal, logarithm {mean:g} ± {sd:g}"
        case Truncated(prior=inner, low=low, high=high):
            return f"{belief(inner)}, from {low:,.6g} to {high:,.6g}"
        case Categories(labels=labels, masses=masses):
            return _categories(labels, masses)
        case Histogram(edges=edges):
            return f"a histogram of {len(edges) - 1:,} bins from {edges[0]:,.6g} to {edges[-1]:,.6g}"
        case Atoms(values=values, masses=masses) if max(masses) <= min(masses) * (1 + 1e-9):
            return f"equally likely, {len(values):,} values from {values[0]:,.6g} to {values[-1]:,.6g}"
        case Atoms(values=values):
            return f"a probability for each of {len(values):,} values from {values[0]:,.6g} to {values[-1]:,.6g}"
    return f"a distribution of the kind {type(prior).__name__}"


def _categories(labels: Sequence[Any], masses: Sequence[float]) -> str:
    if len(set(masses)) == 1:
        return f"{len(labels)} values, equally likely"
    likely = sorted(zip(masses, map(str, labels), strict=True), reverse=True)[:MOST]
    rest = len(labels) - len(likely)
    return ", ".join(f"{name} {_share(mass)}" for mass, name in likely) + (f", {rest} more" if rest else "")


def _share(share: float) -> str:
    return points(share, decimals=0 if round(100 * share, 6) == round(100 * share) else 1)


def analysts(policy: Policy) -> str:
    """To whom answers go."""
    if not policy.analysts:
        return "Answers go to whoever can run nowiser with this policy; no analyst is named in it."
    named = [f"{name} ({_share(float(share))})" for name, share in policy.analysts.items()]
    return f"Answers go to {_listed(named, most=12)}; in brackets, the share of the one allowance each may use."


def _listed(names: Sequence[str], most: int = 8) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
