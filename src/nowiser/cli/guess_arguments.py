"""The arguments of `nowiser guess`, understood: which prior, which goal, which cost, which victim."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nowiser.cli import guess_prior as prior_text
from nowiser.errors import Misconfigured
from nowiser.model.usual_cost import is_on_map, is_within, kind_of, usual

if TYPE_CHECKING:
    from nowiser.model.cost import Cost


@dataclass(frozen=True)
class Question:
    """The command's arguments, understood."""

    prior: Any
    goal: Any
    costs: dict[str, "Cost"] | None  # per attribute, when several are named
    cost: "Cost"
    victim: Any
    radius: float | None
    given: dict[str, Any] | None = None  # the victim, where attributes the goal is not about had to be filled in
    silent: tuple[str, ...] = ()  # attributes that depend on those of the goal, and about which nothing is released


def understand(
    prior: list[str] | None,
    joint: Path | None,
    goal: str | None,
    within: str | None,
    *,
    exactly: bool,
    inside: str | None,
    victim: list[str] | None,
    slope: list[str] | None,
    jump: list[str] | None,
) -> Question:
    from nowiser.model.goal import On, Within

    if not prior and joint is None:
        raise Misconfigured(
            "--prior is missing: what does the attacker believe beforehand?", hint=f"Forms: {prior_text.FORMS}"
        )
    wanted = _goal(goal, within, exactly=exactly, inside=inside)
    believed, names = _prior(prior or [], joint, wanted)
    core = wanted.goal if isinstance(wanted, On) else wanted
    radius = core.radius if isinstance(core, Within) else None
    # on a map one cost for the distance; else one for each attribute
    on_map = is_on_map(wanted, names)
    slopes, jumps = _named("--slope", slope, names), _named("--jump", jump, names)
    if not slopes and not jumps:
        slopes, jumps = usual(believed, wanted, names, on_map=on_map)
    costs, cost = _costs(slopes, jumps, names, wanted.attributes or names, on_map=on_map)
    is_joint = getattr(believed, "kind", "") == "joint"
    silent = tuple(n for n in names if n not in costs) if is_joint and costs is not None else ()
    given = _victim(victim, names, believed, wanted)
    filled = _filled(given, believed) if is_joint and isinstance(given, dict) else given
    return Question(believed, wanted, costs, cost, filled, radius, given if filled is not given else None, silent)


def _costs(
    slopes: dict[str | None, float],
    jumps: dict[str | None, float],
    names: tuple[str, ...],
    charged: tuple[str, ...],
    *,
    on_map: bool,
) -> tuple[dict[str, "Cost"] | None, "Cost"]:
    """Per attribute, and in all. What is given without a name is for each attribute that is charged: of the goal."""
    from nowiser.model.cost import Cost

    if len(names) < 2 or (on_map and set(slopes) | set(jumps) <= {None}):
        return None, Cost(*(next(iter(nats.values()), 0.0) for nats in (slopes, jumps)))

    def nats(given: dict[str | None, float], name: str) -> float:
        return given.get(name, given.get(None, 0.0) if name in charged else 0.0)

    costs = {n: Cost(nats(slopes, n), nats(jumps, n)) for n in names}
    costs = {n: cost for n, cost in costs.items() if cost or n in charged}
    return costs, Cost(sum(c.slope for c in costs.values()), sum(c.jump for c in costs.values()))


def _prior(texts: list[str], joint: Path | None, goal: Any) -> tuple[Any, tuple[str, ...]]:
    """What is believed, and the names of the attributes: of several, or of the only one if it has a name."""
    if joint is not None:
        if texts:
            raise Misconfigured("give either --prior or --joint, found both")
        found = prior_text.joint(joint)
        for i, name in enumerate(found.names):
            if name in goal.attributes and is_within(goal, name) and isinstance(found.records[0][i], str):
                prior_text.check_numbers(f"--joint {str(joint)!r}", joint, name)
        return found, found.names
    named = [prior_text.named_prior(t) for t in texts]
    for (name, one), text in zip(named, texts, strict=True):
        file = prior_text.file_of(text if name is None else text.partition("=")[2])
        if file is not None and one.kind == "categories" and is_within(goal, name):
            prior_text.check_numbers(f"--prior {text!r}", *file)
    if len(named) == 1:
        return _only(*named[0], goal)
    names = [name for name, _ in named if name is not None]
    if len(names) < len(named):
        raise Misconfigured(
            "several --prior need a name each, like time=normal:20:5", hint="Then say --goal 'time within 2 and …'."
        )
    if len(set(names)) != len(names):
        raise Misconfigured(f"each attribute needs one --prior, found {', '.join(names)}")
    return dict(zip(names, (p for _, p in named), strict=True)), tuple(names)


def _only(name: str | None, prior: Any, goal: Any) -> tuple[Any, tuple[str, ...]]:
    """One prior, named or not, is about one attribute."""
    asked = goal.attributes
    if name is None and len(asked) > 1:
        forms = " ".join(f"--prior {a}=…" for a in asked)
        raise Misconfigured(
            f"the goal is about {' and '.join(asked)}, but there is one --prior, and it has no name",
            hint=f"Give each attribute its own: {forms}.",
        )
    missing = [a for a in asked if name is not None and a != name]
    if missing:
        raise Misconfigured(f"there is no --prior for {missing[0]}; there is one for {name}")
    return prior, asked if name is None else (name,)


def _goal(goal: str | None, within: str | None, *, exactly: bool, inside: str | None) -> Any:
    from nowiser.model.goal import Exactly, In, Within, parse_goal

    given = [
        name
        for name, there in (("--goal", goal), ("--within", within), ("--exactly", exactly), ("--in", inside))
        if there
    ]
    if len(given) != 1:
        found = " and ".join(given) or "none"
        raise Misconfigured(f"give one goal: --within R, --exactly, --in SET or --goal TEXT; found {found}")
    if goal is not None:
        return parse_goal(goal)
    if within is not None:
        radius = _number("--within", within)
        if not radius > 0:
            raise Misconfigured(f"--within must be a finite number above 0; found {within!r}")
        return Within(radius)
    if exactly:
        return Exactly()
    assert inside is not None
    text = inside.strip()
    if text[:1] in "[{":
        return parse_goal(f"in {text}")
    return In(frozenset(_value(v.strip()) for v in text.split(",") if v.strip()))


def _named(flag: str, texts: list[str] | None, names: tuple[str, ...]) -> dict[str | None, float]:
    """`1` for each attribute of the goal, `time=1` for one; of a single attribute both say the same."""
    found: dict[str | None, float] = {}
    for text in texts or []:
        name, equals, rest = text.rpartition("=")
        key = name.strip() if equals else names[0] if len(names) == 1 else None
        if equals and key not in names:
            known = f"the priors name {', '.join(names)}" if names else "the prior has no name"
            hint = None if names else f"Write {flag} {rest}, or name the prior: --prior {name.strip()}=…"
            raise Misconfigured(f"{flag} {text!r}: {known}", hint=hint)
        if key in found:
            raise Misconfigured(f"{flag} is given twice{'' if key is None else f' for {key}'}")
        value = _number(flag, rest)
        if not value >= 0:
            raise Misconfigured(f"{flag} must be a finite number of at least 0; found {rest!r}")
        found[key] = value
    return found


def _victim(texts: list[str] | None, names: tuple[str, ...], prior: Any, goal: Any) -> Any:
    if not texts:
        return None
    if len(names) < 2:
        if len(texts) > 1:
            raise Misconfigured(f"--victim is given {len(texts)} times; one value is needed")
        name, equals, rest = texts[0].partition("=")
        is_named = equals and name.strip() in names and texts[0] not in _labels(prior, None)
        return _of_kind(rest if is_named else texts[0], prior, None)
    found = {}
    repeat = "Repeat it for each attribute: " + " ".join(f"--victim {n}=…" for n in goal.attributes or names)
    for text in texts:
        name, equals, value = (piece.strip() for piece in text.partition("="))
        if not equals or name not in names:
            raise Misconfigured(
                f"--victim must be name=value with a name among {', '.join(names)}; found {text!r}", hint=repeat
            )
        if any(piece.partition("=")[0].strip() in names for piece in value.split(",") if "=" in piece):
            raise Misconfigured(f"--victim gives one attribute at a time; found {text!r}", hint=repeat)
        found[name] = _of_kind(value, prior, name)
    missing = [n for n in goal.attributes or names if n not in found]
    if missing:
        raise Misconfigured(
            f"--victim must give a value for each attribute of the goal, {missing[0]} is missing", hint=repeat
        )
    return found


def _filled(victim: dict[str, Any], prior: Any) -> dict[str, Any]:
    """A whole record: what the goal is not about can be anything, for it changes neither before nor after."""
    some = dict(zip(prior.names, prior.records[0], strict=True))
    return victim if set(some) <= set(victim) else some | victim


def _of_kind(text: str, prior: Any, name: str | None) -> Any:
    """A value of the victim, as the prior holds values."""
    if kind_of(prior, name) == "line":
        return _number("--victim", text)
    return text if text in _labels(prior, name) else _value(text)


def _labels(prior: Any, name: str | None) -> tuple[Any, ...]:
    one = prior[name] if isinstance(prior, dict) else prior
    if getattr(one, "kind", "") == "joint":
        at = 0 if name is None else one.names.index(name)
        return tuple(record[at] for record in one.records)
    return tuple(getattr(one, "labels", ()))


def _number(flag: str, text: str) -> float:
    from math import isfinite

    try:
        value = float(text)
    except ValueError:
        raise Misconfigured(f"{flag} must be a number; found {text!r}") from None
    if not isfinite(value):
        raise Misconfigured(f"{flag} must be a finite number; found {text!r}")
    return value


def _value(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() and "." not in text and "e" not in text.lower() else number
