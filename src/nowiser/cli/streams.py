"""Where a command writes: terminals that know few characters, readers that leave early, disks that are full."""

import codecs
import errno
import io
import os
import sys

from nowiser.errors import NotEvaluated

# of the characters we draw and write with, what a terminal of ASCII shows instead
PLAIN = str.maketrans(
    {
        **dict.fromkeys("█▉▊▋▌", "#"),
        **dict.fromkeys("▍▎▏\u00a0", " "),
        **dict.fromkeys("“”", '"'),
        **dict.fromkeys("‘’", "'"),
        **dict.fromkeys("–—−", "-"),
        "•": "*",
        "×": "x",
        "≤": "<=",
        "≥": ">=",
        "→": "->",
        "±": "+/-",
        "…": "...",
    }
)

UNWRITTEN = {errno.EPIPE, errno.ENOSPC, errno.EFBIG, errno.EIO}


def _plainer(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that an encoding does not know."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end].translate(PLAIN)
    return unknown.encode("ascii", "replace").decode("ascii"), error.end


def prepare() -> None:
    """No character of a message can fail to be written; where there is no output (`>&-`), it goes nowhere."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123,SIM115 (open until we end)
    codecs.register_error("nowiser", _plainer)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="nowiser")


def is_left(end: BaseException | None) -> bool:
    """Whether a program ends because nobody reads on: typer and rich make an exit with 1 of it."""
    while end is not None and not isinstance(end, BrokenPipeError):
        end = end.__context__
    return end is not None


def lost(error: OSError) -> int:
    """The exit code after output that could not be written. Who reads no further, as `head`, has what he wanted."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())  # else what is left would fail again when Python ends
    os.close(nowhere)
    if error.errno == errno.EPIPE:
        return 0
    sys.stderr.write(f"nowiser: the output could not be written: {error.strerror}\n")
    return NotEvaluated.exit_code
