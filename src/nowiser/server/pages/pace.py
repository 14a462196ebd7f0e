"""When the allowance will be used up, at the pace of the last days."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from nowiser.report.account import Line

WINDOW = timedelta(days=28)
SHORTEST = timedelta(days=2)  # of a history that says something about a pace
FAR = 3650  # days


def pace(charges: Sequence[Line], left: float, now: datetime | None = None) -> tuple[str, str]:
    """How long what is left lasts, in two or three words, and the sentence that explains them."""
    now = now or datetime.now(UTC)
    if left <= 0:
        return "used up", "Nothing is left: new questions are refused. Answers already given stay free."
    if not charges:
        return "no pace yet", "Nothing has been charged yet."
    first = datetime.fromisoformat(charges[0].at).astimezone(UTC)
    since = max(first, now - WINDOW)
    if now - first < SHORTEST:
        return "too early to say", "The first question is less than two days old: too early to tell a pace."
    recent = sum(float(line.share) for line in charges if datetime.fromisoformat(line.at).astimezone(UTC) >= since)
    days = (now - since) / timedelta(days=1)
    if recent <= 0:
        return "at rest", f"Nothing was charged in the last {days:.0f} days; what is left stays."
    lasts = left / (recent / days)
    if lasts > FAR:
        return "more than 10 years", "At the pace of the last days it lasts for more than ten years."
    end = now + timedelta(days=lasts)
    said = f"{lasts:.0f} days" if lasts >= 1.5 else "a day"
    return f"about {said}", (
        f"At the pace of the last {days:.0f} days ({100 * recent / days:.2g} % of the allowance a day) it is used up "
        f"about {end.day} {end:%B %Y}."
    )
