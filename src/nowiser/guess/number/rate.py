"""From a slope to nats per unit."""

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density.line import Line

STEEPEST = 1e100  # nats over all likely values


def rate_of(row: Line, slope: float, radius: float, what: str) -> float:
    """Nats per unit; refused where squares of nats over the prior would be no numbers any more."""
    rate = slope / radius
    if max(rate, slope) > 1e50:
        places = row.landmarks()
        across = max(1.0, float(np.ptp(places[np.isfinite(places)])))
        if not rate * across <= STEEPEST:
            raise Misconfigured(
                f"slope must be at most {STEEPEST / across * radius:.3g} for {what} (its likely values spread over "
                f"{across:g}, the radius is {radius:g}), found {slope:g}",
                hint="Give a smaller slope, or ask about a larger radius.",
            )
    return rate
