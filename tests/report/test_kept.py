"""What the ledger keeps of an answer comes back value by value, and the same answer is the same bytes."""

import json

import numpy as np
from hypothesis import given, settings, strategies as st

from nowiser.report.answer import Answer
from nowiser.report.kept import again, keep
from nowiser.sql.answer.vectors import listed, some_of, vector

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**80), 2**80),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
)


def answer(values, bars):
    return Answer(
        columns=tuple(f"c{i}" for i in range(len(values))),
        values=tuple(values),
        bars=tuple(bars),
        exact=("c0",),
        cost={"t": {"x": {"slope": 0.1, "jump": 0.0, "presence": 0.0, "unit": 2.0}}},
        guesses=(),
        left=0.0,
        stored=True,
        bounding=("x: “clipped” to [0, 1].",),
    )


@st.composite
def answers(draw):
    rows, width = draw(st.integers(0, 6)), draw(st.integers(1, 4))

    def column():
        kind = draw(st.sampled_from(["any", "numbers", "masked"]))
        if kind == "any":
            return vector(draw(st.lists(VALUES, min_size=rows, max_size=rows)))
        floats = draw(st.booleans())
        number = st.floats(allow_nan=False, allow_infinity=False) if floats else st.integers(-(2**63), 2**63 - 1)
        found = np.array(draw(st.lists(number, min_size=rows, max_size=rows)), dtype=float if floats else np.int64)
        some = np.array(draw(st.lists(st.booleans(), min_size=rows, max_size=rows)), dtype=bool)
        return some_of(found, some) if kind == "masked" else found

    bars = [draw(st.sampled_from([0.0, None, 1.5])) if draw(st.booleans()) else column() for _ in range(width)]
    return answer([column() for _ in range(width)], bars)


@settings(deadline=None)
@given(answers())
def test_what_is_kept_comes_back_and_prints_as_it_did(given_answer):
    kept = keep(given_answer)
    found = again(kept)
    assert found.to_json() == given_answer.to_json()
    assert [list(map(type, r)) for r in found.rows] == [list(map(type, r)) for r in given_answer.rows]
    assert keep(found) == kept


def test_floats_keep_every_bit():
    odd = np.array([0.1 + 0.2, -0.0, 5e-324, 1.7976931348623157e308])
    found = again(keep(answer([odd], [odd])))
    assert found.values[0].tobytes() == odd.tobytes()
    assert found.bars[0].tobytes() == odd.tobytes()


@given(st.lists(VALUES, max_size=8))
def test_a_vector_keeps_its_values_and_their_types(values):
    found = listed(vector(values))
    assert found == values
    assert list(map(type, found)) == list(map(type, values))


def test_an_answer_is_rows_only_when_asked():
    found = answer([np.arange(3), vector(["a", None, "c"])], [0.0, vector([1.0, None, 2.0])])
    assert "rows" not in vars(found)
    assert found.rows == ((0, "a"), (1, None), (2, "c"))
    assert found.error == (0.0, [1.0, None, 2.0])
    assert found.errors() == [(0.0, 1.0), (0.0, None), (0.0, 2.0)]
    assert json.loads(found.to_json())["rows"] == [[0, "a"], [1, None], [2, "c"]]
    assert found.to_arrow(errors=False).to_pylist() == [
        {"c0": 0, "c1": "a"},
        {"c0": 1, "c1": None},
        {"c0": 2, "c1": "c"},
    ]
    assert found.to_arrow().column("c1_error").to_pylist() == [1.0, None, 2.0]
    assert list(found.to_pandas().columns) == ["c0", "c1", "c1_error"]
    assert found.to_pandas()["c0"].tolist() == [0, 1, 2]
    assert found == answer([np.arange(3), vector(["a", None, "c"])], [0.0, vector([1.0, None, 2.0])])
    assert found != answer([np.arange(3), vector(["a", None, "d"])], [0.0, vector([1.0, None, 2.0])])
