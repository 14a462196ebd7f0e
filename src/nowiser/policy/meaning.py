"""A policy's meaning as JSON: independent of comments, order of keys, shorthands and spelling of numbers.

Two texts with the same canonical form promise the same, so the ledger identifies a policy by the SHA-256 of it.
Where the file stands, and in which order tables, columns and attackers are written, has no meaning; the order of a
column's values has, because answers list them in it.
"""

import hashlib
import json
from dataclasses import fields, replace
from enum import Enum
from fractions import Fraction
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.model.attacker import EVERY_ANSWER, Attacker
from nowiser.model.goal import parse_goal
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
from nowiser.model.schema import Column, Csv, Kind, Link, Protect, Role, Table

FORMAT = 1


def canonical(policy: Policy) -> dict[str, Any]:
    """What the policy says, in JSON's types only; `from_canonical` reads it back to an equal policy."""
    return {
        "nowiser": FORMAT,
        "version": policy.version,
        "engine": policy.engine,
        "ledger": policy.ledger,
        "spend": str(policy.spend),
        **({"at_least": str(policy.at_least)} if policy.at_least != Policy.at_least else {}),  # as `reuse`
        **({"reuse": True} if policy.reuse else {}),  # said by no policy before, whose digests stay
        **({"from": policy.answers_from} if policy.answers_from != Policy.answers_from else {}),
        "delta": str(policy.delta),
        "key_delta": str(policy.key_delta),
        "tables": {t.name: _plain(t) for t in sorted(policy.tables, key=lambda t: t.name)},
        "priors": {name: _of_prior(policy.priors[name]) for name in sorted(policy.priors)},
        "attackers": sorted(
            (_of_attacker(a) for a in policy.attackers),
            key=lambda a: (a["goal"], a.get("promise", "")),
        ),
        "analysts": {name: str(policy.analysts[name]) for name in sorted(policy.analysts)},
        "independent": sorted(sorted(group) for group in policy.independent),
    }


def canonical_text(policy: Policy) -> str:
    return json.dumps(canonical(policy), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(policy: Policy) -> str:
    """SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical_text(policy).encode()).hexdigest()


def from_canonical(data: dict[str, Any]) -> Policy:
    """The policy with this meaning. `path` is unknown; `digest` is computed anew."""
    if data.get("nowiser") != FORMAT:
        raise Misconfigured(f"this is not the meaning of a policy of format {FORMAT}")
    policy = Policy(
        tables=tuple(_table(name, body) for name, body in data["tables"].items()),
        attackers=tuple(
            Attacker(parse_goal(a["goal"]), Fraction(a["gain"]), a["knows"], promise=a.get("promise", EVERY_ANSWER))
            for a in data["attackers"]
        ),
        priors={name: _to_prior(body) for name, body in data["priors"].items()},
        engine=data["engine"],
        ledger=data["ledger"],
        spend=Fraction(data["spend"]),
        reuse=data.get("reuse", False),
        answers_from=data.get("from", Policy.answers_from),
        at_least=Fraction(data.get("at_least", Policy.at_least)),
        delta=Fraction(data["delta"]),
        key_delta=Fraction(data["key_delta"]),
        independent=tuple(tuple(group) for group in data["independent"]),
        analysts={name: Fraction(share) for name, share in data["analysts"].items()},
        version=data["version"],
    )
    return replace(policy, digest=digest(policy))


def _of_attacker(a: Attacker) -> dict[str, str]:
    said = {"goal": str(a.goal), "gain": str(a.gain), "knows": a.knows}
    return said | ({"promise": a.promise} if a.on_average else {})  # others are as before promises had kinds


def _plain(value: Any) -> Any:
    """A table of the model in JSON's types; columns by name, keys as sets."""
    match value:
        case Table():
            body = {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name not in ("name", "columns")}
            if value.csv is None:  # said by no policy before 0.1.1, whose digests stay
                del body["csv"]
            if value.partition is None:  # likewise
                del body["partition"]
            if value.people is None:
                del body["people"]
            if not value.references:
                del body["references"]
            if value.ends is None:
                del body["ends"]
            columns = {c.name: _plain(c) for c in sorted(value.columns, key=lambda c: c.name)}
            return {**body, "columns": columns, "unique": sorted(sorted(key) for key in value.unique)}
        case Column():
            body = {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name != "name"}
            if not value.one_per_person:  # as before there was such a word, so that digests stay
                del body["one_per_person"]
            return body
        case Csv():
            body = {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
            if not value.dates:  # said by no policy before 0.1.2
                del body["dates"]
            return body
        case Link():
            return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
        case Enum():
            return value.value
        case Fraction():
            return str(value)
        case tuple():
            return [_plain(v) for v in value]
        case _:
            return value


def _table(name: str, body: dict[str, Any]) -> Table:
    link = body["link"]
    return Table(
        **{
            **body,
            "name": name,
            "columns": tuple(_column(column, inner) for column, inner in body["columns"].items()),
            "person": tuple(body["person"]),
            "link": link and _link(link),
            "ends": _link(body["ends"]) if body.get("ends") else None,
            "protect": Protect(body["protect"]),
            "unique": tuple(tuple(key) for key in body["unique"]),
            "csv": _csv(body["csv"]) if body.get("csv") else None,
            "references": tuple(map(_link, body.get("references", ()))),
        }
    )


def _link(body: dict[str, Any]) -> Link:
    return Link(tuple(body["columns"]), body["table"], tuple(body["references"]))


def _csv(body: dict[str, Any]) -> Csv:
    return Csv(**{**body, "dates": tuple((column, form) for column, form in body.get("dates", ()))})


def _column(name: str, body: dict[str, Any]) -> Column:
    numbers = {key: Fraction(body[key]) if body[key] is not None else None for key in ("low", "high", "grid")}
    domain = tuple(body["domain"]) if body["domain"] is not None else None
    return Column(
        **{**body, **numbers, "name": name, "kind": Kind(body["kind"]), "role": Role(body["role"]), "domain": domain}
    )


# The priors a policy can state, and the arguments that make each again.
_PRIORS: dict[str, tuple[type[Prior], tuple[str, ...]]] = {
    "unknown": (Unknown, ("low", "high")),
    "uniform": (Uniform, ("low", "high")),
    "normal": (Normal, ("mean", "sd")),
    "lognormal": (LogNormal, ("mean", "sd")),
    "histogram": (Histogram, ("edges", "masses")),
    "atoms": (Atoms, ("values", "masses")),
    "categories": (Categories, ("labels", "masses")),
    "presence": (Presence, ("probability",)),
    "truncated": (Truncated, ("prior", "low", "high")),
}


def _of_prior(prior: Prior) -> dict[str, Any]:
    for name, (known, arguments) in _PRIORS.items():
        if isinstance(prior, known):
            return {"is": name, **{argument: _simple(getattr(prior, argument)) for argument in arguments}}
    raise Misconfigured(
        f"a policy cannot state the prior {type(prior).__name__}", hint=f"It can state: {', '.join(_PRIORS)}."
    )


def _simple(value: Any) -> Any:
    if isinstance(value, Prior):
        return _of_prior(value)
    if isinstance(value, tuple):
        return list(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _to_prior(body: dict[str, Any]) -> Prior:
    name = body.get("is")
    if name not in _PRIORS:
        raise Misconfigured(f"the recorded policy has a prior of unknown kind {name!r}")
    known, arguments = _PRIORS[name]
    if known is Categories:
        return Categories(dict(zip(body["labels"], body["masses"], strict=True)))
    return known(*(_to_prior(body[a]) if a == "prior" else body[a] for a in arguments))
