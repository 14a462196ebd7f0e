"""Whatever stands in the file, the outcome is a policy or Misconfigured with a place."""

import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import Misconfigured
from nowiser.examples import canteen, hospital
from nowiser.policy import parse

TEXTS = [canteen.POLICY, hospital.POLICY.format(format="csv")]
PIECES = ["{", "}", "[", "]", ":", ",", "- ", "\n", "  ", "0", "-1", "1e400", "%", '"', "'", "&a ", "*a", "!!x ", "#", "null",
          "true", "2024-02-30", "each row", "within", "present in", "\x00", "\t", "é", "|", ">", "? ", "---", "..."]  # fmt: skip


def place_of(error: Misconfigured) -> None:
    assert error.exit_code == 3
    assert error.message.startswith("nowiser.yaml:")
    assert error.span is not None
    assert f":{error.span.line}:{error.span.column}: " in error.message
    str(error)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutilated_policies_never_raise_anything_else(data):
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 12))
        text = text[:at] + data.draw(st.sampled_from(["", *PIECES])) + text[at + gone :]
    try:
        parse(text)
    except Misconfigured as error:
        place_of(error)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_at_all(text):
    with pytest.raises(Misconfigured) as caught:
        parse(text)
    place_of(caught.value)


def test_a_bomb_of_brackets_is_refused_at_once():
    with pytest.raises(Misconfigured, match="nested more than"):
        parse("a: " + "[" * 100_000)


def test_a_huge_file_is_refused():
    with pytest.raises(Misconfigured, match="at most 1,000,000 characters"):
        parse("# " + "x" * 1_000_000)


def test_a_number_that_would_fill_the_memory_is_refused():
    with pytest.raises(Misconfigured, match="too long"):
        parse(canteen.POLICY.replace("[0, 60]", "[0, 1e999999999]"))
