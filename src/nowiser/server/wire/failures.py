"""What goes wrong, as the wire says it: SQLSTATE, message with its hint, and the place in the statement."""

from dataclasses import dataclass

from nowiser.errors import NowiserError
from nowiser.server.problems import problem_of
from nowiser.server.wire.options import BadSetting
from nowiser.server.wire.protocol.messages import Malformed, Said
from nowiser.server.wire.words import in_settings

SHOW_HINTS = ("psql",)  # clients that print the field with the hint; many others drop it, so it is in the message too


@dataclass(eq=False)
class Failure(Exception):
    """An error of a statement. `at`: the character where it is, from 0, in the statement that was sent.

    `fatal`: the connection ends with it.
    """

    sqlstate: str
    message: str
    hint: str | None = None
    at: int | None = None
    fatal: bool = False

    def said(self, client: str) -> Said:
        message = self.message if self.hint is None or client in SHOW_HINTS else f"{self.message} {self.hint}"
        return Said(self.sqlstate, message, self.hint, None if self.at is None else self.at + 1)


def failure_of(error: Exception) -> Failure:
    """Any exception; a fault of ours is named without its text, which may quote a row."""
    match error:
        case Failure():
            return error
        case BadSetting():
            return Failure(error.sqlstate, error.message, error.hint)
        case Malformed():
            return Failure("08P01", "This message does not keep to PostgreSQL's protocol.")
        case NowiserError():
            at = None if error.span is None else error.span.start
            hint = None if error.hint is None else in_settings(error.hint)
            return Failure(problem_of(error).sqlstate, error.message, hint, at)
    return Failure("XX000", "The request could not be carried out. The server's log says where it stopped.")
