"""`nowiser …`, each command in a process of its own, forked from one in which everything is imported already.

What runs is what a shell runs, `nowiser.cli.main.run`, with its own arguments, folder, environment and exit code; only
the second that importing takes is saved. The process that is forked has one thread, so that no lock is held by another.
"""

import atexit
import contextlib
import gc
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

IMPORTED = (
    *(f"nowiser.cli.{name}" for name in ("guess", "init", "check", "query", "explain", "prepare", "ledger", "report")),
    *(
        f"nowiser.cli.{name}"
        for name in ("publish", "risk", "compare", "synth", "guess_output", "init_questions", "guess_prior")
    ),
    *(f"nowiser.microdata.{name}" for name in ("publish", "measure", "compare", "for_policy")),
    *(f"nowiser.guess.{name}" for name in ("ask", "ceiling", "number.victims")),
    *("nowiser.gateway", "nowiser.engines.duckdb.engine", "nowiser.ledger.sqlite", "nowiser.report.printed"),
    *("rich.console", "pyarrow.csv", "pyarrow.parquet"),
)


class _Origin:
    """The process that commands are forked from; started with the first of them."""

    def __init__(self) -> None:
        # no threads of linear algebra, none of pyarrow's memory
        single = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | single,
        )
        atexit.register(self.close)

    def ask(self, asked: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the process that commands are forked from is gone"
        return int(json.loads(answer)["code"])

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


@lru_cache(maxsize=1)
def _origin() -> _Origin:
    return _Origin()


def nowiser(
    folder: Path, *words: str | bytes | Path, environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """The command of these words, run in a folder, to its end."""
    with tempfile.TemporaryDirectory() as said:
        asked = {"words": [os.fsdecode(w) for w in words], "folder": str(folder), "said": said}
        code = _origin().ask(asked | {"environment": {**os.environ, **(environment or {})}})
        out, err = ((Path(said) / name).read_text(errors="replace") for name in ("out", "err"))
    return subprocess.CompletedProcess(["nowiser", *words], code, out, err)


def serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    for name in IMPORTED:
        import_module(name)
    threads = Path("/proc/self/task")
    assert not threads.is_dir() or len(list(threads.iterdir())) == 1, "with threads, a fork may inherit their locks"
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            _become(asked)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        answers.write(json.dumps({"code": code}) + "\n")
        answers.flush()


def _become(asked: dict[str, Any]) -> None:
    """The command itself; ends the process as an interpreter does."""
    code: Any = 1
    try:
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        for number, name in ((0, os.devnull), (1, f"{asked['said']}/out"), (2, f"{asked['said']}/err")):
            opened = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT)
            os.dup2(opened, number)
            os.close(opened)
        sys.argv = ["nowiser", *asked["words"]]
        code = 0
        import_module("nowiser.cli.main").run()
    except SystemExit as left:
        code = left.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:  # noqa: BLE001 (printed, as the interpreter does)
        traceback.print_exc()
        code = 1
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of the tests is no place to import from
    serve()
