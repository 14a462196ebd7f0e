"""The custodian's log of a failed run: types and our own lines, never a message or a value."""

import logging
import re

import pytest

from nowiser.report.failure import LOG, described, record
from nowiser.sql.interval import Interval


def failing():
    """An error of our own code, in the course of another one, both with values in their messages."""
    try:
        int("Alice earns 17")
    except ValueError:
        Interval("Alice", 17).holds(3)  # fails inside nowiser


@pytest.fixture
def error():
    with pytest.raises(TypeError) as caught:
        failing()
    return caught.value


def test_types_and_our_own_lines_in_the_order_they_happened(error):
    first, second = described(error)
    assert re.fullmatch(r"builtins\.\w+Error( at nowiser[\w.]*:\d+(, nowiser[\w.]*:\d+)*)?", first)
    assert second == "builtins.ValueError"  # raised by the test, whose lines are not ours


def test_the_log_holds_no_message_and_is_for_the_custodian_alone(tmp_path, caplog, error):
    with caplog.at_level(logging.ERROR, logger="nowiser"):
        record(tmp_path, error, 12)
        record(tmp_path, error)
    told = (tmp_path / LOG).read_text()
    assert "a run failed (entry 12)" in told
    assert "before anything was charged" in told
    for text in (told, caplog.text):
        assert not re.search(r"Alice|Bob|17|earns", re.sub(r"\d{4}-\S+|:\d+", "", text))
    assert (tmp_path / LOG).stat().st_mode & 0o077 == 0


def test_a_log_that_cannot_be_written_changes_nothing(tmp_path, caplog, error):
    with caplog.at_level(logging.ERROR, logger="nowiser"):
        record(tmp_path / "nowhere", error)
    assert "could not be written: FileNotFoundError" in caplog.text


def test_nothing_is_printed_unless_somebody_listens(tmp_path, capfd, error):
    record(tmp_path, error)
    assert capfd.readouterr() == ("", "")
