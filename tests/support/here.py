"""`nowiser …` in this process: for commands that are asked much or read what is typed."""

import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from nowiser.cli import main


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def here(folder: Path, *words: str, typed: str = "") -> Done:
    """The command as `nowiser` starts it, in this process: its exit code and what it says."""
    out, err, code = StringIO(), StringIO(), 0
    before, keyboard = sys.argv, sys.stdin
    sys.argv = ["nowiser", *words]
    sys.stdin = StringIO(typed)
    try:
        with chdir(folder), redirect_stdout(out), redirect_stderr(err):
            main.run()
    except SystemExit as left:
        code = int(left.code or 0)
    finally:
        sys.argv, sys.stdin = before, keyboard
    return Done(code, out.getvalue(), err.getvalue())
