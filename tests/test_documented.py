"""What users can reach is documented, and what is documented can be reached."""

import re
from pathlib import Path

import pytest
import typer.main

import nowiser
from nowiser.cli.main import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = "\n".join(p.read_text(encoding="utf-8") for p in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


from reference_pages import WRITERS, commands  # noqa: E402 (the folder is not a package)

COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("page", WRITERS)
def test_generated_pages_are_up_to_date(page):
    assert (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8") == WRITERS[page](), "run `make docs`"


@pytest.mark.parametrize("name", sorted(set(nowiser.__all__) - {"__version__"}))
def test_every_public_name_exists_and_is_documented(name):
    assert getattr(nowiser, name) is not None
    assert re.search(rf"\bnw\.{name}\b", PAGES), f"no page mentions nw.{name}"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_documented_with_an_example_and_speaks_json(name):
    command = COMMANDS[name]
    assert name in PAGES, f"no page mentions `{name}`"
    assert "Example" in (command.help or ""), f"`{name} --help` has no example"
    assert any("--json" in p.opts for p in command.params), f"`{name}` has no --json"
    undocumented = [
        o
        for p in command.params
        for o in p.opts
        if o.startswith("--") and o not in {"--json", "--help"} and o not in PAGES
    ]
    assert undocumented == [], f"no page mentions these options of `{name}`"


def test_citation_names_this_version():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited
    assert cited[1] == nowiser.__version__
