"""Goals are values, and their text reads back."""

import pytest
from hypothesis import given, strategies as st

from nowiser.errors import Misconfigured
from nowiser.model.goal import And, Exactly, Goal, In, Not, On, Or, Present, Within, parse_goal

words = st.text(
    st.characters(codec="utf-8", exclude_characters=".\x00", exclude_categories=("Cs",)), min_size=1, max_size=8
)
names = st.one_of(
    st.sampled_from(["visits.time", "visits.dish", "T.c", "not.in"]), st.tuples(words, words).map(".".join)
)
numbers = st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: x + 0.0)
values = st.one_of(st.text(max_size=6), st.integers(-(10**6), 10**6), numbers, st.booleans())
wants = st.one_of(
    st.floats(1e-9, 1e9).map(Within),
    st.just(Exactly()),
    st.frozensets(values, min_size=1, max_size=4).map(In),
    st.tuples(numbers, numbers).map(lambda p: In.between(min(p), max(p))),
)
leaves = st.one_of(
    st.builds(On, names, wants),
    st.lists(names, min_size=2, max_size=3, unique=True).flatmap(
        lambda n: st.builds(On, st.just(tuple(n)), st.just(Within(2)))
    ),
    st.builds(Present, st.one_of(st.none(), names)),
    wants,
)
goals = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(lambda p: And(tuple(p))),
        st.lists(inner, min_size=2, max_size=3).map(lambda p: Or(tuple(p))),
    ),
    max_leaves=6,
)


@given(goals)
def test_canonical_text_reads_back_to_the_same_goal(goal: Goal):
    assert parse_goal(str(goal)) == goal
    assert str(parse_goal(str(goal))) == str(goal)
    assert hash(parse_goal(str(goal))) == hash(goal)


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("visits.time within 2 and visits.dish exactly", And((On("visits.time", Within(2)), On("visits.dish", Exactly())))),
        ("present in visits", Present("visits")),
        ("PRESENT IN visits OR within 2", Or((Present("visits"), Within(2)))),
        ("T.c in [10, 20]", On("T.c", In.between(10, 20))),
        ("T.c between 10 and 20", On("T.c", In.between(10, 20))),
        ("T.c in [1, 2, 3]", On("T.c", In([1, 2, 3]))),
        ("T.c in {10, 20}", On("T.c", In([10, 20]))),
        ("T.c in [soup, computer science]", On("T.c", In(["soup", "computer science"]))),
        ("(home.x, home.y) within 2.5", On(("home.x", "home.y"), Within(2.5))),
        ("not (a within 1 or b exactly) and c exactly",
         And((Not(Or((On("a", Within(1)), On("b", Exactly())))), On("c", Exactly())))),
        ("(a within 1)", On("a", Within(1))),
        ("((a within 1) or b exactly)", Or((On("a", Within(1)), On("b", Exactly())))),
    ],
)  # fmt: skip
def test_what_texts_mean(text, goal):
    assert parse_goal(text) == goal


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("visits.time withn 2", 13, "expected `within`, `exactly` or `in`"),
        ("visits.time within", 19, "expected a number"),
        ("visits.time within 0", 20, "above 0"),
        ("visits.time within -2", 20, "above 0"),
        ("visits.time within 2 and", 25, "expected the name of an attribute"),
        ("visits.time within 2 visits.dish exactly", 22, "expected `and`, `or` or the end"),
        ("(visits.time within 2", 22, "expected `)`"),
        ("visits.dish in {}", 17, "an empty list is never met"),
        ("visits.dish in [20, 10]", 17, "low end"),
        ("visits.dish in soup", 16, "expected a list"),
        ("visits.time within 2 ; drop", 22, "cannot contain the character"),
        ("(a, a) within 2", 8, "must differ"),
        ("", 1, "expected the name of an attribute"),
        ("a within 1e999", 10, "finite"),
    ],
)
def test_errors_point_at_the_character(text, column, says):
    with pytest.raises(Misconfigured, match=says.replace("(", r"\(").replace(")", r"\)")) as caught:
        parse_goal(text)
    assert caught.value.span is not None
    assert caught.value.span.column == column
    assert caught.value.exit_code == 3


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    try:
        goal = parse_goal(text)
    except Misconfigured as refused:
        where = refused.span
    else:
        where = parse_goal(str(goal)) == goal
    assert where


def test_deep_nesting_is_refused_not_overflowed():
    with pytest.raises(Misconfigured, match="nested"):
        parse_goal("(" * 3000 + "within 2" + ")" * 3000)
    with pytest.raises(Misconfigured, match="nested"):
        parse_goal("not " * 500 + "within 2")


@pytest.mark.parametrize("bad", [lambda: Within(0), lambda: Within(-1), lambda: Within(float("nan")), lambda: In([]),
                                 lambda: In.between(2, 1), lambda: And(()), lambda: On("", Exactly()), In,
                                 lambda: Not(None), lambda: Not("within 2")])  # fmt: skip
def test_impossible_goals_are_refused(bad):
    with pytest.raises(Misconfigured):
        bad()
