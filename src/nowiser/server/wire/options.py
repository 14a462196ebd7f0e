"""The settings of a session: what PostgreSQL's clients set, and how nowiser is asked.

nowiser.spend    the share of the allowance each new question may use, such as 1%
nowiser.error    or the 95 % half-width wanted, such as 1.5; what was set last counts
nowiser.bars     on: after each number a column with its error bar
nowiser.anyway   on: also answers that would tell next to nothing
nowiser.clipped  on: also estimate how many rows were clipped or left out
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.sql.plan.precision import number
from nowiser.sql.read.bi import SETTINGS

OURS = {
    "nowiser.spend": "",
    "nowiser.error": "",
    "nowiser.bars": "off",
    "nowiser.anyway": "off",
    "nowiser.clipped": "off",
}
ACCEPTED = {
    "array_nulls": "on", "backslash_quote": "safe_encoding", "default_tablespace": "", "escape_string_warning": "on",
    "geqo": "on", "is_superuser": "off", "jit": "off", "lc_monetary": "C", "lc_numeric": "C", "lc_time": "C",
    "max_index_keys": "32", "quote_all_identifiers": "off", "role": "none", "row_security": "off",
    "session_authorization": "", "synchronous_commit": "on", "synchronize_seqscans": "on", "tcp_keepalives_idle": "60",
    "transaction_deferrable": "off", "work_mem": "4MB", "xmloption": "content",
}  # fmt: skip
FIXED = ("server_version", "server_encoding", "integer_datetimes", "is_superuser", "max_identifier_length",
         "session_authorization", "nowiser.database")  # fmt: skip
SPELLED = {"datestyle": "DateStyle", "timezone": "TimeZone", "intervalstyle": "IntervalStyle"}
REPORTED = (
    "application_name", "client_encoding", "datestyle", "default_transaction_read_only", "in_hot_standby",
    "integer_datetimes", "intervalstyle", "is_superuser", "server_encoding", "server_version",
    "session_authorization", "standard_conforming_strings", "timezone",
)  # fmt: skip
DEFAULTS = {**SETTINGS, **ACCEPTED, **OURS, "in_hot_standby": "off", "client_min_messages": "notice"}
MOST_LETTERS = 1000
_ON, _OFF = ("on", "true", "yes", "1", "t"), ("off", "false", "no", "0", "f")


@dataclass(eq=False)
class BadSetting(Exception):
    sqlstate: str
    message: str
    hint: str | None = None


class Options:
    """Of one session. What a transaction that is rolled back had set is as before."""

    def __init__(self, defaults: Mapping[str, str]) -> None:
        self._defaults = {**DEFAULTS, **defaults}
        self._values, self._local, self._before = dict[str, str](), dict[str, str](), dict[str, str]()
        self._within = False

    def __getitem__(self, name: str) -> str:
        return self._local.get(name, self._values.get(name, self._defaults[name]))

    def every(self) -> dict[str, str]:
        return {**self._defaults, **self._values, **self._local}

    def show(self, name: str) -> str:
        if name not in self._defaults:
            raise _unknown(name)
        return self[name]

    def set(self, name: str, value: str | None, *, local: bool = False) -> list[tuple[str, str]]:
        """Set, or back to its default with None. What a client is told of, with the new values."""
        name, before = name.lower(), self.every()
        target = self._local if local else self._values
        if local and not self._within:
            return []  # as in PostgreSQL: it ends where it begins
        if value is None:
            target.pop(name, None)
            if name not in self._defaults:
                raise _unknown(name)
            return self._changed(before)
        target[name] = self.checked(name, value)
        if not local:
            self._local.pop(name, None)
        other = {"nowiser.spend": "nowiser.error", "nowiser.error": "nowiser.spend"}.get(name)
        if other is not None and target[name]:
            target[other] = ""
        return self._changed(before)

    def reset(self) -> list[tuple[str, str]]:
        before = self.every()
        self._values.clear()
        self._local.clear()
        return self._changed(before)

    def begin(self) -> None:
        if not self._within:
            self._within, self._before = True, dict(self._values)

    def end(self, *, kept: bool) -> list[tuple[str, str]]:
        before = self.every()
        if self._within and not kept:
            self._values = self._before
        self._within = False
        self._local.clear()
        return self._changed(before)

    def checked(self, name: str, value: str) -> str:
        """The value as it is kept. Raises BadSetting."""
        if name not in self._defaults:
            raise _unknown(name)
        if name in FIXED:
            raise BadSetting("55P02", f'The parameter "{name}" cannot be changed.')
        if len(value) > MOST_LETTERS or "\0" in value:
            raise BadSetting("22023", f'The value of "{name}" is too long.')
        match name:
            case "nowiser.spend" | "nowiser.error" if value:
                return _number(name, value)
            case "nowiser.bars" | "nowiser.anyway" | "nowiser.clipped":
                return "on" if _switch(name, value) else "off"
            case "client_encoding":
                if value.lower().replace("-", "").replace("'", "") not in ("utf8", "unicode", "sql_ascii", "auto"):
                    raise BadSetting("22023", "Texts are sent as UTF-8 only.", "SET client_encoding = 'UTF8'")
                return "UTF8"
            case "datestyle":
                if value.partition(",")[0].strip().lower() not in ("iso", "mdy", "dmy", "ymd"):
                    raise BadSetting("22023", "Dates are written as ISO 8601 only.", "SET datestyle = 'ISO'")
                return "ISO, MDY"
        return value

    def _changed(self, before: dict[str, str]) -> list[tuple[str, str]]:
        return [(SPELLED.get(n, n), self[n]) for n in REPORTED if self[n] != before[n]]

    def reported(self) -> list[tuple[str, str]]:
        return [(SPELLED.get(n, n), self[n]) for n in REPORTED]

    @property
    def wish(self) -> dict[str, Any]:
        """How a question is asked, as arguments of the gateway."""
        found: dict[str, Any] = {n: self[f"nowiser.{n}"] == "on" for n in ("anyway", "clipped")}
        if self["nowiser.spend"]:
            found["spend"] = self["nowiser.spend"]
        if self["nowiser.error"]:
            found["error"] = Fraction(self["nowiser.error"])
        return found

    @property
    def bars(self) -> bool:
        return self["nowiser.bars"] == "on"

    @property
    def notices(self) -> bool:
        return self["client_min_messages"].lower() not in ("warning", "error")


def _unknown(name: str) -> BadSetting:
    hint = f"Settings of nowiser: {', '.join(OURS)}." if name.startswith("nowiser") else None
    return BadSetting("42704", f'There is no setting "{name[:63]}".', hint)


def _number(name: str, value: str) -> str:
    short = name.removeprefix("nowiser.")
    try:
        found = number(value, short)
    except Misconfigured as error:
        raise BadSetting("22023", error.message, error.hint) from None
    if short == "spend" and not 0 < found <= 1:
        raise BadSetting("22023", "The share to spend must be above 0% and at most 100%.", "SET nowiser.spend = '5%'")
    if short == "error" and found <= 0:
        raise BadSetting("22023", "The error wanted must be above zero.", "SET nowiser.error = 1.5")
    return value.strip() if short == "spend" else str(found)


def _switch(name: str, value: str) -> bool:
    if value.lower() in _ON:
        return True
    if value.lower() in _OFF:
        return False
    raise BadSetting("22023", f"{name} is on or off.", f"SET {name} = on")


def of_startup(text: str) -> list[tuple[str, str]]:
    """What `options` of a connection says: `-c nowiser.spend=1%`, `--nowiser.bars=on`."""
    found, words = list[tuple[str, str]](), _words(text)
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            word = words.pop(0)
        elif word.startswith(("-c", "--")):
            word = word[2:]
        else:
            raise BadSetting("42601", "The options of the connection cannot be read.", "options='-c nowiser.spend=1%'")
        name, equals, value = word.partition("=")
        if not equals:
            raise BadSetting("42601", f'The option "{name[:63]}" has no value.', "options='-c nowiser.spend=1%'")
        found.append((name.replace("-", "_").lower(), value))
    return found


def _words(text: str) -> list[str]:
    """Split at spaces; a backslash keeps the character after it."""
    found, word, kept = list[str](), "", False
    for c in text:
        if kept:
            word, kept = word + c, False
        elif c == "\\":
            kept = True
        elif c.isspace():
            found, word = [*found, word] if word else found, ""
        else:
            word += c
    return [*found, word] if word else found
