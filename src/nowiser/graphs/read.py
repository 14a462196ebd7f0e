"""Graphs from files and from other libraries' objects, cleaned, with a note on everything that was taken away."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from scipy import sparse

from nowiser.errors import Misconfigured
from nowiser.files.unreadable import explained, not_csv, there
from nowiser.graphs.graph import Graph, Names, tidy

ENDINGS = (".csv", ".tsv", ".txt", ".edges", ".parquet", ".pq")
FORMS = "csv, tsv, txt or parquet (also .gz), with two columns of people"


@dataclass(frozen=True, eq=False)
class Read:
    """A graph, and what was noticed while it was read."""

    graph: Graph
    notes: tuple[str, ...] = ()
    directed: bool = False  # some links stood in one direction only


def read(source: Any, people: Any = None, ends: Sequence[str] | None = None, *, person: str | None = None) -> Read:
    """An edge list (a file, an Arrow table, pairs), a matrix of scipy, or a graph of networkx or igraph.

    people: a table with a row for each person: the first column (or `person`) is the name, the others are labels. Who
    has no link is then in the graph too. ends: the columns of an edge list that hold people; by default the first two.
    Raises Misconfigured where there is no link, or somebody is linked who is not among the people.
    """
    if isinstance(source, Read):
        return source
    if isinstance(source, Graph):
        return Read(source)
    if sparse.issparse(source):
        names, labels = _of_matrix(source, people, person)
        entries = source.tocoo()
        kept = entries.data != 0
        return cleaned(names[entries.row[kept]], names[entries.col[kept]], names, labels)
    if hasattr(source, "get_edgelist"):  # igraph
        own = source.vs["name"] if "name" in source.vs.attributes() else range(source.vcount())
        names = np.array([str(n) for n in own])
        pairs = np.array(source.get_edgelist(), np.int64).reshape(-1, 2)
        return cleaned(names[pairs[:, 0]], names[pairs[:, 1]], names)
    if callable(getattr(source, "edges", None)) and hasattr(source, "nodes"):  # networkx
        named = np.array([[str(a), str(b)] for a, b in source.edges()]).reshape(-1, 2)
        return cleaned(named[:, 0], named[:, 1], np.array([str(n) for n in source.nodes()]))
    table = _table(source, "links")
    first, second = _ends(table, ends)
    listed, labels = (None, {}) if people is None else _people(people, person)
    return cleaned(table.column(first), table.column(second), listed, labels)


def declared(links: pa.Table, people: pa.Table) -> Graph:
    """The graph of a policy: nothing in the data can make it fail. Who is not among the people has no link; of several
    rows about one person the first counts.
    """
    names, labels = _first(people)
    known = pa.array(names.tolist(), pa.string())
    ends = [_texts(links.column(i)) for i in (0, 1)]
    both = pc.and_(*(pc.is_in(end, value_set=known) for end in ends))
    pairs = [np.asarray(end.filter(both).to_pylist(), dtype=str) for end in ends]
    order = np.argsort(names, kind="stable")
    at = [order[np.searchsorted(names[order], side)] for side in pairs]
    return Graph.of(names, np.stack(at, axis=1) if len(at[0]) else np.zeros((0, 2), np.int64), labels)


def _first(people: pa.Table) -> tuple[Names, dict[str, Names]]:
    columns = [np.asarray(_texts(people.column(c)).to_pylist(), dtype=str) for c in people.column_names]
    _, first = np.unique(columns[0], return_index=True)
    first = np.sort(first[columns[0][first] != ""])
    return columns[0][first], {c: v[first] for c, v in zip(people.column_names[1:], columns[1:], strict=True)}


def cleaned(a: Any, b: Any, listed: Names | None = None, labels: Mapping[str, Names] | None = None) -> Read:
    """Numbers for names; what is no link between two people is left out, and said."""
    notes = []
    named = [_texts(side) for side in (a, b)]
    whole = pc.and_(pc.not_equal(named[0], ""), pc.not_equal(named[1], ""))
    blank = len(whole) - (pc.sum(whole).as_py() or 0)
    if blank:
        notes.append(f"{blank:,} rows without a person at one end were left out")
        named = [side.filter(whole) for side in named]
    coded = pa.chunked_array([*named[0].chunks, *named[1].chunks], pa.string()).combine_chunks().dictionary_encode()
    found = np.asarray(coded.dictionary.to_pylist(), dtype=str)
    names = _in_order(found) if listed is None else listed
    place = _places(found, names)
    numbers = place[coded.indices.to_numpy()].astype(np.int64) if len(found) else np.zeros(0, np.int64)
    pairs = numbers.reshape(2, -1).T
    alone = len(names) - len(found)
    if alone:
        notes.append(f"{alone:,} people have no link")
    links = tidy(pairs, len(names))
    if not len(links):
        raise Misconfigured("there is no link between two people in it")
    said, directed = _repeated(pairs, links, len(names))
    return Read(Graph(names, links, dict(labels or {})), (*notes, *said), directed)


def _repeated(pairs: Any, links: Any, people: int) -> tuple[list[str], bool]:
    """What is said of links of oneself, links that stand there twice, and directions."""
    notes = []
    real = pairs[pairs[:, 0] != pairs[:, 1]]
    if len(real) < len(pairs):
        notes.append(f"{len(pairs) - len(real):,} links of somebody to the same person were left out")
    ways = len(np.unique(real[:, 0] * people + real[:, 1]))
    if ways < len(real):
        notes.append(f"{len(real) - ways:,} links stood there twice and count once")
    both = ways - len(links)
    directed = 0 < both < len(links)
    if directed:
        notes.append(
            f"links are read without direction: {len(links) - both:,} stood there in one direction, {both:,} in both"
        )
    return notes, directed


def _places(found: Names, names: Names) -> Any:
    order = np.argsort(names, kind="stable")
    at = np.searchsorted(names[order], found)
    there = at < len(names)
    there[there] = names[order][at[there]] == found[there]
    if not there.all():
        raise Misconfigured(
            f"{int((~there).sum()):,} of the people who are linked are not in the table of people",
            hint="Give everybody a row there, or leave the table out.",
        )
    return order[at]


def _in_order(found: Names) -> Names:
    """Whole numbers by size, other names by the alphabet."""
    if len(found) and np.char.isdecimal(found).all() and max(map(len, found)) < 19:
        return np.asarray(found[np.argsort(found.astype(np.int64), kind="stable")])
    return np.sort(found)


def _of_matrix(source: Any, people: Any, person: str | None) -> tuple[Names, Mapping[str, Names]]:
    if source.shape[0] != source.shape[1]:
        raise Misconfigured(f"an adjacency matrix is square, not {source.shape[0]} × {source.shape[1]}")
    if people is None:
        return np.arange(source.shape[0]).astype(str), {}
    names, labels = _people(people, person)
    if len(names) != source.shape[0]:
        raise Misconfigured(f"the matrix has {source.shape[0]} rows, the table of people {len(names)}")
    return names, labels


def _people(source: Any, person: str | None) -> tuple[Names, dict[str, Names]]:
    table = _table(source, "people")
    name = person or table.column_names[0]
    if name not in table.column_names:
        raise Misconfigured(f"the table of people has no column {name!r}: {', '.join(table.column_names)}")
    names = np.asarray(_texts(table.column(name)).to_pylist(), dtype=str)
    if len(np.unique(names)) != len(names):
        raise Misconfigured(f"column {name!r} of the table of people names somebody twice")
    labels = {c: np.asarray(_texts(table.column(c)).to_pylist(), dtype=str) for c in table.column_names if c != name}
    return names, labels


def _table(source: Any, what: str) -> pa.Table:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, str | Path):
        return _file(Path(source), what)
    if hasattr(source, "__arrow_c_stream__"):
        return pa.table(source)
    if isinstance(source, Sequence | np.ndarray):
        pairs = np.asarray(source)
        if pairs.ndim == 2 and pairs.shape[1] == 2:
            return pa.table({"a": pa.array(pairs[:, 0]), "b": pa.array(pairs[:, 1])})
    raise Misconfigured(
        f"a graph is an edge list, a matrix of scipy, or a graph of networkx or igraph, not {type(source).__name__}"
    )


def _file(path: Path, what: str) -> pa.Table:
    plain = Path(path.stem) if path.suffix == ".gz" else path
    if plain.suffix.lower() not in ENDINGS:
        raise Misconfigured(f"{path}: {what} are read from {FORMS}")
    there(path)
    try:
        if plain.suffix.lower() in {".parquet", ".pq"}:
            return pq.read_table(path)
        return _delimited(path)
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError):
        again = "It should be " + FORMS + ", each line with the same number of them."
        raise explained(path) or Misconfigured(f"{path} cannot be read", hint=again) from None


def _delimited(path: Path) -> pa.Table:
    """The character between two fields, and whether there is a header, are read off the first line that says much."""
    opened = gzip.open if path.suffix == ".gz" else open
    skipped, head = 0, ""
    with opened(path, "rt", encoding="utf-8-sig") as file:
        for line in file:
            if line.strip() and not line.startswith(("#", "%")):
                head = line.rstrip("\n")
                break
            skipped += 1
    if not head:
        raise not_csv(path) or Misconfigured(f"{path} is empty")
    between = next((c for c in (",", "\t", ";", " ") if c in head), ",")
    fields = [f.strip().strip('"') for f in head.split(between)]
    bare = all(f.lstrip("-").isdecimal() for f in fields)  # numbers: this is a link, not a header
    names = [f"column{i + 1}" for i in range(len(fields))] if bare else fields
    return pa_csv.read_csv(
        path,
        pa_csv.ReadOptions(skip_rows=skipped + (not bare), column_names=names),
        pa_csv.ParseOptions(delimiter=between),
    )


def _ends(table: pa.Table, ends: Sequence[str] | None) -> tuple[str, str]:
    if ends is None:
        if table.num_columns < 2:
            raise Misconfigured("an edge list has two columns of people; this one has one")
        return table.column_names[0], table.column_names[1]
    for name in ends:
        if name not in table.column_names:
            raise Misconfigured(f"the links have no column {name!r}: {', '.join(table.column_names)}")
    if len(ends) != 2 or ends[0] == ends[1]:
        raise Misconfigured("name the two columns that hold people, as in pupil,friend")
    return ends[0], ends[1]


def _texts(column: Any) -> pa.ChunkedArray:
    held = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([pa.array(column)])
    return held.cast(pa.string()).fill_null("")
