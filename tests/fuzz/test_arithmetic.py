"""No arithmetic, however made up, fails on a row, leaves its ends, moves further than charged, or is exact by accident.

Questions are made at random from templates (`arithmetic_grammar`) over columns with nasty ends (`arithmetic_world`),
and judged row by row on an engine (`arithmetic_oracle`). A failure prints the smallest question found, and the seed is
the name of the test. `PYTHONPATH=tests python -m support.arithmetic_survey 60` lists what it finds in a minute.
"""

import pytest

import nowiser
from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.sql.functions import ALLOWED
from nowiser.sql.tree import Call, Filter, PerPerson, Union, parts
from support.arithmetic_grammar import Grammar
from support.arithmetic_oracle import Bench, Planned, search
from support.arithmetic_world import POLICY, TYPES, Rows, make_rows
from support.live_engines import lay_out, line
from support.worlds import ask, finite

SHARES = 4  # of the questions in `make test`, side by side
EACH = 1_000


@pytest.fixture
def make_bench(request, tmp_path):
    opened = []

    def make(engine: str, seed: int, **options) -> Bench:
        rows = make_rows(seed)
        path = lay_out(tmp_path / f"w{seed}", line(request, engine), POLICY, dict.fromkeys("vp", rows.written()), TYPES)
        policy = policies.read(path)
        opened.append(connect(policy))
        return Bench(policy, opened[-1], rows, **options)

    yield make
    for engine in opened:
        engine.close()


@pytest.mark.parametrize("seed", range(SHARES))
def test_no_question_breaks_a_promise(seed, make_bench):
    found = search(make_bench("duckdb", seed), Grammar(seed), EACH)
    assert not found.findings, f"seed {seed}: {found}"
    assert found.planned >= 0.4 * EACH, "most questions must reach the engine"


OTHERS = {  # every statement takes Spark long, so most questions there are run together
    "postgresql": (600, {}, {}),
    "spark": (240, {"plain": 0.97}, {"shrinks": 12}),
}


@pytest.mark.parametrize("engine", OTHERS)
def test_no_question_breaks_a_promise_on_other_engines(engine, make_bench):
    many, asked, tried = OTHERS[engine]
    found = search(make_bench(engine, 100, **tried), Grammar(100, **asked), many)
    assert not found.findings, f"{engine}: {found}"
    assert found.planned >= 0.4 * many


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_a_million_questions_break_no_promise(seed, make_bench):
    found = search(make_bench("duckdb", seed), Grammar(seed), 10_000)
    assert not found.findings, f"seed {seed}: {found}"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1100, 1104))
@pytest.mark.parametrize("engine", ["postgresql", "spark"])
def test_many_questions_break_no_promise_on_other_engines(engine, seed, make_bench):
    many, asked, tried = OTHERS[engine]
    found = search(make_bench(engine, seed, **tried), Grammar(seed, **asked), 10 * many)
    assert not found.findings, f"{engine}, seed {seed}: {found}"


def test_every_function_of_the_allow_list_is_tried(make_bench):
    bench, grammar, missing = make_bench("duckdb", 0), Grammar("all"), set(ALLOWED)
    for _ in range(20_000):
        if not missing:
            break
        node = grammar.question()
        found = bench.planned(node)
        if isinstance(found, Planned):
            grammar.keep(node)
            missing -= set(called(found.plan.query))
    assert not missing, f"add templates to arithmetic_grammar for {sorted(missing)}"


def called(query):
    """The names of all functions a question calls."""
    whole = [*query.keys, *(e for a in query.aggregates for e in (a.argument, a.second, a.condition) if e is not None)]
    whole += expressions(query.relation)
    return (p.function for e in whole for p in parts(e) if isinstance(p, Call))


def expressions(relation):
    match relation:
        case Filter():
            yield relation.condition
            yield from expressions(relation.source)
        case PerPerson():
            yield from (f.argument for _, f in relation.folds if f.argument is not None)
            yield from (e for _, e in relation.keys)
            yield from expressions(relation.source)
        case Union():
            for inner, outputs in relation.branches:
                yield from outputs
                yield from expressions(inner)


# -- end to end -----------------------------------------------------------------------------------------

VICTIM = 7
OTHER = {"r60": "60", "r1": "-1", "rhuge": "-1e300", "i1": "1", "i63": str(2**63 - 1), "iu": str(-(2**63)), "diag": "HIV", "bs": "true"}  # fmt: skip


def test_the_outcome_is_the_same_with_without_and_with_another_victim(tmp_path):
    """Class, words and charge; the engine reads three tables that differ in one person."""
    with_her = make_rows(200)
    others = tuple(row for k, row in enumerate(with_her.values) if k != VICTIM)
    changed = tuple(row | OTHER if k == VICTIM else row for k, row in enumerate(with_her.values))
    worlds = {}
    for name, values in (("with", with_her.values), ("without", others), ("changed", changed)):
        content = Rows(values, {}).written()
        path = lay_out(
            tmp_path / name, "duckdb", POLICY, {"v": content if name == "changed" else with_her.written(), "p": content}
        )
        worlds[name] = nowiser.open(path)
    grammar, answered = Grammar("end to end"), 0
    try:
        for _ in range(120):
            sql = grammar.question().sql
            outcomes = {name: ask(gateway, sql) for name, gateway in worlds.items()}
            assert len({seen for seen, _ in outcomes.values()}) == 1, f"{sql}\n{outcomes}"
            kind = outcomes["with"][0].kind
            assert kind in {"answered", "NotAnswerable", "Exhausted"}, f"{sql}\n{outcomes['with'][0]}"
            answered += kind == "answered"
            for _, answer in outcomes.values():
                assert answer is None or all(finite(v) for row in answer.rows for v in row), sql
    finally:
        for gateway in worlds.values():
            gateway.close()
    assert answered >= 30
