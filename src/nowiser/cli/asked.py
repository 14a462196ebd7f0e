"""The arguments of `nowiser guess`, understood: which prior, which goal, which cost, which victim."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nowiser.errors import Misconfigured

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
    from nowiser.model.cost import Cost
    from nowiser.model.goal import On, Within

    believed = _prior(prior or [], joint)
    wanted = _goal(goal, within, exactly=exactly, inside=inside)
    names = tuple(believed) if isinstance(believed, dict) else tuple(getattr(believed, "names", ()))
    core = wanted.goal if isinstance(wanted, On) else wanted
    radius = core.radius if isinstance(core, Within) else None
    slopes, jumps = _named("--slope", slope, names), _named("--jump", jump, names)
    # on a map one cost for the distance; else one for each attribute
    on_map = radius is not None and len(names) > 1 and len(wanted.attributes) != 1
    if not slopes and not jumps:
        # DESIGN's default: a slope of one where distances count, a jump of one where they do not
        if radius is not None and (on_map or getattr(believed, "kind", "") in ("line", "unknown")):
            slopes = {None: 1.0}
        else:
            jumps = {None: 1.0}
    if (len(names) < 2 or on_map) and set(slopes) | set(jumps) <= {None}:
        costs, cost = None, Cost(slopes.get(None, 0.0), jumps.get(None, 0.0))
    else:
        costs = {n: Cost(slopes.get(n, slopes.get(None, 0.0)), jumps.get(n, jumps.get(None, 0.0))) for n in names}
        cost = Cost(sum(c.slope for c in costs.values()), sum(c.jump for c in costs.values()))
    return Question(believed, wanted, costs, cost, _victim(victim, names, believed), radius)


def _prior(texts: list[str], joint: Path | None) -> Any:
    from nowiser.cli import prior_text

    if joint is not None:
        if texts:
            raise Misconfigured("give either --prior or --joint, found both")
        return prior_text.joint(joint)
    if not texts:
        raise Misconfigured(
            "--prior is missing: what does the attacker believe beforehand?", hint=f"Forms: {prior_text.FORMS}"
        )
    found = [prior_text.named_prior(t) for t in texts]
    if len(found) == 1 and found[0][0] is None:
        return found[0][1]
    if any(name is None for name, _ in found):
        raise Misconfigured(
            "several --prior need a name each, like time=normal:20:5", hint="Then say --goal 'time within 2 and …'."
        )
    names = [str(name) for name, _ in found]
    if len(set(names)) != len(names):
        raise Misconfigured(f"each attribute needs one --prior, found {', '.join(names)}")
    return dict(zip(names, (p for _, p in found), strict=True))


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
    """`1` for all attributes, `time=1` for one."""
    found: dict[str | None, float] = {}
    for text in texts or []:
        name, equals, rest = text.rpartition("=")
        key = name.strip() if equals else None
        if key is not None and key not in names:
            known = ", ".join(names) or "no named attribute"
            raise Misconfigured(f"{flag} {text!r}: the priors name {known}")
        if key in found:
            raise Misconfigured(f"{flag} is given twice for {'all attributes' if key is None else key}")
        value = _number(flag, rest)
        if not value >= 0:
            raise Misconfigured(f"{flag} must be a finite number of at least 0; found {rest!r}")
        found[key] = value
    return found


def _victim(texts: list[str] | None, names: tuple[str, ...], prior: Any) -> Any:
    if not texts:
        return None
    if not names:
        if len(texts) > 1:
            raise Misconfigured(f"--victim is given {len(texts)} times; one value is needed")
        if getattr(prior, "kind", "") == "line":
            return _number("--victim", texts[0])
        return _label(texts[0], prior)
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name.strip() not in names:
            raise Misconfigured(f"--victim must be name=value with a name among {', '.join(names)}; found {text!r}")
        one = prior.get(name.strip()) if isinstance(prior, dict) else None
        found[name.strip()] = _number("--victim", value) if getattr(one, "kind", "") == "line" else _label(value, one)
    return found


def _label(text: str, prior: Any) -> Any:
    labels = getattr(prior, "labels", ())
    return text if text in labels else _value(text)


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
