"""The docs site builds without warnings and needs nothing from elsewhere, no server, no network."""

import json
import re

import pytest
from build_site import build


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "site"
    build(folder)
    return folder


def test_pages_load_nothing_from_elsewhere_and_all_they_load_is_there(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        tags = re.findall(
            r'<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="([^"#?]+)', page.read_text("utf-8"), re.IGNORECASE
        )
        loaded = [t for t in tags if not t.startswith("data:")]
        assert [t for t in loaded if re.match(r"[a-z]+:|//", t)] == [], f"{page.name} loads from elsewhere"
        if page.name != "404.html":  # its addresses are those of a server's root
            assert [t for t in loaded if not (page.parent / t).exists()] == [], f"{page.name} misses files"


def test_search_index_is_a_script_so_that_it_opens_from_a_folder(site):
    index = (site / "search.js").read_text("utf-8")
    found = json.loads(index[index.index("{") : index.rindex("}") + 1])
    assert any("allowance" in json.dumps(item) for item in found["items"])


def test_pages_have_dark_colours_and_a_way_on(site):
    page = (site / "tutorial" / "gateway.html").read_text("utf-8")
    assert 'data-md-color-scheme="slate"' in page
    assert re.search(r'rel="?prev|md-footer__link--prev', page)
    assert re.search(r'rel="?next|md-footer__link--next', page)


def test_the_menu_has_the_titles_of_pages(site):
    assert "Ask the canteen" in (site / "faq.html").read_text("utf-8")


def test_a_page_that_no_menu_names_fails():
    from build_site import listed

    assert listed([{"a": "x.md"}, "y.md", {"b": [{"c": ["z.md"]}]}]) == ["x.md", "y.md", "z.md"]


def test_mathematics_becomes_mathml():
    from mathml import put_back, take_out

    text = "an\n$\\varepsilon$ of $x^2$, `$code$` and 5 $ or 6 $\n\n$$y$$\n\n```bash\n$ make $x$\n```\n"
    marked, drawn = take_out(text)
    assert "<math" not in marked
    assert [d.count("<math") for d in drawn] == [1, 1, 1]
    back = put_back(marked, drawn)
    assert back.count("<math") == 3
    assert back.count('display="block"') == 1
    assert "`$code$`" in back
    assert "$ make $x$" in back
    assert "5 $ or 6 $" in back
