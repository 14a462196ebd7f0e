"""Other systems beside ours: each in an environment of its own, because their pins contradict one another.

A peer script stands in `benchmarks/peer_scripts/`, takes its arguments as one JSON object and prints one JSON
object as its last line; one that measures several things prints what it has so far after each, and what it had when
its time was up counts. A peer that cannot be installed or fails is reported with its reason, never left out silently.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv-peers"


def ask(peer: str, script: str, *, seconds: int = 600, **arguments: object) -> dict:
    """What `script` measured with `peer`, or `{"absent": reason}`."""
    python = FOLDER / peer / "bin" / "python"
    try:
        if not python.exists():
            install(peer)
        done = subprocess.run(
            [python, ROOT / "benchmarks" / "peer_scripts" / script, json.dumps(arguments)],
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return _last(error.stdout) | {"absent": f"not done after {seconds} s"}
    except subprocess.CalledProcessError as error:
        return {"absent": f"does not install here: {(error.stderr or '').strip()[-200:]}"}
    if done.returncode:
        return _last(done.stdout) | {
            "absent": (done.stderr.strip().splitlines() or ["failed without a word"])[-1][:200]
        }
    return _last(done.stdout)


def _last(said: str | bytes | None) -> dict:
    """The last line, if there is one; a timeout leaves bytes."""
    lines = (said.decode() if isinstance(said, bytes) else said or "").strip().splitlines()
    return json.loads(lines[-1]) if lines else {}


def install(peer: str) -> None:
    uv = Path(sys.executable).parent / "uv"
    requirements = ROOT / "requirements" / "peers" / f"{peer}.txt"
    for command in (
        [uv, "venv", "--quiet", "--python", sys.executable, FOLDER / peer],
        [uv, "pip", "install", "--quiet", "--python", FOLDER / peer / "bin" / "python", "--requirement", requirements],
    ):
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
