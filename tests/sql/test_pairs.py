"""SQL as text: each question with the plan or the refusal it gets."""

from pathlib import Path

import pytest

from nowiser.errors import NotAnswerable
from nowiser.report.spoken import spoken
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

HERE = Path(__file__).parent
from support.sql_world import POLICY  # noqa: E402 (tests are no package; the helper stands beside)


def blocks(name):
    lines = (HERE / "pairs" / name).read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    for block in text.strip().split("\n\n"):
        if "\n--" not in block:
            continue
        question, _, wanted = block.partition("\n--\n")
        yield question.strip(), wanted


def pairs():
    """Blocks may contain a blank line for `nothing is underlined`, so they are cut at the dashes."""
    lines = [
        x for x in (HERE / "pairs" / "refused.txt").read_text(encoding="utf-8").splitlines() if not x.startswith("#")
    ]
    found, i = [], 0
    while i < len(lines):
        if lines[i] == "--" and i + 2 < len(lines):
            found.append((lines[i - 1], lines[i + 1], lines[i + 2]))
            i += 2
        i += 1
    return found


def described(found):
    lines = []
    if found.query.keys:
        lines.append("groups: " + ", ".join(" ".join(str(v) for v in g) for g in found.groups))
    for i, (cell, reach) in enumerate(zip(found.tally.cells, found.reaches, strict=True)):
        line = f"c{i}: " + ("count" if cell.argument is None else f"sum of {spoken(cell.argument)}")
        if reach.exact:
            lines.append(f"{line}, exact")
            continue
        if reach.persons:
            line += f", presence {float(reach.presence * cell.unit):g} of {reach.persons}"
        line += f", jump {float(reach.jump * cell.unit):g} ({', '.join(reach.about)})"
        lines.append(line + "".join(f", slope {float(s * cell.unit):g} per {a}" for a, s in reach.slope))
    if found.ways:
        lines.append("ways: " + "; ".join(w.name for w in found.ways))
    return "\n".join(lines)


@pytest.mark.parametrize(("sql", "wanted"), list(blocks("answered.txt")))
def test_planned(sql, wanted):
    if wanted.startswith("refused: "):
        with pytest.raises(NotAnswerable) as caught:
            read(sql, POLICY)
        assert caught.value.message == wanted.strip().removeprefix("refused: ")
    else:
        assert described(plan(read(sql, POLICY), POLICY)) == wanted.strip()


@pytest.mark.parametrize(("sql", "underlined", "message"), pairs())
def test_refused(sql, underlined, message):
    with pytest.raises(NotAnswerable) as caught:
        plan(read(sql, POLICY), POLICY)
    if message != "*":
        assert caught.value.message == message
    if underlined:
        assert caught.value.span is not None
        assert sql[caught.value.span.start : caught.value.span.end] == underlined
    assert "Traceback" not in str(caught.value)
