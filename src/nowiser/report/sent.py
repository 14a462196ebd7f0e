"""An answer as the server sends it and as a client reads it back: the same value on both sides.

What `query --json` prints, and beside it what an `Answer` carries besides (`kinds`, `ranges`, `news`, …).
"""

from collections.abc import Mapping
from typing import Any

from nowiser.errors import Advice, Useless
from nowiser.report.answer import Answer
from nowiser.sql.answer.vectors import vector

TUPLES = ("notes", "news", "kinds")
PLAIN = ("price", "admitted", "refusal", "expected_for")


def sent(answer: Answer) -> dict[str, Any]:
    """JSON's types only."""
    found = answer.to_dict() | {name: list(getattr(answer, name)) for name in TUPLES}
    found |= {name: getattr(answer, name) for name in PLAIN}
    return found | {
        "expected": dict(answer.expected),
        "ranges": [None if r is None else list(r) for r in answer.ranges],
        "useless": None if answer.useless is None else answer.useless.to_json(),
    }


def received(body: Mapping[str, Any]) -> Answer:
    """The answer that was sent."""
    names, rows = body["columns"], body.get("rows")
    beside: dict[str, Any] = {name: tuple(body[name]) for name in TUPLES} | {name: body[name] for name in PLAIN}
    return Answer(
        columns=tuple(names),
        values=None if rows is None else tuple(vector(row[i] for row in rows) for i in range(len(names))),
        bars=tuple(vector(b) if isinstance(b, list) else b for b in body["error"]),
        exact=tuple(body["exact"]),
        cost=dict(body["cost"]),
        guesses=tuple(body["guesses"]),
        left=body["left"],
        stored=body["stored"],
        follows=body["follows"],
        synopsis=body.get("synopsis", ""),
        bounding=tuple(body["bounding"]),
        expected=dict(body["expected"]),
        ranges=tuple(None if r is None else (r[0], r[1]) for r in body["ranges"]),
        useless=None if body["useless"] is None else useless(body["useless"]),
        **beside,
    )


def useless(body: Mapping[str, Any]) -> Useless:
    """A refusal as useless, with its figures and levers."""
    advice = Advice(body["hint"], body["binding"], tuple(body["levers"]))
    text = body["message"] if "message" in body else body["detail"]
    return Useless(text, figures=body["figures"], advice=lambda: advice)
