"""Figures and times as people read them. Shares are rounded up where they are ceilings, never written as 2.42e+4."""

from collections.abc import Mapping
from datetime import UTC, datetime
from math import ceil, floor
from typing import Any

from markupsafe import Markup, escape

from nowiser.model.advantage import points as share_words
from nowiser.percent import percent
from nowiser.report.answer import rounded
from nowiser.report.visible import on_one_line, visible

LONGEST = 120


def at_most(share: float) -> str:
    """A ceiling: rounded up."""
    return share_words(share, up=True)


def left(share: float) -> str:
    """What is left: rounded down."""
    return f"{floor(1000 * max(0.0, float(share)) + 1e-6) / 10:.1f} %"


def used(share: float) -> str:
    """A price: rounded up; `free` where it is nothing."""
    share = float(share)
    if share <= 0:
        return "free"
    return "< 0.1 %" if share < 0.0005 else share_words(share, up=True)


def points(guess: Mapping[str, Any]) -> str:
    """`1.2 of 5 points used`."""
    gained, most = 100 * (guess["after"] - guess["before"]), 100 * (guess["limit"] - guess["before"])
    said = "0" if gained <= 1e-9 else "less than 0.1" if gained < 0.05 else f"{ceil(10 * gained - 1e-6) / 10:.1f}"
    return f"{said} of {most:.4g} points used"


def of_hundred(share: float) -> int:
    """Of 100 people, rounded up."""
    return ceil(100 * share - 1e-6)


def when(at: str) -> str:
    """`18 Nov 2026, 21:08`, in UTC."""
    try:
        found = datetime.fromisoformat(at).astimezone(UTC)
    except ValueError:
        return at
    return f"{found.day} {found:%b %Y, %H:%M}"


def short(text: str) -> str:
    flat = on_one_line(" ".join(text.split()))
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…"


def many(count: int, one: str, several: str = "") -> str:
    """`1 question`, `1,204 questions`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def ticked(text: str) -> Markup:
    """With what stands between backticks as code."""
    parts = str(text).split("`")
    if len(parts) % 2 == 0:  # one that has no partner
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(parts))


def x(share: float) -> str:
    """A place on a meter of 1000 units."""
    return f"{1000 * min(1.0, max(0.0, float(share))):.1f}"


FILTERS = {
    "percent": lambda share: percent(float(share)),
    "at_most": at_most,
    "left": left,
    "used": used,
    "points": points,
    "of_hundred": of_hundred,
    "when": when,
    "short": short,
    "many": many,
    "rounded": rounded,
    "x": x,
    "visible": visible,
    "ticked": ticked,
}
