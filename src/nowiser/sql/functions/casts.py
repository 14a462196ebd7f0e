"""Conversions from and to text. A text that is not a number of the kind wanted is NULL, never an error."""

import re
from collections.abc import Callable
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.functions import dates
from nowiser.sql.functions.base import Function, Types, count, want
from nowiser.sql.functions.calendar import civil
from nowiser.sql.interval import EVERYTHING, INT64, Interval
from nowiser.sql.tree import Type

WHOLE = "^-?[0-9]{1,18}$"
DECIMAL = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?([eE][-+]?[0-9]{1,2})?$"


def _from_text(kind: Kind, bounds: Interval) -> Callable[[Types], Type]:
    def typing(types: Types) -> Type:
        count(types, 1)
        want(types, Kind.TEXT)
        return Type(kind, nullable=True, bounds=bounds)

    return typing


def _into_text(kind: Kind) -> Callable[[Types], Type]:
    def typing(types: Types) -> Type:
        count(types, 1)
        want(types, kind)
        return Type(Kind.TEXT, types[0].nullable)

    return typing


def _read(pattern: str, make: Callable[[str], Any]) -> Callable[[str], Any]:
    wanted = re.compile(pattern.removesuffix("$").removeprefix("^"), re.ASCII)
    return lambda text: make(text) if wanted.fullmatch(text) else None


def _iso(day: int) -> str:
    year, month, of_month = civil(day)
    return f"{year:04}-{month:02}-{of_month:02}"


def _truth(types: Types) -> Type:
    count(types, 1)
    want(types, Kind.INTEGER)
    return Type(Kind.BOOLEAN, types[0].nullable)


def _date_text(types: Types) -> Type:
    found = _into_text(Kind.DATE)(types)
    dates.ends(types[0])
    return found


FUNCTIONS = (
    Function(
        "text_to_integer",
        _from_text(Kind.INTEGER, INT64),
        _read(WHOLE, int),
        lambda args: f"CAST(nullif(regexp_extract({args[0]}, '{WHOLE}'), '') AS BIGINT)",
        engines={"postgres": lambda args: f"CAST(substring({args[0]} FROM '{WHOLE}') AS BIGINT)"},
    ),
    Function(
        "text_to_real",
        _from_text(Kind.REAL, EVERYTHING),
        _read(DECIMAL, float),
        lambda args: f"CAST(nullif(regexp_extract({args[0]}, '{DECIMAL}'), '') AS DOUBLE)",
    ),
    Function(
        "integer_to_text",
        _into_text(Kind.INTEGER),
        str,
        "CAST({0} AS VARCHAR)",
        engines={"postgres": 'CAST({0} AS TEXT) COLLATE "C"', "spark": "CAST({0} AS STRING)"},
    ),
    Function(
        "boolean_to_text",
        _into_text(Kind.BOOLEAN),
        lambda value: "true" if value else "false",
        "CAST({0} AS VARCHAR)",
        engines={"postgres": 'CAST({0} AS TEXT) COLLATE "C"', "spark": "CAST({0} AS STRING)"},
    ),
    Function(
        "date_to_text",
        _date_text,
        _iso,
        "CAST({0} AS VARCHAR)",
        engines={"postgres": "to_char({0}, 'YYYY-MM-DD') COLLATE \"C\""},
    ),
    Function(
        "integer_to_boolean",
        _truth,
        bool,
        "({0} <> 0)",
        engines={"postgres": "({0} <> 0)", "spark": "({0} <> 0)"},
    ),
)
