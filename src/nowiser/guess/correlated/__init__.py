"""When records tell about each other: models in which differential privacy does not bound the attacker.

Each has an exact posterior and says by which factor the ordinary ceiling is wrong. None may enter a ledger.
"""

from nowiser.guess.correlated.models import all_equal, databases, group, markov, network
from nowiser.guess.correlated.normals import normals
from nowiser.guess.correlated.revealed import WARNING, Revealed

__all__ = ["WARNING", "Revealed", "all_equal", "databases", "group", "markov", "network", "normals"]
