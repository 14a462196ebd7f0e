"""The flow: release a graph, after the attacks were run on it.

    read → change the links → new names → attack → what is left of the graph → write

What a release of links promises depends on its method, and is said with it; what the attacks reach is measured.
"""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nowiser.attacks.assess import Assessment, Round, assess, quiet
from nowiser.attacks.graphs.game import Links
from nowiser.attacks.graphs.matching import by_characteristic
from nowiser.attacks.outcome import Claim
from nowiser.attacks.view import Bools
from nowiser.errors import Misconfigured
from nowiser.files.writing import writing
from nowiser.graphs.graph import Graph, Ints
from nowiser.graphs.read import read
from nowiser.graphs.release.clusters import Clustered, clustered
from nowiser.graphs.release.k_degree import k_degree
from nowiser.graphs.release.randomise import loss_for, posterior, randomised, true_share
from nowiser.graphs.release.rewire import rewire
from nowiser.graphs.utility import compared, described
from nowiser.graphs.write import edge_list, write_graph
from nowiser.microdata.recipe import share as share_of
from nowiser.microdata.table.read import load
from nowiser.microdata.table.write import check_target, staged, write_table
from nowiser.noise.entropy import OS
from nowiser.noise.uniform import shuffled
from nowiser.percent import percent

METHODS = ("rename", "k-degree", "rewire", "randomise", "clusters")
MOST_DRAWN = 400  # people, in a picture of all links
MOST_ATTACKED = 20_000  # people, above which attacks are left to `nowiser attack --graph`


@dataclass(frozen=True, eq=False)
class PublishedGraph:
    """A graph that was released, what is promised about it, what attackers reach, and what is left of it."""

    method: str
    original: Graph
    graph: Graph | None  # None: clusters were released
    clusters: Clustered | None
    place: Ints  # where everybody of the original is in the release
    found: Bools | None  # whom the strongest attack finds, in graphs small enough to be drawn
    promises: tuple[str, ...]
    attacks: Assessment | None
    figures: Mapping[str, Mapping[str, float]]  # original, released, lost
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "people": self.original.people,
            "links": {"original": self.original.size, "released": self.graph.size if self.graph else None},
            "promises": list(self.promises),
            "attacks": self.attacks.to_json() if self.attacks else None,
            "figures": {name: dict(found) for name, found in self.figures.items()},
            "notes": list(self.notes),
            "files": [str(f) for f in self.files],
        }

    def to_arrow(self) -> pa.Table:
        if self.clusters is not None:
            return self.clusters.to_arrow()
        assert self.graph is not None
        return edge_list(self.graph)

    def chart(self) -> Any:
        """The graph before and after; who is still found is marked."""
        from nowiser.report.graphs import before_and_after

        return before_and_after(self)

    def save(self, path: str | Path) -> Path:
        """The report as one HTML file; for the custodian only."""
        from nowiser.report.graphs import save_report

        return save_report(self, Path(path))

    def __str__(self) -> str:
        from nowiser.report.graphs import published

        return published(self.to_json())

    def _repr_html_(self) -> str:
        from nowiser.report.graphs import page

        return page(self, whole=False)


def publish_graph(
    source: Any,
    *,
    method: str = "k-degree",
    people: Any = None,
    ends: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    k: int | None = None,
    share: float | str | None = None,
    presence: float | str | None = None,
    gain: float | str | None = None,
    by: str | None = None,
    output: str | Path | None = None,
    names: str | Path | None = None,
    force: bool = False,
    attack: bool = True,
    seed: int | None = None,
    progress: Callable[[str], None] = quiet,
) -> PublishedGraph:
    """Release who is linked to whom, under new names.

    `method`: `rename` (nothing else; it hides hardly anybody), `k-degree` (everybody has the number of links of k - 1
    others), `rewire` (a `share` of the links is swapped), `randomise` (every pair is blurred by itself: an attacker who
    held a pair linked with chance `presence` gains at most `gain`), `clusters` (k people and more, with counts of
    links; `by` a label, or by who is linked). `people`: a table with a row for each person; `keep`: columns of it to
    release.

    `output`: csv or parquet. `names`: a file only the custodian keeps, with the old and the new name of everybody.
    `seed` repeats the attacks, never the release.
    """
    found = read(source, people, ends)
    graph = found.graph
    chosen = _options(method, k=k, share=share, presence=presence, gain=gain, by=by)
    for column in (*keep, *([by] if by is not None else [])):
        if column not in graph.labels:
            there = ", ".join(graph.labels) or "none: give people="
            raise Misconfigured(f"the people have no column {column!r}", hint=f"There is {there}.")
    out, key = (None if f is None else Path(f) for f in (output, names))
    if out is not None:
        check_target(out, Path(source) if isinstance(source, str | Path) else None, force=force)
    if key is not None and key.exists() and not force:
        raise Misconfigured(f"{key} is already there", hint="Name another file, or overwrite it with force=True.")
    if method == "randomise" and people is None:
        raise Misconfigured(
            "name the table of people too (--people): without it, who is in the graph depends on who is linked",
            hint="A file with a row for each person, those without links too.",
        )
    random = np.random.default_rng(secrets.randbits(128))
    bare = Graph(graph.names, graph.links, {c: graph.labels[c] for c in keep})
    if method == "clusters":
        clusters = clustered(bare, chosen["k"], None if by is None else graph.labels[by])
        said = (_of_clusters(clusters),)
        made = PublishedGraph(method, graph, None, clusters, clusters.of, None, said, None, {}, found.notes)
        return _written(made, out, None)
    progress("the links are changed")
    changed = _changed(bare, method, chosen, random)
    place = np.asarray(shuffled(graph.people, OS), np.int64)
    fresh = np.array([f"n{i + 1:0{len(str(graph.people))}d}" for i in range(graph.people)])
    released = changed.renumbered(place, fresh)
    promises, claim = _promised(method, chosen, graph)
    notes = list(found.notes)
    tried = None
    if attack and graph.people <= MOST_ATTACKED:
        game = Links(graph, released, place, label=keep[0] if keep else None)
        number = secrets.randbits(31) if seed is None else seed
        tried = assess("graph", [Round(game, keep[0] if keep else None, claim)], seed=number, progress=progress)
    elif attack:
        notes.append(f"more than {MOST_ATTACKED:,} people: run the attacks with nowiser attack --graph")
    progress("what is left of the graph is measured")
    figures = {"original": described(graph), "released": described(released), "lost": compared(graph, changed)}
    hit = None
    if graph.people <= MOST_DRAWN:
        hit = by_characteristic(graph.adjacency, released.adjacency, random).place == place
    made = PublishedGraph(method, graph, released, None, place, hit, promises, tried, figures, tuple(notes))
    return _written(made, out, key)


def _options(method: str, **given: Any) -> dict[str, Any]:
    """What the method needs, read; everything else is refused, so that nothing is ignored."""
    needs = {
        "rename": (),
        "k-degree": ("k",),
        "rewire": ("share",),
        "randomise": ("presence", "gain"),
        "clusters": ("k",),
    }
    if method not in needs:
        raise Misconfigured(f"there is no method {method!r}", hint=f"Methods: {', '.join(METHODS)}.")
    takes = (*needs[method], *(("by",) if method == "clusters" else ()))
    usual = {"k": 5, "share": 0.1}
    for name, value in given.items():
        if value is not None and name not in takes:
            raise Misconfigured(
                f"method {method} does not take {name}", hint=f"It takes {', '.join(takes) or 'nothing'}."
            )
    read_: dict[str, Any] = {}
    for name in needs[method]:
        value = given[name] if given[name] is not None else usual.get(name)
        if value is None:
            raise Misconfigured(
                f"method {method} needs {name}",
                hint="presence: how likely attackers hold a link, as in 3%; gain: how much better they may guess.",
            )
        read_[name] = value if name == "k" else float(share_of(value, name))
    return read_


def _changed(graph: Graph, method: str, chosen: Mapping[str, Any], random: np.random.Generator) -> Graph:
    if method == "k-degree":
        return k_degree(graph, chosen["k"], random)
    if method == "rewire":
        return rewire(graph, chosen["share"], random)
    if method == "randomise":
        return randomised(graph, loss_for(chosen["presence"], chosen["gain"]))
    return graph


def _promised(method: str, chosen: Mapping[str, Any], graph: Graph) -> tuple[tuple[str, ...], Claim | None]:
    """What is promised, and the ceiling the attack on links is held against, where there is one."""
    if method == "k-degree":
        known = (
            f"Everybody has the number of links of at least {chosen['k'] - 1} others: whoever knows only that number"
            f" finds her in at most 1 of {chosen['k']} cases. Nothing is promised against whoever knows links."
        )
        return (known,), None
    if method != "randomise":
        return ("Nothing is promised: what the attacks reach is what there is.",), None
    epsilon = float(loss_for(chosen["presence"], chosen["gain"]))
    after, even = chosen["presence"] + chosen["gain"], posterior(0.5, epsilon, linked=True)
    limit = (
        f"Whether two people are linked is guessed in at most {percent(after)} of cases, {percent(chosen['presence'])}"
        " before, whatever the attacker knows of all other links."
    )
    true = f"About {percent(true_share(graph.density, epsilon))} of the links that are told are true."
    claim = Claim(None, even, True, f"a link held as likely as not is guessed in at most {percent(even)}", "link")
    return (limit, true), claim


def _of_clusters(made: Clustered) -> str:
    low, high = made.surest
    return (
        f"{len(made.sizes)} clusters of {int(made.sizes.min())} to {int(made.sizes.max())} people. Whoever knows which"
        f" cluster two people are in, and no link, holds them linked with a chance of {percent(low)} to"
        f" {percent(high)}. Nothing is promised against whoever knows most links of a cluster."
    )


def _written(made: PublishedGraph, out: Path | None, key: Path | None) -> PublishedGraph:
    """The release; the names, for the custodian alone."""
    files: list[Path] = []
    if key is not None and made.graph is not None:
        text = "original,released\n" + "".join(
            f"{_field(old)},{made.graph.names[made.place[i]]}\n" for i, old in enumerate(made.original.names)
        )
        with writing(key), os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        files.append(key)
    if out is not None and made.graph is not None:
        files += write_graph(made.graph, out)
    elif out is not None:
        with staged(out) as folder, writing(out):
            write_table(load(made.to_arrow()), folder / out.name)
        files.append(out)
    return replace(made, files=tuple(files))


def _field(name: Any) -> str:
    text = str(name)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text
