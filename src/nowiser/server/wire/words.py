"""What the library says, in the words of the wire: `SET nowiser.spend = '10%'` for `spend="10%"` of Python."""

import re
from typing import Any

_SWITCHED = re.compile(r"(?<![\w.])(anyway|clipped)=True\b")
_GIVEN = re.compile(r"""(?<![\w.])(spend|error)=(?:"([^"\n]{1,40})"|([0-9](?:[\w%+-]|\.(?=\w)){0,39}))""")
_NAMED = re.compile(r"(?<![\w.])(spend|error)=(?![\w\"])")


def in_settings(text: str) -> str:
    """A hint or note, with settings for the arguments of `query`."""
    text = _SWITCHED.sub(lambda found: f"SET nowiser.{found[1]} = on", text)
    text = _GIVEN.sub(lambda found: f"SET nowiser.{found[1]} = {_value(found[2] or found[3])}", text)
    return _NAMED.sub(lambda found: f"nowiser.{found[1]}", text)


def every_text(value: Any) -> Any:
    """The same for all texts of a JSON value."""
    match value:
        case str():
            return in_settings(value)
        case list():
            return [every_text(one) for one in value]
        case dict():
            return {name: every_text(one) for name, one in value.items()}
    return value


def _value(text: str) -> str:
    return text if re.fullmatch(r"[0-9.]+", text) else f"'{text}'"
