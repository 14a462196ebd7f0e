"""What the library refuses, told in the words of the command line.

Its messages begin with the argument they are about (`victim must be …`), and hints show how Python would say it. On the
command line an argument is an option, and a prior is a text.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from nowiser.errors import Misconfigured

_ARGUMENT = re.compile(r"^(victim|gain|slope|jump|goal|prior|known|questions)(?= must )")
_OPTIONS = {"known": "knows"}  # that are called otherwise

# what hints and notes call `spend="5%"`, `identifiers=["name"]` or `clipped=True`
_GIVEN = re.compile(
    r"""(?<![\w.])(spend|error|analyst|seconds|suppress|sensitive|quasi|identifiers)=(?:\[?"([^"\n]*)"\]?|([\w.%]*))"""
)
_FLAGS = {
    "clipped=True": "--clipped",
    "anyway=True": "--yes",
    "keep_order=True": "--keep-order",
    "in_order=True": "--in-order",
    "(key)": "(--key)",
    "stream=True": "--stream",
    "force=True": "--force",
}

_PYTHON = {
    "Unknown(low, high)": "unknown:low:high",
    "jump=True": "--jump 1",
    "victim=(x, y, z)": "--victim x=… --victim y=… --victim z=…",
    "as JointAtoms": "as records, with --joint",
    "as Atoms": "as atoms:value=mass,…",
}


def in_options(text: str) -> str:
    """A message or hint of the library as the command line says it."""
    said = _ARGUMENT.sub(lambda found: f"--{_OPTIONS.get(found[1], found[1])}", text)
    for python, written in _PYTHON.items():
        said = said.replace(python, written)
    return said


def in_flags(text: str) -> str:
    """What the library says, with flags for the arguments of Python."""
    for python, flag in _FLAGS.items():
        text = text.replace(python, flag)
    return _GIVEN.sub(lambda found: f"--{found[1]} {found[2] or found[3] or ''}".rstrip(), text)


@contextmanager
def told_in_options() -> Iterator[None]:
    try:
        yield
    except Misconfigured as refused:
        hint = None if refused.hint is None else in_options(refused.hint)
        raise Misconfigured(in_options(refused.message), hint=hint, span=refused.span) from None
