"""Files that cannot be read: every command says what is wrong, in which line, and what repairs it; never a value."""

import gzip
import os
import shlex
import subprocess

import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.files.records import opened, records
from nowiser.files.unreadable import NEUTRAL, WHY, explained, unreadable
from nowiser.model.schema import Csv

ROWS = [f"s{i},{('math', 'biology')[i % 2]},{i * 7 % 60}\n" for i in range(100)]
GOOD = "student,faculty,time\n" + "".join(ROWS)
BAD_LINE = 59  # of the file: the row of s57
POLICY = """
nowiser: 1
tables:
  visits:
    source: {source}
    person: student
    protect: values
    columns:
      student: identifier
      faculty: {{public: [math, biology]}}
      time: {{sensitive: [0, 60], prior: uniform}}
attackers:
  - {{guess: visits.time within 2, gain: 5%}}
"""


def bad(row):
    return GOOD.replace("s57,biology,39\n", row)


# name, content, what is said about it, a word of the repair
BROKEN = [
    ("latin.csv", bad("s57,Bjørn,39\n").encode("latin-1"), f"is not UTF-8: line {BAD_LINE}, character 7", "iconv -f LATIN1"),
    ("windows.csv", bad("s57,“math”,39\n").encode("cp1252"), f"line {BAD_LINE}, character 5", "iconv -f WINDOWS-1252"),
    ("utf16.csv", GOOD.encode("utf-16"), "is written in UTF-16", "iconv -f UTF-16"),
    ("few.csv", bad("s57,39\n"), f"its header has 3 columns, but line {BAD_LINE} has 2", f"sed -n {BAD_LINE}p"),
    ("many.csv", bad("s57,biology, evening,39\n"), f"line {BAD_LINE} has 4", "must be quoted"),
    ("quotes.csv", bad('s57,"biology,39\n'), f"begins in line {BAD_LINE} do not match", f"sed -n {BAD_LINE},"),
    ("points.csv", GOOD.replace(",", ";").replace("39\n", "39,5\n"), "column 'time' have decimal commas", "python -c"),
    ("empty.csv", "", "is empty: its first line must name the columns", "head"),
    ("blank.csv", "\n\n", "has an empty first line", "head"),
    ("broken.parquet", b"PAR1 and no more", "ends too early", "Copy it again"),
    ("damaged.parquet", b"PAR1" + bytes(40) + b"PAR1", "a part of it is damaged", "write it again"),
    ("text.parquet", GOOD, "is not a parquet file", "mv "),
    ("sheet.csv", b"PK\x03\x04 and so on", "is a spreadsheet or a zip archive", "soffice"),
    ("packed.csv", gzip.compress(GOOD.encode()), "is compressed", "gunzip"),
]  # fmt: skip
GUESSED = ["--quasi", "faculty", "--sensitive", "time"]
DROPPED = ["--drop", "student", "-o", "nobody.csv", "--force"]
NAMED = ["--identity", "student", "--only", "look-alikes"]
COMMANDS = {
    "risk": ["risk", "{}", "--quasi", "faculty", "--sensitive", "time"],
    "publish": ["publish", "{}", "--quasi", "faculty", "--sensitive", "time", "-k", "2", "--yes"],
    "compare": ["compare", "good.csv", "{}", "--quasi", "faculty", "--sensitive", "time"],
    "init": ["init", "{}", "--yes", "-o", "new.yaml"],
    "empirical": ["guess", "--prior", "{}:time", "--within", "2", "--gain", "5%"],
    "joint": ["guess", "--joint", "{}", "--goal", "time within 2", "--gain", "5%"],
    "hierarchies": ["hierarchies", "{}", "-o", "hierarchies", "--force"],
    "attack": ["attack", "{}", "--original", "good.csv", *GUESSED, "--only", "look-alikes"],
    "an outside list": ["attack", "good.csv", "--original", "good.csv", *GUESSED, "--aux", "{}", *NAMED],
    "classical rows": ["synth", "{}", "--method", "copula", "--gain", "90%", *GUESSED, *DROPPED],
}
LINKS = {
    "release": ["publish", "--graph", "{}", "-o", "links.csv", "--force"],
    "attack": ["attack", "--graph", "{}", "--original", "{}"],
}


@pytest.fixture
def nowiser(run):
    return lambda command, *words: run(*words, command=command)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text(GOOD)

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        (tmp_path / "nowiser.yaml").write_text(POLICY.format(source=name))
        return path

    return write


@pytest.mark.parametrize("broken", BROKEN, ids=[b[0] for b in BROKEN])
def test_every_command_says_what_is_wrong_where_and_what_repairs_it(folder, nowiser, broken):
    name, content, says, repair = broken
    folder(name, content)
    for words in COMMANDS.values():
        code, _, said = nowiser(*(w.format(name) for w in words))
        assert code == 3, (words, said)
        assert says in said, (words, said)
        assert repair in said, (words, said)
        assert "Bjørn" not in said, "a value of the data"


@pytest.mark.parametrize("broken", BROKEN, ids=[b[0] for b in BROKEN])
def test_links_are_read_with_the_same_words(folder, nowiser, broken):
    name, content, says, repair = broken
    if name == "points.csv":  # two columns of names, as far as a graph is concerned
        return
    folder(name, content)
    for words in LINKS.values():
        code, _, said = nowiser(*(w.format(name) for w in words))
        assert (code, says in said, repair in said, "biology" in said) == (3, True, True, False), (words, said)


def test_links_below_comments_say_at_least_that_they_are_ragged(folder, nowiser):
    folder("links.txt", "# a comment\n1 2\n2 3\n3 4 5\n")
    code, _, said = nowiser("publish", "--graph", "links.txt", "-o", "out.csv")
    assert (code, "cannot be read" in said, "the same number" in said, "3 4 5" in said) == (3, True, True, False), said


def test_a_codebook_that_is_not_there(folder, nowiser):
    for name, says in (("none.json", "there is no file none.json"), ("good.csv", "this is no codebook")):
        code, _, said = nowiser("attack", "good.csv", "--original", "good.csv", *GUESSED, "--codebook", name)
        assert (code, says in said) == (3, True), said


@pytest.mark.parametrize("broken", BROKEN, ids=[b[0] for b in BROKEN])
def test_the_custodian_is_told_and_the_analyst_reads_one_neutral_sentence(folder, nowiser, broken):
    """Files that the gateway mends are answered, and `check` names the line; of others `query` tells nothing."""
    name, content, says, repair = broken
    path = folder(name, content)
    code, out, err = nowiser("check")
    shown = (out + err).replace(str(path), name)
    mended = name in ("latin.csv", "windows.csv", "few.csv", "many.csv")
    if mended:
        assert f"the first is line {BAD_LINE}" in shown
    elif name != "points.csv":  # there the policy has to name the separator first
        assert code == 3
        assert says in shown
        assert repair in shown
        code, _, said = nowiser("prepare")
        assert (code, says in said) == (3, True), said
    code, _, said = nowiser("query", "--yes", "SELECT COUNT(*) FROM visits WHERE time < 30")
    assert code == (0 if mended else 3)
    if not mended:
        lines = said.splitlines()
        assert lines[0] in (f"nowiser: {NEUTRAL}", "nowiser: The source of table visits has no column student.")
        assert "The custodian runs `nowiser check`" in lines[1]


BUY = {
    "synth": ["synth", "visits", "--spend", "40%", "-o", "rows.csv"],
    "learn": ["learn", "visits", "--target", "faculty", "--features", "time", "--spend", "20%", "-o", "model.json"],
}


@pytest.mark.parametrize(
    "broken", [b for b in BROKEN if b[0] in ("latin.csv", "few.csv", "quotes.csv", "broken.parquet")]
)
@pytest.mark.parametrize("command", BUY)
def test_rows_of_nobody_and_models_read_what_the_gateway_reads_and_charge_for_nothing_else(
    folder, nowiser, broken, command
):
    name, content, *_ = broken
    path = folder(name, content)
    policy = path.parent / "nowiser.yaml"
    policy.write_text(policy.read_text() + "delta: 1e-9\n")
    code, _, said = nowiser(*BUY[command])
    if name in ("latin.csv", "few.csv"):  # mended
        assert code == 0, said
        return
    assert (code, NEUTRAL in said) == (3, True), said
    with nw.open(policy) as gateway:
        assert gateway.allowance()["left"] == 1.0


def test_the_columns_of_a_file_are_not_told_to_analysts(folder, nowiser):
    """A file without a header would tell the first person's row."""
    folder("headless.csv", "alice,math,23\n" + "".join(ROWS))
    code, _, said = nowiser("query", "SELECT COUNT(*) FROM visits")
    assert code == 3
    assert "alice" not in said
    _, out, err = nowiser("check")
    assert "alice" in out + err  # the custodian is


def test_commands_of_the_repairs_repair(folder, nowiser):
    """The iconv and the python command, as they are printed."""
    for name in ("latin.csv", "utf16.csv", "points.csv"):
        content = next(b[1] for b in BROKEN if b[0] == name)
        found = explained(folder(name, content))
        hint = unreadable(folder(name, content)).hint if found else nowiser("risk", name)[2]
        command = hint.partition(": ")[2] if found else hint.partition("Write points: ")[2]
        command = command.strip().replace("python -c", f"{shlex.quote(os.sys.executable)} -c")
        subprocess.run(["sh", "-c", command], check=True)
        made = name.replace(".csv", ".points.csv" if "points" in name else ".utf8.csv")
        assert nowiser("risk", made, "--quasi", "faculty", "--sensitive", "time")[0] == 0, name


def test_separators_are_seen_by_every_command(folder, nowiser):
    folder("semi.csv", GOOD.replace(",", ";"))
    for name, words in COMMANDS.items():
        code, _, said = nowiser(*(w.format("semi.csv") for w in words))
        assert code == 0, (name, said)


def test_thousands_are_no_decimal_commas(folder, nowiser):
    rows = "".join(f's{i};math;"{i % 9 + 1},000"\n' for i in range(50))
    folder("thousands.csv", "student;faculty;time\n" + rows)
    assert nowiser("risk", "thousands.csv", "--quasi", "faculty", "--sensitive", "time")[0] == 0


def test_a_line_of_megabytes_is_read_or_named(folder, nowiser):
    folder("long.csv", bad(f"s57,{'x' * 3_000_000},39\n"))
    assert nowiser("risk", "long.csv", "--quasi", "faculty", "--sensitive", "time")[0] == 0
    for words in (COMMANDS["init"], COMMANDS["joint"]):
        code, _, said = nowiser(*(w.format("long.csv") for w in words))
        assert code == 3
        assert f"line {BAD_LINE} is 3,000,008 bytes long" in said


def test_folders_and_files_that_are_not_there(folder, nowiser, tmp_path):
    (tmp_path / "months.csv").mkdir()
    (tmp_path / "months.csv" / "may.csv").write_text(GOOD)
    for words in COMMANDS.values():
        code, _, said = nowiser(*(w.format("months.csv") for w in words))
        assert (code, "months.csv is a folder" in said, "months.csv/may.csv" in said) == (3, True, True), said
        code, _, said = nowiser(*(w.format("nowhere.csv") for w in words))
        assert (code, "there is no file nowhere.csv" in said) == (3, True), said


def test_a_file_that_may_not_be_read(folder, nowiser, monkeypatch):
    """The system's refusal, wherever it comes from: tests may run as root, whom nothing is refused."""
    path = folder("mine.csv", GOOD)
    true = type(path).open

    def refused(self, *arguments, **options):
        if self.name == "mine.csv":
            raise PermissionError(13, "Permission denied", str(self))
        return true(self, *arguments, **options)

    monkeypatch.setattr(type(path), "open", refused)
    for words in (*COMMANDS.values(), ["check"], ["prepare"]):
        code, out, said = nowiser(*(w.format("mine.csv") for w in words))
        assert code == 3, (words, said)
        assert "may not be read by this user" in out + said, words
    code, _, said = nowiser("query", "SELECT COUNT(*) FROM visits")
    assert (code, said) == (3, f"nowiser: {NEUTRAL}\n{WHY}\n")


def test_a_broken_archive(folder, nowiser):
    folder("t.csv.gz", b"not gzip")
    for words in (COMMANDS["risk"], ["check"], ["prepare"]):
        code, out, said = nowiser(*(w.format("t.csv.gz") for w in words))
        assert (code, "is not compressed with gzip" in out + said) == (3, True), said
    folder("t.csv.gz", gzip.compress(GOOD.encode()))
    assert nowiser("risk", "t.csv.gz", "--quasi", "faculty", "--sensitive", "time")[0] == 0
    assert nowiser("check")[0] == 0


def test_nothing_is_found_wrong_with_what_is_right(tmp_path):
    for name, text in {
        "a.csv": GOOD,
        "b.csv": 'a;b\n1;"x; y"\n2;5" pipe\n\n',
        "c.csv": '\ufeffa\tb\n"two\nlines"\tx\n',
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert explained(tmp_path / name) is None, name
    assert isinstance(unreadable(tmp_path / "a.csv"), Misconfigured)  # something else went wrong, and is said


def test_records_know_their_lines(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n"x\ny",1\nz,2\n')
    with opened(tmp_path / "t.csv") as file:
        assert [(r.line, r.fields) for r in records(file, Csv(), tmp_path)] == [
            (1, ["a", "b"]),
            (2, ["x\ny", "1"]),
            (4, ["z", "2"]),
        ]


def test_risk_takes_no_hierarchies_and_says_so(folder, nowiser):
    code, _, said = nowiser("risk", "good.csv", "--quasi", "faculty:nowhere.csv", "--sensitive", "time")
    assert (code, "no hierarchy" in said, "nowiser publish" in said) == (3, True, True), said
