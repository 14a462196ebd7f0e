"""A real Chromium, where there is one, with nothing of anybody's in it."""

import contextlib
import os
import shutil
import tempfile
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
def browsing(**options: Any) -> Iterator[Any]:
    """A browser with a folder of its own; options as Playwright's contexts take them."""
    from playwright.sync_api import sync_playwright

    found = chromium()
    assert found is not None, "there is no Chromium"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, sync_playwright() as play:
        browser = play.chromium.launch_persistent_context(folder, executable_path=found, args=list(FLAGS), **options)
        try:
            yield browser
        finally:
            browser.close()
