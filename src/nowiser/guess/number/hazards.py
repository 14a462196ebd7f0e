"""The tilted hazards of a smooth density, between two points at which they are known.

With A' = p − κA and B' = κB − p (see `halves`) and s = (ln p)', differentiating gives

    h⁺ = p/A,    (ln h⁺)' = κ + s − h⁺            h⁻ = p/B,    (ln h⁻)' = h⁻ − (κ − s),

the second of which is the first seen from the other side (x → −x, s → −s). On a stretch on which s is between known
bounds, h⁺ to the right of a point is at most the larger of its value there and κ + max s (above both it falls), and at
least the smaller of that value and κ + min s. With these, ln h⁺ moves at a bounded speed, and its values at both ends
bound it in between; once more, with the sharper bounds, that is sharp enough.

The slope d = κ + s − h⁺ of ln h⁺ obeys d' = s' − h⁺·d: to the right of a point it is between its value there and the
smallest and largest s'/h⁺ (`bends`). In a long flat tail that is next to nothing, and all but constant.
"""

import numpy as np

from nowiser.model.priors.base import Floats


def hazards(
    k: float, first: Floats, last: Floats, slopes: tuple[Floats, Floats], width: Floats
) -> tuple[Floats, Floats]:
    """Bounds on h with (ln h)' = k + s − h between two points at which it is known (∞: not known there)."""
    slow, quick = k + slopes[0], k + slopes[1]
    one, two = np.isfinite(first), np.isfinite(last)
    least = np.where(one, np.minimum(first, np.maximum(slow, 0.0)), 0.0)
    most = np.where(one, np.maximum(first, quick), np.inf)
    logs = np.log(first), np.log(last)
    for _ in range(2):
        rise, fall = np.maximum(quick - least, 0.0), np.maximum(most - slow, 0.0)
        up = np.where(one, logs[0] + rise * width, np.inf), np.where(two, logs[1] + fall * width, np.inf)
        down = np.where(one, logs[0] - fall * width, -np.inf), np.where(two, logs[1] - rise * width, -np.inf)
        # both lines hold; where they cross is the worst
        share = rise / (rise + fall)
        high = logs[0] + share * (logs[1] - logs[0] + fall * width)
        deep = logs[0] - (1 - share) * (logs[0] - logs[1] + rise * width)
        high, deep = np.where(one & two, high, np.fmin(*up)), np.where(one & two, deep, np.fmax(*down))
        most, least = np.fmin(most, np.exp(high)), np.fmax(least, np.exp(deep))
    return least, most


def bends(
    first: Floats, turns: tuple[Floats, Floats], least: Floats, most: Floats, spare: Floats
) -> tuple[Floats, Floats]:
    """Bounds on h' = h·d to the right of a point with d = `first` (± `spare`); bounds on s' and on h are given."""
    slow = np.minimum(first - spare, turns[0] / np.where(turns[0] > 0, most, least))
    quick = np.maximum(first + spare, turns[1] / np.where(turns[1] > 0, least, most))
    return slow * np.where(slow > 0, least, most), quick * np.where(quick > 0, most, least)
