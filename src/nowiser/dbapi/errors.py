"""The errors of PEP 249, and which of ours becomes which. The original is its `__cause__`."""

from collections.abc import Iterator
from contextlib import contextmanager

from nowiser.errors import (
    Exhausted,
    LedgerBroken,
    Misconfigured,
    NotAnswerable,
    NotAuthorised,
    NotEvaluated,
    NowiserError,
    Unreachable,
    Useless,
)


class Warning(Exception):  # noqa: A001 (PEP 249 calls it so)
    """Never raised; PEP 249 wants the name."""


class Error(Exception):
    """Every error of this interface. `__cause__` is the refusal or fault of nowiser, with its hint and its figures."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the words, without a traceback of our code."""
        return f"{type(self).__name__}: {self}".split("\n")


class InterfaceError(Error):
    """An argument, a policy or an input file is wrong; or the connection is closed."""


class DatabaseError(Error):
    """The question was not answered."""


class DataError(DatabaseError):
    """Never raised; PEP 249 wants the name."""


class OperationalError(DatabaseError):
    """The allowance is used up, the analyst may not ask, or an engine cannot be reached."""


class IntegrityError(DatabaseError):
    """The ledger does not verify."""


class InternalError(DatabaseError):
    """The question could not be evaluated; the charge stays."""


class ProgrammingError(DatabaseError):
    """The question is outside what can be answered, or its parameters do not fit."""


class NotSupportedError(DatabaseError):
    """PEP 249 has it, nowiser does not."""


BECOMES: dict[type[NowiserError], type[Error]] = {
    NotAnswerable: ProgrammingError,
    Useless: ProgrammingError,
    Misconfigured: InterfaceError,
    Exhausted: OperationalError,
    NotAuthorised: OperationalError,
    Unreachable: OperationalError,
    NotEvaluated: InternalError,
    LedgerBroken: IntegrityError,
}


@contextmanager
def translated() -> Iterator[None]:
    """Our errors as those of PEP 249."""
    try:
        yield
    except NowiserError as error:
        raise BECOMES.get(type(error), DatabaseError)(str(error)) from error
