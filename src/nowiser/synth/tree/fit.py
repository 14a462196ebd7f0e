"""The distribution of largest entropy near noisy marginals: mirror descent on a junction tree.

    minimise  Σ_m  weight_m/2 · ‖M_m(p) − measured_m‖²     over distributions p = exp(Σ_m θ_m) / Z

Every gradient is a sum of tables as small as what was measured, and so is every step: the parameters θ are such tables,
one for each set of columns, whatever tree holds them. So when a set is measured besides and the tree is made anew, the
fit goes on where it was. A step that does not lower the loss by half of what the slope promised is halved.

All of this is post-processing: it sees nothing but noisy marginals.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nowiser.synth.tree.beliefs import Beliefs, calibrated, spread
from nowiser.synth.tree.junction import Clique, Junction

Floats = NDArray[np.float64]
Parameters = Mapping[Clique, Floats]

CLOSE = 1e-6  # a relative change of the loss below which nothing more is to be had
SHRINK, GROW, LEAST = 0.5, 1.6, 1e-12


@dataclass(frozen=True, eq=False)
class Target:
    """Noisy shares of rows over some columns, and how much they count: one over their variance."""

    columns: Clique
    shares: Floats
    weight: float


@dataclass(frozen=True, eq=False)
class Fitted:
    """Parameters, the beliefs they give, and the step that was taken last."""

    parameters: dict[Clique, Floats]
    beliefs: Beliefs
    loss: float
    step: float


def believed(tree: Junction, parameters: Parameters, zeros: Sequence[tuple[Clique, NDArray[np.bool_]]] = ()) -> Beliefs:
    """The beliefs of a tree with these parameters; `zeros`: cells that are impossible."""
    logs = [np.zeros([tree.sizes[v] for v in c]) for c in tree.cliques]
    for columns, theta in parameters.items():
        at = _home(tree, columns)
        logs[at] += spread(theta, columns, tree.cliques[at])
    tables = [np.exp(np.subtract(table, table.max(), out=table), out=table) for table in logs]
    for columns, impossible in zeros:
        at = _home(tree, columns)
        tables[at] *= spread(np.where(impossible, 0.0, 1.0), columns, tree.cliques[at])
    return calibrated(tree, tables)


def fit(
    tree: Junction,
    targets: Sequence[Target],
    start: Fitted | None,
    rounds: int,
    *,
    zeros: Sequence[tuple[Clique, NDArray[np.bool_]]] = (),
    heard: Callable[[int], None] = lambda _: None,
) -> Fitted:
    """At most so many steps from where an earlier fit ended."""
    shape = {t.columns: t.shares.shape for t in targets}
    known = start.parameters if start is not None else {}
    here = {c: known[c].copy() if c in known else np.zeros(shape[c]) for c in shape}
    beliefs = believed(tree, here, zeros)
    marginals = _marginals(beliefs, here)
    loss, slope = _slope(marginals, targets)
    step = start.step if start is not None else 1.0 / max((t.weight for t in targets), default=1.0)
    quiet = 0
    for i in range(rounds):
        heard(i)
        while step > LEAST:
            moved = {c: theta - step * slope[c] for c, theta in here.items()}
            there = believed(tree, moved, zeros)
            found = _marginals(there, here)
            new, further = _slope(found, targets)
            downhill = sum(float(np.vdot(g, marginals[c] - found[c])) for c, g in slope.items())
            if new <= loss - 0.5 * max(0.0, downhill):
                break
            step *= SHRINK
        else:
            break
        gained = loss - new
        here, beliefs, marginals, loss, slope = moved, there, found, new, further
        step *= GROW
        quiet = quiet + 1 if gained <= CLOSE * max(loss, 1e-300) else 0
        if quiet >= 3:
            break
    return Fitted(here, beliefs, loss, step)


def _marginals(beliefs: Beliefs, wanted: Iterable[Clique]) -> dict[Clique, Floats]:
    return {c: beliefs.marginal(c) for c in wanted}


def _slope(marginals: Parameters, targets: Sequence[Target]) -> tuple[float, dict[Clique, Floats]]:
    """The loss and its gradient in the marginals; no two targets are over the same columns."""
    loss, slope = 0.0, {}  # type: float, dict[Clique, Floats]
    for t in targets:
        apart = marginals[t.columns] - t.shares
        slope[t.columns] = t.weight * apart
        loss += 0.5 * float(np.vdot(slope[t.columns], apart))
    return loss, slope


def _home(tree: Junction, columns: Clique) -> int:
    at = tree.holding(columns)
    assert at is not None, "the tree holds all that was measured"
    return at
