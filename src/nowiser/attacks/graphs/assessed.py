"""`nowiser attack --graph`: a released graph and its original, read and handed to the flow `assess`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nowiser.attacks.assess import Assessment, Round
from nowiser.attacks.graphs.game import Links
from nowiser.attacks.outcome import Claim
from nowiser.errors import Misconfigured
from nowiser.graphs.graph import Graph, Ints, Names
from nowiser.graphs.read import read
from nowiser.microdata.table.read import load
from nowiser.percent import percent


def on_graph(
    released: Any,
    original: Any,
    run: Callable[..., Assessment],
    *,
    people: Any = None,
    names: Any = None,
    seeds: Any = None,
    ends: Sequence[str] | None = None,
    label: str | None = None,
    claim: float | None = None,
) -> Assessment:
    """Who is who, who is linked, and the `label`, by the links alone.

    names: a table of old and new names, as `publish` writes it; without it, people are called the same in both.
    seeds: a table of people of the original whom the attacker finds for certain.
    """
    if original is None:
        raise Misconfigured("an attack is scored by the original graph (--original)")
    old, new = read(original, people, ends), read(released, _beside(released))
    notes = [f"original: {n}" for n in old.notes] + [f"release: {n}" for n in new.notes]
    place = _places(old.graph, new.graph, None if names is None else _pairs(names))
    lost = int((place < 0).sum())
    if lost == old.graph.people:
        raise Misconfigured(
            "nobody of the original is found in the release by name",
            hint="Name the table of old and new names with --names: two columns. nowiser publish writes it.",
        )
    if lost:
        notes.append(f"{lost:,} people of the original are not in the release: nobody is asked about them")
    known = None if seeds is None else _numbers(old.graph, _column(seeds), "--seeds")
    if label is not None and label not in old.graph.labels:
        raise Misconfigured(f"the people have no column {label!r}: {', '.join(old.graph.labels) or 'none'}")
    shown = new.graph
    if label is not None:  # attackers read it beside whomever they take for her
        beside = np.full(shown.people, "", old.graph.labels[label].dtype)
        beside[place[place >= 0]] = old.graph.labels[label][place >= 0]
        shown = Graph(shown.names, shown.links, {label: beside})
    promised = None
    if claim is not None:
        promised = Claim(None, claim, True, f"nobody found in more than {percent(claim)} of cases", "row")
    return run("graph", [Round(Links(old.graph, shown, place, known, label), label, promised)], notes=notes)


def _beside(released: Any) -> Path | None:
    """The people of a release, as `publish` writes them beside the links."""
    if not isinstance(released, str | Path):
        return None
    path = Path(released)
    there = path.with_name(f"{path.stem}.people{path.suffix}")
    return there if there.is_file() else None


def _places(old: Graph, new: Graph, pairs: tuple[Names, Names] | None) -> Ints:
    """Where everybody of the original is in the release; −1: not there."""
    called = old.names.astype(str)
    if pairs is not None:
        order = np.argsort(pairs[0], kind="stable")
        at = np.minimum(np.searchsorted(pairs[0][order], called), len(order) - 1)
        called = np.where(pairs[0][order][at] == called, pairs[1][order][at], "")
    names = new.names.astype(str)
    order = np.argsort(names, kind="stable")
    at = np.minimum(np.searchsorted(names[order], called), len(order) - 1)
    return np.where(names[order][at] == called, order[at], -1).astype(np.int64)


def _pairs(source: Any) -> tuple[Names, Names]:
    table = load(source).to_arrow()
    if table.num_columns < 2:
        raise Misconfigured("the table of names has two columns: in the original, in the release")
    old, new = (np.asarray([str(v) for v in table.column(i).to_pylist()]) for i in (0, 1))
    return old, new


def _column(source: Any) -> Names:
    return np.asarray([str(v) for v in load(source).to_arrow().column(0).to_pylist()])


def _numbers(graph: Graph, named: Names, option: str) -> Ints:
    found = np.flatnonzero(np.isin(graph.names.astype(str), named))
    if not len(found):
        raise Misconfigured(f"{option} names nobody of the original")
    return np.asarray(found, np.int64)
