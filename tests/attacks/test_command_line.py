"""Hostile words on the command line: an honest exit code, one clear message, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import nowiser
from support.worlds import OURS, made_up_tables, write

NOWISER = Path(sys.executable).parent / "nowiser"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return write(tmp_path_factory.mktemp("shell") / "w", made_up_tables(), OURS).parent


def run(home, *words):
    return nowiser(home, *words, environment={"NO_COLOR": "1", "COLUMNS": "200"})


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["query", "SELECT COUNT(*) FROM patients"], 0),
        (["query", ""], 2),
        (["query", "-- nothing"], 2),
        (["query", b"SELECT COUNT(*) FROM patients WHERE name = '\xff\xfe'"], 2),
        (["query", "SELECT * FROM patients"], 2),
        (["query", "SELECT * FROM patients", "--json"], 2),
        (["query", 'SELECT COUNT(*) AS "[bold red]x[/nonsense]" FROM patients', "--yes"], 0),
        (["query", "SELECT COUNT(*) FROM patients WHERE name = '[/red]'", "--yes"], 0),
        (["query", "SELECT nonsense[0] FROM patients"], 2),
        (["query", 'SELECT COUNT(*) FROM "[/red]"'], 2),
        (["query", "SELECT COUNT(*) FROM patients", "--spend", "1e999999999%"], 3),
        (["query", "SELECT COUNT(*) FROM patients", "--spend", "nan"], 3),
        (["query", "SELECT COUNT(*) FROM patients", "--spend", "-5%"], 3),
        (["query", "SELECT COUNT(*) FROM patients WHERE los > 3", "--error", "1e-300"], 4),
        (["explain", "SELECT COUNT(*) FROM patients"], 0),
        (["explain", "SELECT MAX((name, diagnosis)) FROM patients", "--json"], 2),
    ],
)  # fmt: skip
def test_words(home, words, code):
    done = run(home, *words)
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert done.returncode == code, said
    assert "Person" not in said, "no name of the data"


@pytest.mark.parametrize("words", [["query", b"SELECT COUNT(*) FROM patients WHERE name = '\xff\xfe'"], ["explain"]])
def test_the_program_itself_says_the_same(home, words):
    """Started from nothing, as a shell does; all others are forked."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    done = subprocess.run([NOWISER, *words], cwd=home, env=environment, capture_output=True, timeout=60, check=False)
    same = run(home, *words)
    assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == (same.returncode, same.stdout, same.stderr)
    assert done.returncode == 2
