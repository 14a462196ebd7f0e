"""The editor of the SQL box: what the lock says and nothing else is fetched, and what it does in a real Chromium."""

import base64
import contextlib
import hashlib
import http.server
import io
import json
import re
import tarfile
import threading
from pathlib import Path

import pytest
import vendor_javascript as vendoring

from nowiser.server.http.app import application
from nowiser.server.pages import drawing, editor
from support.browser import box, browser, chromium, write
from support.web import TestClient, in_a_thread

ROOT = Path(__file__).resolve().parents[3]
AVERAGE = "SELECT AVG(time) AS minutes FROM visits"


# -- fetching ---------------------------------------------------------------------------------------------------------


def packed(**files):
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name.replace('_', '/').replace('-', '.')}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return sink.getvalue()


@pytest.fixture
def registry(monkeypatch):
    """A registry on this machine with one package; the addresses that it was asked for."""
    content, asked = packed(**{"index-js": "export const x = 1;", "LICENSE": "free"}), []

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(404 if "9.9.9" in self.path else 200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", f"http://127.0.0.1:{server.server_port}/")
        yield content, asked
        server.shutdown()


def lock(folder, content, **other):
    sha512 = base64.b64encode(hashlib.sha512(content).digest()).decode()
    package = {"name": "@x/y", "version": "1.2.3", "licence": "MIT", "module": "index.js", "sha512": sha512} | other
    file = folder / "lock.json"
    file.write_text(json.dumps([package]))
    return file


def test_what_is_pinned_is_fetched_once_with_its_licence(registry, tmp_path):
    content, asked = registry
    for _ in range(2):
        folder = vendoring.vendor(tmp_path / "a" / "vendor", lock(tmp_path, content))
    assert asked == ["/@x/y/-/y-1.2.3.tgz"]
    assert (folder / "x-y.js").read_text() == "export const x = 1;"
    assert json.loads((folder / "importmap.json").read_text()) == {"imports": {"@x/y": "x-y.js"}}
    assert "@x/y 1.2.3: MIT" in (folder / "LICENSES.txt").read_text()


def test_another_content_stops_the_build_and_leaves_nothing(registry, tmp_path):
    with pytest.raises(ValueError, match="not what"):
        vendoring.vendor(tmp_path / "a" / "vendor", lock(tmp_path, b"another"))
    assert list((tmp_path / "a").iterdir()) == []


def test_a_registry_without_the_package_is_none(registry, tmp_path):
    with pytest.raises(vendoring.Unreachable):
        vendoring.vendor(tmp_path / "a" / "vendor", lock(tmp_path, b"", version="9.9.9"))


def test_without_a_registry_there_is_no_editor(monkeypatch, tmp_path):
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "file:///etc")
    with pytest.raises(vendoring.Unreachable):
        vendoring.vendor(tmp_path / "vendor", lock(tmp_path, b""))
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9")
    with pytest.raises(vendoring.Unreachable):
        vendoring.vendor(tmp_path / "vendor", lock(tmp_path, b""))


def test_the_lock_names_no_host():
    text = (ROOT / "vendor.lock.json").read_text(encoding="utf-8")
    assert "//" not in re.sub(r'"sha512": "[^"]+"', "", text)
    assert all(len(base64.b64decode(package["sha512"])) == 64 for package in json.loads(text))


# -- the page ---------------------------------------------------------------------------------------------------------


def fresh():
    for kept in (editor.modules, editor.import_map, drawing.static, drawing.static_address):
        kept.cache_clear()


@pytest.fixture
def without(monkeypatch, tmp_path):
    monkeypatch.setattr(editor, "FOLDER", tmp_path / "none")
    fresh()
    yield
    fresh()


@pytest.fixture(scope="session")
def fetched(tmp_path_factory):
    try:
        return vendoring.vendor(tmp_path_factory.mktemp("fetched") / "vendor")
    except vendoring.Unreachable as why:
        pytest.skip(f"the editor cannot be fetched: {why}")


@pytest.fixture
def vendored(fetched, monkeypatch):
    monkeypatch.setattr(editor, "FOLDER", fetched)
    fresh()
    yield
    fresh()


def asking(desk, token):
    client = TestClient(application(desk), base_url="http://127.0.0.1")
    client.post("/login", data={"name": "ana", "secret": token})
    return client.get("/ask")


def test_without_it_the_box_is_a_plain_text_area(without, desk, tokens):
    page = asking(desk, tokens["ana"])
    assert "<textarea" in page.text
    assert "importmap" not in page.text
    assert "script-src 'self';" in page.headers["content-security-policy"]


def test_the_import_map_is_allowed_by_its_hash_alone(vendored, desk, tokens):
    page = asking(desk, tokens["ana"])
    text = re.search(r'<script type="importmap">(.*?)</script>', page.text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in page.headers["content-security-policy"]
    client = TestClient(application(desk), base_url="http://127.0.0.1")
    for address in json.loads(text)["imports"].values():
        assert client.get(address).headers["content-type"].startswith("text/javascript")
    for name in ("importmap.json", "LICENSES.txt", "..%2feditor.py", "%2e%2e/editor.py"):
        assert client.get(f"/static/{name}").status_code == 404


@contextlib.contextmanager
def window(desk, token, **options):
    complaints = []
    with in_a_thread(desk) as address, browser() as chrome:
        context = chrome.new_context(base_url=address, viewport={"width": 1200, "height": 800}, **options)
        page = context.new_page()
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.goto("/login")
        page.get_by_label("Name").fill("ana")
        page.get_by_label("Password, or a token").fill(token)
        page.get_by_role("button", name="Log in").click()
        page.locator(".cm-content").wait_for()
        yield page
        context.close()
    assert complaints == []


@pytest.mark.skipif(chromium() is None, reason="no Chromium is installed (Debian: apt-get install chromium)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_completes_underlines_and_asks(scheme, vendored, desk, tokens):
    from axe_playwright_python.sync_playwright import Axe

    with window(desk, tokens["ana"], color_scheme=scheme) as page:
        assert not page.locator("#sql").is_visible()
        box(page).focus()
        page.keyboard.type("SELECT AVG(time) FROM visits")
        page.keyboard.press("Enter")  # a line, though a table was typed
        page.keyboard.type("WHERE 'fac' = visits.fac")
        page.get_by_role("option", name="faculty").click()
        assert page.locator("#sql").input_value() == "SELECT AVG(time) FROM visits\nWHERE 'fac' = visits.faculty"
        page.keyboard.type(" AND fac")
        page.get_by_role("option", name="faculty").wait_for()
        page.keyboard.press("Escape")  # one Tab leaves the box: nobody is caught in it
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == "spend"
        write(page, "SELECT '🦉', AVG(tim)\nFROM visits -- <b>no tag</b>")
        page.locator(".cm-content .wrong").wait_for()
        assert page.locator(".cm-content .wrong").inner_text() == "tim"
        assert Axe().run(page).response["violations"] == []
        write(page, AVERAGE)
        page.get_by_text("Before you ask").wait_for()
        assert page.locator(".cm-content .wrong").count() == 0
        page.set_viewport_size({"width": 320, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
        assert Axe().run(page).response["violations"] == []
        page.set_viewport_size({"width": 1200, "height": 800})
        page.reload()  # the draft is there
        page.get_by_text("Before you ask").wait_for()
        assert box(page).inner_text().strip() == AVERAGE
        box(page).press("Control+Enter")
        page.get_by_role("heading", name="Answer").wait_for()
        assert box(page).inner_text().strip() == AVERAGE
