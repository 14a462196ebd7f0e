"""An answer with its error bars beside what all answers so far did to every attacker's guess."""

from collections.abc import Sequence
from typing import Any

from nowiser.report.answer import Answer
from nowiser.report.charts.attackers import panel as attackers_panel
from nowiser.report.charts.error_bars import panel as numbers_panel
from nowiser.report.theme import altair, themed


def answers(answer: Answer, standings: Sequence[Sequence[dict[str, Any]]]) -> Any:
    """Above the last noisy column of the answer by its keys; below what every attacker gained by all answers."""
    alt = altair()
    noisy = [name for name in answer.columns if name not in answer.exact][-1]
    above = numbers_panel(answer, noisy).properties(title=alt.Title(f"{noisy}, with 95 % error bars", fontSize=13))
    below = attackers_panel(standings[-1], width=300).properties(
        title=alt.Title("Attackers after all these answers: before → now (limit)", fontSize=13)
    )
    return themed(
        alt.vconcat(above, below, spacing=36).resolve_scale(x="independent", y="independent"),
        "What is learned about everybody, and about anybody",
    )
