"""The table of claims: what it quotes is printed by the program, and the tests it names are there."""

import ast
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


# What is printed about attackers, and how far they come. Written in a new sentence, it has to be on the page.
WHO = re.compile(r"attacker|guess|gain|promise|exposed|no output|re-identif", re.IGNORECASE)
HOW_FAR = re.compile(
    r"at most|more than|never|no output|nobody|keep|void|hold|within|right in|break|learn more|knows? with|limit|finds|better",
    re.IGNORECASE,
)
PRINT = ("report", "cli", "server", "synth", "learn", "graphs", "verify", "microdata")
NO_CLAIM = (  # questions, examples, captions of what is claimed elsewhere
    "How much better can an attacker guess",
    "How many points better may an attacker guess",
    "How well each attacker guessed at most",
    "The more is released, the better an attacker guesses",
    "what was promised at most.",
    "Orange: the limit that was promised.",
    "The promise itself: before, now and limit",
    "Points: what each answer added to the gain",
    "What another limit would do to the most exposed person",
    "A guess within 2 minutes of Alice's",
    "nowiser guess --prior",
    "Or gains by attacker",
    "shown in this answer and never again",
)
REFUSALS = {"Option", "Argument", "Misconfigured", "NotAnswerable", "Refused"}


def said(tree):
    """Texts of a program without docstrings, refusals and help of options; what is filled in is left out."""
    gone = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            gone.add(id(node.body[0].value))
        called = getattr(getattr(node, "func", None), "attr", getattr(getattr(node, "func", None), "id", None))
        if isinstance(node, ast.Raise) or called in REFUSALS:
            gone |= {id(part) for part in ast.walk(node)}
        if isinstance(node, ast.JoinedStr):
            gone |= {id(part) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in gone:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "…" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("area", PRINT)
def test_what_is_printed_about_attackers_is_on_the_page(area):
    quoted = [q for q in re.findall("`([^`]+)`", PAGE) if len(q) > 8]
    missing = [
        f"{path.name}: {text}"
        for path in sorted((ROOT / "src" / "nowiser" / area).rglob("*.py"))
        for text in said(ast.parse(path.read_text(encoding="utf-8")))
        if len(text.split()) > 4 and WHO.search(text) and HOW_FAR.search(text)
        if not any(q in text for q in (*quoted, *NO_CLAIM))
    ]
    assert not missing
