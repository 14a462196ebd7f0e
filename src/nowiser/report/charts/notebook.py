"""How an advantage shows itself in a notebook: its sentence and its picture, without a network."""

from html import escape
from typing import Any

from nowiser.model.advantage import Advantage
from nowiser.report.charts.densities import before_after


def advantage_html(advantage: Advantage) -> str:
    from nowiser.report.offline import svg

    return f"<div><p>{escape(str(advantage))}</p>{svg(before_after(advantage))}</div>"


def advantage_bundle(advantage: Advantage) -> dict[str, Any]:
    """Text for terminals, a drawn picture for everything else."""
    return {"text/plain": repr(advantage), "text/html": advantage_html(advantage)}
