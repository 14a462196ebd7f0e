"""Pictures of guesses, one per file. Each function gives an Altair chart; `save` writes it to a file."""

from nowiser.report.charts.attackers import attackers
from nowiser.report.charts.bounds import bounds
from nowiser.report.charts.curves import gain_curves, gain_limit
from nowiser.report.charts.densities import before_after
from nowiser.report.charts.notebook import advantage_bundle, advantage_html
from nowiser.report.charts.questions import questions
from nowiser.report.save import save

__all__ = [
    "advantage_bundle",
    "advantage_html",
    "attackers",
    "before_after",
    "bounds",
    "gain_curves",
    "gain_limit",
    "questions",
    "save",
]
