"""The same statement asked of a real server and of our catalogue: the same names, the same rows."""

import re
from collections import Counter

OBJECTS = """
SELECT 'relation ' || n.nspname || '.' || c.relname, c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid >= 16384
UNION ALL SELECT 'type ' || t.typname, t.oid FROM pg_type t WHERE t.oid >= 16384
UNION ALL SELECT 'schema ' || n.nspname, n.oid FROM pg_namespace n WHERE n.oid >= 16384
UNION ALL SELECT 'constraint ' || c.conname, c.oid FROM pg_constraint c WHERE c.oid >= 16384
UNION ALL SELECT 'role ' || r.rolname, r.oid FROM pg_roles r WHERE r.oid >= 16384
UNION ALL SELECT 'database ' || d.datname, d.oid FROM pg_database d WHERE d.datname = 'nowiser'
"""
NUMBER = re.compile(r"(?<![\w.])(1[6-9]\d{3})(?![\w.])")


def plain(value, names):
    """A value whoever says it: numbers of objects by name."""
    if isinstance(value, list | tuple):
        return "[" + ",".join(plain(v, names) for v in value) + "]"
    if isinstance(value, bool) or value is None:
        return {True: "t", False: "f", None: "NULL"}[value]
    if isinstance(value, float) and value == int(value):
        value = int(value)
    if isinstance(value, bytes):
        value = value.decode()
    value = re.sub(r"PostgreSQL 16\.\d+ .*", "PostgreSQL 16", str(value))
    text = NUMBER.sub(lambda m: names.get(int(m[1]), m[1]), str(value))
    return text if not (text.startswith("{") and text.endswith("}")) else "[" + text[1:-1].replace('"', "") + "]"


def asked(server, text):
    """Names and rows of the real server; None where it does not answer with rows."""
    import psycopg

    try:
        found = server.execute(text)
    except psycopg.Error:
        return None
    if found.description is None:
        return None
    return [c.name for c in found.description], found.fetchall()


class Comparison:
    """Both sides, with the numbers of objects told apart."""

    def __init__(self, server, catalogue, seat):
        self.server, self.catalogue, self.seat = server, catalogue, seat
        theirs, mine = asked(server, OBJECTS)[1], catalogue.answer(seat, OBJECTS, {}).rows
        self.theirs, self.mine = ({oid: name for name, oid in rows} for rows in (theirs, mine))
        self.number = {
            oid: next((o for o, n in self.mine.items() if n == name), oid) for oid, name in self.theirs.items()
        }

    def difference(self, text):
        """None where both say the same; else what differs, in a line."""
        expected = asked(self.server, text)
        if expected is None:
            return "not asked"
        mine = NUMBER.sub(lambda m: str(self.number.get(int(m[1]), m[1])), text)
        try:
            found = self.catalogue.answer(self.seat, mine, {})
        except Exception as error:  # noqa: BLE001 (whatever it is counts as a difference)
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"
        if found is None:
            return "not of the catalogue"
        if (names := [n for n, _ in found.columns]) != expected[0]:
            return f"names {[(a, b) for a, b in zip(names, expected[0], strict=False) if a != b][:4]}"
        here = Counter(tuple(plain(v, self.mine) for v in row) for row in found.rows)
        there = Counter(tuple(plain(v, self.theirs) for v in row) for row in expected[1])
        if here != there:
            more, less = list((here - there).elements()), list((there - here).elements())
            return f"{len(more)} rows more, {len(less)} less of {len(expected[1])}: {str(more[:1])[:1500]} for {str(less[:1])[:1500]}"
        return None
