"""Writing a release so that it is never half there: everything in a folder beside the target, checked, then moved.

The data file is moved last, so whoever sees it finds its codebook and report; whatever interrupts the
writing (an error, Ctrl-C) removes the folder and what was already moved.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from nowiser.engines.progress import silent
from nowiser.errors import Misconfigured
from nowiser.files.interrupted import rows_of
from nowiser.files.writing import writing
from nowiser.microdata.table.column import Coded
from nowiser.microdata.table.micro_table import MicroTable

FORMATS = (".csv", ".tsv", ".parquet")


def check_target(output: Path, source: Path | None, *, force: bool) -> None:
    """Refuse before any work what could not be written after it."""
    if output.suffix.lower() not in FORMATS:
        raise Misconfigured(f"the output must end in {', '.join(FORMATS)}, and is {output.name!r}")
    if not output.resolve().parent.is_dir():
        raise Misconfigured(f"there is no folder {output.resolve().parent}")
    if source is not None and source.exists() and output.exists() and source.samefile(output):
        raise Misconfigured("the output is the custodian's own table", hint="Name another file with -o.")
    there = [p for p in companions(output) if p.exists()]
    if there and not force:
        raise Misconfigured(f"{there[0]} is already there", hint="Name another file, or overwrite it with force=True.")


def companions(output: Path) -> tuple[Path, Path, Path]:
    """Report, codebook and data: in the order they appear."""
    return output.with_suffix(".report.html"), output.with_suffix(".codebook.json"), output


@contextmanager
def staged(output: Path) -> Iterator[Path]:
    """A folder to write into; on leaving normally its files are moved beside `output`, otherwise nothing remains."""
    home = output.resolve().parent
    with writing(output):
        folder = Path(tempfile.mkdtemp(prefix=f".{output.stem}-", suffix=".partial", dir=home))
    moved: list[Path] = []
    try:
        yield folder
        for target in companions(output):
            ready = folder / target.name
            if ready.exists():
                sync(ready)
                ready.replace(home / target.name)
                moved.append(home / target.name)
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sync(path: Path) -> None:
    """On the disk, not only on its way there."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def write_table(table: MicroTable, path: Path, separator: str = ",") -> None:
    """Csv (NULL is an empty field, an empty text is quoted) or parquet."""
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(table.to_arrow(), path)
        return
    import duckdb

    separator = "\t" if path.suffix.lower() == ".tsv" else separator
    with duckdb.connect() as engine:
        silent(engine)
        engine.register("released", compact(table))
        target = str(path).replace("'", "''")
        rows_of(engine, f"COPY released TO '{target}' (FORMAT csv, HEADER, DELIMITER '{separator}')")


def compact(table: MicroTable) -> pa.Table:
    """Arrow with texts that repeat left as dictionaries: written faster, and the same in the file."""
    columns = [
        pa.DictionaryArray.from_arrays(pa.array(c.codes, mask=c.codes < 0), c.values)
        if isinstance(c.source, Coded) and pa.types.is_string(c.kind) and 0 < len(c.values) < table.rows // 8
        else c.to_arrow()
        for c in table.columns
    ]
    return pa.table(columns, names=list(table.names))
