"""Parameters of a question, checked as PEP 249 wants: `?` or `$1` stands for a value, and for nothing else."""

from collections.abc import Sequence
from typing import Any

from nowiser.dbapi.errors import ProgrammingError
from nowiser.errors import Misconfigured
from nowiser.sql.read.text import parameters as read


def checked(sql: str, parameters: Sequence[Any] | None) -> tuple[Any, ...] | None:
    """The values; None where the question takes none. Raises ProgrammingError where they do not fit."""
    try:
        values = read.listed(parameters)
        if not values and not read.number(sql):
            return None
        read.filled(sql, values)
    except Misconfigured as error:
        hint = f"\n{error.hint}" if error.hint else ""
        raise ProgrammingError(f"The parameters do not fit: {error.message}{hint}") from None
    return values
