"""The 22 questions of TPC-H with customers as persons: answered within their error bars, or refused with a reason."""

import re
import shutil
from collections import Counter
from datetime import date, datetime
from pathlib import Path

import pytest
import yaml
from scipy import stats

import nowiser
from nowiser.errors import NotAnswerable

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "tpch"
EXPECTED = yaml.safe_load((Path(__file__).parent / "expected.yaml").read_text(encoding="utf-8"))
PUBLIC = {2, 11, 16}  # touch no table of persons
ANSWERED = [n for n, e in EXPECTED.items() if e["ours"] == "answered"]
WORD_FOR_WORD = [n for n, e in EXPECTED.items() if e["standard"] == "answered"]


@pytest.fixture
def gateway(home):
    """A new account for every question; the prepared copy is shared."""
    shutil.rmtree(home / ".nowiser" / "ledger", ignore_errors=True)
    for left in (home / ".nowiser").glob("ledger*"):
        left.unlink()
    opened = nowiser.open(home / "nowiser.yaml")
    yield opened
    opened.close()


def text(number: int, *, standard: bool = False) -> str:
    folder = EXAMPLE / "standard" if standard else EXAMPLE
    return (folder / f"q{number:02}.sql").read_text(encoding="utf-8")


def test_at_least_fifteen_of_the_22_are_answered():
    assert set(EXPECTED) == set(range(1, 23))
    assert len(ANSWERED) >= 15
    assert len(WORD_FOR_WORD) >= 15, "as the standard writes them"


@pytest.mark.parametrize("number", EXPECTED)
def test_the_text_of_the_standard_is_answered_or_refused_with_a_reason(number, gateway):
    if EXPECTED[number]["standard"] == "answered":
        assert gateway.explain(text(number, standard=True)).columns
        return
    with pytest.raises(NotAnswerable) as refusal:
        gateway.explain(text(number, standard=True))
    assert refusal.value.span is not None, "the place is marked"
    assert refusal.value.hint, "and what would be accepted is said"


@pytest.mark.parametrize("number", [n for n in EXPECTED if n not in ANSWERED])
def test_refused_with_a_reason(number, gateway):
    with pytest.raises(NotAnswerable) as refusal:
        gateway.explain(text(number))
    assert refusal.value.span is not None
    assert refusal.value.hint


@pytest.mark.parametrize(
    ("number", "standard"), [(n, False) for n in ANSWERED] + [(n, True) for n in WORD_FOR_WORD], ids=str
)
def test_answered_within_its_error_bars(number, standard, gateway, exact):
    """Of each column as many cells lie within their 95 % error bars as chance allows (false alarm one in a million).

    Groups have noises of their own; columns may share theirs, so they are looked at one by one. A group that is empty
    in truth counts zero. Quotients of noisy sums may have no error bar and are not compared.
    """
    asked = text(number, standard=standard)
    answer = gateway.query(asked, spend="50%", anyway=True)
    truth = exact.execute(re.sub(r"LIMIT \d+\s*$", "", asked, flags=re.IGNORECASE)).fetchall()
    if number in PUBLIC:
        assert not gateway._ledger.totals(), "what is public is free"
        assert all(e == 0.0 for e in answer.error)
        if standard:  # with ORDER BY and LIMIT as they stand
            truth = exact.execute(asked).fetchall()
        assert [[close(v) for v in row] for row in answer.rows] == [[close(v) for v in row] for row in truth]
        return
    values = [i for i, name in enumerate(answer.columns) if name not in answer.exact]
    keys = [i for i in range(len(answer.columns)) if i not in values]
    true_rows = {tuple(plain(r[i]) for i in keys): r for r in truth}
    inside = {i: Counter() for i in values}
    for row, errors in zip(answer.rows, answer.errors(), strict=True):
        found = true_rows.get(tuple(plain(row[i]) for i in keys))
        for i in values:
            if errors[i] is None or row[i] is None:
                continue
            right = 0.0 if found is None or found[i] is None else float(found[i])
            inside[i][abs(float(row[i]) - right) <= errors[i] * 1.000001 + 1e-6 * abs(right) + 1e-6] += 1
    assert any(column.total() for column in inside.values()) or number in {8, 14}, "something was compared"
    for i, column in inside.items():
        assert column[True] >= stats.binom.ppf(1e-6, column.total(), 0.95), f"{answer.columns[i]}: {column}"


def close(value):
    """Exact but for the digits in which decimals and doubles differ."""
    return value if isinstance(value, str | bool | None.__class__) else f"{float(value):.10g}"


def plain(value):
    if isinstance(value, datetime | date):
        return value.isoformat()[:10]
    return float(value) if not isinstance(value, str | bool | None.__class__) else value


def test_the_table_in_the_docs_is_this_table():
    page = (ROOT / "docs" / "reference" / "tpch.md").read_text(encoding="utf-8")
    for number, expected in EXPECTED.items():
        (line,) = [row for row in page.splitlines() if row.startswith(f"| {number} |")]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[2] == expected["standard"]
        assert cells[3] == expected["ours"]
