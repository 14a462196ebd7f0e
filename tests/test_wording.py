"""Pages write the same thing in the same way."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = re.compile(r"^( *)(```+).*?^\1\2|`[^`\n]*`|\$[^$\n]*\$", re.MULTILINE | re.DOTALL)


def prose(page: Path) -> list[str]:
    """The lines of a page without code and formulas."""
    return CODE.sub(lambda code: "\n" * code[0].count("\n"), page.read_text(encoding="utf-8")).splitlines()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_percentages_have_a_space_and_flags_are_code(page):
    odd = re.compile(r"\d%|(?<![\w-])--[a-z]")
    assert [f"{n}: {line}" for n, line in enumerate(prose(page), 1) if odd.search(line)] == []
