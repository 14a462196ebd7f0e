"""Thousands of questions nobody would ask: none may crash, hang, or be planned without noise where it matters."""

import dataclasses
import json
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from nowiser import policy as policies
from nowiser.errors import NotAnswerable, Refused
from nowiser.model import schema
from nowiser.sql import tree
from nowiser.sql.aggregates.picking import Picking
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.sql_grammar import Grammar
from support.worlds import OURS, ask, finite, made_up_tables, open_worlds, spelled

SECONDS = 2.0  # of the processor, for one text; the usual is a few milliseconds
HANGS = 60  # seconds of the clock, on a machine that does other things too
CORPUS = [
    spelled(json.loads(line)["sql"])
    for line in (Path(__file__).parent.parent / "attacks" / "ours.jsonl").read_text(encoding="utf-8").splitlines()
]
ENGINE_WORDS = ("duckdb", "binder error", "conversion error", "parser error", "catalog error", "sqlglot", "traceback")


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "nowiser.yaml"
    path.write_text(OURS, encoding="utf-8")
    return policies.read(path)


class Hangs(Exception):
    pass


def hangs(*_):
    raise Hangs


def inside(value, kind):
    """Every value of this kind anywhere inside a frozen tree: found by its fields, whatever they are called."""
    if isinstance(value, kind):
        yield value
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from inside(getattr(value, field.name), kind)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from inside(item, kind)


def public(planned, keys, cell) -> bool:
    """Nothing secret has a part in this cell, decided without the code under test."""
    if cell.argument is not None and cell.low == cell.high:
        # Every contribution lies in [low, high] and engines clip to it (tests/engines), so this is a sum of zeros
        # whatever the rows hold: SUM(0 * cost), or the middle of a range of one value taken away from it.
        if cell.low == 0:
            return True
        # Of another number, as often as there are rows: what is called not nullable never is (tests/sql/test_total).
        if not cell.argument.type.nullable:
            cell = dataclasses.replace(cell, argument=None)
    relation = planned.tally.relation
    tables = [t for part in (relation, keys, cell) for t in inside(part, schema.Table)]
    if any(not t.is_public and t.protect is schema.Protect.PERSONS for t in tables):
        return False
    made = dict(defined(relation))

    def secret(expression) -> bool:
        return any(
            c.declared.role is schema.Role.SENSITIVE
            or any(secret(e) for e in made.get((c.relation, c.declared.name), ()))
            for c in inside(expression, tree.Column)
        )

    return not any(secret(e) for e in (*deciding(relation), *keys, cell))


def deciding(relation):
    """Every expression that decides which rows a relation has."""
    match relation:
        case tree.Scan():
            return
        case tree.Filter():
            yield relation.condition
            yield from deciding(relation.source)
        case tree.Join():
            yield relation.condition
            yield from deciding(relation.left)
            yield from deciding(relation.right)
        case tree.PerPerson():
            yield from (e for _, e in relation.keys)
            yield from deciding(relation.source)
        case tree.Union():
            for source, _ in relation.branches:
                yield from deciding(source)
        case _:
            yield relation  # a kind of relation this test does not know: whatever stands in it decides


def defined(relation):
    """What the columns of sub-selects were computed from."""
    for union in inside(relation, tree.Union):
        for i, column in enumerate(union.columns):
            yield (column.relation, column.declared.name), [outputs[i] for _, outputs in union.branches]
    for folded in inside(relation, tree.PerPerson):
        for column, e in (*folded.keys, *folded.folds, *folded.person):
            yield (column.relation, column.declared.name), [e]


def names_only(query) -> bool:
    """No count is shown, or decides anything but the one order in which groups are picked."""
    told = [o.expression for o in query.outputs] + ([] if query.having is None else [query.having])
    return not [r for e in told for r in inside(e, tree.Released)] and len(query.order) == 1


def check(sql, policy):
    """How a text ends: `planned` or the class of its refusal. Anything else is a defect."""
    try:
        planned = plan(read(sql, policy), policy)
    except Refused as refusal:
        assert isinstance(refusal, NotAnswerable), sql  # noqa: PT017 (a refusal is one of two good ends)
        words = f"{refusal.message} {refusal.hint or ''}".lower()
        said = {word for word in ENGINE_WORDS if word in words and word not in sql.lower()}
        assert not said, f"{words}\n{sql!r}"
        assert len(words) < 2000, f"a refusal of {len(words)} characters for {sql!r}"
        str(refusal)  # underlining must work for every place
        return "NotAnswerable"
    cells = [(planned.tally.keys, cell) for cell in planned.tally.cells]
    cells += [(tally.keys, cell) for tally in planned.tallies[1:] for cell in tally.cells]  # histograms
    for (keys, cell), reach in zip(cells, planned.reaches, strict=True):
        assert not reach.exact or public(planned, keys, cell), f"without noise although secret: {sql!r}"
    # MIN and MAX are picked, which is charged, and nothing is counted beside them.
    besides = enumerate(planned.histograms, len(planned.tally.cells))
    ends = {i for i, h in besides if isinstance(h, Picking) and not h.inner and any(h.rates)}
    for way in planned.ways:
        for i, ((keys, cell), base) in enumerate(zip(cells, way.bases, strict=True)):
            assert base is None or base > 0, f"noise of scale zero: {sql!r}"
            # Picked by noisy max without counts: the gateway puts ranks in place of the counts before anything is shown.
            ranked = way.top is not None and not way.top.counted and names_only(planned.query)
            safe = base is not None or ranked or public(planned, keys, cell) or i in ends
            assert safe, f"a way without noise although secret: {sql!r}"
        assert way.unit, f"noise that costs nothing: {sql!r}"
    return "planned"


def survey(texts, policy) -> Counter:
    ends = Counter()
    signal.signal(signal.SIGALRM, hangs)
    for sql in texts:
        started = time.process_time()
        signal.setitimer(signal.ITIMER_REAL, HANGS)
        try:
            ends[check(sql, policy)] += 1
        except (Refused, AssertionError):
            raise
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{sql[:1000]!r}") from error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        assert time.process_time() - started < SECONDS, f"takes too long: {sql[:1000]!r}"
    return ends


def texts(seed, many):
    grammar = Grammar(random.Random(seed))
    for i in range(many):
        makers = (
            grammar.tame,
            grammar.wide,
            grammar.widest,
            grammar.question,
            lambda: grammar.broken(CORPUS),
            lambda: grammar.broken(CORPUS),
        )
        yield makers[i % 6]()


@pytest.mark.parametrize("part", range(8))
def test_ten_thousand_texts_end_in_a_plan_or_a_refusal(part, policy):
    ends = survey(texts(part, 1250), policy)
    assert ends["planned"] > 100, f"the generator must reach the planner: {ends}"
    assert ends["NotAnswerable"] > 100


@pytest.mark.long
@pytest.mark.parametrize("part", range(16))
def test_a_hundred_thousand_texts_end_in_a_plan_or_a_refusal(part, policy):
    survey(texts(1000 + part, 6250), policy)


def test_the_attacks_themselves_end_in_a_plan_or_a_refusal(policy):
    survey(CORPUS, policy)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    gateways = open_worlds(tmp_path_factory.mktemp("fuzz-worlds"), made_up_tables(), OURS)
    yield gateways
    for gateway in gateways.values():
        gateway.close()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
def test_a_sample_run_end_to_end_tells_three_databases_apart_by_noise_alone(seed, worlds, policy):
    grammar = Grammar(random.Random(100 + seed))
    asked = 0
    while asked < 120:
        sql = (grammar.tame, grammar.wide, grammar.widest, grammar.question)[asked % 4]()
        try:
            check(sql, policy)
            planned = plan(read(sql, policy), policy)
        except NotAnswerable:
            continue
        asked += 1
        outcomes = [ask(gateway, sql) for gateway in worlds.values()]
        assert len({seen for seen, _ in outcomes}) == 1, f"{sql}\n{[seen for seen, _ in outcomes]}"
        assert outcomes[0][0].kind in {"answered", "Exhausted"}, f"{sql}\n{outcomes[0][0]}"
        if outcomes[0][0].kind == "Exhausted":
            break
        for _, answer in outcomes:
            assert all(finite(v) for row in answer.rows for v in row), sql
        asked_for = planned.query
        by_noise = asked_for.having is not None or asked_for.order or asked_for.limit is not None or planned.discovery
        if len(outcomes[0][1].exact) == len(outcomes[0][1].columns) and not by_noise:  # which rows, and in which order
            assert len({answer.rows for _, answer in outcomes}) == 1, f"exact, and different with Alice: {sql}"
    assert asked >= 30
