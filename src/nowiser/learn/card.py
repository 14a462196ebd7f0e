"""What a model was trained for, what it cost, what every attacker can do with it, and how well it does."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from nowiser.percent import percent
from nowiser.report.synthetic import guess_line


@dataclass(frozen=True)
class Card:
    """All of it may be told: nothing here that was not paid for.

    quality: `accuracy` of a classifier or mean absolute `error` of a regressor, under noise, on people it was not
    fitted on; `within` so much in 95 of 100 cases. `baseline`: the accuracy of always guessing the same.
    expected: the same on made-up rows of this shape, with and without noise, known before anything was spent.
    """

    model: str
    table: str
    target: str | None
    features: tuple[str, ...]
    rho: float
    share: float
    left: float
    guesses: tuple[Mapping[str, Any], ...]
    cost: Mapping[str, float]
    expected: Mapping[str, float]
    quality: Mapping[str, float]
    entry: int
    policy: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        about = f"{self.model} of {self.table}" + (f", predicts {self.target}" if self.target else "")
        lines = [
            f"{about} from {', '.join(self.features)}",
            f"Cost {percent(self.share)} of the allowance (ρ = {self.rho:.4g}); {percent(self.left)} is left.",
            *map(guess_line, self.guesses),
            *quality_words(self.quality),
            *expected_words(self.expected),
        ]
        return "\n".join(lines)


def quality_words(quality: Mapping[str, float]) -> list[str]:
    if "accuracy" in quality:
        return [
            (
                f"Right in {percent(quality['accuracy'])} ± {percent(quality['within'])} "
                "of people it was not fitted on; "
                f"always guessing the most frequent class: {percent(quality['baseline'])}."
            )
        ]
    if "error" in quality:
        off, within = (_plain(quality[what]) for what in ("error", "within"))
        return [f"Off by {off} ± {within} on average for people it was not fitted on."]
    return []


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"


def expected_words(expected: Mapping[str, float]) -> list[str]:
    if "accuracy" in expected:
        return [
            (
                f"Expected beforehand, on {expected['rows']:.0f} made-up rows of this shape: right in "
                f"{percent(expected['accuracy'])} with this noise, in {percent(expected['without'])} without."
            )
        ]
    if "r2" in expected:
        return [
            (
                f"Expected beforehand, on {expected['rows']:.0f} made-up rows of this shape: explains "
                f"{percent(expected['r2'])} of the variance with this noise, {percent(expected['without'])} without."
            )
        ]
    return []
