"""Dates that are not written as 2023-11-28: the form of them, in words, and how such texts become dates.

`day.month.year` is 28.11.2023, `month/day/year hour:minute` is 11/28/2023 14:05. Years have four digits. No reader
guesses a form from rows: 03.04.2023 would be March or April, as the rows before it say.
"""

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache

_DIGITS = {"year": "[0-9]{4}", **dict.fromkeys(("month", "day", "hour", "minute", "second"), "[0-9]{1,2}")}
_WORD = re.compile("|".join(_DIGITS))
_DATE, _TIME = ("year", "month", "day"), ("hour", "minute", "second")
_BETWEEN = re.compile(r"[-./: ,T]{0,3}")
UNREAD = "?"  # stands for a text that has another form: it is no date, and missing

# As `init` and `check` try them: what people write, the day first or the month first.
FORMS = tuple(
    date + time
    for time in ("", " hour:minute", " hour:minute:second")
    for date in (
        *(f"day{mark}month{mark}year" for mark in "./-"),
        *(f"month{mark}day{mark}year" for mark in "./-"),
        "year.month.day",
    )
)
# As the engines read dates, and with a year of four digits: of `28/11/23` DuckDB would make the year 28.
ISO = r"^\s*[0-9]{4,}[-/][0-9]{1,2}[-/][0-9]{1,2}([ T].*)?$"


def is_form(text: str) -> bool:
    """Whether it names year, month and day once each, at most hours, minutes and seconds too, and marks between."""
    words, rest = _WORD.findall(text), _WORD.split(text)
    times = len(words) - len(_DATE)
    wanted = (*_DATE, *_TIME[:times])
    return times in (0, 2, 3) and sorted(words) == sorted(wanted) and all(map(_BETWEEN.fullmatch, rest))


@cache
def pattern(form: str) -> str:
    """A regular expression for texts of this form, blanks around them."""
    marks = [re.escape(mark) for mark in _WORD.split(form)]
    words = [f"(?P<{word}>{_DIGITS[word]})" for word in _WORD.findall(form)]
    return r"\s*" + marks[0] + "".join(w + m for w, m in zip(words, marks[1:], strict=True)) + r"\s*"


def reader(form: str) -> Callable[[str], str]:
    """Texts of this form as 2023-11-28, or 2023-11-28 14:05:00; any other as UNREAD."""
    matching = re.compile(pattern(form), re.ASCII).fullmatch

    def read(text: str) -> str:
        found = matching(text)
        if found is None:
            return UNREAD
        numbers = {word: int(digits) for word, digits in found.groupdict().items()}
        try:
            at = datetime(**numbers)  # type: ignore[arg-type]  # noqa: DTZ001 (files have no zones)
        except ValueError:
            return UNREAD
        return at.isoformat(" ") if "hour" in numbers else at.date().isoformat()

    return read


def fitting(texts: list[str], forms: tuple[str, ...] = FORMS) -> tuple[str, ...]:
    """The forms that all these texts have. Several where no day is after the twelfth."""
    return tuple(f for f in forms if texts and all(map(UNREAD.__ne__, map(reader(f), texts))))
