"""A small world of linked tables: persons, what they did, parts of what they did, and a public table."""

from fractions import Fraction

from hypothesis import strategies as st

from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Link, Protect, Role, Table

LETTERS = ("a", "b")
PUBLIC = [{"h": "a", "z": 1}, {"h": "b", "z": 3}, {"h": "c", "z": 2}]


def policy(protect, t_rows=1, u_rows=2, v_rows=3):
    t = Table(
        "t",
        "t.csv",
        (
            Column("p", Kind.INTEGER, Role.IDENTIFIER, nullable=False),
            Column("g", Kind.TEXT, Role.PUBLIC, domain=LETTERS, nullable=False),
            Column("s", Kind.TEXT, Role.SENSITIVE, domain=LETTERS, nullable=False),
            Column("w", Kind.INTEGER, Role.SENSITIVE, Fraction(-2), Fraction(3), nullable=False),
        ),
        person=("p",),
        rows_per_person=t_rows,
        protect=protect,
    )
    u = Table(
        "u",
        "u.csv",
        (
            Column("q", Kind.INTEGER, Role.IDENTIFIER, nullable=False),
            Column("k", Kind.INTEGER, Role.IDENTIFIER, nullable=False),
            Column("h", Kind.TEXT, Role.PUBLIC, domain=LETTERS),
            Column("c", Kind.TEXT, Role.SENSITIVE, domain=(*LETTERS, "c")),
            Column("x", Kind.REAL, Role.SENSITIVE, Fraction(-3), Fraction(4)),
        ),
        link=Link(("q",), "t", ("p",)),
        rows_per_person=u_rows,
        protect=protect,
        unique=(("k",),),
    )
    v = Table(
        "v",
        "v.csv",
        (
            Column("uk", Kind.INTEGER, Role.IDENTIFIER, nullable=False),
            Column("r", Kind.INTEGER, Role.IDENTIFIER, nullable=False),
            Column("y", Kind.INTEGER, Role.SENSITIVE, Fraction(0), Fraction(5), nullable=False),
        ),
        link=Link(("uk",), "u", ("k",)),
        rows_per_person=v_rows,
        protect=protect,
        references=(Link(("r",), "u", ("k",)),),
    )
    d = Table(
        "d",
        "d.csv",
        (
            Column("h", Kind.TEXT, Role.PUBLIC, domain=(*LETTERS, "c")),
            Column("z", Kind.INTEGER, Role.PUBLIC, Fraction(0), Fraction(3)),
        ),
        unique=(("h",),),
    )
    return Policy((t, u, v, d), (), {})


@st.composite
def policies(draw, protect=None):
    return policy(
        protect or draw(st.sampled_from(Protect)),
        draw(st.integers(1, 2)),
        draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
    )


def secrets(kind):
    return {
        "t": {"s": st.sampled_from(LETTERS), "w": st.integers(-2, 3)},
        "u": {"c": st.none() | st.sampled_from([*LETTERS, "c"]), "x": st.none() | st.sampled_from([-3.0, -0.5, 0.0, 1.25, 4.0])},
        "v": {"y": st.integers(0, 5)},
    }[kind]  # fmt: skip


@st.composite
def person(draw, found, number, public=None):
    """The prepared rows of one person, by table. `public`: rows of t whose public columns to keep."""
    t, u, v = found.tables[:3]
    rows = {"t": [], "u": [], "v": []}
    for i in range(draw(st.integers(1, t.rows_per_person))):
        g = public[i]["g"] if public and i < len(public) else draw(st.sampled_from(LETTERS))
        rows["t"].append({"p": number, "g": g, **{n: draw(s) for n, s in secrets("t").items()}})
    for k in draw(st.lists(st.integers(0, 3), max_size=u.rows_per_person, unique=True)):
        shown = {"h": draw(st.none() | st.sampled_from(LETTERS))}
        rows["u"].append({"q": number, "k": k, **shown, **{n: draw(s) for n, s in secrets("u").items()}})
    keys = [r["k"] for r in rows["u"]]
    if keys:
        for _ in range(draw(st.integers(0, v.rows_per_person))):
            other = draw(st.integers(0, 3))  # `references`: perhaps somebody else's row, or none
            own = {"uk": draw(st.sampled_from(keys)), "r": other, ":person:0": number, "y": draw(st.integers(0, 5))}
            rows["v"].append(own)
    return rows


@st.composite
def worlds(draw, found):
    """Persons by number."""
    return {n: draw(person(found, n)) for n in range(1, draw(st.integers(1, 3)) + 1)}


def tables(world):
    return {"d": PUBLIC, **{n: [r for rows in world.values() for r in rows[n]] for n in ("t", "u", "v")}}


# FROM clause: what can be summed, what can be grouped by, what can be asked
SOURCES = [
    ("t", ["w", "1"], ["g", "s", "w > 0"], ["s = 'a'", "g = 'b'"]),
    ("u", ["x", "COALESCE(x, 1)"], ["h", "c"], ["x > 0", "h = 'a'", "c IS NULL"]),
    ("t JOIN u ON t.p = u.q", ["w", "x", "w * x"], ["g", "s", "h", "c"], ["x > 0", "g = 'a'", "s = c"]),
    ("u JOIN t ON t.p = u.q AND s = 'a'", ["w", "x"], ["g", "c"], ["x > w"]),
    ("t, u WHERE t.p = u.q AND x > 0", ["w", "x"], ["g", "h"], []),
    ("t LEFT JOIN u ON t.p = u.q", ["w", "x", "COALESCE(x, w)"], ["g", "h", "c"], ["x IS NULL", "x > 0", "s = 'a'"]),
    ("t LEFT JOIN u ON t.p = u.q AND u.x > 0", ["w", "x"], ["g", "h"], ["x IS NULL"]),
    ("u a JOIN u b ON a.q = b.q", ["a.x", "a.x - b.x"], ["a.h", "b.c"], ["a.x > b.x", "a.k < b.k"]),
    ("u a JOIN u b ON a.k = b.k AND a.q = b.q", ["a.x"], ["a.h"], ["a.x > 0"]),
    ("t a JOIN t b ON a.p = b.p", ["a.w", "b.w"], ["a.g", "b.s"], ["a.w > b.w"]),
    ("u JOIN v ON u.k = v.uk", ["x", "y"], ["h", "c", "y"], ["y > 2", "x > 0"]),
    ("v JOIN u ON u.k = v.uk JOIN t ON t.p = u.q", ["w", "y"], ["g", "s"], ["y > w"]),
    ("t JOIN u ON p = q LEFT JOIN v ON uk = k", ["w", "x", "y"], ["g", "h", "y"], ["y IS NULL"]),
    ("v a JOIN v b ON a.uk = b.uk", ["a.y", "b.y"], ["a.y"], ["a.y < b.y"]),
    ("u JOIN v ON u.k = v.r", ["x", "y"], ["h", "c", "y"], ["y > 2", "x > 0"]),
    ("v LEFT JOIN u ON u.k = v.r", ["x", "y"], ["h", "c"], ["x IS NULL"]),
    ("v a JOIN v b ON a.r = b.r", ["a.y", "b.y"], ["a.y"], ["a.y < b.y"]),
    ("v a JOIN v b ON a.r = b.uk JOIN u ON k = a.r", ["a.y", "x"], ["h"], ["a.y < b.y"]),
    ("v WHERE EXISTS (SELECT 1 FROM u WHERE k = r AND x > 0)", ["y"], ["y"], ["y > 2"]),
    ("(SELECT r, COUNT(*) AS n FROM v GROUP BY r) q JOIN u ON k = r", ["n", "x"], ["h", "n"], ["n > 1"]),
    ("u JOIN d ON u.h = d.h", ["x", "z"], ["d.h", "z", "c"], ["z > 1"]),
    ("u JOIN d ON u.c = d.h", ["x", "z"], ["d.h", "z", "u.h"], ["z > 1", "x > 0"]),
    ("u LEFT JOIN d ON u.c = d.h", ["x", "z"], ["d.h", "z"], ["z IS NULL"]),
    ("d JOIN u ON u.c = d.h", ["x", "z"], ["d.h"], ["z > 1"]),
    ("(SELECT g AS a, w AS b FROM t WHERE s = 'a') q", ["b"], ["a"], ["b > 0"]),
    ("(SELECT g AS a, w AS b FROM t UNION ALL SELECT h, x FROM u) q", ["b"], ["a"], ["b > 0", "a = 'a'"]),
    ("(SELECT p AS i, w AS b FROM t UNION ALL SELECT q, x FROM u WHERE x > 0) q JOIN t ON t.p = i", ["b", "w"], ["g"], ["b > w"]),
    ("(SELECT q, SUM(x) AS a, COUNT(*) AS n, AVG(x) AS m, MIN(x) AS lo, MAX(x) AS hi FROM u GROUP BY q) r", ["a", "n", "m", "lo", "hi", "LEAST(a, 2)"], ["n"], ["a > 0", "n > 1", "hi IS NULL"]),
    ("(SELECT q, h, COUNT(x) AS n FROM u GROUP BY q, h) r", ["n"], ["h", "n"], ["n > 0"]),
    ("(SELECT q, COUNT(DISTINCT c) AS n FROM u GROUP BY q HAVING COUNT(*) > 1) r", ["n"], ["n"], ["n > 1"]),
    ("(SELECT DISTINCT q, c FROM u) r", ["1"], ["c"], ["c = 'a'"]),
    ("t LEFT JOIN (SELECT q, SUM(x) AS a, COUNT(*) AS n FROM u WHERE x > 0 GROUP BY q) r ON p = q", ["w", "a", "n"], ["g", "s", "n"], ["n IS NULL", "a > w"]),
    ("u JOIN (SELECT uk, SUM(y) AS a FROM v GROUP BY uk) r ON uk = k", ["x", "a"], ["h", "c"], ["a > 3"]),
    ("(SELECT uk, COUNT(*) AS n FROM v GROUP BY uk) r", ["n"], ["n"], ["n > 1"]),
    ("(SELECT p, SUM(x) AS a FROM t LEFT JOIN u ON p = q GROUP BY p) r", ["a"], [], ["a IS NULL"]),
    ("u RIGHT JOIN t ON t.p = u.q", ["w", "x", "COALESCE(x, w)"], ["g", "h", "c"], ["x IS NULL", "x > 0", "s = 'a'"]),
    ("v JOIN u ON uk = k RIGHT JOIN t ON p = q AND x > 0", ["w", "y"], ["g", "h"], ["y IS NULL"]),
    ("t WHERE EXISTS (SELECT 1 FROM u WHERE q = p AND x > 0)", ["w"], ["g", "s"], ["s = 'a'"]),
    ("t WHERE NOT EXISTS (SELECT * FROM u WHERE u.q = t.p AND u.c = t.s)", ["w"], ["g", "s"], ["w > 0"]),
    ("u a WHERE EXISTS (SELECT 1 FROM u b WHERE b.q = a.q AND b.x > a.x) AND NOT EXISTS (SELECT 1 FROM u b WHERE b.q = a.q AND b.k < a.k)", ["x"], ["h", "c"], ["x > 0"]),
    ("u WHERE k IN (SELECT uk FROM v GROUP BY uk HAVING SUM(y) > 3)", ["x"], ["h", "c"], ["x > 0"]),
    ("u WHERE k NOT IN (SELECT uk FROM v WHERE y > 2)", ["x"], ["h", "c"], ["x > 0"]),
    ("u WHERE (q, x) IN (SELECT q, MAX(x) FROM u GROUP BY q)", ["x"], ["h", "c"], ["c = 'a'"]),
    ("u WHERE x > 3 OR (q, k) IN (SELECT p, w FROM t)", ["x"], ["h", "c"], ["x > 0"]),
    ("u WHERE c IN (SELECT h FROM d WHERE z > 1)", ["x"], ["h"], ["x > 0"]),
    ("u WHERE c NOT IN (SELECT h FROM d WHERE z > 1)", ["x"], ["h"], ["x > 0"]),
    ("u a WHERE x = (SELECT MAX(b.x) FROM u b WHERE b.q = a.q)", ["x"], ["h", "c"], ["c = 'a'"]),
    ("u a WHERE x <= (SELECT MIN(b.x) FROM u b WHERE b.q = a.q AND b.k <> a.k)", ["x"], ["h", "c"], ["c = 'a'"]),
    ("t JOIN u ON p = q WHERE EXISTS (SELECT 1 FROM v WHERE uk = k AND y > w)", ["w", "x"], ["g", "h"], ["x > 0"]),
    ("t WHERE EXISTS (SELECT 1 FROM u WHERE q = p AND EXISTS (SELECT 1 FROM v WHERE uk = k AND y > 1))", ["w"], ["g"], ["s = 'a'"]),
    ("(SELECT q, COUNT(*) AS n FROM u WHERE EXISTS (SELECT 1 FROM t WHERE p = q AND w > 0) GROUP BY q) r", ["n"], ["n"], ["n > 1"]),
    ("u a WHERE x > (SELECT AVG(b.x) FROM u b WHERE b.q = a.q)", ["x"], ["h", "c"], ["c = 'a'"]),
    ("u a WHERE x * 2 > (SELECT MAX(b.x) - MIN(b.x) FROM u b WHERE b.q = a.q AND b.h = a.h) OR c = 'a'", ["x"], ["h", "c"], ["x > 0"]),
    ("t WHERE (SELECT COUNT(*) FROM u WHERE q = p AND x > 0) = 0", ["w"], ["g", "s"], ["s = 'a'"]),
    ("u WHERE (SELECT SUM(y) FROM v WHERE uk = k) > 3 AND x > 0", ["x"], ["h", "c"], []),
    ("t WHERE s = 'a' OR EXISTS (SELECT 1 FROM u WHERE q = p AND x > w)", ["w"], ["g", "s"], []),
    ("u WHERE NOT (h = 'a' OR EXISTS (SELECT 1 FROM v WHERE uk = k AND y > 1))", ["x"], ["h", "c"], ["x > 0"]),
    ("u WHERE CASE WHEN k IN (SELECT uk FROM v WHERE y > 1) THEN x > 0 ELSE h = 'a' END", ["x"], ["h", "c"], []),
    ("u WHERE x > 0 OR k NOT IN (SELECT uk FROM v WHERE y > 2) OR c IN (SELECT h FROM d WHERE z > 1)", ["x"], ["h", "c"], []),
    ("t", ["w * (SELECT COUNT(*) FROM u WHERE q = p)", "(SELECT MAX(x) FROM u WHERE q = p AND c = s)"], ["g", "CASE WHEN EXISTS (SELECT 1 FROM u WHERE q = p) THEN g END"], ["EXISTS (SELECT 1 FROM u WHERE q = p AND x > 0)", "p IN (SELECT q FROM u WHERE c = 'a')"]),
    ("(SELECT q AS i, h AS a, x AS b FROM u WHERE x > 0 UNION SELECT p, g, w FROM t) r", ["b", "1"], ["a"], ["b > 0"]),
    ("(SELECT q AS i, c FROM u INTERSECT SELECT p, s FROM t) r", ["1"], ["c"], ["c = 'a'"]),
    ("(SELECT q AS i, x FROM u WHERE h = 'a' INTERSECT SELECT q, x FROM u WHERE c = 'a' OR c IS NULL) r JOIN t ON p = i", ["x", "w"], ["g"], ["x > w"]),
    ("(SELECT q AS i, c, x FROM u EXCEPT SELECT q, c, x FROM u WHERE h = 'a') r", ["x"], ["c"], ["x IS NULL"]),
    ("(SELECT p AS i FROM t EXCEPT SELECT q FROM u WHERE x > 0 UNION SELECT q FROM u WHERE c = 'b') r", ["1"], [], ["i > 1"]),
    ("(SELECT k AS i, q AS j FROM u UNION SELECT uk, q FROM v JOIN u ON uk = k) r", ["1"], [], ["i > 1"]),
    ("t WHERE p IN (SELECT q FROM u WHERE x > 0 INTERSECT SELECT q FROM u WHERE h = 'a')", ["w"], ["g", "s"], ["s = 'a'"]),
    ("(SELECT q AS i, k AS j FROM u UNION ALL SELECT q, uk FROM v JOIN u ON uk = k) r", ["1"], [], ["j > 1"]),
    ("(SELECT k AS i, q AS j, x FROM u WHERE NOT EXISTS (SELECT 1 FROM v WHERE uk = k)) r JOIN t ON p = j", ["x", "w"], ["g"], ["x > w"]),
    ("t WHERE p NOT IN (SELECT q FROM u WHERE x > 0)", ["w"], ["g", "s"], ["s = 'a'"]),
    ("u WHERE k = 1", ["x"], ["h", "c"], ["x > 0"]),
    ("u WHERE k IN (0, 2) AND x > 0", ["x"], ["h", "c"], ["h = 'a'"]),
    ("(SELECT q, h, c, x, ROW_NUMBER() OVER (PARTITION BY q ORDER BY x DESC) AS n FROM u) r", ["x", "n"], ["h", "c", "n"], ["n = 1", "n <= 2", "x > 0"]),
    ("(SELECT q, h, c, x, ROW_NUMBER() OVER (PARTITION BY q, h ORDER BY c, x) AS n FROM u WHERE x < 3) r", ["x", "n"], ["h", "c"], ["n = 1", "n < 3 AND h = 'a'"]),
    ("(SELECT q, h, x, LAG(x) OVER (PARTITION BY q ORDER BY k) AS b, RANK() OVER (PARTITION BY q ORDER BY c) AS n FROM u) r", ["x - b", "n"], ["h", "n"], ["b IS NULL", "b < x"]),
    ("(SELECT DISTINCT ON (q) q AS i, x, c FROM u ORDER BY q, x) r JOIN t ON p = i", ["x", "w"], ["g", "c"], ["x > 0"]),
    ("(SELECT q, c, COUNT(*) OVER (PARTITION BY q) AS n, COUNT(x) OVER (PARTITION BY q, h) AS m, SUM(x) OVER (PARTITION BY q, h) AS a, AVG(x) OVER (PARTITION BY q) AS v, MAX(x) OVER (PARTITION BY q) AS b FROM u) r", ["n", "m", "a", "v", "b"], ["c", "n"], ["a > 0", "n > 1"]),
    ("(SELECT y, LEAD(y, 2) OVER (PARTITION BY r ORDER BY y DESC) AS b, DENSE_RANK() OVER (PARTITION BY uk ORDER BY y) AS n FROM v) q", ["y", "b"], ["n"], ["b < y"]),
    ("(SELECT p AS i, w, x, FIRST_VALUE(x) OVER (PARTITION BY p ORDER BY w, x NULLS FIRST) AS f FROM t LEFT JOIN u ON p = q) r", ["x", "f"], [], ["f IS NULL", "x > f"]),
    ("(SELECT * FROM u QUALIFY ROW_NUMBER() OVER (PARTITION BY q, c ORDER BY x) = 1) r", ["x"], ["h", "c"], ["x > 0"]),
    ("(SELECT p, s, w, DENSE_RANK() OVER (PARTITION BY p ORDER BY w) AS n, ROW_NUMBER() OVER (PARTITION BY p ORDER BY g) AS m FROM t) r", ["w", "n"], ["s", "m"], ["m = 1", "n = 1"]),
    ("t JOIN (SELECT q, x, ROW_NUMBER() OVER (PARTITION BY q ORDER BY k DESC) AS n FROM u) r ON p = q AND n = 1", ["w", "x"], ["g", "s"], ["x > w"]),
]  # fmt: skip


@st.composite
def questions(draw):
    source, numbers, keys, conditions = draw(st.sampled_from(SOURCES))
    what = draw(
        st.lists(
            st.sampled_from(
                ["COUNT(*)", *(f"{f}({n})" for f in ("SUM", "AVG", "COUNT", "VAR_SAMP") for n in numbers)]
                + [f"COUNT(DISTINCT {n})" for n in numbers]
                + [f"SUM(DISTINCT CAST({n} AS INTEGER))" for n in numbers]
                + [f"COUNT(DISTINCT {n})" for n in "ij" if f" AS {n}" in source]
                + [f"COUNT(*) FILTER (WHERE {c})" for c in conditions]
            ),
            min_size=1,
            max_size=2,
        )
    )
    by = draw(st.lists(st.sampled_from(keys), max_size=2, unique=True)) if keys else []
    where = draw(st.lists(st.sampled_from(conditions), max_size=1)) if conditions else []
    text = f"SELECT {', '.join([*by, *what])} FROM {source}"
    if where:
        text += (
            f" {'AND' if ' WHERE ' in source and not source.startswith(('(', 't LEFT JOIN (')) else 'WHERE'} {where[0]}"
        )
    if by:
        several = ["ROLLUP ({})", "CUBE ({})", "GROUPING SETS ({}, ())"] if not any(" " in k for k in by) else []
        shape = draw(st.sampled_from(["{}", "{}", *several]))
        text += f" GROUP BY {shape.format(', '.join(by))}"
    return text
