"""Every claim checked again, on the file that was written, by code that shares nothing with the search.

The file is read by DuckDB as a stranger would read it, and each model's value is computed from its
definition in SQL. *Before* is the share of the file's own rows, so whoever has the file can do the same; only
a population and a hierarchy enter from outside.
"""
# ruff: noqa: S608  (names enter the SQL only through `quoted`, texts only through `literal`)

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from nowiser.errors import NotEvaluated
from nowiser.files.interrupted import rows_of
from nowiser.microdata.recheck.joint import columns_of, joint_gain
from nowiser.microdata.recheck.sampled import people_behind
from nowiser.microdata.recheck.uniques import population_uniques

ESTIMATE = 1e-3  # of estimates that are solved by iteration: a tenth of a point
CLOSE = 1e-6  # claims and re-checks are computed in different orders of summation


@dataclass(frozen=True)
class Claim:
    """A model's name, its options, and the value claimed for it."""

    model: str
    options: Mapping[str, Any]
    value: float | None

    @property
    def text(self) -> str:
        """Everything that tells this claim from another: the model, its column and its options."""
        rest = {
            k: v for k, v in self.options.items() if k not in {"about", "tree"} and v is not None and v is not False
        }
        words = [self.model, str(self.options.get("about", ""))]
        words.append(f"({', '.join(f'{k} {_shown(v)}' for k, v in rest.items())})" if rest else "")
        return " ".join(w for w in words if w)

    @property
    def close(self) -> float:
        """How far the value in the file may lie from the claim: rounding, or two ways of solving an estimate."""
        loose = ESTIMATE if self.model == "population-uniqueness" else CLOSE
        return loose * max(1.0, abs(self.value or 0.0))


@dataclass(frozen=True)
class Evidence:
    """What is needed besides the file."""

    sensitive: tuple[str, ...]
    quasi: tuple[str, ...]
    trees: Mapping[str, Mapping[str | None, tuple[str | None, ...]]] = field(default_factory=dict)
    population: Any = None  # Arrow: the population's quasi-identifiers, already at the released levels
    separator: str = ","
    persons: Any = None  # Arrow: whose each row of the file is (`who`), in its order; None where each is a person


def recheck(path: Path, claims: Sequence[Claim], evidence: Evidence, rows: int) -> dict[str, float]:
    """The values found in the file. Raises NotEvaluated if one is worse than claimed, or rows are missing."""
    import duckdb

    with duckdb.connect(config={"temp_directory": str(path.parent)}) as engine:  # a folder that is taken away
        with suppress(duckdb.InvalidInputException):  # in Jupyter without ipywidgets there is neither bar nor setting
            engine.execute("SET enable_progress_bar = false")  # it would go to standard output, among the answers
        check = _Check(engine, path, evidence)
        found_rows = check.one("SELECT coalesce(sum(rows), 0) FROM released")
        if int(found_rows) != rows:
            raise NotEvaluated(f"the written file has {int(found_rows)} rows where {rows} were released")
        found: dict[str, float] = {}
        for claim in claims:
            value = found[claim.text] = check.value(claim)
            if claim.value is None:  # infinite: nothing is promised
                continue
            if not abs(value - claim.value) <= claim.close:
                raise NotEvaluated(
                    f"the written file does not keep the claim: {claim.model} was claimed to be {claim.value:g} "
                    f"and is {value:g} in the file; nothing was published"
                )
        return found


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class _Check:
    """One file, read once."""

    def __init__(self, engine: Any, path: Path, evidence: Evidence) -> None:
        self.engine, self.evidence = engine, evidence
        self.keys = [f"q{i}" for i in range(len(evidence.quasi))]
        if path.suffix.lower() == ".parquet":
            source = f"read_parquet({literal(str(path))})"
        else:
            separator = "\t" if path.suffix.lower() == ".tsv" else evidence.separator
            source = (
                f"read_csv({literal(str(path))}, header = true, all_varchar = true, delim = {literal(separator)}, "
                "quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false, auto_detect = false, "
                f"columns = {self._columns(path, separator)})"
            )
        names = [f"CAST({quoted(q)} AS VARCHAR) AS q{i}" for i, q in enumerate(evidence.quasi)]
        names += [f"CAST({quoted(s)} AS VARCHAR) AS s{i}" for i, s in enumerate(evidence.sensitive)]
        named = "".join(f"{name}, " for name in names)
        if evidence.persons is not None:
            engine.register("persons", evidence.persons)
            source, named = f"{source} POSITIONAL JOIN persons", f"{named}who, "
        self.people = "sum(rows)" if evidence.persons is None else "count(DISTINCT who)"
        self.run(f"CREATE TEMP TABLE released AS SELECT {named} count(*) AS rows FROM {source} GROUP BY ALL")
        by = "".join(f"{k}, " for k in self.keys)
        self.run(f"CREATE TEMP TABLE groups AS SELECT {by} {self.people} AS n FROM released GROUP BY ALL")
        self.spread: set[str] = set()

    @staticmethod
    def _columns(path: Path, separator: str) -> str:
        import csv

        with path.open(encoding="utf-8", newline="") as file:
            header = next(csv.reader(file, delimiter=separator))
        return "{" + ", ".join(f"{literal(name)}: 'VARCHAR'" for name in header) + "}"

    def one(self, sql: str) -> float:
        rows = self.run(sql)
        return float("nan") if not rows or rows[0][0] is None else float(rows[0][0])

    def run(self, sql: str) -> list[Any]:
        """Every result is read to its end: DuckDB takes no further work on a connection before."""
        return rows_of(self.engine, sql)

    def value(self, claim: Claim) -> float:
        ask = getattr(self, "_" + claim.model.replace("-", "_"), None)
        if ask is None:
            raise NotEvaluated(f"there is no second way to check {claim.model}; nothing was published")
        if "about" in claim.options:
            self._spread(str(claim.options["about"]))
        return float(ask(dict(claim.options)))

    def _spread(self, column: str) -> None:
        """`h`: rows c of every value s in every group of n rows; `p`: its share of all rows of the file."""
        if column in self.spread:
            return
        self.spread = {column}
        by = "".join(f"{k}, " for k in self.keys)
        over = f"PARTITION BY {', '.join(self.keys)}" if self.keys else ""
        place = f"s{self.evidence.sensitive.index(column)}"
        self.run(
            f"CREATE OR REPLACE TEMP TABLE prior AS SELECT {place} AS s, "
            f"{self.people} / sum({self.people}) OVER () AS p FROM released GROUP BY ALL"
        )
        self.run(
            f"CREATE OR REPLACE TEMP TABLE h AS SELECT {by} t.s, c, sum(c) OVER ({over}) AS n, p FROM "
            f"(SELECT {by} {place} AS s, {self.people} AS c FROM released GROUP BY ALL) t "
            "JOIN prior ON t.s IS NOT DISTINCT FROM prior.s"
        )

    def _each(self, what: str, source: str = "h", keys: Sequence[str] | None = None) -> str:
        by = ", ".join(self.keys if keys is None else keys)
        return f"SELECT {what} AS v FROM {source}" + (f" GROUP BY {by}" if by else "")

    # one method per model, named after it

    def _k_anonymity(self, _: dict[str, Any]) -> float:
        return self.one("SELECT min(n) FROM groups")

    def _blank_k_anonymity(self, _: dict[str, Any]) -> float:
        """Every row against every other: they agree wherever both have a value."""
        agree = " AND ".join(f"(a.{k} = b.{k} OR a.{k} IS NULL OR b.{k} IS NULL)" for k in self.keys) or "true"
        each = f"SELECT sum(b.n) AS v FROM groups a JOIN groups b ON {agree} GROUP BY a.rowid"
        return self.one(f"SELECT min(v) FROM ({each})")

    def _alpha_k_anonymity(self, options: dict[str, Any]) -> float:
        if self.one("SELECT min(n) FROM groups") < options.get("k", 1):
            return float("inf")
        watched = options.get("among")
        only = "" if watched is None else f" WHERE s IN ({', '.join(literal(str(v)) for v in watched)})"
        return self.one(f"SELECT coalesce(max(c / n), 0) FROM h{only}")

    def _highest_risk(self, options: dict[str, Any]) -> float:
        if options.get("attacker") == "journalist":
            return self.one(f"SELECT max(1 / people) FROM ({self._people()}) WHERE n > 0")
        return self.one("SELECT 1 / min(n) FROM groups")

    def _average_risk(self, options: dict[str, Any]) -> float:
        attacker = options.get("attacker", "prosecutor")
        if attacker == "prosecutor" or (attacker == "marketer" and self.evidence.population is None):
            return self.one("SELECT count(*) / sum(n) FROM groups")
        people = f"({self._people()}) WHERE n > 0"
        expected = self.one(f"SELECT sum(n / people) / sum(n) FROM {people}")
        return (
            expected
            if attacker == "marketer"
            else max(expected, self.one(f"SELECT count(*) / sum(people) FROM {people}"))
        )

    def _sample_uniqueness(self, _: dict[str, Any]) -> float:
        return self.one("SELECT count(*) FILTER (n = 1) / sum(n) FROM groups")

    def _population_uniqueness(self, options: dict[str, Any]) -> float:
        sizes = {int(n): int(count) for n, count in self.run("SELECT n, count(*) FROM groups GROUP BY n")}
        return population_uniques(sizes, options.get("people"), options.get("estimator", "pitman"))

    def _k_map(self, _: dict[str, Any]) -> float:
        return self.one(f"SELECT min(people) FROM ({self._people()}) WHERE n > 0")

    def _k_map_estimate(self, options: dict[str, Any]) -> float:
        smallest = int(self.one("SELECT min(n) FROM groups"))
        chances = float(options["fraction"]), float(options.get("error", 0.05))
        return people_behind(smallest, *chances, str(options.get("estimator", "binomial")))

    def _delta_presence(self, options: dict[str, Any]) -> float:
        low = float(options.get("low") or 0.0)
        if low > 0 and self.one(f"SELECT min(n / people) FROM ({self._people()})") < low - 1e-9:
            return float("inf")
        return self.one(f"SELECT max(n / people) FROM ({self._people()})")

    def _people(self) -> str:
        self.engine.register("population", self.evidence.population)
        names = ", ".join(f"CAST({quoted(q)} AS VARCHAR) AS q{i}" for i, q in enumerate(self.evidence.quasi))
        match = " AND ".join(f"g.{k} IS NOT DISTINCT FROM w.{k}" for k in self.keys)
        return (
            f"SELECT coalesce(g.n, 0) AS n, w.people FROM (SELECT {', '.join(self.keys)}, count(*) AS people FROM "
            f"(SELECT {names} FROM population) GROUP BY ALL) w LEFT JOIN groups g ON {match}"
        )

    def _distinct_l_diversity(self, _: dict[str, Any]) -> float:
        return self.one(f"SELECT min(v) FROM ({self._each('count(*)')})")

    def _entropy_l_diversity(self, _: dict[str, Any]) -> float:
        return self.one(f"SELECT min(v) FROM ({self._each('exp(-sum(c / n * ln(c / n)))')})")

    def _recursive_cl_diversity(self, options: dict[str, Any]) -> float:
        l = options.get("l") or max(2, int(self._distinct_l_diversity({})))
        over = f"PARTITION BY {', '.join(self.keys)} " if self.keys else ""
        ranked = f"(SELECT *, row_number() OVER ({over}ORDER BY c DESC) AS r FROM h)"
        ratio = f"max(c) / nullif(coalesce(sum(c) FILTER (r >= {int(l)}), 0), 0)"
        return self.one(f"SELECT max(coalesce(v, 'inf'::DOUBLE)) FROM ({self._each(ratio, ranked)})")

    def _t_closeness(self, options: dict[str, Any]) -> float:
        distance = options.get("distance", "equal")
        if distance == "equal":
            return self.one(f"SELECT max(v) FROM ({self._each('(sum(abs(c / n - p)) + 1 - sum(p)) / 2')})")
        if distance == "ordered":
            return self._ordered()
        return self._hierarchical(str(options["about"]))

    def _ordered(self) -> float:
        numeric = self.one("SELECT count(*) FROM prior WHERE s IS NOT NULL AND TRY_CAST(s AS DOUBLE) IS NULL") == 0
        order = "CAST(s AS DOUBLE)" if numeric else "s"
        self.run(
            f"CREATE OR REPLACE TEMP TABLE places AS SELECT s, p, row_number() OVER (ORDER BY {order} NULLS LAST) AS r "
            "FROM prior"
        )
        match = "".join(f"g.{k} IS NOT DISTINCT FROM h.{k} AND " for k in self.keys)
        keys = "".join(f"g.{k}, " for k in self.keys)
        by = "".join(f"{k}, " for k in self.keys)
        over = f"PARTITION BY {', '.join(self.keys)} " if self.keys else ""
        totals = f"(SELECT {by}max(n) AS n FROM h" + (f" GROUP BY {', '.join(self.keys)})" if self.keys else ")")
        cells = (
            f"SELECT {keys} r, coalesce(h.c, 0) / g.n - places.p AS d FROM {totals} g CROSS JOIN places "
            f"LEFT JOIN h ON {match} h.s IS NOT DISTINCT FROM places.s"
        )
        running = f"(SELECT {by} abs(sum(d) OVER ({over}ORDER BY r)) AS a FROM ({cells}))"
        count = self.one("SELECT count(*) FROM places")
        return self.one(f"SELECT max(v) FROM ({self._each('sum(a)', running)})") / max(1.0, count - 1)

    def _hierarchical(self, column: str) -> float:
        import pyarrow as pa

        tree = self.evidence.trees[column]
        height = len(next(iter(tree.values()))) - 1
        by = "".join(f"{k}, " for k in self.keys)
        parts = []
        for level in range(height):
            table = pa.table({"s": list(tree), "label": [row[level] for row in tree.values()]})
            self.engine.register(f"tree{level}", table)
            labelled = f"h JOIN tree{level} t ON h.s IS NOT DISTINCT FROM t.s"
            wide = (
                f"(SELECT {by} label, sum(c) AS c, max(n) AS n FROM {labelled} GROUP BY {by} label) x JOIN "
                f"(SELECT label, sum(p) AS p FROM prior JOIN tree{level} t ON prior.s IS NOT DISTINCT FROM t.s "
                "GROUP BY label) y ON x.label IS NOT DISTINCT FROM y.label"
            )
            parts.append(
                f"SELECT {by} sum(abs(c / n - p)) + 1 - sum(p) AS a FROM {wide}"
                + (f" GROUP BY {', '.join(self.keys)}" if self.keys else "")
            )
        union = f"({' UNION ALL '.join(parts)})"
        return self.one(f"SELECT max(v) FROM ({self._each('sum(a)', union)})") / (2 * height)

    def _delta_disclosure(self, options: dict[str, Any]) -> float:
        if options.get("absent") and self.one(
            f"SELECT count(*) FROM ({self._each('count(*)')}) WHERE v < (SELECT count(*) FROM prior)"
        ):
            return float("inf")
        return self.one("SELECT max(abs(ln(c / n / p))) FROM h")

    def _beta_likeness(self, _: dict[str, Any]) -> float:
        return max(0.0, self.one("SELECT max((c / n - p) / p) FROM h"))

    def _enhanced_beta_likeness(self, _: dict[str, Any]) -> float:
        rise = "(c / n - p) / p"
        return max(0.0, self.one(f"SELECT max(if({rise} > -ln(p) + 1e-9, 'inf'::DOUBLE, {rise})) FROM h"))

    def _joint_gain(self, options: dict[str, Any]) -> float:
        columns = columns_of(options["tree"])
        places = [f"s{self.evidence.sensitive.index(c)}" for c in columns]
        return self.one(joint_gain(self.run, options["tree"], self.keys, places, by_person=self._by_person))

    def _gain(self, options: dict[str, Any]) -> float:
        knows = options.get("knows")
        if knows is None or knows >= len(self.keys):
            return self._gain_of(self.keys, options)
        return max(self._gain_of(list(part), options) for part in combinations(self.keys, int(knows)))

    @staticmethod
    def _inside(options: dict[str, Any]) -> str:
        """The condition on a value `s` to be in the set that is guessed; a missing one is in no set."""
        if options.get("among") is not None:
            condition = f"s IN ({', '.join(literal(str(v)) for v in options['among'])})"
        else:
            low, high = (float(v) for v in options["between"])
            condition = f"TRY_CAST(s AS DOUBLE) BETWEEN {low!r} - 1e-9 AND {high!r} + 1e-9"
        condition = f"coalesce({condition}, false)"
        return f"NOT {condition}" if options.get("outside") else condition

    @property
    def _by_person(self) -> bool:
        return self.evidence.persons is not None

    def _km_anonymity(self, options: dict[str, Any]) -> float:
        if not self._by_person:
            return self.one("SELECT min(n) FROM groups")
        same = " AND ".join(f"g.{k} IS NOT DISTINCT FROM r.{k}" for k in self.keys) or "true"
        self.run("CREATE OR REPLACE TEMP TABLE numbered AS SELECT row_number() OVER () AS g0, * FROM groups")
        self.run(
            f"CREATE OR REPLACE TEMP TABLE histories AS SELECT DISTINCT g.g0 AS g, who FROM released r "
            f"JOIN numbered g ON {same}"
        )
        worst = float("inf")
        for size in range(1, int(options.get("m") or 2) + 1):
            joins = "".join(
                f" JOIN histories h{i} ON h{i}.who = h0.who AND h{i}.g > h{i - 1}.g" for i in range(1, size)
            )
            by = ", ".join(f"h{i}.g" for i in range(size))
            each = f"SELECT count(DISTINCT h0.who) AS n FROM histories h0{joins} GROUP BY {by}"
            found = self.run(f"SELECT min(n) FROM ({each})")[0][0]
            worst = worst if found is None else min(worst, float(found))
        return worst

    def _gain_by_person(self, keys: list[str], options: dict[str, Any]) -> float:
        """Right about a person is who is right about one of her rows."""
        by = "".join(f"{k}, " for k in keys)
        place = f"s{self.evidence.sensitive.index(str(options['about']))}"
        rows = f"(SELECT DISTINCT {by}{place} AS s, who FROM released)"
        if options.get("among") is not None or options.get("between") is not None:
            guesses, hit = "(SELECT 1 AS y)", self._inside(options)
        elif options.get("within") is not None:
            guesses, hit = self._centres(float(options["within"]))
        else:
            guesses, hit = f"(SELECT DISTINCT {place} AS y FROM released)", "s IS NOT DISTINCT FROM y"
        self.run(f"CREATE OR REPLACE TEMP TABLE asked AS SELECT row_number() OVER () AS g, y FROM {guesses}")
        share = f"count(DISTINCT who) FILTER ({hit}) / count(DISTINCT who)"
        after = f"(SELECT {by}g, {share} AS a FROM {rows}, asked GROUP BY {by}g)"
        before = f"(SELECT g, {share} AS b FROM {rows}, asked GROUP BY g)"
        return self.one(f"SELECT max(a - b) FROM {after} JOIN {before} USING (g)")

    @staticmethod
    def _centres(within: float) -> tuple[str, str]:
        """All guesses of a number that differ in what they are close to, and when one is right."""
        reach = f"(VALUES (-{within!r}), ({within!r})) t(e)"
        edges = f"SELECT DISTINCT CAST(s AS DOUBLE) + e AS y FROM prior, {reach} WHERE s IS NOT NULL"
        guesses = (  # each once: between neighbouring doubles the middle is one of them
            f"(WITH edges AS ({edges}) SELECT y FROM edges UNION SELECT (y + lead(y) OVER (ORDER BY y)) / 2 FROM edges)"
        )
        return guesses, f"coalesce(abs(CAST(s AS DOUBLE) - y) <= {within!r} + 1e-9, false)"

    def _gain_of(self, keys: list[str], options: dict[str, Any]) -> float:
        if self._by_person:
            return self._gain_by_person(keys, options)
        by = "".join(f"{k}, " for k in keys)
        over = f"PARTITION BY {', '.join(keys)}" if keys else ""
        part = f"(SELECT {by} s, c, sum(c) OVER ({over}) AS n, p FROM (SELECT {by} s, sum(c) AS c, max(p) AS p FROM h "
        part += f"GROUP BY {by} s))" if keys else "GROUP BY s))"
        if options.get("among") is not None or options.get("between") is not None:
            inside = self._inside(options)
            before = f"(SELECT coalesce(sum(p), 0) FROM prior WHERE {inside})"
            inner = self._each(f"coalesce(sum(c) FILTER ({inside}), 0) / max(n) - {before}", part, keys)
            return self.one(f"SELECT coalesce(max(v), -1) FROM ({inner})")
        if options.get("within") is not None:
            guesses, hit = self._centres(float(options["within"]))
            before = f"(SELECT y, sum(p) AS p FROM prior JOIN {guesses} ON {hit} GROUP BY y)"
            after = f"(SELECT {by} y, sum(c) / max(n) AS a FROM {part} JOIN {guesses} ON {hit} GROUP BY {by} y)"
            return self.one(f"SELECT max(a - p) FROM {after} JOIN {before} USING (y)")
        return self.one(f"SELECT max(c / n - p) FROM {part}")
