"""The table of claims: what it quotes is printed by the program, and the tests it names are there."""

import re
from pathlib import Path

import pytest

from nowiser.attacks.registry import attacks

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "claims.md").read_text(encoding="utf-8")
SOURCE = "".join(
    p.read_text(encoding="utf-8") for p in sorted((ROOT / "src").rglob("*")) if p.suffix in {".py", ".html"}
)
JOINED = re.sub(r'"\s*\n\s*(?:f?")', "", SOURCE)  # sentences that are written over several lines
ROWS = [[c.strip() for c in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")]
BODY = [row for row in ROWS if row[0] != "where"]


def test_each_row_says_what_is_held_against_it():
    assert len(BODY) > 20
    assert all(len(row) == 4 and row[3] for row in BODY)


@pytest.mark.parametrize("quoted", sorted({q for row in BODY for q in re.findall("`([^`]+)`", row[1])}))
def test_what_is_quoted_is_printed(quoted):
    assert quoted in JOINED


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(tests/[^`]+)`", PAGE))))
def test_tests_that_are_named_are_there(path):
    assert (ROOT / path).exists()


def test_attacks_that_are_named_are_there():
    named = {n for row in BODY for n in re.findall(r"\*([^*]+)\*", row[3])}
    assert named <= set(attacks())
    played = {n for n, a in attacks().items() if a.against in {"tables", "gateways"}}
    links = {n for n, a in attacks().items() if a.against == "graphs"}
    assert {"degree", "link read off", "characteristic vectors"} <= named & links
    assert named - links == played
