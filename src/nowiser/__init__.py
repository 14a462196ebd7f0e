"""Publish what the data says. Leave attackers no wiser.

Names are imported when first used, so that `import nowiser` and the command line start at once.
"""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nowiser.model.supplied import supply

__version__ = "0.1.1"

# public name → the module it lives in
_HOMES: dict[str, str] = {
    "open": "nowiser.gateway",
    "Gateway": "nowiser.gateway",
    "connect": "nowiser.dbapi",
    "Answer": "nowiser.report.answer",
    "col": "nowiser.builder.expressions",
    "desc": "nowiser.builder.expressions",
    "count": "nowiser.builder.aggregates",
    "sum": "nowiser.builder.aggregates",
    "avg": "nowiser.builder.aggregates",
    "min": "nowiser.builder.aggregates",
    "max": "nowiser.builder.aggregates",
    "median": "nowiser.builder.aggregates",
    "quantile": "nowiser.builder.aggregates",
    "stddev": "nowiser.builder.aggregates",
    "variance": "nowiser.builder.aggregates",
    "Prior": "nowiser.model.prior",
    "Uniform": "nowiser.model.prior",
    "Normal": "nowiser.model.prior",
    "LogNormal": "nowiser.model.prior",
    "Frozen": "nowiser.model.prior",
    "Atoms": "nowiser.model.prior",
    "Histogram": "nowiser.model.prior",
    "Empirical": "nowiser.model.prior",
    "Categories": "nowiser.model.prior",
    "Mixture": "nowiser.model.prior",
    "Truncated": "nowiser.model.prior",
    "Presence": "nowiser.model.prior",
    "Unknown": "nowiser.model.prior",
    "JointAtoms": "nowiser.model.prior",
    "MultivariateNormal": "nowiser.model.prior",
    "JointHistogram": "nowiser.model.prior",
    "Goal": "nowiser.model.goal",
    "Within": "nowiser.model.goal",
    "Exactly": "nowiser.model.goal",
    "In": "nowiser.model.goal",
    "Present": "nowiser.model.goal",
    "And": "nowiser.model.goal",
    "Or": "nowiser.model.goal",
    "Not": "nowiser.model.goal",
    "On": "nowiser.model.goal",
    "parse_goal": "nowiser.model.goal",
    "Cost": "nowiser.model.cost",
    "Advantage": "nowiser.model.advantage",
    "Attacker": "nowiser.model.attacker",
    "largest": "nowiser.guess.ask",
    "scale": "nowiser.guess.ask",
    "expected": "nowiser.guess.average.expected",
    "bounds": "nowiser.guess.beside.published",
    "knowing": "nowiser.guess.beside.knowledge",
    "knowing_part": "nowiser.guess.beside.part_known",
    "randomised_response": "nowiser.noise.randomised_response",
    "noisy_max": "nowiser.noise.noisy_max",
    "exponential": "nowiser.noise.exponential",
    "hierarchies": "nowiser.microdata.propose",
    "publish": "nowiser.microdata.publish",
    "synopsis": "nowiser.synth.synopsis.ask",
    "risk": "nowiser.microdata.measure",
    "compare": "nowiser.microdata.compare",
    "ru_map": "nowiser.microdata.compare",
    "attack": "nowiser.attacks.attack",
    "publish_graph": "nowiser.attacks.graphs.publish",
    "charts": "nowiser.report",
    "save": "nowiser.report.save",
    "NowiserError": "nowiser.errors",
    "Refused": "nowiser.errors",
    "NotAnswerable": "nowiser.errors",
    "Useless": "nowiser.errors",
    "Misconfigured": "nowiser.errors",
    "Exhausted": "nowiser.errors",
    "NotAuthorised": "nowiser.errors",
    "Fault": "nowiser.errors",
    "Unreachable": "nowiser.errors",
    "NotEvaluated": "nowiser.errors",
    "LedgerBroken": "nowiser.errors",
}

if TYPE_CHECKING:
    from nowiser.attacks.attack import attack as attack
    from nowiser.attacks.graphs.publish import publish_graph as publish_graph
    from nowiser.builder.aggregates import (
        avg as avg,
        count as count,
        max as max,  # noqa: A004 (nw.max reads as intended)
        median as median,
        min as min,  # noqa: A004 (as max)
        quantile as quantile,
        stddev as stddev,
        sum as sum,  # noqa: A004 (as max)
        variance as variance,
    )
    from nowiser.builder.expressions import col as col, desc as desc
    from nowiser.dbapi import connect as connect
    from nowiser.errors import (
        Exhausted as Exhausted,
        Fault as Fault,
        LedgerBroken as LedgerBroken,
        Misconfigured as Misconfigured,
        NotAnswerable as NotAnswerable,
        NotAuthorised as NotAuthorised,
        NotEvaluated as NotEvaluated,
        NowiserError as NowiserError,
        Refused as Refused,
        Unreachable as Unreachable,
        Useless as Useless,
    )
    from nowiser.gateway import (
        Gateway as Gateway,
        open as open,  # noqa: A004 (nw.open reads as intended)
    )
    from nowiser.guess.ask import guess as guess, largest as largest, scale as scale
    from nowiser.guess.average.expected import expected as expected
    from nowiser.guess.beside.knowledge import knowing as knowing
    from nowiser.guess.beside.part_known import knowing_part as knowing_part
    from nowiser.guess.beside.published import bounds as bounds
    from nowiser.microdata.compare import compare as compare, ru_map as ru_map
    from nowiser.microdata.measure import risk as risk
    from nowiser.microdata.propose import hierarchies as hierarchies
    from nowiser.microdata.publish import publish as publish
    from nowiser.model.advantage import Advantage as Advantage
    from nowiser.model.attacker import Attacker as Attacker
    from nowiser.model.cost import Cost as Cost
    from nowiser.model.goal import (
        And as And,
        Exactly as Exactly,
        Goal as Goal,
        In as In,
        Not as Not,
        On as On,
        Or as Or,
        Present as Present,
        Within as Within,
        parse_goal as parse_goal,
    )
    from nowiser.model.prior import (
        Atoms as Atoms,
        Categories as Categories,
        Empirical as Empirical,
        Frozen as Frozen,
        Histogram as Histogram,
        JointAtoms as JointAtoms,
        JointHistogram as JointHistogram,
        LogNormal as LogNormal,
        Mixture as Mixture,
        MultivariateNormal as MultivariateNormal,
        Normal as Normal,
        Presence as Presence,
        Prior as Prior,
        Truncated as Truncated,
        Uniform as Uniform,
        Unknown as Unknown,
    )
    from nowiser.noise.exponential import exponential as exponential
    from nowiser.noise.noisy_max import noisy_max as noisy_max
    from nowiser.noise.randomised_response import randomised_response as randomised_response
    from nowiser.report import charts as charts
    from nowiser.report.answer import Answer as Answer
    from nowiser.report.save import save as save
    from nowiser.synth.synopsis.ask import synopsis as synopsis

# function that a value of the model offers as a method → the module it lives in
_SUPPLIED = {
    "expected": "nowiser.guess.average.expected",
    "advantage_html": "nowiser.report.charts",
    "advantage_bundle": "nowiser.report.charts",
    "policy_html": "nowiser.report.tables",
    "policy_text": "nowiser.report.tables",
}

_ROOMS = frozenset(("attacks", "classical", "guess", "learn", "synth", "verify"))

__all__ = ["__version__", *sorted(_ROOMS), *_HOMES]  # noqa: PLE0604 (the names are strings)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return _of(_HOMES[name], name)
    if name in _ROOMS:  # the package itself; all but `learn` can be called
        return import_module(f"nowiser.{name}")
    raise AttributeError(f"module 'nowiser' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext nowiser` in a notebook: `%nowiser` and `%%nowiser` ask questions."""
    import_module("nowiser.notebook").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext nowiser`."""
    import_module("nowiser.notebook").unload(shell)


def _of(home: str, name: str) -> Any:
    return getattr(import_module(home), name)


for _name, _home in _SUPPLIED.items():
    supply(_name, partial(_of, _home, _name))
