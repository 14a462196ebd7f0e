"""What a builder needs of a gateway: that it explains and answers questions."""

from fractions import Fraction
from typing import Any, Protocol

from nowiser.model.policy import Policy
from nowiser.report.answer import Answer


class Gate(Protocol):
    """A gateway, as far as builders know it."""

    policy: Policy

    def query(
        self,
        sql: Any,
        *,
        error: float | Fraction | None = ...,
        spend: float | Fraction | str | None = ...,
        analyst: str | None = ...,
        clipped: bool = ...,
    ) -> Answer: ...

    def explain(
        self,
        sql: Any,
        *,
        error: float | Fraction | None = ...,
        spend: float | Fraction | str | None = ...,
        analyst: str | None = ...,
    ) -> Answer: ...
