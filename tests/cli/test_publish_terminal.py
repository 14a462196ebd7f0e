"""`nowiser publish` in a real terminal: nothing is painted over the question."""

import os
import select
import subprocess
import sys
import time

import pytest

pty = pytest.importorskip("pty")

NOWISER = [sys.executable, "-c", "from nowiser.cli.main import run; run()"]


def until(terminal, words, seconds=60):
    """What the terminal shows until these words; fails when they do not come."""
    shown, end = b"", time.monotonic() + seconds
    while words not in shown:
        assert time.monotonic() < end, shown.decode(errors="replace")
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536)
    return shown


def test_the_question_stays_alone_until_it_is_answered(tmp_path):
    rows = "".join(f"{i % 40},{i % 90 + 10000},{'abc'[i % 3]}\n" for i in range(400))
    (tmp_path / "t.csv").write_text("age,zip,ill\n" + rows)
    ours, theirs = pty.openpty()
    words = ["publish", "t.csv", "--quasi", "age:prefix,zip:prefix", "--sensitive", "ill", "-k", "5", "-o", "out.csv"]
    running = subprocess.Popen(
        [*NOWISER, *words],
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )
    try:
        os.close(theirs)
        until(ours, b"or best [1]: ")
        time.sleep(0.6)  # a bar is painted ten times in a second
        painted = os.read(ours, 65536) if select.select([ours], [], [], 0)[0] else b""
        assert painted == b"", painted
        os.write(ours, b"1\n")
        until(ours, b"Written, and every claim found again")
        assert running.wait(30) == 0
    finally:
        running.kill()
        running.wait()
        os.close(ours)
    assert (tmp_path / "out.csv").is_file()
