"""Names of tables, columns and results as SQL writes them: quoted where they could be read as anything else."""

import re
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot.errors import SqlglotError

from nowiser.errors import Misconfigured
from nowiser.sql.literals import writable

_PLAIN = re.compile(r"[a-z_][a-z0-9_]{0,62}", re.ASCII)
_EVERYWHERE = "SELECT {0}, COUNT({0}) AS {0} FROM {0} WHERE {0} > 1 AND NOT {0} IN (1) GROUP BY {0} ORDER BY {0} DESC"


@lru_cache(maxsize=1024)
def name(text: Any) -> str:
    """The name, in quotes unless it reads the same without them at every place where a builder writes names."""
    if not isinstance(text, str) or not text:
        raise Misconfigured(f"A name must be a text of at least one letter, not {text!r}.")
    quoted = '"' + writable(text).replace('"', '""') + '"'
    return text if _PLAIN.fullmatch(text) and _same(text, quoted) else quoted


def _same(text: str, quoted: str) -> bool:
    try:
        plain, safe = (sqlglot.parse_one(_EVERYWHERE.format(n), read="postgres") for n in (text, quoted))
    except (SqlglotError, ValueError):
        return False
    return plain.sql(identify=True) == safe.sql(identify=True)
