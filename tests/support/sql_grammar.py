"""Questions from a grammar that knows the schema of the attack fixture, good ones and bad ones.

`question(toss)` is mostly something a person could mean; `broken(toss, corpus)` is a question or an attack with
tokens swapped, dropped, repeated, spliced from another, or with noise in its bytes.
"""

import random
import re
from collections.abc import Sequence

NUMBERS = {
    "patients": ["birth_year", "cost", "los", "score", "id"],
    "visits": ["day", "cost", "patient_id", "visit_id"],
    "wards": ["beds", "floor"],
    "canteen": ["time", "student"],
}
TEXTS = {
    "patients": ["name", "gender", "zip", "ward", "diagnosis"],
    "visits": [],
    "wards": ["ward"],
    "canteen": ["faculty"],
}
DATES = {"patients": ["admitted", "seen"], "visits": [], "wards": [], "canteen": []}
FLAGS = {"patients": ["vip"], "visits": [], "wards": [], "canteen": []}
WORDS = ["'HIV'", "'flu'", "'Alice'", "'F'", "'02138'", "'B'", "'math'", "''", "'O''Brien'", "'\\'", "'%'"]
FIGURES = ["0", "1", "-1", "7", "20", "1962", "0.5", "1e3", "1e300", "9223372036854775807", "1.5e-7", "100000"]
DAYS = ["DATE '2021-05-01'", "'2022-02-02'", "TIMESTAMP '2021-05-01 12:00:00'", "DATE '0001-01-01'", "CURRENT_DATE"]
ONE = ["ABS", "SQRT", "LN", "EXP", "FLOOR", "CEIL", "ROUND", "SIGN", "LOG", "SIN", "TRUNC", "CBRT", "DEGREES"]
AGGREGATES = ["SUM", "AVG", "COUNT", "MIN", "MAX", "VAR_POP", "STDDEV", "MEDIAN", "STDDEV_SAMP", "VARIANCE"]
SPACES = ["\t", "\n", "\r", "\f", "\v", "\u00a0", "\u2028", "\u200b", "/**/", "-- x\n"]
NOISE = [
    "\x00",
    "\ud800",
    "\ufeff",
    "ё",
    "'",
    '"',
    "`",
    "$$",
    ";",
    "--",
    "/*",
    "*/",
    "\\",
    "(",
    ")",
    "[",
    "{",
    "?",
    ":",
    "%s",
    "🙂",
]
TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\w+|\s+|[^\w\s]")


class Grammar:
    def __init__(self, toss: random.Random) -> None:
        self.toss = toss

    def pick(self, options: Sequence[str]) -> str:
        return self.toss.choice(options)

    def chance(self, share: float) -> bool:
        return self.toss.random() < share

    # -- rows ------------------------------------------------------------------------------------------------

    def number(self, table: str, depth: int = 0) -> str:
        kind = self.toss.randrange(4 if depth > 3 else 16)
        column = self.pick(NUMBERS[table])
        if kind < 3:
            return column
        if kind == 3:
            return self.pick(FIGURES)
        a, b = self.number(table, depth + 1), self.number(table, depth + 1)
        shapes = {
            4: f"({a} {self.pick(['+', '-', '*', '/', '%'])} {b})",
            5: f"CASE WHEN {self.condition(table, depth + 1)} THEN {a} ELSE {b} END",
            6: f"COALESCE({a}, {b})",
            7: f"{self.pick(['GREATEST', 'LEAST'])}({a}, {b})",
            8: f"NULLIF({a}, {b})",
            9: f"{self.pick(ONE)}({a})",
            10: f"CAST({a} AS {self.pick(['INTEGER', 'BIGINT', 'DOUBLE PRECISION', 'TEXT', 'NUMERIC(10,2)', 'SMALLINT'])})",
            11: f"POWER({a}, {self.pick(['2', '0.5', '-1', b])})",
            12: f"ROUND({a}, {self.pick(['0', '1', '-2', '400'])})",
            13: f"LEAST(GREATEST({a}, 0), 100)",
            14: f"LENGTH({self.text(table, depth + 1)})",
            15: f"EXTRACT({self.pick(['YEAR', 'MONTH', 'DOW', 'EPOCH', 'HOUR'])} FROM {self.date(table)})",
        }
        return shapes[kind]

    def text(self, table: str, depth: int = 0) -> str:
        column = self.pick(TEXTS[table] or ["'x'"])
        if depth > 3 or self.chance(0.6):
            return column if self.chance(0.7) else self.pick(WORDS)
        inner = self.text(table, depth + 1)
        return self.pick(
            [
                f"UPPER({inner})",
                f"LOWER({inner})",
                f"TRIM({inner})",
                f"SUBSTRING({inner} FROM 1 FOR {self.pick(['1', '3', '-1', 'los'])})",
                f"({inner} || {self.text(table, depth + 1)})",
                f"REPLACE({inner}, 'a', 'b')",
                f"LEFT({inner}, 2)",
                f"CAST({inner} AS VARCHAR({self.pick(['0', '2', '999999'])}))",
                f"TO_CHAR({self.date(table)}, {self.pick(['YYYY', 'YYYY-MM', 'MM', 'DD', 'Mon', '999'])!r})",
                f"REPEAT({inner}, {self.pick(['2', '1000000000'])})",
                f"CASE WHEN {self.condition(table, depth + 1)} THEN {inner} END",
            ]
        )

    def date(self, table: str) -> str:
        base = self.pick(DATES[table] or DAYS)
        return self.pick(
            [base, base, f"DATE_TRUNC('month', {base})", f"{base} + INTERVAL '1 day'", f"({base} - {self.pick(DAYS)})"]
        )

    def condition(self, table: str, depth: int = 0) -> str:
        kind = self.toss.randrange(7 if depth > 2 else 14)
        a = self.number(table, depth + 1) if kind not in (1, 3, 6) else ""
        t = self.text(table, depth + 1) if kind in (1, 3, 6) else ""
        compare = self.pick(["=", "<>", "<", "<=", ">", ">="])
        deeper = depth + 1
        shapes = {
            0: lambda: f"{a} {compare} {self.pick(FIGURES)}",
            1: lambda: f"{t} {self.pick(['=', '<>'])} {self.pick(WORDS)}",
            2: lambda: f"{a} BETWEEN {self.pick(FIGURES)} AND {self.pick(FIGURES)}",
            3: lambda: self.among(t, [self.pick(WORDS) for _ in range(self.toss.randrange(1, 4))]),
            4: lambda: f"{a} IS {self.pick(['', 'NOT '])}NULL",
            5: lambda: self.pick(FLAGS[table] or ["TRUE"]),
            6: lambda: f"{t} LIKE {self.pick(WORDS)}",
            7: lambda: f"({self.condition(table, deeper)} AND {self.condition(table, deeper)})",
            8: lambda: f"({self.condition(table, deeper)} OR {self.condition(table, deeper)})",
            9: lambda: f"NOT ({self.condition(table, deeper)})",
            10: lambda: f"{a} {compare} {self.number(table, deeper)}",
            11: lambda: f"{self.date(table)} {compare} {self.pick(DAYS)}",
            12: lambda: f"{t or self.text(table)} ~ {self.pick(['^A', '(a+)+$', '[', 'HIV|flu'])!r}",
            13: lambda: f"{a} IN (SELECT {self.pick(NUMBERS['visits'])} FROM visits)",
        }
        return shapes[kind]()

    def among(self, text: str, words: list[str]) -> str:
        values = ", ".join(words)
        rows = ", ".join(f"({w}, {self.pick(FIGURES)})" for w in words)
        shape = self.pick([f"{text} IN ({values})", f"{text} = ANY (ARRAY[{values}])", f"({text}, 1) IN ({rows})"])
        return shape if self.chance(0.5) else f"{text} IN ({values})"

    # -- questions ---------------------------------------------------------------------------------------------

    def aggregate(self, table: str) -> str:
        kind = self.toss.randrange(10)
        if kind < 3:
            found = "COUNT(*)"
        elif kind == 3:
            found = f"COUNT(DISTINCT {self.pick([*NUMBERS[table], *TEXTS[table]])})"
        elif kind == 4:
            found = (
                f"PERCENTILE_CONT({self.pick(['0.5', '0.9', '1.5'])}) WITHIN GROUP (ORDER BY {self.number(table, 2)})"
            )
        elif kind == 5:
            found = f"{self.pick(['CORR', 'COVAR_POP'])}({self.number(table, 3)}, {self.number(table, 3)})"
        else:
            found = f"{self.pick(AGGREGATES)}({self.number(table, 1)})"
        return f"{found} FILTER (WHERE {self.condition(table, 1)})" if self.chance(0.1) else found

    def released(self, table: str) -> str:
        a = self.aggregate(table)
        return self.pick(
            [a, a, a, f"{a} + 1", f"ROUND({a}, 2)", f"{a} / {self.aggregate(table)}", f"CASE WHEN {a} > 5 THEN {a} END"]
        )

    def source(self, table: str, depth: int) -> str:
        kind = self.toss.randrange(12)
        if kind == 0 and table == "patients":
            return f"patients {self.pick(['JOIN', 'LEFT JOIN'])} visits v ON v.patient_id = patients.id"
        if kind == 1 and table == "patients":
            return "patients JOIN wards w USING (ward)"
        if kind == 2 and depth < 3:
            return f"(SELECT * FROM {self.source(table, depth + 1)} WHERE {self.condition(table, 1)}) AS q"
        if kind == 3 and table == "visits":
            return "(SELECT patient_id, SUM(cost) AS cost, COUNT(*) AS day, 0 AS visit_id FROM visits GROUP BY patient_id) AS q"
        if kind == 4 and depth < 2:
            return f"(SELECT * FROM {table} UNION ALL SELECT * FROM {table}) AS q"
        return table

    def question(self) -> str:
        table = self.pick(["patients"] * 5 + ["visits"] * 2 + ["canteen"] * 2 + ["wards"])
        keys = [
            self.pick([*TEXTS[table], *NUMBERS[table], self.number(table, 3)]) for _ in range(self.toss.randrange(3))
        ]
        outputs = [*keys, *(self.released(table) for _ in range(self.toss.randrange(1, 4)))]
        names = [f"{o} AS x{i}" if self.chance(0.3) else o for i, o in enumerate(outputs)]
        sql = f"SELECT {', '.join(names)} FROM {self.source(table, 0)}"
        if self.chance(0.6):
            sql += f" WHERE {self.condition(table)}"
        if keys:
            listed = ", ".join(keys)
            sql += f" GROUP BY {self.pick([listed, listed, listed, f'ROLLUP({listed})', f'CUBE({listed})', '1'])}"
        if self.chance(0.15):
            sql += f" HAVING {self.aggregate(table)} > {self.pick(FIGURES)}"
        if self.chance(0.2):
            sql += (
                f" ORDER BY {self.pick([self.aggregate(table), '1', *keys])} {self.pick(['', 'DESC', 'NULLS FIRST'])}"
            )
        if self.chance(0.1):
            sql += f" LIMIT {self.pick(['1', '10', '0', '1048575', '-1'])}"
        if self.chance(0.1):
            sql = f"WITH c AS (SELECT * FROM {table}) {sql}"
        return sql

    def tame(self) -> str:
        """A question of the core: most of these are answered, so that the planner is reached."""
        table = self.pick(["patients"] * 3 + ["visits", "canteen", "canteen"])
        numbers = {"patients": ["cost", "los", "birth_year", "score"], "visits": ["cost", "day"], "canteen": ["time"]}[
            table
        ]
        keys = {"patients": ["gender", "zip", "ward", "diagnosis"], "visits": ["day"], "canteen": ["faculty"]}[table]
        chosen = self.toss.sample(keys, self.toss.randrange(min(3, len(keys)) + 1))

        def number() -> str:
            a, b = self.pick(numbers), self.pick(numbers)
            return self.pick(
                [
                    a,
                    a,
                    f"{a} + {b}",
                    f"{a} * 2",
                    f"ABS({a} - {b})",
                    f"GREATEST({a}, 10)",
                    f"{a} / {b}",
                    f"COALESCE({a}, 0)",
                    f"CASE WHEN {test()} THEN {a} ELSE 0 END",
                ]
            )

        def test() -> str:
            a, k = self.pick(numbers), self.pick(keys)
            value = {
                "gender": "'F'",
                "zip": "'02138'",
                "ward": "'B'",
                "diagnosis": "'HIV'",
                "day": "7",
                "faculty": "'math'",
            }[k]
            return self.pick(
                [
                    f"{a} > {self.pick(FIGURES[:7])}",
                    f"{k} = {value}",
                    f"{k} <> {value}",
                    f"{a} IS NOT NULL",
                    f"{a} BETWEEN 3 AND 30",
                ]
            )

        outputs = [
            *chosen,
            *(
                self.pick(
                    [
                        "COUNT(*)",
                        f"COUNT({number()})",
                        f"SUM({number()})",
                        f"AVG({number()})",
                        f"SUM({number()}) / COUNT(*)",
                        f"COUNT(*) FILTER (WHERE {test()})",
                    ]
                )
                for _ in range(self.toss.randrange(1, 4))
            ),
        ]
        sql = f"SELECT {', '.join(outputs)} FROM {table}"
        if self.chance(0.7):
            sql += f" WHERE {self.pick([test(), f'{test()} AND {test()}', f'NOT ({test()} OR {test()})'])}"
        if chosen:
            sql += f" GROUP BY {', '.join(chosen)}"
            sql += self.pick(
                [
                    "",
                    "",
                    f" HAVING COUNT(*) > {self.pick(FIGURES[:5])}",
                    " ORDER BY COUNT(*) DESC",
                    " ORDER BY 1 LIMIT 2",
                ]
            )
        return sql

    def wide(self) -> str:
        """Joins, sub-selects, unions and sums per person, mostly such as are answered."""
        p = ["p.cost", "p.los", "p.birth_year", "p.score"]
        v = ["v.cost", "v.day"]
        sources = [
            ("patients p JOIN visits v ON v.patient_id = p.id", p + v, ["p.gender", "p.ward", "p.diagnosis"]),
            ("patients p LEFT JOIN visits v ON v.patient_id = p.id", p + v, ["p.gender", "p.ward"]),
            ("patients p, visits v WHERE v.patient_id = p.id AND 1 = 1", p + v, ["p.zip", "p.diagnosis"]),
            ("visits v JOIN visits u ON u.patient_id = v.patient_id", [*v, "u.cost", "u.day"], []),
            ("visits v JOIN visits u ON u.patient_id = v.patient_id AND u.visit_id = v.visit_id", [*v, "u.cost"], []),
            ("patients p JOIN wards w ON w.ward = p.ward", [*p, "w.beds", "w.floor"], ["p.gender", "w.ward", "w.floor"]),
            ("patients p LEFT JOIN wards w ON w.ward = p.ward AND p.los > 7", [*p, "w.beds"], ["p.gender"]),
            ("patients p JOIN wards w USING (ward) JOIN visits v ON v.patient_id = p.id", [*p, *v, "w.beds"], ["p.gender"]),
            ("patients p JOIN patients q ON q.id = p.id", [*p, "q.cost", "q.los"], ["p.ward", "q.diagnosis"]),
            ("(SELECT patient_id, SUM(cost) AS s, COUNT(*) AS n, MAX(day) AS d FROM visits GROUP BY patient_id) q", ["q.s", "q.n", "q.d"], ["q.n"]),
            ("(SELECT patient_id, day % 7 AS wd, AVG(cost) AS a FROM visits GROUP BY patient_id, day % 7) q", ["q.a", "q.wd"], ["q.wd"]),
            ("(SELECT patient_id, COUNT(*) AS n FROM visits WHERE day > 100 GROUP BY patient_id HAVING COUNT(*) > 1) q JOIN patients p ON p.id = q.patient_id", ["q.n", *p], ["p.ward"]),
            ("patients p LEFT JOIN (SELECT patient_id, SUM(cost) AS s FROM visits GROUP BY patient_id) q ON q.patient_id = p.id", [*p, "q.s"], ["p.gender"]),
            ("(SELECT cost, los AS x FROM patients UNION ALL SELECT cost, birth_year FROM patients WHERE vip) q", ["q.cost", "q.x"], []),
            ("(SELECT patient_id AS who, cost FROM visits UNION ALL SELECT id, cost FROM patients) q", ["q.cost"], []),
            ("(SELECT ward AS k, cost * 2 AS c FROM patients WHERE los > 3) q", ["q.c"], ["q.k"]),
            ("(SELECT DISTINCT patient_id, day FROM visits) q", ["q.day"], ["q.day"]),
            ("canteen c JOIN canteen d ON d.student = c.student", ["c.time", "d.time"], ["c.faculty"]),
            ("canteen c LEFT JOIN (SELECT student, time AS t FROM canteen WHERE time > 20) q ON q.student = c.student", ["c.time", "q.t"], ["c.faculty"]),
            ("(SELECT student, COUNT(*) AS n FROM canteen WHERE time > 20 GROUP BY student) q", ["q.n"], ["q.n"]),
            ("(SELECT faculty AS time, time AS faculty FROM canteen) q", ["q.faculty"], ["q.time"]),
            ("(SELECT faculty FROM canteen WHERE time > 20 UNION ALL SELECT faculty FROM canteen) q", ["1"], ["q.faculty"]),
            ("canteen c JOIN wards w ON w.floor = c.student", ["c.time", "w.beds"], ["c.faculty", "w.ward"]),
            ("canteen c JOIN wards w ON w.beds = c.time", ["c.time", "w.beds"], ["c.faculty"]),
        ]  # fmt: skip
        source, numbers, keys = self.toss.choice(sources)
        a, b = self.pick(numbers), self.pick(numbers)
        aggregates = [
            "COUNT(*)", f"COUNT({a})", f"SUM({a})", f"AVG({a})", f"SUM({a} * {b})", f"SUM(LEAST({a}, {b}))", f"COUNT(DISTINCT {a})",
            f"SUM({a}) FILTER (WHERE {b} > 3)", f"SUM({a}) / COUNT(*)", f"MAX({a})", f"MIN({a})", f"MEDIAN({a})", f"STDDEV({a})", f"VAR_POP({a})", f"CORR({a}, {b})",
        ]  # fmt: skip
        chosen = self.toss.sample(keys, min(len(keys), self.toss.randrange(3)))
        outputs = [*chosen, *self.toss.sample(aggregates, self.toss.randrange(1, 3))]
        sql = f"SELECT {', '.join(outputs)} FROM {source}"
        if self.chance(0.5):
            sql += (" AND " if " WHERE v." in source else " WHERE ") + self.pick(
                [f"{a} > 10", f"{a} IS NULL", f"{a} < {b}", f"NOT ({a} > 5 OR {b} < 2)"]
            )
        if chosen:
            listed = ", ".join(chosen)
            sql += f" GROUP BY {self.pick([listed, listed, f'ROLLUP({listed})', f'CUBE({listed})', f'GROUPING SETS (({listed}), ())'])}"
        return sql

    def widest(self) -> str:
        """What is answered by histograms, picks, thresholds and running sums; times, texts and patterns inside."""
        n = self.pick(["p.cost", "p.los", "p.birth_year", "p.score", "EXTRACT(YEAR FROM p.admitted)", "LENGTH(p.name)"])
        key = self.pick(["p.gender", "p.zip", "p.ward", "p.diagnosis", "p.vip", "p.los"])
        text = self.pick(
            [
                "p.name",
                "p.zip",
                "LOWER(p.diagnosis)",
                "SUBSTRING(p.zip FROM 1 FOR 3)",
                "TRIM(p.name)",
                "SPLIT_PART(p.name, 'n', 1)",
                "TO_CHAR(p.seen, 'YYYY-MM')",
                "CAST(p.name AS VARCHAR(4))",
            ]
        )
        when = self.pick(
            [
                "p.admitted",
                "p.seen",
                "DATE_TRUNC('month', p.admitted)",
                "p.admitted + INTERVAL '3 months'",
                "CAST(p.seen AS DATE)",
            ]
        )
        test = self.pick(
            [f"{n} > {self.pick(FIGURES[:7])}", f"{text} ~ '^[A-Z][a-z]+[0-9]?$'", f"{text} LIKE '%o_1%'", f"{text} SIMILAR TO '(A|P)%'",
             f"{when} < {self.pick(DAYS[:3])}", f"{when} BETWEEN '2020-01-01' AND '2022-06-30'", f"EXTRACT(DOW FROM {when}) IN (0, 6)",
             f"{key} IS DISTINCT FROM NULL", "EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.id AND v.cost > 9)",
             "p.id IN (SELECT patient_id FROM visits WHERE day < 50)", f"POSITION('a' IN {text}) > 1", "NOT p.vip"]
        )  # fmt: skip
        cuts = sorted({self.toss.randrange(60) for _ in range(self.toss.randrange(2, 9))})
        shapes = [
            lambda: ", ".join(f"COUNT(*) FILTER (WHERE {n} <= {c})" for c in cuts),
            lambda: ", ".join(f"SUM(CASE WHEN {n} > {c} THEN 1 ELSE 0 END)" for c in cuts),
            lambda: ", ".join(f"SUM(CASE WHEN {key} = {w} THEN {n} END)" for w in self.toss.sample(WORDS, 3)),
            lambda: ", ".join(f"PERCENTILE_{self.pick(['CONT', 'DISC'])}({q}) WITHIN GROUP (ORDER BY {n})" for q in (0.1, 0.5, 0.99)),
            lambda: f"MIN({n}), MAX({n}), MEDIAN({n})",
            lambda: f"COUNT(DISTINCT {self.pick([text, when, key, 'p.id'])})",
            lambda: f"CORR({n}, p.los), COVAR_SAMP(p.cost, {n}), VARIANCE({n}), STDDEV_POP(p.cost)",
            lambda: f"AVG({n}) FILTER (WHERE {test})",
            lambda: f"AVG({when} - DATE '2020-01-01'), MAX({when})",
        ]  # fmt: skip
        where = f" WHERE {test}" if self.chance(0.6) else ""
        shape = self.toss.randrange(10)
        if shape == 9:
            return self.found()
        if shape == 0:
            return f"SELECT WIDTH_BUCKET({n}, {self.pick(['0', '-5', 'p.los'])}, 100, {self.pick(['5', '20', '0', '999999'])}) AS b, COUNT(*), AVG(p.cost) FROM patients p{where} GROUP BY b"
        if shape == 1:
            over = self.pick(
                [
                    "OVER (ORDER BY p.los)",
                    "OVER (ORDER BY p.los DESC)",
                    "OVER (PARTITION BY p.ward ORDER BY p.los)",
                    "OVER ()",
                ]
            )
            return f"SELECT p.los, SUM(COUNT(*)) {over} FROM patients p{where} GROUP BY p.los"
        if shape == 2:
            what = self.pick(["COUNT(*)", "COUNT(DISTINCT v.patient_id)", "SUM(v.cost)"])
            shown = self.pick([f", {what}", ""])
            return f"SELECT v.day{shown} FROM visits v GROUP BY v.day ORDER BY {what} DESC LIMIT {self.pick(['1', '3', '400'])}{self.pick(['', ' OFFSET 1'])}"
        if shape == 3:
            undeclared = self.pick([text, "UPPER(p.name)", when, f"{text} || '-' || p.ward", "ROUND(p.cost, -3)"])
            return f"SELECT {undeclared} AS k, {self.toss.choice(shapes[4:])()} FROM patients p{where} GROUP BY k{self.pick(['', ' HAVING COUNT(*) > 3', ' ORDER BY 2 DESC LIMIT 5'])}"
        if shape == 4:
            sets = self.pick(
                [
                    f"ROLLUP({key}, p.gender)",
                    f"CUBE({key}, p.ward)",
                    f"GROUPING SETS (({key}), (p.ward), ())",
                    f"ROLLUP({key}), p.gender",
                ]
            )
            return f"SELECT {key}, {self.pick(['COUNT(*)', f'SUM({n})', f'AVG({n})', f'MEDIAN({n})'])} FROM patients p{where} GROUP BY {sets}"
        if shape == 5:
            return f"SELECT {key}, {self.toss.choice(shapes)()} FROM patients p{where} GROUP BY {key}"
        if shape == 6:
            return f'SELECT * FROM (SELECT {key} AS k, {self.toss.choice(shapes)()} FROM patients p{where} GROUP BY 1) "Custom SQL" LIMIT 1048575'
        if shape == 7:
            return f"WITH c AS (SELECT p.id AS i, {n} AS x, {key} AS k FROM patients p{where}), d AS (SELECT patient_id, {self.pick(['SUM', 'MIN', 'COUNT'])}(cost) AS y FROM visits GROUP BY patient_id) SELECT {self.pick(['k, ', ''])}AVG(x), SUM(y), CORR(x, y) FROM c {self.pick(['', 'LEFT '])}JOIN d ON d.patient_id = c.i{self.pick([' GROUP BY k', ''])}"
        return f"SELECT {self.toss.choice(shapes)()}, {self.toss.choice(shapes)()} FROM patients p{where}"

    def found(self) -> str:
        """Keys that nobody declared, of persons who are in several groups: joins, sub-selects, unions."""
        source, keys, who = self.toss.choice([
            ("patients p JOIN visits v ON v.patient_id = p.id", ["p.name", "CAST(v.visit_id AS TEXT)", "p.name || CAST(v.day AS TEXT)",
             "CASE WHEN v.cost > 10 THEN p.name ELSE p.zip END", "LEFT(p.name, 2)", "v.day * 7 + v.patient_id"], "p.id"),
            ("patients p LEFT JOIN visits v ON v.patient_id = p.id AND v.day > 99", ["p.name", "COALESCE(CAST(v.visit_id AS TEXT), p.name)"], "p.id"),
            ("visits v JOIN visits u ON u.patient_id = v.patient_id", ["v.visit_id + u.visit_id", "v.visit_id", "u.day * 400 + v.day"], "v.patient_id"),
            ("(SELECT patient_id AS i, day, SUM(cost) AS s FROM visits GROUP BY patient_id, day) q", ["ROUND(q.s)", "q.day + ROUND(q.s)"], "q.i"),
            ("(SELECT id AS i, name AS k FROM patients UNION ALL SELECT patient_id, CAST(visit_id AS TEXT) FROM visits) q", ["q.k", "UPPER(q.k)"], "q.i"),
            ("patients p JOIN wards w ON w.ward = p.ward", ["p.name", "p.name || w.ward", "p.cost * w.floor"], "p.id"),
        ])  # fmt: skip
        chosen = self.toss.sample(keys, min(len(keys), self.toss.randrange(1, 3)))
        names = [f"k{i}" for i in range(len(chosen))]
        shown = ", ".join(f"{k} AS {n}" for k, n in zip(chosen, names, strict=True))
        what = self.pick(["COUNT(*)", f"COUNT(DISTINCT {who})", f"COUNT(*), COUNT(DISTINCT {who})"])
        return f"SELECT {shown}, {what} FROM {source} GROUP BY {', '.join(names)}"

    # -- damage ------------------------------------------------------------------------------------------------

    def broken(self, corpus: Sequence[str]) -> str:
        sql = self.pick(corpus) if self.chance(0.5) else self.question()
        for _ in range(self.toss.randrange(1, 4)):
            tokens = TOKEN.findall(sql[:4000])
            if not tokens:
                return sql
            at = self.toss.randrange(len(tokens))
            match self.toss.randrange(8):
                case 0:
                    del tokens[at]
                case 1:
                    other = self.toss.randrange(len(tokens))
                    tokens[at], tokens[other] = tokens[other], tokens[at]
                case 2:
                    tokens.insert(at, self.pick(NOISE))
                case 3:
                    splice = TOKEN.findall(self.pick(corpus)[:4000])
                    tokens[at:at] = splice[self.toss.randrange(len(splice) + 1) :]
                case 4:
                    tokens[at] = tokens[at] * self.toss.randrange(2, 40)
                case 5:
                    tokens.insert(at, self.pick(SPACES))
                case 6:
                    tokens[at] = self.pick(
                        ["NULL", "*", "SELECT", "FROM", "(", ")", ",", "patients", "diagnosis", "OVER ()", "1e999"]
                    )
                case _:
                    raw = bytearray("".join(tokens).encode("utf-8", "surrogatepass"))
                    raw[self.toss.randrange(len(raw))] = self.toss.randrange(256)
                    tokens = [raw.decode("utf-8", "replace")]
            sql = "".join(tokens)
        return sql
