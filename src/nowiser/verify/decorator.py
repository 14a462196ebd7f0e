"""`@private(...)` for CI: the claim stands at the function, and a test proves every function that has one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from nowiser.verify.verdict import Proved, Verdict

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Stated:
    """A function and what is claimed of it: options of `nw.verify`."""

    function: Callable[..., Any]
    options: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.function.__module__}.{self.function.__qualname__}"

    def verify(self) -> Verdict:
        from nowiser.verify.verify import verify

        return verify(self.function, **self.options)

    def prove(self) -> Proved:
        """The proof. Raises AssertionError, with the verdict in words, where there is none."""
        verdict = self.verify()
        if not isinstance(verdict, Proved):
            raise AssertionError(f"{self.name}\n{verdict}")  # noqa: TRY004 (a failed claim, as `assert` says it)
        return verdict


CLAIMS: list[Stated] = []


def private(argument: str | None = None, **options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Claim that a function is private in this argument. `claims()` lists what was claimed; the function is unchanged.

    >>> from nowiser.verify.samples import laplace
    >>> @private("d", neighbours="one", epsilon="eps")
    ... def total(d, eps):
    ...     return sum(d) + laplace(1 / eps)
    """

    def state(function: Callable[P, R]) -> Callable[P, R]:
        CLAIMS.append(Stated(function, {"private": argument, **options}))
        return function

    return state


def claims() -> list[Stated]:
    """All that was claimed in the modules imported so far, for `@pytest.mark.parametrize`."""
    return list(CLAIMS)
