"""Whom the custodian defends against: every goal is about something secret in the policy, and can be limited."""

from nowiser.errors import Misconfigured
from nowiser.model.attacker import EVERY_ANSWER, EVERYONE_ELSE, ON_AVERAGE, Attacker
from nowiser.model.goal import And, Goal, In, Not, On, Or, Present, Within, named, parse_goal
from nowiser.model.policy import Policy
from nowiser.model.prior import Atoms
from nowiser.model.schema import Column, Kind, Role, Value
from nowiser.policy import shape, values
from nowiser.policy.tree import Entries, Leaf, Place, suggestion

_ORDERED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)
_EXAMPLE = "attackers: [{guess: visits.time within 2, gain: 5%}]"


def read_attackers(root: Entries, policy: Policy) -> tuple[Attacker, ...]:
    """The attackers, checked against the tables and priors of `policy`."""
    node = values.sequence(root.need("attackers", "the policy", _EXAMPLE), "attackers")
    if not node.items:
        node.place.wrong(
            "there is no attacker, so nothing is promised and nothing limits what may be released",
            f"Say what must not become guessable, for example `{_EXAMPLE}`.",
        )
    attackers: list[Attacker] = []
    for item in node:
        entries = values.mapping(item, "an attacker")
        entries.only(shape.keys_of(shape.Attacker), "an attacker")
        attacker = _read_attacker(entries, policy)
        if any((attacker.goal, attacker.promise) == (other.goal, other.promise) for other in attackers):
            entries.place.wrong(f"two attackers have the goal {attacker.text!r}", "Keep the one with the smaller gain.")
        attackers.append(attacker)
    return tuple(attackers)


def _read_attacker(entries: Entries, policy: Policy) -> Attacker:
    said = entries.need("guess", "an attacker", "guess: visits.time within 2")
    text = values.text(said, "guess")
    assert isinstance(said, Leaf)
    try:
        goal = parse_goal(text)
    except Misconfigured as error:
        place = _inside(said, error)
        place.wrong(f"guess: {error.message}", error.hint)
    gain_node = entries.need("gain", "an attacker", "gain: 5%")
    gain = values.share(gain_node, "gain")
    if gain >= 1:
        gain_node.place.wrong("gain must be less than 100%: nobody can guess better than always")
    knows = entries.get("knows")
    if knows is not None and values.text(knows, "knows") != EVERYONE_ELSE:
        knows.place.wrong(
            f"knows can only be {EVERYONE_ELSE!r}, the strongest attacker against independent records",
            "Leave it out. An attacker who knows less learns at most as much.",
        )
    _check_goal(goal, policy, said.place)
    return Attacker(goal, gain, EVERYONE_ELSE, text, _promise(entries))


def _promise(entries: Entries) -> str:
    node = entries.get("promise")
    if node is None:
        return EVERY_ANSWER
    found = values.text(node, "promise")
    if found not in (EVERY_ANSWER, ON_AVERAGE):
        node.place.wrong(f"promise must be `{EVERY_ANSWER}` or `{ON_AVERAGE}`, found {found!r}")
    return found


def _inside(leaf: Leaf, error: Misconfigured) -> Place:
    """The place in the file of an error inside a goal. Where YAML quoting shifts characters, the whole goal."""
    if error.span is None or leaf.place.text[leaf.place.start : leaf.place.end].strip("\"'") != leaf.raw:
        return leaf.place
    shift = 0 if leaf.plain else 1
    start = min(error.span.start, len(leaf.raw) - 1)
    return leaf.place.part(start + shift, max(error.span.end, start + 1) + shift)


def _check_goal(goal: Goal, policy: Policy, place: Place) -> None:
    """All that the goal names is secret and of a fitting kind."""
    match goal:
        case And() | Or():
            for part in goal.parts:
                _check_goal(part, policy, place)
        case Not():
            _check_goal(goal.goal, policy, place)
        case Present():
            _check_present(goal, policy, place)
        case On():
            for attribute in goal.attributes:
                _check_attribute(attribute, goal, policy, place)
        case _:
            place.wrong(
                f"the goal `{goal}` does not say about which attribute", "Write for example `visits.time within 2`."
            )


def _check_present(goal: Present, policy: Policy, place: Place) -> None:
    persons = [t.name for t in policy.tables if not t.is_public]
    table = policy.table(goal.table) if goal.table is not None else None
    if goal.table is None:
        place.wrong("the goal `present` does not say in which table", f"Write `present in {named(persons[0])}`.")
    if table is None:
        place.wrong(f"there is no table {goal.table!r}", suggestion(goal.table, persons, "Tables with persons"))
    if table.is_public:
        place.wrong(f"table {goal.table!r} is public: nobody is present in it")
    if table.protect.value == "values":
        place.wrong(
            f"who is present in {goal.table!r} is declared public (`protect: values`)",
            "Write `protect: persons` in that table to keep it secret.",
        )


def _check_attribute(attribute: str, goal: On, policy: Policy, place: Place) -> None:
    known = [f"{t.name}.{c.name}" for t in policy.tables for c in t.columns if c.role is Role.SENSITIVE]
    name, _, rest = attribute.partition(".")
    table = policy.table(name)
    column = table.column(rest) if table is not None else None
    if table is None or column is None:
        place.wrong(f"there is no attribute {attribute!r}", suggestion(attribute, known, "Sensitive attributes"))
    if column.role is not Role.SENSITIVE:
        place.wrong(
            f"{attribute} is declared {column.role.value}, so there is nothing to guess",
            f"Sensitive attributes: {', '.join(known)}.",
        )
    if isinstance(goal.goal, Within) and column.kind not in _ORDERED:
        place.wrong(
            f"{attribute} is of kind {column.kind.value}: there is no distance", f"Write `{attribute} exactly`."
        )
    prior = policy.priors[attribute]
    if (
        prior.kind == "line"
        and not isinstance(prior, Atoms)
        and not isinstance(goal.goal, Within)
        and not _spans(goal.goal)
    ):
        place.wrong(
            f"a single value of {attribute} has no chance under its prior, which spreads over all numbers",
            f"Write `{named(attribute)} within …` with the distance at which a guess hurts, or `prior: unknown`.",
        )
    if isinstance(goal.goal, In):
        _check_members(attribute, goal.goal, column, place)


def _check_members(attribute: str, goal: In, column: Column, place: Place) -> None:
    if goal.values is None:
        if column.kind not in _ORDERED:
            place.wrong(f"{attribute} is of kind {column.kind.value}: there is no interval", "Write `in {a, b}`.")
        return
    for value in sorted(goal.values, key=str):
        if not _fits(value, column.kind):
            place.wrong(f"{value!r} cannot be a value of {attribute}, which is of kind {column.kind.value}")
        if column.domain is not None and value not in column.domain:
            place.wrong(
                f"{value!r} is not among the declared values of {attribute}",
                suggestion(str(value), map(str, column.domain), "Values"),
            )


def _spans(goal: Goal) -> bool:
    return isinstance(goal, In) and goal.values is None


def _fits(value: Value, kind: Kind) -> bool:
    if kind is Kind.TEXT:
        return isinstance(value, str)
    if kind is Kind.BOOLEAN:
        return isinstance(value, bool)
    return isinstance(value, int | float) and not isinstance(value, bool)
