"""The custodian's report: its figures are the account's, no value from the data is in it, and text stays text."""

import csv
import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.examples import canteen
from nowiser.report.custodian import policy_words
from nowiser.report.document.blocks import Document, Facts, Figure, Grid, Items, Section, Text, markdown
from nowiser.report.document.file import FORMATS, pdf, save
from nowiser.report.document.html import html

ODD = 'bob | <script>alert(1)</script> `y` #panic("x") \u202etxet\n$x$ [red]'
ASKED = (
    ("ann", "SELECT faculty, AVG(time) AS minutes FROM visits GROUP BY faculty", 0.2),
    (ODD, "SELECT COUNT(*) AS n FROM visits WHERE time > 20 AND '|`<b>' = '|`<b>'", 0.1),
    *(("ann", f"SELECT COUNT(*) AS n FROM visits WHERE time > {i}", 0.02) for i in range(21, 28)),
)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """The folder, the answers that were given, and the report."""
    folder = tmp_path_factory.mktemp("canteen")
    with nw.open(canteen.write(folder)) as gateway:
        answers = [gateway.query(sql, spend=spend, analyst=who, anyway=True) for who, sql, spend in ASKED]
        return folder, answers, gateway.report(), gateway.allowance()


def test_figures_are_those_of_the_account(asked):
    *_, made, allowance = asked
    told = made.to_dict()
    assert [(g["before"], g["after"], g["limit"]) for g in told["guesses"]] == [
        (g["before"], g["after"], g["limit"]) for g in allowance["guesses"]
    ]
    assert told["left"] == allowance["left"]
    assert told["questions"]["count"] == len(ASKED)
    assert told["ledger"]["entries"] == 1 + 2 * len(ASKED)
    assert sum(a["questions"] for a in told["analysts"]) == len(ASKED)
    assert told["typical"]["answers"] == int(allowance["left"] / 0.05)


def test_points_of_all_answers_add_up_to_what_was_gained(asked, monkeypatch):
    from nowiser.report.custodian import content

    monkeypatch.setattr(content, "SHOWN", len(ASKED))
    with nw.open(asked[0] / "nowiser.yaml") as gateway:
        told = gateway.report().to_dict()
    added = [q["points"] for q in told["questions"]["shown"]]
    assert len(added) == len(ASKED)
    assert min(added) > 0
    assert sum(added) == pytest.approx(told["guesses"][0]["gained"], rel=1e-9)


def test_a_long_list_is_shortened_to_the_dearest_with_totals(asked):
    made = asked[2]
    shown = made.to_dict()["questions"]["shown"]
    assert len(shown) == 6
    assert {q["what"] for q in shown} >= {ASKED[0][1], ASKED[1][1]}
    assert [q["seq"] for q in shown] == sorted(q["seq"] for q in shown)
    assert f"{len(ASKED)} questions, {len(ASKED) - 6} of them not shown" in str(made)


def test_no_person_and_no_answer_is_in_it(asked):
    folder, answers, made, _ = asked
    with (folder / "canteen.csv").open() as file:
        persons = {row["student"] for row in csv.DictReader(file)}
    given = {f"{v:.6g}"[:6] for a in answers for row in a.rows for v in row if isinstance(v, float)}
    assert persons
    assert given
    for text in (str(made), html(made.document), made.to_json()):
        words = set(re.findall(r"[\w.-]+", text))
        assert not words & persons
        assert not [g for g in given if g in words]


def test_what_people_typed_is_text_on_every_surface(asked, tmp_path):
    made = asked[2]
    page = made.save(tmp_path / "r.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    text = made.save(tmp_path / "r.md").read_text()
    assert "\u202e" not in page + text
    table = [line for line in text.splitlines() if line.startswith("| 20")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {5}
    assert made.save(tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")


def test_a_page_needs_no_network_and_reads_in_the_dark(asked):
    page = html(asked[2].document)
    bare = re.sub(r"http://www\.w3\.org/\S+", "", page)
    assert "http" not in bare
    assert not re.search(r"<(script|link|img|iframe)|@import|url\(|\ssrc=|\shref=(?!\"#)", bare)
    assert "prefers-color-scheme: dark" in page
    assert "size: A4" in page
    assert "<svg" in page


def test_it_shows_itself(asked):
    made = asked[2]
    assert repr(made).startswith("<Report of nowiser.yaml, 20")
    assert made._repr_html_().startswith("<iframe srcdoc=")
    assert json.loads(made.to_json()) == made.to_dict()


def test_the_annex_says_what_is_protected_and_what_is_not(asked):
    text = str(asked[2])
    for words in ("art. 35", "Recital 26", "singling out", "linkability", "inference", "known-weaknesses.md"):
        assert words in text
    assert "Who is in visits is public by declaration, and not protected." in text


BLOCKS = (Text("a *b* `c`"), Text("x", "note"), Items(("1", "2")), Facts((("n", "3"),)), Figure("<svg/>", ("w",)))


def test_every_block_is_written_in_every_format(tmp_path):
    grid = Grid(("h", "n", "c"), (("a", "1", "x|`y`"), ("all", "1", "sum")), "tnc", total=True)
    figure = Figure('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', ("a picture",))
    made = Document("T", "s", (Section("", (*BLOCKS[:4], grid, figure)), Section("A", (Text("end"),), annex=True)))
    for ending in FORMATS:
        assert save(made, tmp_path / f"d{ending}").stat().st_size > 100
    assert r"a \*b\* \`c\`" in markdown(made)
    assert r"`` x\|`y` ``" in markdown(made)
    assert "| all | 1 | sum |" in markdown(made)
    assert '<tr class="total">' in html(made)


def test_without_the_extra_a_sentence_says_what_to_do(asked, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(Misconfigured, match=r"extra that is not installed[\s\S]*nowiser\[pdf\]"):
        asked[2].save(tmp_path / "r.pdf")
    assert asked[2].save(tmp_path / "r.html").exists()
    monkeypatch.undo()
    assert pdf(asked[2].document).startswith(b"%PDF")


@pytest.mark.parametrize("name", ["r.docx", "report", "no/such/r.html"])
def test_other_files_are_refused_before_anything_is_computed(asked, name, tmp_path):
    with pytest.raises(Misconfigured, match=r"must end in \.html, \.pdf, \.md|does not exist"):
        asked[2].save(tmp_path / name)


PRIORS = (
    (nw.Unknown(0, 60), "nothing assumed: holds whatever he believes"),
    (nw.Truncated(nw.Normal(20, 5), 0, 60), "normal, 20 ± 5, from 0 to 60"),
    (nw.Truncated(nw.LogNormal(8.5, 0.6), 0, 40000), "lognormal, logarithm 8.5 ± 0.6, from 0 to 40,000"),
    (nw.Uniform(12, 28), "equally likely from 12 to 28"),
    (nw.Presence(0.1), "10 % are in it"),
    (nw.Categories({"a": 0.5, "b": 0.3, "c": 0.1, "d": 0.06, "e": 0.04}), "a 50 %, b 30 %, c 10 %, d 6 %, 1 more"),
    (nw.Categories(["a", "b"]), "2 values, equally likely"),
    (nw.Atoms({0: 0.2, 2: 0.8}), "a probability for each of 2 values from 0 to 2"),
    (nw.Atoms(dict.fromkeys(range(101), 1 / 101)), "equally likely, 101 values from 0 to 100"),
    (nw.Histogram([0, 18, 65], [0.3, 0.7]), "a histogram of 2 bins from 0 to 65"),
)


@pytest.mark.parametrize(("prior", "words"), PRIORS, ids=[type(p).__name__ for p, _ in PRIORS])
def test_priors_are_said_in_words(prior, words):
    assert policy_words.belief(prior) == words


def test_the_time_is_told_in_utc(asked):
    from nowiser.report.account import account
    from nowiser.report.custodian import report

    with nw.open(asked[0] / "nowiser.yaml") as gateway:
        policy = gateway.policy
    made = report(policy, account(policy, (), {}, {}), now=datetime(2030, 1, 2, 3, 4, tzinfo=UTC))
    assert "Made 2030-01-02 03:04 UTC" in str(made)
    assert "Nothing has been asked or released yet." in str(made)
    assert "There is no ledger yet" in str(made)
    assert Path(policy.path).name in repr(made)


def test_parts_with_their_own_account_are_named(tmp_path):
    path = canteen.write(tmp_path)
    path.write_text(path.read_text().replace("    protect: values", "    protect: values\n    partition: faculty"))
    with nw.open(path) as gateway:
        gateway.query("SELECT AVG(time) FROM visits WHERE faculty = 'math'", analyst="ann", anyway=True)
        told = gateway.report()
    assert "each faculty has its own account" in str(told)
    assert told.to_dict()["questions"]["shown"][0]["points"] == pytest.approx(told.to_dict()["guesses"][0]["gained"])
