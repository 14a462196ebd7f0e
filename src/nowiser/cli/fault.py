"""What a command says when our own code fails: one sentence, no traceback, no path; and where the cause is noted."""

import os
import sys
from pathlib import Path

from nowiser.errors import Misconfigured, NotEvaluated, NowiserError
from nowiser.ledger.opening import FOLDER
from nowiser.report import failure

MESSAGE = "Something failed inside nowiser. It is a fault of ours, not of what you asked."


def broken(error: Exception) -> NowiserError:
    """What to show: a file that may not be used by its name, else a fault of ours.

    Its cause is noted beside the policy, for the custodian alone, where there is a policy.
    """
    if isinstance(error, PermissionError) and isinstance(error.filename, str):
        return Misconfigured(
            f"{Path(error.filename).name} may not be used by this user: {(error.strerror or 'no rights').lower()}",
            hint="Its owner can give this user the right, or run the command.",
        )
    folder = _policy(sys.argv[1:]).resolve().parent / FOLDER
    if os.access(folder, os.W_OK):
        failure.record(folder, error, "of a command")
        return NotEvaluated(MESSAGE, hint=f"The custodian finds the cause in {FOLDER}/{failure.LOG} beside the policy.")
    return NotEvaluated(MESSAGE, hint=f"Please report it with this line: {' <- '.join(failure.described(error))}")


def _policy(words: list[str]) -> Path:
    """The policy file a command is about, as it is looked for when questions are answered."""
    for before, word in zip(words, [*words[1:], ""], strict=True):
        if before in ("-p", "--policy") and word:
            return Path(word)
        if before.startswith("--policy="):
            return Path(before.removeprefix("--policy="))
    return Path(os.environ.get("NOWISER_POLICY") or "nowiser.yaml")
