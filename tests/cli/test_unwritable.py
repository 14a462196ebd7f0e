"""What cannot be written ends with a sentence and an exit code: real processes of a user without rights."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from nowiser.errors import Misconfigured
from nowiser.files.writing import writing

NOWISER = [sys.executable, "-c", "from nowiser.cli.main import run; run()"]
PUBLISH = ["publish", "t.csv", "--quasi", "g", "--sensitive", "v", "-k", "2", "--yes", "-o"]
POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    protect: values
    columns: {p: identifier, g: {public: [a, b]}, v: {sensitive: [0, 9], prior: uniform}}
attackers:
  - {guess: t.v within 1, gain: 5%}
"""


@pytest.fixture
def folder():
    """Not below pytest's own folders, which are for their owner alone."""
    with tempfile.TemporaryDirectory(prefix="nowiser-") as made:
        found = Path(made)
        found.chmod(0o755)
        (found / "t.csv").write_text("p,g,v\n" + "".join(f"{i},{'ab'[i % 2]},{i % 10}\n" for i in range(40)))
        (found / "nowiser.yaml").write_text(POLICY)
        yield found


def nowiser(folder, *words):
    return subprocess.run([*NOWISER, *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["init", "t.csv", "--yes", "-o", "t.csv/new.yaml"], 3, "t.csv/new.yaml cannot be written"),
        ([*PUBLISH, "t.csv/out.csv"], 3, "there is no folder"),
        (["prepare"], 3, "The folder .nowiser beside the policy cannot be written"),
        (["query", "SELECT AVG(v) FROM t"], 6, "the ledger cannot be written"),
        (["demo", "--folder", "t.csv"], 3, "t.csv cannot be written"),
    ],
    ids=lambda w: w[0] if isinstance(w, list) else None,
)
def test_a_file_stands_where_a_folder_is_needed(folder, words, code, says):
    """Binds root, too."""
    (folder / ".nowiser").write_text("")
    done = nowiser(folder, *words)
    assert (done.returncode, says in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr
    assert "fault of ours" not in done.stderr


@pytest.fixture
def without_rights(folder):
    """Runs a command as a user who may read the folder, and not write there. Root may write anywhere."""
    prefix = []
    if os.geteuid() == 0:
        prefix = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--inh-caps=-all"]
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv to become another user")
    folder.chmod(0o555)
    yield lambda *words: subprocess.run(
        [*prefix, *NOWISER, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    folder.chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="rights of files are others elsewhere")
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["init", "t.csv", "--yes", "-o", "x.yaml"], 3, "x.yaml cannot be written: permission denied"),
        ([*PUBLISH, "out.csv"], 3, "out.csv cannot be written: permission denied"),
        (["prepare"], 3, "The folder .nowiser beside the policy cannot be written: permission denied"),
        (["query", "SELECT AVG(v) FROM t"], 6, "the ledger cannot be written: permission denied"),
    ],
    ids=lambda w: w[0] if isinstance(w, list) else None,
)
def test_a_folder_that_may_not_be_written(without_rights, words, code, says):
    done = without_rights(*words)
    assert (done.returncode, says in done.stderr) == (code, True), done.stderr


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.ENOSPC, "Make room"), (errno.EROFS, "the right to write"), (errno.ENOENT, "make it first")],
)
def test_reasons_of_the_system(tmp_path, number, says):
    with pytest.raises(Misconfigured, match=says), writing(tmp_path / "x"):
        raise OSError(number, os.strerror(number))


def test_other_errors_are_not_taken_for_it(tmp_path):
    with pytest.raises(OSError, match="argument"), writing(tmp_path / "x"):
        raise OSError(errno.EINVAL, "Invalid argument")
