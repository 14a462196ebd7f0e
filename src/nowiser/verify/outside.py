"""What stops a verdict: a construct outside of the language, or a limit of time, paths or steps."""


class Outside(Exception):
    """The line, the construct, and what would be accepted. Becomes an `Unknown`, never an error of the command."""

    def __init__(self, reason: str, line: int | None = None, construct: str = "", hint: str = "") -> None:
        super().__init__(reason)
        self.reason, self.line, self.construct, self.hint = reason, line, construct, hint


class MixedPowers(Outside):
    """A sum of terms with different powers of ε: the program is followed at one number for ε instead."""


class TooMuch(Outside):
    """A limit was reached."""
