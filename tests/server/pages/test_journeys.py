"""Journeys through the pages in a real Chromium: by mouse, by keyboard, without JavaScript, in the dark, on a phone."""

import contextlib
import json
import re
from dataclasses import dataclass
from fractions import Fraction

import pytest

from nowiser.examples import canteen
from nowiser.server.desk import Desk
from nowiser.server.people.account import Role
from nowiser.server.settings import Settings
from support.browser import box, browser, chromium, write
from support.serving import serving

pytestmark = pytest.mark.skipif(
    chromium() is None, reason="no Chromium is installed (Debian: apt-get install chromium)"
)

AVERAGE = "SELECT AVG(time) AS minutes FROM visits"
EVERY = ("/you", "/board", "/ask", "/tables", "/limits", "/releases", "/accounts", "/ledger", "/report")


@dataclass(frozen=True)
class House:
    """A canteen that is served, and the tokens of its people."""

    address: str
    settings: Settings
    tokens: dict[str, str]


@contextlib.contextmanager
def house(folder, *questions, options=()):
    canteen.write(folder)
    settings = Settings(policy=folder / "nowiser.yaml", port=0, pg_port=None, at_least=0.0)
    desk = Desk(settings)
    people = {"ana": Role.analyst, "ben": Role.analyst, "cleo": Role.custodian, "odo": Role.auditor}
    tokens = {name: desk.register.add(name, role, by="test", per_day=Fraction(1)) for name, role in people.items()}
    for sql in questions:
        desk.seat(desk.register.find("ana")).query(sql, anyway=True)
    desk.close()
    with serving(settings.policy, *options) as server:
        yield House(server.address, settings, tokens)


@pytest.fixture(scope="module")
def chrome():
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Something was asked already. For journeys that leave it as it is, but for questions."""
    with house(tmp_path_factory.mktemp("house"), AVERAGE) as found:
        yield found


@pytest.fixture
def fresh(tmp_path):
    """Nothing was asked; for journeys that change something."""
    with house(tmp_path) as found:
        yield found


@contextlib.contextmanager
def window(chrome, served, **options):
    """A page; whatever the browser complains about fails the test: an error, a broken policy of the contents."""
    complaints = []
    context = chrome.new_context(base_url=served.address, viewport={"width": 1200, "height": 800}, **options)
    page = context.new_page()
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("dialog", lambda d: complaints.append(f"a dialog: {d.message}"))
    try:
        yield page
    finally:
        context.close()
    known = re.compile(r"status of (401|403|409|422)")  # a refusal is an answer, too
    assert [c for c in complaints if not known.search(c)] == []


def log_in(page, served, name, secret=None):
    page.goto("/login")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password, or a token").fill(secret or served.tokens[name])
    page.get_by_role("button", name="Log in").click()
    page.wait_for_load_state()


def violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(v["id"], v["nodes"][0]["html"][:200]) for v in found]


def sideways(page):
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_a_custodian_lets_an_analyst_in_who_asks_and_the_board_shows_it(chrome, fresh):
    with window(chrome, fresh) as page:
        log_in(page, fresh, "cleo")
        assert page.get_by_text("Nothing has been asked yet").is_visible()
        page.get_by_role("link", name="Accounts", exact=True).click()
        page.get_by_label("Name", exact=True).fill("dora")
        page.get_by_label("May use in a day").first.fill("20 %")
        page.get_by_role("button", name="Make the account").click()
        token = page.locator(".token").inner_text().strip()
        assert token.startswith("nw_")
        page.get_by_role("button", name="Log out").click()
        log_in(page, fresh, "dora", token)
        assert page.url.endswith("/ask")
        write(page, AVERAGE)
        page.get_by_text("Before you ask").wait_for()
        assert "5.0 %" in page.locator(".foretold").inner_text()
        box(page).press("Control+Enter")
        page.get_by_role("heading", name="Answer").wait_for()
        assert "±" in page.locator(".answer table").inner_text()
        with page.expect_download() as file:
            page.get_by_role("link", name="Download as CSV").click()
        assert file.value.suggested_filename == "answer.csv"
        page.get_by_role("button", name="Log out").click()
        log_in(page, fresh, "cleo")
        row = page.locator("table", has_text="dora").first.inner_text()
        assert AVERAGE in row
        assert "95.0 %" in page.locator(".facts").inner_text()


def test_a_mistake_is_underlined_while_one_writes(chrome, served):
    with window(chrome, served) as page:
        log_in(page, served, "ana")
        write(page, "SELECT '🦉', AVG(tim) FROM visits")
        page.locator(".mirror mark").wait_for(state="attached")
        assert page.locator(".mirror mark").text_content() == "tim"
        assert page.get_by_text("Did you mean time?").is_visible()
        write(page, AVERAGE)
        page.get_by_text("Before you ask").wait_for()
        assert page.locator(".mirror mark").count() == 0


def test_what_was_written_is_never_markup(chrome, served):
    with window(chrome, served) as page:
        log_in(page, served, "ana")
        evil = "SELECT AVG(time) FROM visits -- </textarea><img src=x onerror=alert(1)><script>alert(2)</script>"
        write(page, evil)
        page.get_by_text("Before you ask").wait_for()
        box(page).press("Control+Enter")
        page.get_by_role("heading", name="Answer").wait_for()
        assert page.locator("#sql").input_value() == evil
        page.get_by_role("button", name="Log out").click()
        log_in(page, served, "cleo")
        for address in ("/board", "/ledger", "/report"):
            page.goto(address)
            assert "<script>alert(2)" in page.locator("main").inner_text()
            assert page.locator("main img, main script").count() == 0


@pytest.mark.parametrize("sent", [True, False], ids=["asked", "not yet asked"])
def test_a_draft_outlives_the_session(chrome, served, sent):
    with window(chrome, served) as page:
        log_in(page, served, "ana")
        write(page, AVERAGE)
        page.get_by_text("Before you ask").wait_for()
        page.context.clear_cookies()
        if sent:
            page.get_by_role("button", name="Ask", exact=True).click()
        else:
            page.reload()
        page.get_by_label("Name").fill("ana")
        page.get_by_label("Password, or a token").fill(served.tokens["ana"])
        page.get_by_role("button", name="Log in").click()
        page.get_by_text("Before you ask").wait_for()
        assert page.locator("#sql").input_value() == AVERAGE
        page.get_by_role("button", name="Log out").click()
        log_in(page, served, "ana")
        assert page.locator("#sql").input_value() == ""  # whoever logs out takes it along


def test_by_keyboard_alone(chrome, served):
    with window(chrome, served) as page:
        page.goto("/login")
        for text in ("ana", served.tokens["ana"]):  # the name has the focus
            page.keyboard.type(text)
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**/ask")
        page.keyboard.press("Tab")
        assert page.locator(":focus").inner_text() == "Skip to the content"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.type(AVERAGE)
        page.keyboard.press("Control+Enter")
        page.get_by_role("heading", name="Answer").wait_for()


def test_without_javascript(chrome, served):
    with window(chrome, served, java_script_enabled=False) as page:
        log_in(page, served, "ana")
        write(page, AVERAGE)
        page.get_by_role("button", name="Explain").click()
        assert page.get_by_text("Before you ask").is_visible()
        page.get_by_role("button", name="Ask", exact=True).click()
        assert page.get_by_role("heading", name="Answer").is_visible()
        assert page.get_by_role("link", name="Download as CSV").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible_and_fits_a_page_enlarged_four_times(chrome, served, scheme):
    with window(chrome, served, color_scheme=scheme) as page:
        page.goto("/login")
        assert violations(page) == []
        log_in(page, served, "cleo")
        for address in EVERY:
            page.goto(address)
            assert (address, violations(page)) == (address, [])
            page.set_viewport_size({"width": 320, "height": 700})  # 1280 pixels at 400 %
            assert (address, sideways(page)) == (address, 0)
            page.set_viewport_size({"width": 1200, "height": 800})
        page.goto("/ask")
        write(page, AVERAGE)
        page.get_by_text("Before you ask").wait_for()
        assert (violations(page), sideways(page)) == ([], 0)
        page.get_by_role("button", name="Ask", exact=True).click()
        page.get_by_role("heading", name="Answer").wait_for()
        assert (violations(page), sideways(page)) == ([], 0)
        write(page, "SELECT nothing")
        page.locator("#explained .failed").wait_for()
        assert violations(page) == []
        page.goto("/limits")
        page.get_by_role("button", name="See what it does").first.click()
        assert violations(page) == []


def test_a_limit_is_raised_by_a_custodian_who_saw_what_it_does(chrome, fresh):
    with window(chrome, fresh) as page:
        log_in(page, fresh, "cleo")
        page.get_by_role("navigation").get_by_role("link", name="Promises").click()
        page.get_by_label("Another limit, in points").fill("8")
        page.get_by_role("button", name="See what it does").click()
        assert "of them right" in page.locator("main").inner_text()
        page.get_by_role("button", name="Change the limit").click()
        assert page.url.endswith("/preview")  # no reason, no change: the browser asks for one
        page.get_by_label("Why?").fill("the board decided so")
        page.get_by_role("button", name="Change the limit").click()
        assert page.get_by_text("The new limit is in force.").is_visible()
    assert "gain: 8%" in fresh.settings.policy.read_text(encoding="utf-8")


def test_the_report_prints_and_is_a_file(chrome, served):
    with window(chrome, served) as page:
        log_in(page, served, "odo")
        page.goto("/report")
        page.emulate_media(media="print")
        assert not page.locator(".toolbar").is_visible()
        assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
        assert page.request.get("/report.pdf").body().startswith(b"%PDF")
        lines = page.request.get("/ledger.jsonl").text().splitlines()
        assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))


def test_an_account_that_is_switched_off_is_out_at_once(chrome, served):
    with window(chrome, served) as page:
        log_in(page, served, "ben")
        desk = Desk(served.settings)
        desk.register.change("ben", by="test", disabled=True)
        desk.close()
        page.goto("/tables")
        assert page.get_by_role("button", name="Log in").is_visible()


def test_single_sign_on_at_another_site(chrome, tmp_path):
    """The session is there after coming back from elsewhere, though its cookie is kept from other sites."""
    from support.open_id import CLIENT, SECRET, provider

    with provider("localhost") as their:  # for a browser another site than 127.0.0.1
        (tmp_path / "secret").write_text(SECRET)
        options = ("--sign-on", their.issuer, "--client", CLIENT, "--client-secret", str(tmp_path / "secret"))
        with house(tmp_path / "house", options=options) as served, window(chrome, served) as page:
            desk = Desk(served.settings)
            desk.register.change("cleo", by="test", subject=f"{their.issuer} {their.subject}")
            desk.close()
            page.goto("/ledger")
            assert violations(page) == []
            page.get_by_role("link", name="Log in by single sign-on").click()
            page.wait_for_url("**/ledger")
            assert page.get_by_role("heading", name="Ledger", exact=True).is_visible()
            page.get_by_role("link", name="cleo custodian").click()
            page.get_by_role("button", name="Make a token").click()
            assert page.locator(".token").inner_text().startswith("nw_")


def test_a_custodian_publishes_a_table_and_reads_its_report(chrome, fresh):
    with window(chrome, fresh) as page:
        log_in(page, fresh, "cleo")
        page.goto("/releases")
        page.get_by_label("Name of the file").fill("first")
        page.get_by_role("button", name="See what it tells and uses").click()
        page.get_by_text("look at visits as releases/first.csv").wait_for()
        assert (violations(page), sideways(page)) == ([], 0)
        page.get_by_role("button", name="Publish first").wait_for(timeout=120_000)
        assert "would use" in page.locator(".history").inner_text()
        assert (violations(page), sideways(page)) == ([], 0)
        page.get_by_role("button", name="Publish first").click()
        page.get_by_text("publish visits as releases/first.csv").wait_for()
        assert (violations(page), sideways(page)) == ([], 0)
        page.get_by_role("link", name="Read").wait_for(timeout=120_000)  # the page is drawn anew when the job is over
        page.get_by_role("link", name="Read").click()
        assert page.get_by_role("heading", level=1).is_visible()
    assert (fresh.settings.policy.parent / "releases" / "first.csv").is_file()


@pytest.mark.long
def test_the_pictures_of_the_docs_can_be_taken_anew(tmp_path):
    import page_pictures

    page_pictures.main(tmp_path)
    assert {f.name for f in tmp_path.iterdir()} == {f.name for f in page_pictures.PICTURES.iterdir()}
