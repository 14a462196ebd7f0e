"""What an attacker believes before the release: every prior, in one place to import from.

| prior                                   | about                                                             |
|-----------------------------------------|-------------------------------------------------------------------|
| `Uniform, Normal, LogNormal, Frozen`    | one number, by formula                                            |
| `Atoms, Histogram, Empirical`           | one number, written out                                           |
| `Truncated, Mixture`                    | made of the above                                                 |
| `Categories`                            | one label                                                         |
| `Presence` (also called `Present` here) | whether the person is in the table                                |
| `Unknown`                               | anything: the worst prior counts                                  |
| `JointAtoms, MultivariateNormal, JointHistogram` | several attributes that depend on each other             |

Independent attributes are a mapping from attribute to prior. Priors are public statements of the custodian.
"""

from nowiser.model.priors.base import Prior
from nowiser.model.priors.joint import JointAtoms, JointHistogram, MultivariateNormal
from nowiser.model.priors.line import Frozen, LogNormal, Mixture, Normal, Truncated, Uniform
from nowiser.model.priors.table import Atoms, Categories, Empirical, Histogram, Presence, Unknown

Present = Presence

__all__ = [
    "Atoms",
    "Categories",
    "Empirical",
    "Frozen",
    "Histogram",
    "JointAtoms",
    "JointHistogram",
    "LogNormal",
    "Mixture",
    "MultivariateNormal",
    "Normal",
    "Presence",
    "Present",
    "Prior",
    "Truncated",
    "Uniform",
    "Unknown",
]
