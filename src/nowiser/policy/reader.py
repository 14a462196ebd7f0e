"""From the text of a policy to its meaning: one page, in the order of the file."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from nowiser.model.policy import Policy
from nowiser.policy import shape, values
from nowiser.policy.attackers import read_attackers
from nowiser.policy.meaning import digest
from nowiser.policy.priors import read_priors
from nowiser.policy.same_source import refuse_same_source
from nowiser.policy.tables import Read, read_tables
from nowiser.policy.tree import Entries, Leaf, Node, parse_tree, read_tree, suggestion

_ENGINES = (
    "duckdb",
    "duckdb:///file",
    "duckdb:///?prepare=no",
    "postgresql://…",
    "spark",
    "spark://…",
    "spark-connect://…",
)
_DURATION = re.compile(r"(\d{1,5}(?:\.\d{1,3})?) ?(ms|s)", re.ASCII)
LONGEST_WAIT = 10  # seconds
_LEDGERS = ("sqlite:///file", "postgresql://…")


def read(path: str | Path) -> Policy:
    """The policy in this file. Raises Misconfigured with file, line, column and what would be right.

    Sources and the files of empirical priors are looked up beside the policy file. No data is read.
    """
    file = Path(path)
    return _policy(read_tree(file), file)


def parse(text: str, path: str | Path = "nowiser.yaml") -> Policy:
    """The same for text at hand; `path` is where it would stand."""
    return _policy(parse_tree(text, Path(path).name), Path(path))


def _policy(root: Entries, path: Path) -> Policy:
    root.only(shape.keys_of(shape.PolicyFile), "the policy")
    _check_format(root.need("nowiser", "the policy", "nowiser: 1"))
    tables = read_tables(root.need("tables", "the policy", "tables: {visits: {person: student, columns: {…}}}"))
    refuse_same_source(tables, path.parent)
    priors = read_priors(tables, path.parent)
    bare = Policy(tables=tuple(read.table for read in tables), attackers=(), priors=priors)
    policy = replace(
        bare,
        attackers=read_attackers(root, bare),
        engine=_url(root.get("engine"), "engine", _ENGINES) or bare.engine,
        ledger=_url(root.get("ledger"), "ledger", _LEDGERS),
        spend=_spend(root.get("answers"), bare.spend),
        reuse=_reuse(root.get("answers")),
        answers_from=_from(root.get("answers")),
        at_least=_at_least(root.get("answers"), bare.at_least),
        delta=_probability(root.get("delta"), "delta", bare.delta),
        key_delta=_probability(root.get("key_delta"), "key_delta", bare.key_delta),
        independent=_independent(root.get("independent"), tables),
        analysts=_analysts(root.get("analysts")),
        version=_version(root.get("version")),
        path=path,
    )
    return replace(policy, digest=digest(policy))


def _check_format(node: Node) -> None:
    if not (isinstance(node, Leaf) and node.value == Fraction(1)):
        node.place.wrong("this version of nowiser reads format 1", "Write `nowiser: 1`.")


def _url(node: Node | None, what: str, forms: tuple[str, ...]) -> str | None:
    """A name or URL whose scheme is one of these forms."""
    if node is None:
        return None
    text = values.text(node, what)
    for form in forms:
        scheme, mark, _ = form.partition("://")
        if (not mark and text == form) or (mark and text.startswith(f"{scheme}://") and len(text) > len(scheme) + 3):
            _no_password(text, node, what)
            return text
    place = node.place.without_text() if "@" in text else node.place
    raise place.error(f"this {what} is not known", suggestion(text, forms, "Allowed"))


def _no_password(text: str, node: Node, what: str) -> None:
    user, at, _ = text.partition("://")[2].partition("@")
    if at and ":" in user:
        node.place.without_text().wrong(
            f"the {what} carries a password", "Take it out: use ~/.pgpass, PGPASSWORD or a service file."
        )


def _reuse(node: Node | None) -> bool:
    said = values.mapping(node, "answers").get("reuse") if node is not None else None
    return said is not None and values.flag(said, "reuse")


def _from(node: Node | None) -> str:
    said = values.mapping(node, "answers").get("from") if node is not None else None
    if said is None:
        return Policy.answers_from
    found = values.text(said, "from")
    if found not in shape.FROM:
        said.place.wrong(f"answers do not come from {found!r}", suggestion(found, shape.FROM, "Allowed"))
    return found


def _at_least(node: Node | None, otherwise: Fraction) -> Fraction:
    said = values.mapping(node, "answers").get("at_least") if node is not None else None
    if said is None:
        return otherwise
    found = _DURATION.fullmatch(values.text(said, "at_least"))
    seconds = Fraction(found[1]) / (1000 if found[2] == "ms" else 1) if found is not None else None
    if seconds is None or seconds > LONGEST_WAIT:
        said.place.wrong(f"at_least is a time from 0ms to {LONGEST_WAIT}s", "For example 100ms, or 0.5s.")
    return seconds


def _spend(node: Node | None, otherwise: Fraction) -> Fraction:
    if node is None:
        return otherwise
    answers = values.mapping(node, "answers")
    answers.only(shape.keys_of(shape.Answers), "answers")
    spend = answers.get("spend")
    return values.share(spend, "spend") if spend is not None else otherwise


def _probability(node: Node | None, what: str, otherwise: Fraction) -> Fraction:
    if node is None:
        return otherwise
    value = values.number(node, what)
    if not 0 <= value <= shape.LARGEST_DELTA:
        node.place.wrong(
            f"{what} is the probability with which every promise may be void: at least 0, at most 1 %",
            "Write something tiny, like 1e-9: far less than one in the number of people.",
        )
    return value


def _version(node: Node | None) -> int:
    return values.whole(node, "version") if node is not None else 1


def _analysts(node: Node | None) -> dict[str, Fraction]:
    """Shares may add up to more than everything: the common allowance holds for all together in any case."""
    if node is None:
        return {}
    entries = values.mapping(node, "analysts")
    return {name: values.share(child, f"the share of analyst {name!r}") for name, child in entries.entries.items()}


def _independent(node: Node | None, tables: tuple[Read, ...]) -> tuple[tuple[str, ...], ...]:
    if node is None:
        return ()
    known = [f"{r.table.name}.{c.name}" for r in tables if not r.table.is_public for c in r.table.columns if c.secret]
    groups: list[tuple[str, ...]] = []
    for item in values.sequence(node, "independent"):
        group = values.names(item, "a group of independent attributes")
        for attribute in group:
            if attribute not in known:
                item.place.wrong(
                    f"there is no sensitive attribute {attribute!r}", suggestion(attribute, known, "Attributes")
                )
            if any(attribute in other for other in groups):
                item.place.wrong(f"{attribute!r} stands in two groups of independent attributes")
        groups.append(group)
    return tuple(groups)
