"""When nothing satisfies the constraints: which one it is, and the nearest that could be satisfied."""

from dataclasses import replace
from math import ceil

from nowiser.microdata.groups.people import by_person
from nowiser.microdata.search.problem import Problem, failing
from nowiser.microdata.search.rollup import Rollup


def why(problem: Problem) -> tuple[str, str]:
    """What is wrong and what would be feasible, judged at the top of the lattice, where groups are largest."""
    top = problem.heights
    groups = by_person(Rollup(problem).groups(top))
    rows = int(groups.size.sum())
    bad = failing(problem.models, groups)
    need = int(groups.size[bad].sum())
    for model in problem.models:
        alone = failing((model,), groups)
        value = model.value(groups)
        if int(groups.size[alone].sum()) > problem.suppress or (model.scope == "table" and not model.holds(value)):
            about = f" about {model.column!r}" if model.column else ""
            message = (
                f"no table satisfies {model.name} = {model.limit:g}{about}: even with everything generalised "
                f"to the top, its value is {value:g}"
            )
            nearest = f"The nearest that is feasible: {model.name} = {value:g}"
            if 0 < need < rows:
                nearest += f", or a suppression limit of {ceil(1000 * need / rows) / 10:g} % ({need} of {rows} rows)"
            return message, nearest + "."
    if problem.most is not None:
        from nowiser.microdata.search.best_first import search

        free = search(replace(problem, most=None, loss=problem.most[0]), seconds=10.0)
        if free.best is not None:
            return (
                f"no table satisfies the models with a loss of at most {problem.most[1]:g}",
                f"The nearest that is feasible: a loss of {free.best.loss:g}.",
            )
    return (
        "no table satisfies all models together within the suppression limit",
        f"Each is feasible alone. At the top of the lattice {need} of {rows} rows would have to be suppressed.",
    )
