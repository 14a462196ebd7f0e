"""A real Chromium, where there is one, with nothing of anybody's in it."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str | None:
    """Where it is: NOWISER_CHROMIUM, or one of the usual names."""
    return os.environ.get("NOWISER_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def box(page) -> Any:
    """Where SQL is written: the editor, or the text area where there is none."""
    page.wait_for_load_state()  # modules have run
    return page.locator("#sql:visible, .cm-content")


def write(page, sql: str) -> None:
    """In place of whatever stands there. (`fill` leaves Chromium's own style in an editor, which the pages forbid.)"""
    place = box(page)
    place.press("Control+a")
    place.press("Delete")
    page.keyboard.insert_text(sql)


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Started once, for several windows; its folder is new and goes with it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        try:
            yield started
        finally:
            started.close()
