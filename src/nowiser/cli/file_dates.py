# ruff: noqa: S608 (the SQL is made of our own words and of names that are quoted here)
"""How the dates of a csv file are written, for the custodian's eyes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nowiser.engines.render import quote, text
from nowiser.files.dates import FORMS, ISO, fitting, pattern

Run = Callable[[str], list[tuple[Any, ...]]]
LOOKS = r"^\s*[0-9]{1,4}([-./])[0-9]{1,2}([-./])[0-9]{1,4}([ T,].*)?$"
SAMPLE = 2_000  # different texts; then all of them are held against the forms that are left


@dataclass(frozen=True)
class Dates:
    """How many dates of a column the engine reads as they stand, and how many not. forms: those that all texts have."""

    read: int
    unread: int
    forms: tuple[str, ...] = ()

    def advice(self, column: str) -> str:
        """What to write into the policy, or to do with the file."""
        if not self.forms:
            return "Write them as 2023-11-28, or say where day, month and year stand: `csv: {dates: …}`."
        said = " or ".join(f"`csv: {{dates: {{{column}: {form}}}}}`" for form in self.forms)
        return f"Say how: {said}."


def dates_of(run: Run, texts: str, column: str, tried: tuple[str, ...] = FORMS) -> Dates:
    """`texts`: a relation of DuckDB in which every field is a text. `tried`: forms they may have."""
    name = quote(column)
    iso = f"regexp_matches({name}, {text(ISO)}) AND TRY_CAST({name} AS TIMESTAMP) IS NOT NULL"
    ((read, all_),) = run(f"SELECT count(*) FILTER ({iso}), count({name}) FROM {texts}")
    if read or not all_:
        return Dates(int(read), int(all_ - read))
    sample = [str(v) for (v,) in run(f"SELECT DISTINCT {name} FROM {texts} WHERE {name} IS NOT NULL LIMIT {SAMPLE}")]
    forms = [form for form in fitting(sample, tried) if _all_fit(run, texts, name, form)]
    return Dates(0, int(all_), tuple(forms))


def _all_fit(run: Run, texts: str, name: str, form: str) -> bool:
    ((all_fit,),) = run(f"SELECT bool_and({parsed(form, name)} IS NOT NULL) FROM {texts} WHERE {name} IS NOT NULL")
    return bool(all_fit)


def parsed(form: str, name: str) -> str:
    """The timestamp of a text in SQL of DuckDB; NULL where it has another form. `name`: quoted."""
    letters = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S"}
    spelled = form
    for word, letter in letters.items():
        spelled = spelled.replace(word, letter)
    fits = f"regexp_full_match({name}, {text(pattern(form))})"
    return f"CASE WHEN {fits} THEN try_strptime(trim({name}), {text(spelled)}) END"


def seem_dates(run: Run, texts: str, columns: list[str]) -> list[str]:
    """Columns in which every text looks like a date, in whatever order."""
    if not columns:
        return []
    looks = (f"bool_and(regexp_matches({quote(c)}, {text(LOOKS)}))" for c in columns)
    (found,) = run(f"SELECT {', '.join(looks)} FROM {texts}")
    return [column for column, all_look in zip(columns, found, strict=True) if all_look]
