"""What BI tools and drivers say besides questions: settings that mean nothing here are accepted and have no effect.

    SET application_name = 'tableau'      accepted; nothing changes
    SHOW server_version                   a constant; nothing is read
    SELECT 1, SELECT version()            a constant, as drivers ask to see whether anybody is there

Everything else that is not a question is refused by `parse`.
"""

import re
from dataclasses import dataclass

MOST_CHARACTERS = 500

SETTINGS = {
    "application_name": "",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "datestyle": "ISO, MDY",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "on",
    "extra_float_digits": "1",
    "idle_in_transaction_session_timeout": "0",
    "integer_datetimes": "on",
    "intervalstyle": "postgres",
    "lc_collate": "C",
    "lc_messages": "C",
    "lock_timeout": "0",
    "max_identifier_length": "63",
    "search_path": "public",
    "server_encoding": "UTF8",
    "server_version": "16.0",
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "timezone": "UTC",
    "transaction_isolation": "read committed",
    "transaction_read_only": "on",
}

_COMMENT = r"(?:--[^\n]{0,200}\n|/\*[^*]{0,200}\*/)"
_START = rf"\s*{_COMMENT}?\s*"
_VALUE = r"(?:'[^']{0,100}'|\"[^\"]{0,100}\"|[\w.+-]{1,50})"
_SET = re.compile(
    rf"{_START}SET\s+(?:SESSION\s+|LOCAL\s+)?(?:(\w+)\s*(?:=|\s+TO\s+)\s*|(TIME\s+ZONE)\s+|(NAMES)\s+)"
    rf"{_VALUE}(?:\s*,\s*{_VALUE}){{0,9}}\s*;?\s*",
    re.IGNORECASE | re.ASCII,
)
_SHOW = re.compile(
    rf"{_START}SHOW\s+(?:(TIME\s+ZONE|TRANSACTION\s+ISOLATION\s+LEVEL)|(\w+))\s*;?\s*", re.IGNORECASE | re.ASCII
)
_NOTHING = re.compile(
    rf"{_START}(SET)\s+(?:SESSION\s+CHARACTERISTICS\s+AS\s+)?TRANSACTION(?:\s*,?\s*(?:READ\s+ONLY|READ\s+WRITE|NOT\s+DEFERRABLE|DEFERRABLE"
    r"|ISOLATION\s+LEVEL\s+(?:READ\s+(?:UN)?COMMITTED|REPEATABLE\s+READ|SERIALIZABLE))){0,3}\s*;?\s*",
    re.IGNORECASE | re.ASCII,
)
_PING = re.compile(
    rf"{_START}SELECT\s+(?:(?:pg_catalog\.)?([a-z_]{{1,20}})(?:\s*\(\s*\))?|([0-9]{{1,9}}))"
    r"(?:\s+(?:AS\s+)?(?:\"([^\"]{1,63})\"|([a-z_]\w{0,62})))?\s*;?\s*",
    re.IGNORECASE | re.ASCII,
)
CONSTANTS = {
    "version": "PostgreSQL 16.0 (nowiser)",
    "current_schema": "public",
    "current_database": "nowiser",
    "current_user": "analyst",
    "session_user": "analyst",
}
_SAME = {"time zone": "timezone", "transaction isolation level": "transaction_isolation", "names": "client_encoding"}


@dataclass(frozen=True)
class Setting:
    """The answer to SET or SHOW: constants."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | None, ...], ...]


def setting(text: str) -> Setting | None:
    """What a harmless SET, SHOW or SELECT of a constant gives; None for anything else."""
    if len(text) > MOST_CHARACTERS:
        return None
    if found := _NOTHING.fullmatch(text):
        return Setting((found[1].upper(),), ())
    if found := _PING.fullmatch(text):
        function, number, alias = found[1], found[2], found[3] or found[4]
        if function is not None:
            name = function.lower()
            return Setting((alias or name,), ((CONSTANTS[name],),)) if name in CONSTANTS else None
        return Setting((alias or "?column?",), ((int(number),),))
    if found := _SET.fullmatch(text):
        return Setting(("SET",), ()) if _name(found) in SETTINGS else None
    if found := _SHOW.fullmatch(text):
        name = _name(found)
        return Setting((name,), ((SETTINGS[name],),)) if name in SETTINGS else None
    return None


def _name(found: re.Match[str]) -> str:
    written = " ".join(next(g for g in found.groups() if g).lower().split())
    return _SAME.get(written, written)
