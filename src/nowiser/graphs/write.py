"""A graph as files: its links, and beside them its people with their labels."""

from pathlib import Path

import pyarrow as pa

from nowiser.files.writing import writing
from nowiser.graphs.graph import Graph
from nowiser.microdata.table.read import load
from nowiser.microdata.table.write import staged, write_table


def edge_list(graph: Graph) -> pa.Table:
    """Two columns of names."""
    return pa.table({"person": graph.names[graph.links[:, 0]], "other": graph.names[graph.links[:, 1]]})


def write_graph(graph: Graph, out: Path) -> list[Path]:
    """`friends.csv`, and `friends.people.csv` with everybody, those without links too."""
    beside = out.with_name(f"{out.stem}.people{out.suffix}")
    for table, file in ((edge_list(graph), out), (pa.table({"person": graph.names, **graph.labels}), beside)):
        with staged(file) as folder, writing(file):
            write_table(load(table), folder / file.name)
    return [out, beside]
