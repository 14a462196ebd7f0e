"""Our own attacks, on a made-up fixture, on three databases that differ in Alice alone."""

import json
import signal
import time
from pathlib import Path

import pytest

from attacks.test_corpus import same_everywhere
from support.worlds import noisy_columns, spelled

CASES = [json.loads(line) for line in (Path(__file__).parent / "ours.jsonl").read_text(encoding="utf-8").splitlines()]
ENGINE_WORDS = (
    "duckdb",
    "Binder Error",
    "Conversion Error",
    "Catalog Error",
    "Parser Error",
    "Traceback",
    "sqlglot",
    "Out of Range",
)


class Hangs(BaseException):
    """Raised by the alarm; nothing under test may catch it."""


def hangs(*_):
    raise Hangs


@pytest.fixture(autouse=True)
def alarm():
    signal.signal(signal.SIGALRM, hangs)
    signal.setitimer(signal.ITIMER_REAL, 120)  # of the clock, on a machine that does other things too
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['id']} {c['name']}")
def test_case(case, our_worlds):
    sql = spelled(case["sql"])
    started = time.process_time()
    seen, answers = same_everywhere(our_worlds, sql)
    took = time.process_time() - started
    assert seen.kind in {"answered", "NotAnswerable"}, f"{case['why']}: {seen}"
    if case["must"] != "either":
        assert seen.kind == {"answered": "answered", "refused": "NotAnswerable"}[case["must"]], (
            f"{case['why']}: {seen.words}"
        )
    if case["category"] == "arithmetic" and seen.kind == "answered":
        keys = sql.count("GROUP BY") and not sql.startswith("SELECT SUM")  # the first column, then
        for answer in answers:
            assert len(noisy_columns(answer)) == len(answer.columns) - keys, f"{case['why']}: {answer.exact} are exact"
    if seen.refused:
        foreign = [w for w in ENGINE_WORDS if w.lower() in seen.words.lower() and w.lower() not in sql.lower()]
        assert not foreign, seen.words
        assert len(seen.words) < 3 * len(sql[:2000]) + 1500, "a refusal is short"
    assert took < 10, f"three answers took {took:.1f} s of the processor"


@pytest.mark.parametrize(
    "case", [c for c in CASES if c["category"] == "errors"], ids=lambda c: f"{c['id']} {c['name']}"
)
def test_error_channels_on_the_tables_of_the_corpus(case, shared_worlds):
    """A thousand patients, real fixture or look-alike: no failure tells the three databases apart."""
    seen, _ = same_everywhere(shared_worlds, spelled(case["sql"]))
    assert seen.kind in {"answered", "NotAnswerable"}, f"{case['why']}: {seen}"


def test_there_are_at_least_a_hundred_of_each_strictness():
    assert len(CASES) >= 500
    assert sum(case["must"] == "refused" for case in CASES) >= 100
    assert len({case["id"] for case in CASES}) == len(CASES)
