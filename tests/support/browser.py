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
