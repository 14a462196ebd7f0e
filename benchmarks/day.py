"""A day of an analyst: 200 questions on 100,000 hospital stays under ten points; how many get a useful answer?

Useful: every number has a 95 % bar within 10 % of the truth. Each question is asked for exactly that bar (`error`), or,
where nobody can promise it, for the least spend that `explain` expects to give it; the tiles of a dashboard together.
What would use more than 5 % of the allowance is not asked. Ways are added one by one, then all together:
`python -m benchmarks day`. The peers get the same loss for a patient who comes or goes, and do what they can.
"""

import math
import re
import tempfile
import time
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import ask
from nowiser.errors import NotAnswerable, NowiserError
from nowiser.examples import hospital
from nowiser.gateway import Gateway
from nowiser.policy import read
from nowiser.sql.aggregates import picking

STAYS = 100_000
DEAR = 0.05  # a question that would use more of the allowance is not asked: the rest of the day is worth more
ASKED = 0.95  # of that bar is asked for: bars are rounded, and old answers are taken that are 2 % wider
SPENDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, DEAR)
MOST = 4  # stays of one patient
RANGES = {"days": 60, "cost": 40000, "birth_year": 104, "flag": 1}
NEAR = 0.10  # a bar within this share of the truth is useful
POLICY = """\
nowiser: 1
tables:
  stays:
    source: stays.parquet
    person: patient_id
    rows_per_person: 4
    presence: 10%
    people: 46000
    PARTITION
    columns:
      patient_id: {identifier: integer}
      ward:
        sensitive: {values: [surgery, cardiology, neurology, oncology, paediatrics, maternity, psychiatry, geriatrics]}
      diagnosis:
        sensitive: {values: [injury, heart, stroke, cancer, infection, birth, depression, diabetes, other]}
        prior: {categories: {injury: 15%, heart: 16%, stroke: 6%, cancer: 12%, infection: 12%, birth: 10%,
                             depression: 8%, diabetes: 7%, other: 14%}}
      days: {sensitive: [0, 60], kind: integer}
      cost: {sensitive: [0, 40000], grid: 0.01, prior: {uniform: [0, 40000]}}
      emergency: {sensitive: boolean}
      sex: {sensitive: {values: [f, m]}}
      birth_year: {sensitive: [1920, 2024], kind: integer}
      district: {public: {values: [north, east, south, west, centre]}}
attackers:
  - {guess: stays.diagnosis exactly, gain: 10%AVERAGE}
  - {guess: stays.cost within 500, gain: 10%AVERAGE}
  - {guess: present in stays, gain: 10%AVERAGE}
answers: {spend: 5%REUSE}
"""


@dataclass(frozen=True)
class Ways:
    """What is switched on; without any of it, the account of the first version."""

    average: bool = False
    parts: bool = False
    reuse: bool = False
    picked: bool = False
    together: bool = False

    @property
    def policy(self) -> str:
        text = POLICY.replace("    PARTITION\n", "    partition: district\n" if self.parts else "")
        text = text.replace("AVERAGE", ", promise: on average" if self.average else "")
        return text.replace("REUSE", ", reuse: true" if self.reuse else "")


WAYS = {
    "nothing": Ways(),
    "on average": Ways(average=True),
    "parts": Ways(parts=True),
    "reuse": Ways(reuse=True),
    "quantiles picked": Ways(picked=True),
    "dashboard planned together": Ways(together=True),
    "all, for every answer": Ways(parts=True, reuse=True, picked=True),
    "all": Ways(average=True, parts=True, reuse=True, picked=True),
    "all, and the dashboard planned together": Ways(*[True] * 5),
}


@dataclass(frozen=True)
class Asked:
    """One question of the day."""

    kind: str
    sql: str
    board: int = -1  # the dashboard it is a tile of
    refresh: bool = False
    tile: int = -1


def questions() -> list[Asked]:
    """200 questions in the order of a day: a dashboard, questions of detail, the dashboard again …"""
    wards, districts = hospital.WARDS, hospital.DISTRICTS
    board = [
        ("counts", "SELECT COUNT(*) AS stays FROM stays"),
        ("by category", "SELECT ward, COUNT(*) AS stays FROM stays GROUP BY ward"),
        ("by category", "SELECT diagnosis, COUNT(*) AS stays FROM stays GROUP BY diagnosis"),
        ("averages", "SELECT AVG(days) AS days FROM stays"),
        ("averages", "SELECT ward, AVG(cost) AS cost FROM stays GROUP BY ward"),
        ("shares", "SELECT AVG(CASE WHEN emergency THEN 1 ELSE 0 END) AS emergencies FROM stays"),
        ("by category", "SELECT district, COUNT(*) AS stays FROM stays GROUP BY district"),
        ("counts", "SELECT COUNT(*) AS emergencies FROM stays WHERE emergency"),
    ]
    again = [  # what a dashboard sends when it is opened again: other names, another order, a filter that shows all
        ("counts", "SELECT COUNT(*) AS n FROM stays"),
        ("by category", "SELECT COUNT(*) AS n, ward FROM stays GROUP BY ward ORDER BY n DESC"),
        ("by category", "SELECT diagnosis, COUNT(*) AS n FROM stays GROUP BY diagnosis ORDER BY diagnosis LIMIT 5"),
        ("averages", "SELECT AVG(s.days) AS mean_days FROM stays AS s"),
        ("averages", "SELECT ward, AVG(cost) AS c FROM stays GROUP BY ward ORDER BY c"),
        ("shares", "SELECT 100 * AVG(CASE WHEN emergency THEN 1 ELSE 0 END) AS percent FROM stays"),
        ("by category", "SELECT district, COUNT(*) AS n FROM stays GROUP BY district"),
        ("counts", "SELECT COUNT(*) AS n FROM stays WHERE emergency = true"),
    ]
    detail = [Asked("counts", f"SELECT COUNT(*) AS n FROM stays WHERE ward = '{w}'") for w in wards]
    detail += [Asked("counts", f"SELECT COUNT(*) AS n FROM stays WHERE diagnosis = '{d}'") for d in hospital.DIAGNOSES]
    detail += [Asked("counts", f"SELECT COUNT(*) AS n FROM stays WHERE ward = '{w}' AND emergency") for w in wards]
    detail += [Asked("counts", f"SELECT COUNT(*) AS n FROM stays WHERE days > {d}") for d in (3, 5, 7, 10)]
    detail += [Asked("counts", f"SELECT COUNT(*) AS n FROM stays WHERE birth_year < {y}") for y in (1950, 1970, 1990)]
    detail += [Asked("counts", f"SELECT COUNT(*) AS n FROM stays WHERE district = '{d}'") for d in districts]
    detail += [
        Asked("counts", f"SELECT COUNT(*) AS n FROM stays WHERE district = '{d}' AND ward = 'surgery'")
        for d in districts
    ]
    detail += [
        Asked("averages", f"SELECT AVG({x}) AS m FROM stays WHERE ward = '{w}'")
        for w in wards
        for x in ("days", "cost")
    ]
    detail += [
        Asked("averages", f"SELECT AVG({x}) AS m FROM stays WHERE district = '{d}'")
        for d in districts
        for x in ("days", "cost")
    ]
    detail += [Asked("averages", "SELECT AVG(2024 - birth_year) AS age FROM stays")]
    detail += [Asked("averages", f"SELECT AVG(2024 - birth_year) AS age FROM stays WHERE sex = '{s}'") for s in "fm"]
    detail += [
        Asked("by category", f"SELECT {key}, COUNT(*) AS n FROM stays {where}GROUP BY {key}")
        for key in ("ward", "diagnosis", "sex", "emergency", "district")
        for where in ("", "WHERE emergency ", "WHERE sex = 'f' ", "WHERE birth_year < 1960 ")
        if key not in where
    ]
    detail += [Asked("by category", "SELECT ward, sex, COUNT(*) AS n FROM stays GROUP BY ward, sex")]
    detail += [Asked("by category", "SELECT ward, SUM(days) AS n FROM stays GROUP BY ward")]
    detail += [
        Asked("by category", f"SELECT ward, COUNT(*) AS n FROM stays WHERE district = '{d}' GROUP BY ward")
        for d in districts
    ]
    detail += [Asked("medians", f"SELECT MEDIAN({x}) AS m FROM stays") for x in ("cost", "days", "birth_year")]
    detail += [Asked("medians", f"SELECT MEDIAN(cost) AS m FROM stays WHERE ward = '{w}'") for w in wards]
    detail += [Asked("medians", f"SELECT MEDIAN(cost) AS m FROM stays WHERE district = '{d}'") for d in districts]
    detail += [
        Asked("medians", f"SELECT PERCENTILE_CONT({p}) WITHIN GROUP (ORDER BY cost) AS m FROM stays")
        for p in (0.25, 0.75, 0.9)
    ]
    detail += [Asked("medians", "SELECT sex, MEDIAN(cost) AS m FROM stays GROUP BY sex")]
    detail += [
        Asked("shares", f"SELECT AVG(CASE WHEN {c} THEN 1 ELSE 0 END) AS share FROM stays WHERE ward = '{w}'")
        for c in ("emergency", "sex = 'f'")
        for w in wards
    ]
    detail += [
        Asked("shares", f"SELECT 100.0 * COUNT(*) FILTER (WHERE {c}) / COUNT(*) AS percent FROM stays")
        for c in ("sex = 'f'", "days > 7", "birth_year < 1950", "emergency")
    ]
    detail += [
        Asked("shares", f"SELECT AVG(CASE WHEN emergency THEN 1 ELSE 0 END) AS share FROM stays WHERE district = '{d}'")
        for d in districts
    ]
    detail += [Asked("counts", f"SELECT COUNT(*) AS n FROM stays WHERE cost > {c}") for c in (2000, 4000, 6000, 10000)]
    detail += [Asked("counts", f"SELECT COUNT(*) AS n FROM stays WHERE sex = '{s}' AND emergency") for s in "fm"]
    detail += [
        Asked("averages", f"SELECT AVG(cost) AS m FROM stays WHERE diagnosis = '{d}'") for d in hospital.DIAGNOSES[:5]
    ]
    step, day = 26, []
    mixed = [detail[i * 53 % len(detail)] for i in range(len(detail))]  # in no order, the same on every run
    for at in range(6):
        tiles = board if at % 2 == 0 else again
        day += [Asked(kind, sql, board=at, refresh=at > 0, tile=i) for i, (kind, sql) in enumerate(tiles)]
        day += mixed[at * step : (at + 1) * step]
    return day[:200]


def run() -> list[dict]:
    asked = questions()
    rows = []
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        write(folder)
        wanted = truths(folder, asked)
        for name, ways in WAYS.items():
            started = time.perf_counter()
            good, left = a_day(folder, asked, wanted, ways)
            rows.append(
                row(f"nowiser: {name}", asked, good) | {"left": left, "s": round(time.perf_counter() - started)}
            )
        rows += peers(folder, asked)
    return rows


def row(name: str, asked: list[Asked], good: list[bool]) -> dict:
    found = Counter(a.kind for a, g in zip(asked, good, strict=True) if g)
    every = Counter(a.kind for a in asked)
    fresh = sum(g and not a.refresh for a, g in zip(asked, good, strict=True))
    shown = {kind: f"{found[kind]} of {many}" for kind, many in sorted(every.items())}
    return {"system": name, f"answered of {len(asked)}": sum(good), "not refreshes": fresh, **shown}


def write(folder: Path) -> None:
    """The stays with what is known of their patients, one table."""
    import duckdb
    from pyarrow import parquet

    tables = hospital.tables(STAYS)
    stays, patients = tables["stays"], tables["patients"]  # noqa: F841 (DuckDB reads them by name)
    flat = duckdb.sql(
        "SELECT s.*, sex, birth_year, district FROM stays s JOIN patients p ON p.id = s.patient_id ORDER BY stay_id"
    )
    parquet.write_table(flat.to_arrow_table(), folder / "stays.parquet")


def truths(folder: Path, asked: list[Asked]) -> dict[str, float]:
    """The smallest number of each true answer, which decides how wide its bar may be."""
    import duckdb

    base = duckdb.connect()
    base.execute(f"CREATE VIEW stays AS SELECT * FROM '{folder / 'stays.parquet'}'")
    found = {}
    for sql in {a.sql for a in asked}:
        result = base.execute(sql)
        numbers = [
            i
            for i, d in enumerate(result.description)
            if d[0] not in {"ward", "diagnosis", "sex", "emergency", "district"}
        ]
        found[sql] = float(min(abs(r[i]) for r in result.fetchall() for i in numbers))
    return found


def a_day(folder: Path, asked: list[Asked], wanted: dict[str, float], ways: Ways) -> tuple[list[bool], str]:
    """Which of the questions were answered usefully, and what of the allowance is left."""
    (folder / "nowiser.yaml").write_text(ways.policy, encoding="utf-8")
    for file in (folder / ".nowiser").glob("ledger*"):
        file.unlink()
    was, picking.MOST_QUANTILES = picking.MOST_QUANTILES, picking.MOST_QUANTILES if ways.picked else 0
    good, done = [False] * len(asked), dict[int, bool]()
    try:
        with Gateway(read(folder / "nowiser.yaml")) as gw:
            for at, one in enumerate(asked):
                if ways.together and one.board == 0 and one.tile == 0:
                    done = planned(gw, asked, [i for i, a in enumerate(asked) if a.board == 0], wanted)
                good[at] = done[at] if at in done else alone(gw, one.sql, NEAR * wanted[one.sql])
            return good, f"{gw.allowance()['left']:.0%}"
    finally:
        picking.MOST_QUANTILES = was


def alone(gw: Gateway, sql: str, bar: float) -> bool:
    """Whether a question gets a useful answer for no more than the default spend."""
    try:
        wish = priced(gw, sql, bar * ASKED)
        return wish is not None and widest(gw.query(sql, **wish, anyway=True)) <= bar
    except NowiserError:
        return False


def priced(gw: Gateway, sql: str, bar: float) -> dict | None:
    """What to ask for: the bar itself; where nobody can promise it, the least spend that is expected to give it."""
    try:
        said = gw.explain(sql, error=bar)
    except NotAnswerable:
        at = bisect_left(SPENDS, True, key=lambda share: enough(gw.explain(sql, spend=share), bar))
        return {"spend": SPENDS[at]} if at < len(SPENDS) else None
    return {"error": bar} if said.follows or said.stored or (said.price or 0.0) <= DEAR else None


def enough(said, bar: float) -> bool:
    """Of what follows from earlier answers the bar is known: it may not be enough, and more is to be bought then."""
    return max((*said.expected.values(), *(b for b in said.error if b is not None)), default=0.0) <= bar


def widest(answer) -> float:
    bars = answer.errors() if answer.values is not None else [answer.error]
    return max((b for line in bars for b in line if b is not None), default=0.0)


def planned(gw: Gateway, asked: list[Asked], tiles: list[int], wanted: dict[str, float]) -> dict[int, bool]:
    """The dashboard in one go, for the smallest spend that makes every tile useful whose bars are known before.

    Where what its tiles may cost does not do that, they are asked one by one.
    """
    for share in (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4):
        plan = gw.what_if([asked[i].sql for i in tiles], spend=share)
        fine = all(
            max((b for b in e.error if b is not None), default=0.0) <= NEAR * wanted[asked[i].sql]
            for i, e in zip(tiles, plan.explanations, strict=True)
        )
        if plan.admitted and fine and share <= len(tiles) * DEAR:
            return {
                i: widest(answer) <= NEAR * wanted[asked[i].sql]
                for i, answer in zip(tiles, plan.run(anyway=True), strict=True)
            }
    return {}


def peers(folder: Path, asked: list[Asked]) -> list[dict]:
    """The same day with Laplace noise as the peers calibrate it, for the same loss in all and no more than 5 % at once.

    They are asked how wide their bars of a count and of sums are at ε = 1; the rest is arithmetic in their favour: the
    analyst keeps answers for refreshes, and knows beforehand what each question needs.
    """
    (folder / "nowiser.yaml").write_text(Ways().policy, encoding="utf-8")
    with Gateway(read(folder / "nowiser.yaml")) as gw:
        said = gw.explain("SELECT COUNT(*) AS n FROM stays", error=1000)
    total = MOST * math.log(20) / 1000 / said.price
    rows = []
    for name, script in (("OpenDP", "opendp_day.py"), ("SmartNoise", "smartnoise_day.py")):
        peer = "smartnoise-sql" if name == "SmartNoise" else "opendp"
        bars = ask(peer, script, source=str(folder / "stays.parquet"), most=MOST, ranges=RANGES)
        if "absent" in bars:
            rows.append({"system": name, "absent": bars["absent"]})
            continue
        left, good, known = total, [], set()
        for one in asked:
            name_of = (one.tile, "") if one.refresh or one.tile >= 0 else (-1, one.sql)
            loss = 0.0 if name_of in known else needs(folder, one.sql, bars)
            fits = loss <= min(left, DEAR * total)
            left -= loss if fits else 0.0
            known |= {name_of} if fits else set()
            good.append(fits)
        rows.append(row(f"{name}, ε = {total:.2f}", asked, good) | {"left": f"{left / total:.0%}"})
    return rows


def needs(folder: Path, sql: str, bars: dict[str, float]) -> float:
    """The loss that gives the smallest number of an answer a bar within 10 %; endless where a peer cannot."""
    import duckdb

    if "MEDIAN" in sql or "PERCENTILE" in sql:
        return math.inf
    column = re.match(r"SELECT (?:\w+, )*(?:100(?:\.0)? \* )?(?:AVG|SUM|COUNT)\((.*?)\)", sql).group(1)
    rest = sql[sql.index(" FROM ") :].partition(" ORDER ")[0]
    source = f"'{folder / 'stays.parquet'}'"
    run = lambda what: duckdb.sql(f"SELECT {what} {rest}".replace("FROM stays", f"FROM {source}")).fetchall()  # noqa: E731
    two = math.log(40) / math.log(20)  # two bars that hold together
    if "FILTER" in sql:
        inside = re.search(r"FILTER \((WHERE .*?)\) /", sql).group(1)
        ((some, every),) = run(f"COUNT(*) FILTER ({inside}), COUNT(*)")
        return two * 2 * bars["count"] * (1 / some + 1 / every) / NEAR
    if "COUNT(" in sql:
        return bars["count"] / min(n for (n,) in run("COUNT(*)")) / NEAR
    name = next((n for n in RANGES if n in column), "flag")
    column = column.replace("s.days", "days")
    if "SUM(" in sql:
        return bars[name] / min(abs(x) for (x,) in run(f"SUM({column})")) / NEAR
    return max(two * 2 * (bars[name] / abs(x) + bars["count"]) / n for x, n in run(f"AVG({column}), COUNT(*)")) / NEAR
