"""Nothing needs modules that only POSIX systems have: every module is imported, and a question asked, without them."""

import subprocess
import sys

MISSING = ("fcntl", "termios", "tty", "pty", "resource", "pwd", "grp", "syslog", "crypt", "spwd", "nis")
WITHOUT = f"import sys\nfor name in {MISSING!r}: sys.modules[name] = None\n"

EVERY = """
import importlib, pkgutil
import nowiser
found = [m.name for m in pkgutil.walk_packages(nowiser.__path__, "nowiser.")]
for name in found:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as missing:  # an extra that is not installed, and says so itself
        if missing.name in {missing!r}:
            raise
print(len(found))
"""

FLOW = """
from pathlib import Path
import nowiser as nw
from nowiser.examples import canteen
policy = canteen.write(Path("."))
gate = nw.open("nowiser.yaml")
answer = gate.query("SELECT AVG(time) FROM visits")
assert answer.rows and answer.error[0] > 0
gate = nw.open("nowiser.yaml")
assert gate.query("SELECT AVG(time) FROM visits").stored
nw.publish("canteen.csv", quasi=["faculty"], sensitive="time", k=2, output="out.csv")
print("answered")
"""


def run(script, folder):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + script], cwd=folder, capture_output=True, text=True, check=False
    )


def test_every_module_is_imported_without_posix(tmp_path):
    done = run(EVERY.replace("{missing!r}", repr(MISSING)), tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300


def test_a_question_is_answered_and_a_table_published_without_posix(tmp_path):
    done = run(FLOW, tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "answered"), done.stderr
