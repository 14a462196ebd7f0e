"""Changing what is promised while it is served: looked at first, then done with a reason; by two people with four eyes.

The file of the policy is what holds, here as on the command line. A change is the whole new text of it. First it is
previewed: what loosens, and what every attacker may do to the most exposed person then. Done, it is written beside the
file, moved in its place and declared in the ledger with the reason. Whoever changes says which policy it was that was
looked at; where another one is in force by then, nothing is done.

With four eyes a change that loosens is proposed, in the chain, and somebody else confirms it. A proposal is over when
it is confirmed or withdrawn, or when any policy was declared after it.
"""

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from nowiser.errors import Misconfigured, NotAuthorised
from nowiser.gateway import Gateway
from nowiser.guess.budget.allowance import Guess, share_used, standing
from nowiser.ledger.base import Entry
from nowiser.model.policy import Policy
from nowiser.percent import percent
from nowiser.policy import compare, parse
from nowiser.policy.changes import Changes
from nowiser.policy.tree import Entries, Items, Leaf, Node, parse_tree
from nowiser.server.problems import Conflict

_ONE = Lock()  # change at a time: whoever comes second looks at what the first one made
PROPOSED, WITHDRAWN = "change of the policy proposed", "proposal withdrawn"
LONGEST = 500  # characters of a reason
GAIN = re.compile(r"\d{1,3}(\.\d{1,6})?%", re.ASCII)


@dataclass(frozen=True)
class Moved:
    """One attacker and the most exposed person: how well he guesses before, by now, and at most; now and then."""

    guess: str
    old: Guess | None  # None: not defended against so far
    new: Guess | None  # None: not defended against any more

    @property
    def words(self) -> str:
        """`visits.time within 2: of 100 people like the most exposed one he finds at most 42 instead of 37.`"""
        if self.new is None:
            return f"{self.guess}: no limit any more. Whatever is asked about it will be answered."
        limit = f"he may guess {percent(self.new.limit, 2)} in the end"
        if self.old is None:
            return f"{self.guess}: a new limit; {limit}."
        if self.new.limit == self.old.limit:
            return f"{self.guess}: as before; {limit} for the most exposed person."
        before = f"{percent(self.new.before, 2)} before any answer, {percent(self.new.after, 2)} by now"
        return f"{self.guess}: for the most exposed person {before}; {limit} instead of {percent(self.old.limit, 2)}."

    def to_json(self) -> dict[str, Any]:
        sides = {"old": self.old, "new": self.new}
        told = {side: None if found is None else found.to_json() for side, found in sides.items()}
        return {"guess": self.guess, **told, "words": self.words}


@dataclass(frozen=True)
class Preview:
    """What a new text of the policy would change. `based_on`: the digest of the policy it was compared with."""

    based_on: str
    digest: str
    text: str
    changes: Changes
    moved: tuple[Moved, ...]
    left: tuple[float, float]  # of the allowance, now and then

    @property
    def loosens(self) -> bool:
        return bool(self.changes.loosened)

    def to_json(self) -> dict[str, Any]:
        return {
            "based_on": self.based_on,
            "digest": self.digest,
            "text": self.text,
            "changes": [c.to_json() for c in self.changes],
            "loosens": self.loosens,
            "guesses": [m.to_json() for m in self.moved],
            "left": {"old": self.left[0], "new": self.left[1]},
        }


@dataclass(frozen=True)
class Proposal:
    """A change that waits for a second custodian. `seq`: its entry in the chain."""

    seq: int
    at: str
    by: str
    reason: str
    based_on: str
    digest: str
    text: str

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("seq", "at", "by", "reason", "based_on", "digest", "text")}


def written(gate: Gateway) -> str:
    """The text of the policy file."""
    return _file(gate).read_text(encoding="utf-8")


def with_limits(text: str, gains: Mapping[str, str]) -> str:
    """The text with other gains, `{"visits.time within 2": "8%"}`; everything else, comments too, stays as it is."""
    tree = parse_tree(text, "the policy")
    attackers = tree.get("attackers")
    found: dict[str, Leaf] = {}
    for attacker in attackers.items if isinstance(attackers, Items) else ():
        if isinstance(attacker, Entries):
            guess, gain = attacker.get("guess"), attacker.get("gain")
            if isinstance(guess, Leaf) and isinstance(gain, Leaf):
                found[guess.raw] = gain
    for name in gains:
        if name not in found:
            raise Misconfigured("There is no such attacker in the policy.", hint=f"Attackers: {', '.join(found)}.")
    for name, said in sorted(gains.items(), key=lambda pair: -found[pair[0]].place.start):
        if GAIN.fullmatch(said.strip()) is None:
            raise Misconfigured("A limit is a percentage.", hint="For example 8%.")
        place = found[name].place
        text = f"{text[: place.start]}{said.strip()}{text[place.end :]}"
    return text


def preview(gate: Gateway, text: str) -> Preview:
    """What the new text would change. Raises Misconfigured where it cannot be read. Nothing is done."""
    old, new = gate.policy, _read(gate, text)
    totals = gate.ledger.totals()
    before, after = ({g.guess: g for g in standing(policy, totals)} for policy in (old, new))
    moved = tuple(Moved(name, before.get(name), after.get(name)) for name in dict.fromkeys([*after, *before]))
    left = tuple(max(0.0, 1 - float(share_used(policy, totals))) for policy in (old, new))
    return Preview(old.digest, new.digest, text, compare(old, new), moved, (left[0], left[1]))


def change(
    gate: Gateway, text: str, *, based_on: str, by: str, reason: str, four_eyes: bool
) -> tuple[Preview, Proposal | None]:
    """Do it; with four eyes, where it loosens, propose it."""
    with _ONE:
        _check_base(gate, based_on)
        found = preview(gate, text)
        reason = _reason(reason)
        if found.loosens and four_eyes:
            details = {"reason": reason, "based_on": based_on, "digest": found.digest, "text": text}
            gate.ledger.act(PROPOSED, by=by, details=details)
            return found, proposal(gate)
        _done(gate, text, f"{reason} (by {by})")
        return found, None


def proposal(gate: Gateway) -> Proposal | None:
    """The change that waits."""
    found: Entry | None = None
    for entry in gate.ledger.entries():
        if entry.kind == "policy":
            found = None
        elif entry.kind == "act" and entry.body["what"] in (PROPOSED, WITHDRAWN):
            found = entry if entry.body["what"] == PROPOSED else None
    if found is None:
        return None
    said = {name: found.body[name] for name in ("at", "by", "reason", "based_on", "digest", "text")}
    return Proposal(found.seq, **said)


def confirm(gate: Gateway, seq: int, *, by: str) -> Preview:
    """The second pair of eyes. Whoever proposed it cannot confirm it."""
    with _ONE:
        waiting = _waiting(gate, seq)
        if waiting.by == by:
            raise NotAuthorised("Whoever proposed a change does not confirm it.", hint="Ask another custodian.")
        _check_base(gate, waiting.based_on)
        found = preview(gate, waiting.text)
        _done(gate, waiting.text, f"{waiting.reason} (proposed by {waiting.by}, confirmed by {by})")
        return found


def withdraw(gate: Gateway, seq: int, *, by: str) -> None:
    """Any custodian may say no."""
    _waiting(gate, seq)
    gate.ledger.act(WITHDRAWN, by=by, details={"proposal": seq})


def _waiting(gate: Gateway, seq: int) -> Proposal:
    found = proposal(gate)
    if found is None or found.seq != seq:
        raise Conflict("This proposal does not wait any more.", hint="Look at the promises again.")
    return found


def _check_base(gate: Gateway, based_on: str) -> None:
    """Of the gateway, of the file and of the ledger: somebody else may have changed it since."""
    try:
        gate.check_policy()
        same = based_on == gate.policy.digest
    except Misconfigured:
        same = False
    if not same:
        raise Conflict(
            "The policy is not the one that was looked at any more.", hint="Look at the change again. Nothing was done."
        )


def _done(gate: Gateway, text: str, reason: str) -> None:
    """The file first: stopped in between, every question is refused until the change is accepted or undone."""
    file = _file(gate)
    descriptor, fresh = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        Path(fresh).chmod(file.stat().st_mode & 0o777)
        Path(fresh).replace(file)
    except OSError as error:
        Path(fresh).unlink(missing_ok=True)
        raise Misconfigured(
            f"The policy file cannot be written: {(error.strerror or 'unknown').lower()}.",
            hint="The server's user must be able to write its folder. Nothing was done.",
        ) from None
    gate.ledger.declare(parse(text, file), reason=reason)


def _read(gate: Gateway, text: str) -> Policy:
    """Whoever sends a text does not say which files are read: a prior that is the data would tell them, exactly."""
    named = "the policy"
    if not set(_prior_files(parse_tree(text, named))) <= set(_prior_files(parse_tree(written(gate), named))):
        raise Misconfigured("Another file of a prior is not taken up while serving.", hint="Change the policy file.")
    new = parse(text, _file(gate))
    for key in ("engine", "ledger"):
        if getattr(new, key) != getattr(gate.policy, key):
            raise Misconfigured(f"Another {key} is not taken up while serving.", hint="Change the file and restart.")
    sources = {t.source for t in gate.policy.tables}
    if any(t.source not in sources for t in new.tables):
        raise Misconfigured("Another source is not taken up while serving.", hint="Change the file and restart.")
    return new


def _prior_files(node: Node | None) -> Iterator[str]:
    """What stands under `empirical`, wherever it does."""
    if isinstance(node, Entries):
        said = node.get("empirical")
        file = said.get("file") if isinstance(said, Entries) else said
        if isinstance(file, Leaf):
            yield file.raw
    for inner in node.entries.values() if isinstance(node, Entries) else node.items if isinstance(node, Items) else ():
        yield from _prior_files(inner)


def _file(gate: Gateway) -> Path:
    assert gate.policy.path is not None, "what is served was read from a file"
    return gate.policy.path


def _reason(reason: str) -> str:
    if not reason.strip() or len(reason) > LONGEST:
        raise Misconfigured(f"A change of the policy needs a reason of at most {LONGEST} characters.")
    return " ".join(reason.split())
