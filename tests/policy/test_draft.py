"""What is proposed for a file, round numbers around its data, and texts that YAML reads back."""

from fractions import Fraction

import pytest
from hypothesis import example, given, strategies as st

from nowiser.errors import Misconfigured
from nowiser.model.schema import Kind, Protect, Role
from nowiser.policy import parse
from nowiser.policy.draft import proposals
from nowiser.policy.draft.prior_text import at_first, in_yaml
from nowiser.policy.draft.profile import Profile, Seen, listed_numbers
from nowiser.policy.draft.round_numbers import about, near, outward
from nowiser.policy.draft.spelling import spell, table_name
from nowiser.policy.draft.text import Wishes, draft
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


KINDS = {Kind.INTEGER: (1, 90), Kind.REAL: (0.5, 7.25), Kind.TEXT: (None, None), Kind.BOOLEAN: (None, None)}


@given(
    st.lists(st.tuples(st.sampled_from(list(KINDS)), st.booleans(), st.booleans()), min_size=1, max_size=5),
    st.sampled_from(list(Protect)),
    st.booleans(),
    st.booleans(),
)
def test_every_draft_is_a_policy(shapes, protect, by_row, known):
    columns = [_seen(i, kind, nulls=nulls, few=few) for i, (kind, nulls, few) in enumerate(shapes)]
    profile = Profile("t", "t.csv", "duckdb", 100, (Seen("id", Kind.TEXT, 100, nulls=False), *columns))
    first = columns[0]
    wishes = Wishes(
        () if by_row else ("id",),
        ((first.name, first.radius()),),
        Fraction(1, 10),
        protect,
        tuple(c.name for c in columns[2:]),
        {first.name: at_first(first)} if known else {},
        people=100,
    )
    policy = parse(draft(profile, wishes))
    (table,) = policy.tables
    assert table.column("c0").role is Role.SENSITIVE
    assert table.row_is_person == by_row
    roles = {table.column(c.name).role for c in columns[2:]}
    assert roles <= {Role.PUBLIC if protect is Protect.VALUES else Role.SENSITIVE}
    assert len(policy.attackers) == 1 + (protect is Protect.PERSONS)


def _seen(i, kind, *, nulls, few):
    values = {Kind.TEXT: ("x", "No"), Kind.INTEGER: (0, 1)}.get(kind) if few else None
    low, high = KINDS[kind]
    return Seen(f"c{i}", kind, 2 if few else 40, nulls=nulls, low=low, high=high, values=values)


def profile_of(rows, *columns):
    return Profile("t", "t.csv", "duckdb", rows, columns)


def number(name, low=0.0, high=60.0, bulk=None):
    return Seen(name, Kind.REAL, 500, nulls=False, low=low, high=high, bulk=bulk)


def label(name, *values):
    return Seen(name, Kind.TEXT, len(values), nulls=False, values=values)


def ids(name, distinct, low=1, high=10**6):
    return Seen(name, Kind.INTEGER, distinct, nulls=False, low=low, high=high)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ((label("patient_class", "a", "b"), ids("subject_id", 800), ids("test_id", 1000)), "subject_id"),
        ((label("patient_class", "a", "b"), ids("PassengerId", 1000)), "PassengerId"),
        ((ids("order_id", 1000), ids("customer", 400)), "customer"),
        ((ids("id", 300), ids("n", 1000)), "id"),
        ((number("fare"), label("user_type", "a", "b")), "each row"),
        ((Seen("name", Kind.TEXT, 1000, nulls=False), number("fare")), "name"),
        ((ids("column0", 1000, 0, 999), number("fare")), "each row"),
    ],
)
def test_the_person_is_found_by_name_and_number_of_values(columns, expected):
    assert proposals.person(profile_of(1000, *columns)) == expected


def test_row_numbers_are_seen_whatever_they_are_called():
    assert ids("column0", 1000, 0, 999).names_rows(1000)
    assert ids("test_id", 1000).names_rows(1000)
    assert not ids("pan_day", 1000).names_rows(1000)


def test_few_guesses_that_hurt_are_proposed_and_labels_among_them():
    columns = [label("color", "a", "b"), number("distance"), number("fare"), number("tip"), label("result", "+", "-")]
    names = [c.name for c in proposals.secrets(profile_of(1000, *columns), ())]
    assert names == ["result", "fare", "tip"]
    assert [c.name for c in proposals.secrets(profile_of(1000, label("smoker", "a", "b")), ())] == ["smoker"]
    constant = Seen("fare", Kind.REAL, 1, nulls=False, low=3.0, high=3.0)
    assert [c.name for c in proposals.secrets(profile_of(9, constant, label("sex", "a", "b")), ())] == ["sex"]
    codes = [number("zip", 10_000, 10_400), number("HomePostcode", 1, 9_999), number("age", 0, 99)]
    assert [c.name for c in proposals.secrets(profile_of(1000, *codes), ())] == ["age"], "near is not nearly right"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("sex", True), ("embark_town", True), ("day", True), ("diagnosis", False), ("patient_class", False), ("zip", False),
     ("birth_month", False), ("pickup_borough", False), ("smoker", False), ("home_town", False), ("icd", False)],
)  # fmt: skip
def test_only_what_is_obviously_harmless_is_proposed_public(name, expected):
    assert proposals.harmless(label(name, "a", "b")) == expected
    assert not proposals.harmless(Seen(name, Kind.TEXT, 900, nulls=False))


def test_a_harmless_column_that_tells_a_secret_is_secret_and_what_follows_from_a_public_one_is_public():
    columns = [label("class", "a", "b"), label("pclass", "1", "2"), label("size", "a", "b"), label("result", "+", "-")]
    told = [
        proposals.Tells("class", "pclass", 1.0),
        proposals.Tells("size", "result", 0.95),
        proposals.Tells("size", "pclass", 0.95),
    ]
    assert proposals.public(profile_of(100, *columns), ("result",), told) == ("class", "pclass")
    assert str(told[1]) == "size nearly determines result"


def test_a_long_tail_is_cut_and_a_short_one_is_not():
    assert number("fare", 0.0, 512.0, bulk=(5.0, 240.0)).span() == (0, 250)
    assert number("fare", 0.0, 512.0, bulk=(5.0, 240.0)).cut()
    assert number("age", 0.0, 76.5, bulk=(1.0, 64.0)).span() == (0, 80)
    assert number("change", -900.0, 9.0, bulk=(-10.0, 8.0)).span() == (-10, 10)


@pytest.mark.parametrize(
    ("width", "radius"), [(60, "2"), (50, "1"), (10, "0.2"), (150, "5"), (250, "5"), (40_000, "1000")]
)
def test_a_radius_is_a_round_number_near_a_fortieth(width, radius):
    assert number("x", 0.0, float(width)).radius() == Fraction(radius)
    assert Fraction(width, 63) <= near(Fraction(width, 40)) <= Fraction(width, 25)


def test_small_whole_numbers_are_values():
    assert listed_numbers([3, 0, 1]) == (0, 1, 2, 3)
    assert listed_numbers([36, 60]) == (36, 60)


def test_numbers_of_people_are_rounded():
    assert [about(n) for n in (7, 99, 244, 12_373)] == [7, 99, 240, 12_000]


@pytest.mark.parametrize(
    ("text", "yaml"),
    [
        ("uniform", "uniform"),
        ("unknown", "unknown"),
        ("uniform:1:5", "{uniform: [1, 5]}"),
        ("normal:20:5", "{normal: {mean: 20, sd: 5}}"),
        ("lognormal:3:.5", "{lognormal: {mean: 3, sd: .5}}"),
        ("histogram:0,1,2:3,4", "{histogram: {edges: [0, 1, 2], weights: [3, 4]}}"),
        ("categories:a=30%,No=70%", '{categories: {a: 30%, "No": 70%}}'),
        ("census.csv:age", "{empirical: {file: census.csv, column: age}}"),
    ],
)
def test_priors_are_written_as_the_policy_says_them(text, yaml):
    assert in_yaml(text) == yaml


@pytest.mark.parametrize("text", ["", "bell", "normal:20", "normal:a:b", "categories:", "uniform:1:2:3"])
def test_what_is_no_prior_is_refused(text):
    with pytest.raises(Misconfigured, match=r"no prior|a number must stand"):
        in_yaml(text)
