"""Individual risk (Benedetti, Franconi and Polettini): the chance that a row is re-identified, given the sample.

A row whose combination f rows of the sample share, standing for F people (the sum of weights), is sampled
at the estimated rate p = f/F. Given f, the number of people in the population with the combination is taken
as negative binomial, and the risk is the posterior mean of one over that number:

    r = E[1/F | f] = (p^f / f) · ₂F₁(f, f; f+1; 1 − p)

`exact` evaluates that; `usual` is what sdcMicro and μ-Argus print: exact for f = 1 and 2 and p/(f − (1 − p))
beyond. A row that stands only for itself and its look-alikes (F = f) has risk 1/f. The sum over rows is the
expected number of re-identifications.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Roles
from nowiser.microdata.risk.best_guess import Floats
from nowiser.microdata.risk.frequencies import Frequencies, frequencies
from nowiser.microdata.risk.household import household_risk
from nowiser.microdata.table.micro_table import MicroTable


def individual_risk(counts: Frequencies, *, method: Literal["usual", "exact"] = "usual") -> Floats:
    """The risk of every row."""
    if method not in ("usual", "exact"):
        raise Misconfigured(f"method must be 'usual' or 'exact', not {method!r}")
    f, F = counts.sample.astype(np.float64), counts.population
    if (f * (1 - 1e-9) > F).any():
        raise Misconfigured(
            "a combination stands for fewer people than it has rows",
            hint="Sampling weights are at least 1; give no weights if the table is the whole population.",
        )
    p = np.minimum(1.0, f / F)
    census = f * (1 + 1e-12) >= F
    risk = 1 / f
    one, two, more = (~census & (f == 1)), (~census & (f == 2)), (~census & (f > 2))
    q = p / np.where(census, 1.0, 1 - p)
    risk[one] = (q * -np.log(p))[one]
    risk[two] = (q - q**2 * -np.log(p))[two]
    if method == "usual":
        risk[more] = (p / (f - (1 - p)))[more]
    elif more.any():
        from scipy.special import hyp2f1

        # Pfaff's transformation, ₂F₁(f,f;f+1;z) = (1−z)^(−f) ₂F₁(f,1;f+1;z/(z−1)), keeps every term positive and tame
        z = 1 - p[more]
        risk[more] = hyp2f1(f[more], 1.0, f[more] + 1, z / (z - 1)) / f[more]
    return np.asarray(np.clip(risk, 0.0, 1.0))


def measure(table: MicroTable, roles: Roles) -> Mapping[str, Any]:
    """For `nowiser risk`: look-alikes, expected re-identifications, households."""
    if not roles.quasi:
        return {}
    counts = frequencies(table, roles.quasi, roles.weight)
    risk = individual_risk(counts)
    out: dict[str, Any] = {
        "rows that are not 2-, 3-, 5-anonymous": [counts.violations(k) for k in (2, 3, 5)],
        "expected re-identifications": float(risk.sum()),
        "expected share": float(risk.mean()) if len(risk) else 0.0,
        "highest risk of a row": float(risk.max(initial=0.0)),
    }
    if roles.household is not None and roles.household in table:
        home = household_risk(table, roles.household, risk)
        out["expected re-identifications with households"] = float(home.sum())
    return out


TITLE = "individual risk"
MEASURE = measure
