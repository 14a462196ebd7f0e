"""Takes the pictures of the pages that stand in the docs: `.venv/bin/python tools/page_pictures.py`. Needs a Chromium.

The hospital is made up. Answers are noisy, so the figures differ from run to run.
"""

import sys
import tempfile
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from nowiser.examples import hospital  # noqa: E402
from nowiser.server.desk import Desk  # noqa: E402
from nowiser.server.people.account import Role  # noqa: E402
from nowiser.server.settings import Settings  # noqa: E402
from support.browser import browser, write  # noqa: E402 (found by the line above)
from support.serving import serving  # noqa: E402

PICTURES = ROOT / "docs" / "assets" / "pages"
LARGEST = 150_000  # bytes
QUESTIONS = (
    ("ana", "SELECT AVG(days) AS days FROM stays"),
    ("ben", "SELECT ward, COUNT(*) AS stays FROM stays GROUP BY ward"),
    ("ana", "SELECT COUNT(*) AS stays FROM stays WHERE emergency"),
)
WRITTEN = "SELECT ward, AVG(cost) AS cost\nFROM stays\nGROUP BY ward"


def main(into: Path = PICTURES) -> None:
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        policy = hospital.write(folder)
        tokens = _asked(policy)
        with serving(policy) as server, browser() as chrome:
            for name, take in (("cleo", _custodian), ("ana", _analyst)):
                context = chrome.new_context(base_url=server.address, viewport={"width": 1120, "height": 800})
                page = context.new_page()
                page.goto("/login")
                page.fill("#name", name)
                page.fill("#secret", tokens[name])
                page.click("button.primary")
                page.wait_for_load_state()
                take(page, into)
                context.close()


def _asked(policy: Path) -> dict[str, str]:
    desk = Desk(Settings(policy=policy))
    roles = {"ana": Role.analyst, "ben": Role.analyst, "cleo": Role.custodian}
    tokens = {n: desk.register.add(n, r, by="command line", per_day=Fraction(1, 2)) for n, r in roles.items()}
    for name, sql in QUESTIONS:
        desk.seat(desk.register.find(name)).query(sql, anyway=True)
    desk.close()
    return tokens


def _custodian(page, into: Path) -> None:  # noqa: ANN001 (a page of Playwright)
    page.goto("/board")
    _taken(page, into / "board.png")
    page.goto("/limits")
    page.fill("input[name=gain] >> nth=0", "15")
    page.click("text=See what it does >> nth=0")
    _taken(page, into / "limit.png", 760)


def _analyst(page, into: Path) -> None:  # noqa: ANN001 (ditto)
    page.goto("/ask")
    write(page, WRITTEN)
    page.wait_for_selector(".foretold")
    page.keyboard.press("Escape")
    _taken(page, into / "ask.png")
    write(page, QUESTIONS[1][1])
    page.click("button.primary")
    page.wait_for_selector(".answer")
    _taken(page, into / "answer.png")


def _taken(page, file: Path, height: int = 1050) -> None:  # noqa: ANN001 (ditto)
    page.set_viewport_size({"width": 1120, "height": height})
    page.screenshot(path=file)
    size = file.stat().st_size
    assert size < LARGEST, f"{file.name} has {size:,} bytes"
    print(f"{file.name}: {size:,} bytes")  # noqa: T201 (a tool)


if __name__ == "__main__":
    main()
