"""Curves of one attack, as points (x, y) from 0 to 1: who is named rightly beside who is named wrongly."""

import numpy as np

from nowiser.attacks.view import Bools, Floats

Curve = tuple[tuple[float, float], ...]
POINTS = 300


def roc(score: Floats, member: Bools) -> Curve:
    """Share of strangers named → share of members named, from the surest claim of membership downwards."""
    order = np.argsort(-score, kind="stable")
    inside, ranked = member[order], score[order]
    ends = np.flatnonzero(np.append(ranked[:-1] != ranked[1:], True))  # equal scores are named together
    found = np.cumsum(inside)[ends] / max(1, int(member.sum()))
    wrong = np.cumsum(~inside)[ends] / max(1, int((~member).sum()))
    return thinned(np.append(0.0, wrong), np.append(0.0, found))


def claims(right: Bools, confidence: Floats) -> Curve:
    """Share of victims named wrongly → share named rightly, from his surest claim downwards."""
    order = np.argsort(-confidence, kind="stable")
    good, sure = right[order], confidence[order]
    ends = np.flatnonzero(np.append(sure[:-1] != sure[1:], True))
    n = max(1, len(right))
    return thinned(np.append(0.0, np.cumsum(~good)[ends] / n), np.append(0.0, np.cumsum(good)[ends] / n))


def thinned(x: Floats, y: Floats) -> Curve:
    """At most so many points; those near 0 are kept, for they are looked at on a logarithmic axis."""
    chosen = np.arange(len(x))
    if len(x) > POINTS:
        chosen = np.unique(np.append(np.geomspace(1, len(x), POINTS).astype(int) - 1, len(x) - 1))
    return tuple((float(x[k]), float(y[k])) for k in chosen)
