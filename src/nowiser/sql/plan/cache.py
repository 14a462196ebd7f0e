"""Texts that were read before need not be read again: dashboards ask the same questions all day."""

from collections.abc import Callable, Sequence
from typing import Any

from nowiser.model.policy import Policy
from nowiser.sql.read.select import read
from nowiser.sql.tree import Literal, Query

MOST = 256  # texts


class QueryCache:
    """Reads questions under one policy. Safe to use from several threads.

    What a text asks depends on the policy alone, which is frozen; unless a number of a public table stands in it.
    Tables change, so such a text is read anew every time.
    """

    def __init__(self, policy: Policy, public: Callable[[Query], Literal]) -> None:
        self._policy, self._public = policy, public
        self._known: dict[Any, Query] = {}

    def read(self, text: str, parameters: Sequence[Any] | None = None) -> Query:
        """As `select.read`."""
        asked = text if parameters is None else (text, tuple((type(p), repr(p)) for p in parameters))
        if (known := self._known.get(asked)) is not None:
            return known
        looked_up: list[Query] = []

        def public(inner: Query) -> Literal:
            looked_up.append(inner)
            return self._public(inner)

        question = read(text, self._policy, public, parameters)
        if not looked_up:
            if len(self._known) >= MOST:
                self._known = {}  # and soon filled again with what is asked now
            self._known[asked] = question
        return question
