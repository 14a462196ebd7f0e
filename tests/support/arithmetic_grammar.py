"""Expressions made to break arithmetic: templates with typed holes, filled at random, small enough to read.

`<R> <I> <B> <T> <D> <S>` are a real, a whole number, a condition, a text, a date, a timestamp; `<N>` is either number.
Small letters are constants. Holes of one name with one digit are filled alike: `<big1>` twice is one constant twice.
To try another construct, add a line.
"""

import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from support.arithmetic_world import COLUMNS, FIRST, LAST, NORMAL, TINY, around, beside

HOLE = re.compile(r"<([A-Za-z]+)([0-9]?)>")
POWERS = (24, 31, 32, 52, 53, 54, 58, 62, 63)
BIG = [x for n in POWERS for x in (*beside(2.0**n), 2.0**n + 1, 2.0**n - 1)] + [1e15, 1e16, 1e18, 1e22, 1e100, 1e299]
GRAIN = [
    s * (2.0**n + d) for n in (51, 52, 53, 54, 58) for d in (0, 1, 2, 3) for s in (1, -1)
]  # next to them little is left of a fraction
TIES = [0.0, 0.0, 0.5, 0.5, -0.5, 1.5, 2.5, 0.49999999999999994, 0.25, 0.3, 1e-10]
SMALL = [0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -0.5, 0.1, 0.3, 10.0, 16.0, 60.0, 600.0, 512.0, 511.5, 1023.0, 0.7, 1e-10]
EDGE = [TINY, NORMAL, 1e-300, 1e-308, 1e300, 9.99e299, 1e299, 709.0, 709.782712893384, 709.7827128933841, 745.2, 745.0]
NEAR = [*beside(2.0**63)[:2], -(2.0**63), math.nextafter(2.0**62, 0), 9223372036854773760.0]
WHOLE = (
    [0, 1, -1, 2, 3, 7, 10, -3] + [m for n in (24, 31, 52, 53, 62) for m in around(2**n)] + [LAST, LAST - 1, 600, 1024]
)
EXPONENTS = ["2", "3", "-1", "-2", "0", "0.5", "1.5", "64", "-64", "1", "0.3333333333333333"]


def spell(x: float) -> str:
    """A number as SQL. The smallest whole number cannot be written, only reckoned."""
    if isinstance(x, int):
        return f"({FIRST + 1} - 1)" if x == FIRST else str(x) if x >= 0 else f"({x})"
    text = f"{int(x)}.0" if x == int(x) and abs(x) < 1e22 else repr(x).replace("e+", "e")
    return text if math.copysign(1, x) > 0 else f"({text if text.startswith('-') else '-' + text})"


CONSTANTS = {
    "r": lambda toss: spell(toss.choice(toss.choice([SMALL, SMALL, BIG, EDGE, NEAR])) * toss.choice([1, 1, 1, -1])),
    "c": lambda toss: spell(toss.choice(SMALL)),
    "big": lambda toss: spell(toss.choice(BIG) * toss.choice([1, 1, 1, -1])),
    "grain": lambda toss: spell(toss.choice(GRAIN)),
    "tie": lambda toss: spell(toss.choice(TIES)),
    "L": lambda toss: toss.choice(["r60", "r60", "r1", "r53", "rtiny", "q60"]),
    "W": lambda toss: toss.choice(["i31", "i53", "i1"]),
    "E": lambda toss: toss.choice(["iu", "iu", "i63", spell(FIRST), spell(LAST), "CAST(-9223372036854775808.0 + 0.7 AS BIGINT)"]),
    "odd": lambda toss: spell(toss.choice([1, -1]) * (2.0**52 + toss.choice([1, 3, 5]))),
    "half": lambda toss: toss.choice(["0.0", "0.5", "(-0.5)"]),
    "near": lambda toss: spell(toss.choice(NEAR)),
    "i": lambda toss: spell(toss.choice([*WHOLE, FIRST, FIRST + 1, -(2**31), -(2**53)])),
    "m": lambda toss: spell(toss.choice([1, -1, -1, 2, 3, 7, 0, 1024])),
    "e": lambda toss: toss.choice(EXPONENTS),
    "n": lambda toss: toss.choice(["0", "1", "2", "-1", "-2", "12", "-12", "5"]),
    "t": lambda toss: toss.choice(["'HIV'", "'A'", "'a'", "''", "'12'", "'ab%'", "'-0'"]),
    "like": lambda toss: toss.choice(["'%'", "'a%'", "'_'", "'%1%'", "'HIV'"]),
    "regex": lambda toss: toss.choice(["'^[0-9]+$'", "'a|A'", "'^.$'", "'I'"]),
    "d": lambda toss: toss.choice(["DATE '2020-02-29'", "DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '1970-01-01'"]),
    "s": lambda toss: toss.choice(["TIMESTAMP '2020-02-29 23:59:59'", "TIMESTAMP '2024-12-30 12:30:00'"]),
    "cmp": lambda toss: toss.choice(["=", "<>", "<", "<=", ">", ">="]),
    "part": lambda toss: toss.choice(["year", "quarter", "month", "week", "day", "doy", "dow", "isodow"]),
    "hour": lambda toss: toss.choice(["hour", "minute"]),
    "span": lambda toss: toss.choice(["year", "quarter", "month", "week", "day"]),
    "short": lambda toss: toss.choice(["hour", "minute", "second"]),
    "step": lambda toss: toss.choice(["'1 day'", "'1 month'", "'-1 year'", "'25 months'", "'1000 years'", "'3 weeks'"]),
    "tick": lambda toss: toss.choice(["'1 second'", "'-5 minutes'", "'36 hours'", "'1 day'"]),
}  # fmt: skip

CHOICE = ["LEAST(<{0}>, <{0}>)", "GREATEST(<{0}>, <{0}>)", "COALESCE(<{0}>, <{0}>)", "NULLIF(<{0}>, <{0}>)", "CASE WHEN <B> THEN <{0}> ELSE <{0}> END", "CASE WHEN <B> THEN <{0}> WHEN <B> THEN <{0}> END"]  # fmt: skip
SOME = CHOICE[2:]  # of texts and truth values there is no least


def of(kind: str, shapes: list[str]) -> list[str]:
    return [shape.format(kind) for shape in shapes]


TEMPLATES: dict[str, list[str]] = {
    "R": [
        *["(<R> + <R>)", "(<R> - <R>)", "(<R> * <R>)", "(<R> / <R>)"] * 2,
        "(<N> + <R>)", "(<R> - <N>)", "(<N> * <R>)", "(<N> / <R>)", "(<R> % <R>)", "MOD(<R>, <r>)", "(- <R>)",
        # digits that are lost
        *["((<R> + <big1>) - <big1>)", "(<R> + <big1> - <big1>)", "((<big1> + <R>) - <big1>)"] * 2,
        "(<big1> - (<big1> - <R>))", "((<R> * <r1>) / <r1>)", "((<R> / <r1>) * <r1>)", "(<R> - (<R> + <c>))",
        "((<c> + <big1>) - <big1> + <c>)", "(<R> / ((<c> + <big1>) - <big1> + <c>))", "((<R> - <c>) / (<R> + <c>))",
        *["((<L> + <big1>) - <big1>)", "(<L> / ((<tie> + <grain1>) - <grain1> + <c>))"] * 2,
        "((<L> - 16.0) / ((1.0 + <grain1>) - <grain1> + <tie>))", "(<L> * ((<tie> + <grain1>) - <grain1>))",
        # secrets beside the ends
        *["CASE WHEN <B> THEN <r> ELSE <r> END"] * 2, "CASE WHEN <B> THEN <near> ELSE <c> END", "(<near> + <c>)",
        "(CASE WHEN <B> THEN <c> ELSE <c> END + <big>)", "((CASE WHEN <B> THEN <c> ELSE <c> END + <big1>) - <big1>)",
        "FLOOR(<L>)", "ROUND(<L>, <n>)", "EXP(<L> * <r>)", "EXP(<r> - <L>)",
        "ABS(<R>)", "SIGN(<N>)", "ROUND(<R>)", "ROUND(<N>, <n>)", "FLOOR(<R>)", "CEIL(<R>)", "TRUNC(<R>)",
        "SQRT(<N>)", "LN(<N>)", "LOG(<N>)", "EXP(<R>)", "CBRT(<N>)", "POWER(<R>, <e>)", "(<R> ^ <e>)", "PI()",
        *["RAMP(<N>, <r>, <r>)", "RAMP(<L>, 3, 7)", "DISTANCE(<R>, <N>, <r>, <c>)", "DISTANCE(<L>, <L>, 5, 5)"] * 2,
        "SQRT(ABS(<R>))", "LN(ABS(<R>) + <r>)", "EXP(LEAST(<R>, <r>))", "SQRT((<R> + <big1>) - <big1>)",
        "LN((<R> + <big1>) - <big1>)",
        *["LEAST(GREATEST(<R>, <r>), <r>)", "LEAST(GREATEST(<R>, <c>), <c>)"] * 3,
        *of("R", CHOICE), "CAST(<I> AS DOUBLE PRECISION)", "<I>::float8", "CAST(<T> AS DOUBLE PRECISION)",
        "CAST(<R> AS NUMERIC(10, 2))", "EXTRACT(EPOCH FROM <S>)", "EXTRACT(SECOND FROM <S>)",
        "EXTRACT(EPOCH FROM (<S> - <S>))",
    ],
    "I": [
        *["(<I> + <I>)", "(<I> - <I>)", "(<I> * <I>)", "(<I> / <I>)", "(<I> % <I>)"] * 2,
        *["CAST(<R> AS INTEGER)", "CAST(<R> AS BIGINT)"] * 4, "<R>::int",
        *["(<I> % <m>)", "MOD(<I>, <m>)", "(<I> / <m>)", "ABS(<I>)", "(- <I>)"] * 2,
        *["CASE WHEN <B> THEN <i> ELSE <i> END", "(CASE WHEN <B> THEN <i> ELSE <i> END % <m>)"] * 2,
        "(- <E>)", "ABS(<E>)", "(<E> % <m>)", "(<E> / <m>)", "(<E> + <m>)", "(<W> / <m>)",
        "CAST(<near> + <c> AS BIGINT)", "CAST(CASE WHEN <B> THEN <near> ELSE <c> END + <c> AS BIGINT)",
        "CAST((<R> + <big1>) - <big1> AS INTEGER)", "CAST((CASE WHEN <B> THEN <c> ELSE <c> END + <big1>) - <big1> AS INTEGER)",
        *["CAST((CASE WHEN <B> THEN <half> ELSE <half> END + <odd1>) - <odd1> AS INTEGER)"] * 3,
        *["CAST((CASE WHEN <B> THEN <tie> ELSE <tie> END + <grain1>) - <grain1> AS INTEGER)"] * 3,
        "CAST(TRUNC((CASE WHEN <B> THEN <tie> ELSE <tie> END + <grain1>) - <grain1>) AS INTEGER)",
        *["CAST((<L> + <big1>) - <big1> AS INTEGER)"] * 3, "CAST(<L> + <grain1> - <grain1> AS INTEGER)",
        "CAST(TRUNC((<R> + <big1>) - <big1>) AS INTEGER)", "CAST(CAST(<I> AS DOUBLE PRECISION) AS BIGINT)",
        *["LEAST(GREATEST(<I>, <i>), <i>)"] * 3, *of("I", CHOICE), "WIDTH_BUCKET(<N>, <r>, <r>, <m>)",
        "WIDTH_BUCKET(<R>, 0, 60, 10)", "LENGTH(<T>)", "POSITION(<t> IN <T>)", "STRPOS(<T>, <t>)", "CAST(<B> AS INTEGER)",
        "CAST(<T> AS BIGINT)", "EXTRACT(<part> FROM <D>)", "EXTRACT(<part> FROM <S>)", "EXTRACT(<hour> FROM <S>)",
        "EXTRACT(YEAR FROM AGE(<D>, <D>))", "EXTRACT(YEAR FROM AGE(<S>, <S>))", "DATE_DIFF('month', <D>, <D>)",
        "DATE_DIFF('month', <S>, <S>)", "(<D> - <D>)", "CAST(ROUND(<R>) AS INTEGER)", "CAST(FLOOR(<R>) AS BIGINT)",
    ],
    "B": [
        *["(<R> <cmp> <R>)", "(<I> <cmp> <I>)", "(<N> <cmp> <r>)", "(<N> <cmp> <i>)", "(<I> > 0)", "(<R> > 0)"] * 2,
        "((- <E>) > 0)", "(ABS(<E>) > 0)", "((<E> % <m>) = 0)",
        *["diag = 'HIV'", "bs", "(k = 7 AND diag = 'HIV')"] * 2,
        "(<R> BETWEEN <r> AND <r>)", "(<I> BETWEEN <I> AND <i>)", "(<R> IN (<r>, <r>))", "(<I> IN (<i>, <I>))",
        "(<I> = ANY (ARRAY[<i>, <i>]))", "((<I>, <T>) IN ((<i>, <t>), (<i>, <t>)))", "(<N> IS NULL)", "(<R> IS NOT NULL)",
        "(<B> AND <B>)", "(<B> OR <B>)", "(NOT <B>)", "(<B> IS TRUE)", "(<B> IS NOT FALSE)", "CAST(<I> AS BOOLEAN)",
        "(<T> <cmp> <t>)", "(<T> LIKE <like>)", "(<T> ILIKE <like>)", "(<T> ~ <regex>)", "(<T> SIMILAR TO 'a|1')",
        "STARTS_WITH(<T>, <t>)", "(<D> <cmp> <d>)", "(<S> <cmp> <s>)", "(<D> <cmp> <D>)", *of("B", SOME),
    ],
    "T": [
        "LOWER(<T>)", "UPPER(<T>)", "LEFT(<T>, 2)", "RIGHT(<T>, 1)", "SUBSTRING(<T> FROM 1 FOR 3)", "(<T> || <T>)",
        "CONCAT(<T>, <t>)", "TRIM(<T>)", "LTRIM(<T>)", "RTRIM(<T>)", "REPLACE(<T>, 'a', 'b')", "TO_CHAR(<D>, 'YYYY-MM')",
        "TO_CHAR(<S>, 'DD')", "CAST(<I> AS TEXT)", "CAST(<B> AS TEXT)", "CAST(<D> AS TEXT)", "CAST(<T> AS VARCHAR(2))",
        *of("T", SOME),
    ],
    "D": [
        "(<D> + <m>)", "(<D> - <I>)", "(<D> + INTERVAL <step>)", "(<D> - INTERVAL <step>)", "DATE_TRUNC('<span>', <D>)",
        "CAST(<S> AS DATE)", "(ds + CAST(<R> AS INTEGER))", "(ds + LEAST(GREATEST(<I>, 0), 100))", *of("D", CHOICE),
    ],
    "S": [
        "(<S> + INTERVAL <step>)", "(<S> - INTERVAL <tick>)", "(<S> + INTERVAL <tick>)", "DATE_TRUNC('<span>', <S>)",
        "DATE_TRUNC('<short>', <S>)", "CAST(<D> AS TIMESTAMP)", *of("S", CHOICE),
    ],
}  # fmt: skip
LEAVES = {kind: [c.name for c in COLUMNS if c.kind == kind] for kind in TEMPLATES}
LEAVES["R"] += ["r60", "r1", "r60", "<r>", "<r>", "<c>", "<c>"]
LEAVES["I"] += ["i1", "i31", "<i>", "<i>", "<m>"]
LEAVES["B"] = ["bs", "bp", "diag = 'HIV'", "(r60 > 16)", "(i1 = 1)", "(k = 7 AND diag = 'HIV')", "TRUE"]
LEAVES["T"] += ["<t>"]
LEAVES["D"] += ["<d>"]
LEAVES["S"] += ["<s>"]
PLAIN = {
    "R": ["0.0", "1.0", "r60"],
    "I": ["0", "1", "i1"],
    "B": ["bs", "TRUE"],
    "T": ["diag"],
    "D": ["ds"],
    "S": ["ms"],
}
QUESTIONS = [
    *["SELECT SUM(<N>) FROM <table>"] * 10,
    *["SELECT AVG(<N>) FROM <table>"] * 3,
    *["SELECT COUNT(*) FROM <table> WHERE <B>", "SELECT COUNT(*) FILTER (WHERE <B>) FROM <table>"] * 3,
    "SELECT SUM(<N>) FILTER (WHERE <B>) FROM <table>",
    "SELECT SUM(<N>) FROM <table> WHERE <B>",
    "SELECT COUNT(<N>) FROM <table>",
    "SELECT tp, SUM(<N>) FROM <table> GROUP BY tp",
    "SELECT <I1>, COUNT(*) FROM <table> WHERE <I1> IN (0, 1, <i>) GROUP BY 1",
    "SELECT <R1>, COUNT(*) FROM <table> WHERE <R1> IN (0, 0.5, <r>) GROUP BY 1",
    "SELECT <B1>, SUM(<N>) FROM <table> GROUP BY 1",
    "SELECT VAR_POP(<N>) FROM <table>",
    "SELECT CORR(<N>, <R>) FROM <table>",
    "SELECT MEDIAN(<N>), MAX(<R>) FROM <table>",
    *["SELECT SUM(<X>) FROM (SELECT k, SUM(<N>) AS x FROM <table> GROUP BY k) AS q"] * 2,
    "SELECT SUM(<X>) FROM (SELECT k, AVG(<N>) AS x FROM <table> GROUP BY k) AS q",
    "SELECT COUNT(*) FROM (SELECT k, MAX(<N>) AS x FROM <table> GROUP BY k) AS q WHERE <X> > 0",
    "SELECT SUM(<X>) FROM (SELECT <N> AS x FROM <table> WHERE <B>) AS q",
    "SELECT SUM(<X>) FROM (SELECT k, <R> AS x FROM <table> UNION ALL SELECT k, <R> AS x FROM <table>) AS q",
]
PLAIN_QUESTIONS = [q for q in QUESTIONS if q.endswith("FROM <table>") and "MEDIAN" not in q]
OUTSIDE = ["x", "CAST(x AS INTEGER)", "((x + <big1>) - <big1>)", "CAST((x + <big1>) - <big1> AS INTEGER)", "CAST((x + <grain1>) - <grain1> AS INTEGER)", "ABS(x)", "(x % <m>)", "(x / <c>)", "LEAST(GREATEST(x, <c>), <c>)", "LN(x)", "(- x)", "(x * <c>)", "SQRT(x)", "ROUND(x, <n>)"]  # fmt: skip


@dataclass(frozen=True)
class Node:
    """A template and what its holes are filled with, in the order of their first appearance."""

    kind: str
    template: str
    filled: tuple["Node | str", ...] = ()

    @cached_property
    def sql(self) -> str:
        texts = {
            hole: f.sql if isinstance(f, Node) else f for hole, f in zip(holes(self.template), self.filled, strict=True)
        }
        seen = iter(range(10**6))
        return HOLE.sub(lambda m: texts[(m[1], m[2] or f"#{next(seen)}")], self.template)

    @cached_property
    def size(self) -> int:
        return 1 + sum(f.size for f in self.filled if isinstance(f, Node))

    def smaller(self) -> Iterator["Node"]:
        """Simpler ones, the simplest first: a part instead of the whole, a plain leaf instead of a part."""
        if self.kind in PLAIN and self.size > 1:
            yield from (Node(self.kind, leaf) for leaf in PLAIN[self.kind] if leaf != self.template)
        for part in self.filled:
            if isinstance(part, Node) and (part.kind == self.kind or {part.kind, self.kind} == {"R", "I"}):
                yield part
        for i, part in enumerate(self.filled):
            if isinstance(part, Node):
                for less in part.smaller():
                    yield Node(self.kind, self.template, (*self.filled[:i], less, *self.filled[i + 1 :]))


def holes(template: str) -> list[tuple[str, str]]:
    """Each hole once: those with a digit are one, those without are each their own."""
    found: dict[tuple[str, str], None] = {}
    plain = iter(range(10**6))
    for m in HOLE.finditer(template):
        found[(m[1], m[2] or f"#{next(plain)}")] = None
    return list(found)


class Grammar:
    """Questions at random. What was answerable before is built upon: `keep` it."""

    def __init__(self, seed: object, *, plain: float = 0.0) -> None:
        """`plain`: the share of questions over all rows of a table, which can be run many at once."""
        self.toss, self.plain = random.Random(str(seed)), plain
        self.kept: dict[str, list[Node]] = {kind: [] for kind in TEMPLATES}

    def keep(self, question: Node) -> None:
        for part in question.filled:
            if isinstance(part, Node) and part.kind in self.kept and 1 < part.size <= 12:
                own = self.kept[part.kind]
                own.append(part)
                if len(own) > 200:
                    del own[self.toss.randrange(len(own))]

    def node(self, kind: str, depth: int) -> Node:
        if kind == "N":
            kind = self.toss.choice("RI")
        if kind == "X":
            return self.filled("X", self.toss.choice(OUTSIDE), 0)
        if depth <= 0 or self.toss.random() < 0.12:
            return self.filled(kind, self.toss.choice(LEAVES[kind]), 0)
        if self.kept[kind] and self.toss.random() < 0.25:
            return self.toss.choice(self.kept[kind])
        return self.filled(kind, self.toss.choice(TEMPLATES[kind]), depth)

    def filled(self, kind: str, template: str, depth: int) -> Node:
        parts: list[Node | str] = []
        for name, _ in holes(template):
            if name == "table":
                parts.append(self.toss.choice("vvvpp"))
            elif name in CONSTANTS:
                parts.append(CONSTANTS[name](self.toss))
            else:
                parts.append(self.node(name, depth - 1))
        return Node(kind, template, tuple(parts))

    def question(self) -> Node:
        while True:
            shapes = PLAIN_QUESTIONS if self.toss.random() < self.plain else QUESTIONS
            found = self.filled("Q", self.toss.choice(shapes), self.toss.choice([1, 2, 2, 3, 3, 4, 5, 6]) + 1)
            if found.size <= 24:
                return found
