"""Every guard of the arithmetic is missed by the fuzzer when it is taken away.

A mutant is a name and a function that takes one guard away through `monkeypatch`. It is killed when a question breaks a
promise with the mutant and none without. To guard something new, add its mutant here. Some guards stand behind
others: taking the front one away alone changes nothing, so such a mutant takes both. An infinite or missing quotient
breaks no promise: a divisor that may be zero leaves no bounds, so nothing is summed before it is clamped.
"""

from dataclasses import replace

import pytest

from nowiser import policy as policies
from nowiser.engines import connect, render
from nowiser.model.schema import Kind
from nowiser.sql.bound import bounds, sensitivity
from nowiser.sql.functions import ALLOWED, Function
from nowiser.sql.interval import Interval
from support.arithmetic_grammar import Grammar
from support.arithmetic_oracle import Bench, Finding, Planned
from support.arithmetic_world import POLICY, make_rows
from support.live_engines import lay_out

MOST = 6_000  # questions before a mutant counts as alive


def function(name, **changes):
    """The same function with other properties."""

    def patch(monkeypatch):
        monkeypatch.setitem(ALLOWED, name, replace(ALLOWED[name], **changes))

    return patch


def spelled(name, sql):
    """The function printed without its guard."""
    return function(name, sql=sql, engines={})


def never_missing(name):
    """The function called not nullable where it has no value."""

    def patch(monkeypatch):
        own = ALLOWED[name].typing
        function(name, typing=lambda types: replace(own(types), nullable=any(t.nullable for t in types)))(monkeypatch)

    return patch


def half_as_steep(name):
    def patch(monkeypatch):
        own = ALLOWED[name].partials
        function(name, partials=lambda types: tuple(p / 2 for p in own(types)))(monkeypatch)

    return patch


def any_row_may_overflow(monkeypatch):
    monkeypatch.setattr(bounds, "total", lambda _: None)
    import nowiser.sql as home

    for module in _modules(home):
        if getattr(module, "total", None) is not None and module.__name__ != bounds.__name__:
            monkeypatch.setattr(module, "total", lambda _: None)


def _modules(package):
    import sys

    return [m for name, m in list(sys.modules.items()) if name.startswith(package.__name__ + ".")]


def exact_where_nothing_moves(monkeypatch):
    """Exactness by a derived range that is a point, instead of by provenance."""
    monkeypatch.setattr(sensitivity.Reach, "exact", property(lambda r: not r.presence and not r.jump))
    own = sensitivity._replaced

    def replaced(cell, m, **how):
        return (0, 0) if cell.argument is not None and cell.low == cell.high else own(cell, m, **how)

    monkeypatch.setattr(sensitivity, "_replaced", replaced)


def wider_summands(monkeypatch):
    """Ends of a summand that are not those it is clipped to."""
    own = render.in_units

    def in_units(argument, c, dialect):
        found = own(argument, c, dialect)
        return f"({found} * 2)" if argument.type.kind is Kind.REAL else found

    monkeypatch.setattr(render, "in_units", in_units)


def no_rounding(monkeypatch):
    monkeypatch.setattr(sensitivity, "_rounding", lambda *_: 0)


def ends_of_formulas(monkeypatch):
    """Bounds of exact arithmetic instead of bounds of doubles, and nothing refused because it loses its digits."""
    monkeypatch.setattr(Interval, "in_doubles", lambda self: self)
    any_digits(monkeypatch)


def any_digits(monkeypatch):
    monkeypatch.setattr(Function, "loses_digits", lambda *_: False)
    monkeypatch.setattr(bounds, "WANTED", 10**400)


def no_wobble(monkeypatch):
    """Operations on doubles count as exact when a slope is charged."""
    monkeypatch.setattr(Function, "wobble", lambda *_: 0)
    any_digits(monkeypatch)


def together(*patches):
    def patch(monkeypatch):
        for one in patches:
            one(monkeypatch)

    return patch


def unclamped(monkeypatch):
    """Whole summands go as they are, behind bounds that are those of formulas."""
    monkeypatch.setattr(render, "_clamped", lambda value, *_, **__: value)
    ends_of_formulas(monkeypatch)


MUTANTS = {
    "ABS of the smallest number": function("abs", whole="abs({0})"),
    "minus the smallest number": function("neg", whole="(- {0})"),
    "a remainder of the smallest number": function("%", whole="({0} % NULLIF({1}, 0))"),
    "a quotient of the smallest number": spelled("div", "({0} // NULLIF({1}, 0))"),
    "sums may overflow": function("+", overflows=False),
    "casts may pass 64 bits": together(
        ends_of_formulas, function("to_integer", overflows=False, sql="CAST({0} AS BIGINT)")
    ),
    "EXP may overflow": together(function("exp", overflows=False, sql="exp({0})")),
    "nothing is refused because it overflows": any_row_may_overflow,
    "ends are those of formulas": ends_of_formulas,
    "operations on doubles are exact": no_wobble,
    "summands are not clamped": unclamped,
    "LN is not guarded": spelled("ln", "ln({0})"),
    "LOG is not guarded": spelled("log10", "log10({0})"),
    "SQRT is not guarded": spelled("sqrt", "sqrt({0})"),
    "LN is called not nullable": never_missing("ln"),
    "a remainder is called not nullable": never_missing("%"),
    "casts to integers do not step": function("to_integer", step=None),
    "FLOOR does not step": function("floor", step=None),
    "ROUND(x, n) does not step": function("round_to", step=None),
    "whole division does not step": function("div", step=None),
    "products are half as steep": half_as_steep("*"),
    "sums are half as steep": half_as_steep("+"),
    "quotients are half as steep": half_as_steep("/"),
    "ramps are half as steep": half_as_steep("ramp"),
    "distances are half as steep": half_as_steep("distance"),
    "what rounding moves is free": no_rounding,
    "exact where a derived range is a point": exact_where_nothing_moves,
    "summands pass their ends": wider_summands,
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    rows = make_rows(300)
    policy = policies.read(
        lay_out(tmp_path_factory.mktemp("mutants"), "duckdb", POLICY, dict.fromkeys("vp", rows.written()))
    )
    engine = connect(policy)
    yield Bench(policy, engine, rows)
    engine.close()


@pytest.mark.long
@pytest.mark.parametrize("name", MUTANTS)
def test_a_guard_is_missed(name, bench, monkeypatch):
    grammar = Grammar("mutants")
    tried = 0
    while tried < MOST:
        with monkeypatch.context() as without:
            MUTANTS[name](without)
            nodes = {}
            for _ in range(160):
                node = grammar.question()
                nodes[node.sql] = node
            tried += len(nodes)
            found = judged(bench, nodes.values(), grammar)
        if any(not judged(bench, [nodes[f.sql]]) for f in found):
            return
    pytest.fail(f"{tried} questions do not miss this guard: {name}")


def judged(bench, nodes, grammar=None) -> list[Finding]:
    planned = [(node, bench.planned(node)) for node in nodes]
    for node, one in planned:
        if grammar is not None and isinstance(one, Planned):
            grammar.keep(node)
    crashed = [one for _, one in planned if isinstance(one, Finding)]
    return crashed + list(bench.check(one for _, one in planned if isinstance(one, Planned)))
