"""Every statistic there is, by name."""

from nowiser.errors import Misconfigured
from nowiser.graphs.answers import counts, degrees, subgraphs, whole
from nowiser.graphs.answers.statistic import Protects, Statistic

STATISTICS: dict[str, Statistic] = {
    s.name: s for s in (*counts.STATISTICS, *degrees.STATISTICS, *subgraphs.STATISTICS, *whole.STATISTICS)
}


def statistic(name: str, protect: Protects) -> Statistic:
    """The statistic of this name, where it is answered for what is protected."""
    found = STATISTICS.get(name)
    if found is None:
        raise Misconfigured(f"there is no statistic {name!r}", hint=f"There are: {', '.join(STATISTICS)}.")
    if protect not in found.protects:
        there = ", ".join(n for n, s in STATISTICS.items() if protect in s.protects)
        if protect == "persons":
            why = "one person with all her links can change it without bound"
            raise Misconfigured(f"{name} is not answered where persons are protected: {why}", hint=f"Ask for {there}.")
        raise Misconfigured(
            f"{name}: who is there is public where single links are protected", hint=f"Ask for {there}."
        )
    return found
