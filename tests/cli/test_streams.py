"""Commands at the edges of a shell: few characters, readers that leave, disks that are full. Real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NOWISER = [sys.executable, "-c", "from nowiser.cli.main import run; run()"]
CANTEEN = ["guess", "--prior", "uniform:12:28", "--within", "2", "--victim", "20"]
LABELS = ["guess", "--prior", "categories:Käse=.3,Brot=.7", "--exactly"]


def nowiser(*words, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([*NOWISER, *words], text=True, check=False, **options)


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii:strict"},
    ],
    ids=lambda e: " ".join(f"{k}={v}" for k, v in e.items()),
)
def test_a_terminal_of_ascii_is_told_the_same_in_plainer_characters(environment):
    done = nowiser(*CANTEEN, "--gain", "5%", env=os.environ | environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "before ########## " in done.stdout
    assert 'guesses "within 2" about' in done.stdout
    assert "+/-46.66" in done.stdout
    assert nowiser("guess", "--help", env=os.environ | environment).returncode == 0


def test_json_loses_no_character():
    done = nowiser(*LABELS, "--victim", "Käse", "--json", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["victim"] == "Käse"


@pytest.mark.parametrize("words", [CANTEEN, [*CANTEEN, "--json"], ["guess", "--help"], ["--help"]])
def test_who_reads_no_further_ends_it_quietly(words):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = nowiser(*words, stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_refusal_nobody_reads_is_one_still():
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = nowiser("guess", "--prior", "nothing", "--json", stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (3, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", [CANTEEN, [*CANTEEN, "--json"], ["guess", "--help"]])
def test_a_full_disk_is_told_in_one_line(words):
    with Path("/dev/full").open("w") as full:
        done = nowiser(*words, stdout=full)
    assert done.returncode == 7
    assert done.stderr == "nowiser: the output could not be written: No space left on device\n"


def test_without_any_output_nothing_fails():
    closed = ["sh", "-c", '"$@" >&-', "sh", *NOWISER, *CANTEEN, "--json"]
    done = subprocess.run(closed, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_words_are_broken_between_words_where_somebody_reads(monkeypatch, capsys):
    from nowiser.cli import output

    output.say("a word and another " * 8)
    assert capsys.readouterr().out.count("\n") == 1  # a pipe gets lines as they are
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    output.say("  " + "a word and another " * 4 + "\nshort")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 30
    assert lines[-1] == "short"
    assert all(line.startswith("  ") for line in lines[:-1])
