"""What the custodian's report says, as plain values: from a policy, its account and what `nowiser check` found."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nowiser.guess.budget.allowance import standing, unguarded
from nowiser.ledger.base import Head
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.report.account import Account, Line
from nowiser.report.custodian import policy_words
from nowiser.report.custodian.pages import pages
from nowiser.report.document.blocks import Document, markdown
from nowiser.report.document.html import html

SHOWN = 6  # questions one by one; of more the dearest
LONGEST = 120  # letters of a question

NO_LEDGER = Head(0, "")


@dataclass(frozen=True)
class Report:
    """What `nowiser report --json` prints, as a value that shows itself and is saved as .html, .pdf or .md."""

    content: Mapping[str, Any]

    @cached_property
    def document(self) -> Document:
        return pages(self.content)

    def to_dict(self) -> dict[str, Any]:
        return dict(self.content)

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> Path:
        """Write it; the ending says how. PDF needs `nowiser[pdf]`. Nothing is fetched, now or when it is opened."""
        from nowiser.report.document.file import save

        return save(self.document, path)

    def __str__(self) -> str:
        return markdown(self.document)

    def __repr__(self) -> str:
        return f"<Report of {self.content['policy']['name']}, {self.content['made']}>"

    def _repr_html_(self) -> str:
        return html(self.document, whole_page=False)


def report(
    policy: Policy,
    read: Account,
    head: Head = NO_LEDGER,
    *,
    findings: Sequence[Mapping[str, str]] = (),
    examples: Sequence[str] = (),
    now: datetime | None = None,
) -> Report:
    """From a policy and its account. `findings`: level and text of what `nowiser check` found; `examples`: what is
    left, in questions somebody might ask.
    """
    left = max(Fraction(0), read.left)
    return Report(
        {
            "made": f"{(now or datetime.now(UTC)).astimezone(UTC):%Y-%m-%d %H:%M} UTC",
            "nowiser": version("nowiser"),
            "policy": {
                "name": policy.path.name if policy.path else "policy",
                "digest": policy.digest,
                "version": policy.version,
                "tables": policy_words.tables(policy),
                "promises": policy_words.promises(policy),
                "analysts": policy_words.analysts(policy),
            },
            "guesses": [_guess(policy, read, i) for i in range(len(policy.attackers))],
            "unguarded": list(unguarded(policy)),
            "used": float(read.used),
            "left": float(left),
            "failing": float(read.failing),
            "typical": {
                "answers": int(left / policy.spend),
                "spend": float(policy.spend),
                "examples": list(examples),
            },
            "questions": _questions(policy, read),
            "analysts": _analysts(read),
            "releases": [_told(line) for line in read.lines if line.kind == "publication"],
            "changes": [_told(line) for line in read.lines if line.kind in ("policy", "access")],
            "ledger": {"entries": head.seq, "head": head.hash or None, "verified": True},
            "findings": [dict(f) for f in findings],
        }
    )


def _guess(policy: Policy, read: Account, at: int) -> dict[str, Any]:
    found = read.guesses[at]
    gained = found.after - found.before
    return found.to_json() | {
        "words": policy_words.goal(policy.attackers[at]),
        "gained": 100 * gained,
        "allowed": 100 * float(policy.attackers[at].gain),
    }


def _questions(policy: Policy, read: Account) -> dict[str, Any]:
    """Every charged question in the totals, the dearest one by one in the order of time.

    points: how much more the attacker nearest to his limit gains at most, once this is answered on top of all before.
    """
    asked = [line for line in read.lines if line.kind == "question"]
    dearest = sorted(asked, key=lambda line: (-line.share, line.seq))[:SHOWN]
    nearest = _nearest(read)
    added = _added(policy, read.lines, {line.seq for line in dearest}, nearest)
    shown = [_told(line) | {"points": added.get(line.seq, 0.0)} for line in sorted(dearest, key=lambda line: line.seq)]
    return {
        "count": len(asked),
        "failed": sum(line.state == "failed" for line in asked),
        "against": None if nearest is None else read.guesses[nearest].guess,
        "shown": shown,
        "more": len(asked) - len(shown),
    }


def _nearest(read: Account) -> int | None:
    """The attacker who has used up most of what he may gain."""
    shares = [(g.after - g.before) / max(g.limit - g.before, 1e-12) for g in read.guesses]
    return shares.index(max(shares)) if shares else None


def _added(policy: Policy, lines: Sequence[Line], wanted: set[int], attacker: int | None) -> dict[int, float]:
    """For the lines that are wanted: points on top of everything charged before."""
    found: dict[int, float] = {}
    totals = Charge()
    for line in lines:
        if line.seq in wanted and attacker is not None:
            was, now = (standing(policy, t)[attacker] for t in (totals, totals + line.charge))
            found[line.seq] = 100 * max(0.0, (now.after - now.before) - (was.after - was.before))
        totals += line.charge
    return found


def _analysts(read: Account) -> list[dict[str, Any]]:
    granted = {name: (used, share) for name, used, share in read.analysts}
    names = dict.fromkeys([*granted, *(line.who for line in read.lines if line.kind == "question")])
    found = []
    for name in names:
        asked = [line for line in read.lines if line.kind == "question" and line.who == name]
        used, share = granted.get(name, (0, None))
        if asked or share is not None:
            counts = {"questions": len(asked), "failed": sum(line.state == "failed" for line in asked)}
            shares = {"used": float(used), "granted": None if share is None else float(share)}
            found.append({"name": name} | counts | shares | {"closed": name in read.closed})
    return found


def _told(line: Line) -> dict[str, Any]:
    flat = " ".join(line.what.split())
    return {
        "seq": line.seq,
        "at": line.at[:16].replace("T", " "),
        "analyst": line.who,
        "what": flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…",
        "state": line.state,
        "share": float(line.share),
    }
