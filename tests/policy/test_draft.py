"""Round numbers around the data, and texts that YAML reads back."""

from fractions import Fraction

import pytest
from hypothesis import example, given, strategies as st

from nowiser.model.schema import Kind, Protect, Role
from nowiser.policy import parse
from nowiser.policy.draft import Profile, Seen, Wishes, draft, outward, spell, table_name
from nowiser.policy.tree import parse_tree


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (3.9, 38.2, (0, 40)),
        (1931, 2004, (1930, 2010)),
        (17, 90, (0, 100)),
        (0, 1, (0, 1)),
        (-40, -30, (-40, -30)),
        (-38.2, -3.9, (-40, 0)),
        (5, 5, (0, 5)),
        (0, 0, (0, 1)),
        (21.5, 39_044.79, (0, 40_000)),
    ],
)
def test_ranges_are_rounded_outward(low, high, expected):
    assert outward(low, high) == expected


@given(st.floats(-1e12, 1e12), st.floats(0, 1e12))
@example(0.0, 5e-324)
def test_a_range_always_holds_the_data_and_is_not_much_wider(low, width):
    high = low + width
    a, b = outward(low, high)
    assert a < b
    assert a <= Fraction(low)
    assert Fraction(high) <= b
    assert b - a <= 4 * max(Fraction(high) - Fraction(low), abs(Fraction(low)), abs(Fraction(high))) + (
        low == high == 0
    )


@given(st.text(min_size=1, max_size=20).filter(lambda t: all(c.isprintable() for c in t)))
def test_texts_are_read_back(text):
    tree = parse_tree(f"a: [{spell(text)}]", "p.yaml")
    (item,) = tree.entries["a"]
    assert item.value == text


@given(st.text(max_size=20))
def test_table_names_need_no_quotes(stem):
    name = table_name(stem)
    assert name.isascii()
    assert name[0].isalpha()
    assert name.replace("_", "").isalnum()


KINDS = {Kind.INTEGER: (1, 9), Kind.REAL: (0.5, 7.25), Kind.TEXT: (None, None), Kind.BOOLEAN: (None, None)}


@given(
    st.lists(st.tuples(st.sampled_from(list(KINDS)), st.booleans(), st.booleans()), min_size=1, max_size=5),
    st.sampled_from(list(Protect)),
    st.booleans(),
)
def test_every_draft_is_a_policy(shapes, protect, by_row):
    columns = [
        Seen(f"c{i}", kind, 4, nulls=nulls, low=KINDS[kind][0], high=KINDS[kind][1],
             values=("x", "y") if kind is Kind.TEXT and few else None)
        for i, (kind, nulls, few) in enumerate(shapes)
    ]  # fmt: skip
    profile = Profile("t", "t.csv", "duckdb", 100, (Seen("id", Kind.TEXT, 100, nulls=False), *columns))
    radius = Fraction(1, 2) if columns[0].kind in (Kind.INTEGER, Kind.REAL) else None
    wishes = Wishes(() if by_row else ("id",), (("c0", radius),), Fraction(1, 20), protect)
    policy = parse(draft(profile, wishes))
    assert policy.tables[0].column("c0").role is Role.SENSITIVE
    assert policy.tables[0].row_is_person == by_row
