"""Columns on the command line: `age:age.csv,zip:prefix,sex`; names with commas or colons in double quotes."""

from nowiser.errors import Misconfigured


def split_columns(text: str, option: str) -> dict[str, str | None]:
    """Column → hierarchy (or None), in the order given."""
    out: dict[str, str | None] = {}
    for part in split(text, ",", option):
        name, *spec = split(part, ":", option) or [""]
        name = name.strip()
        name = name[1:-1].replace('""', '"') if len(name) > 1 and name[0] == name[-1] == '"' else name
        if not name:
            raise Misconfigured(f"{option} has an empty column name in {text!r}")
        if name in out:
            raise Misconfigured(f"{option} names {name!r} twice")
        out[name] = ":".join(spec).strip() or None
    return out


def split(text: str, separator: str, option: str) -> list[str]:
    """Split outside double quotes."""
    parts, inside, start = [], False, 0
    for i, character in enumerate(text):
        if character == '"':
            inside = not inside
        elif character == separator and not inside:
            parts.append(text[start:i])
            start = i + 1
    if inside:
        raise Misconfigured(f"{option} has a double quote that is not closed: {text!r}")
    last = text[start:]
    return [*parts, last] if parts or last.strip() else []
