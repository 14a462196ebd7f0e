# ruff: noqa: S608 (sources are named by the custodian, quoted and escaped by us)
"""Where Spark finds the rows of a table: Parquet or CSV files, or a table of its catalog; and whether they changed."""

import hashlib
import json
import secrets
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from nowiser.engines import delimited, sources
from nowiser.engines.prepare import Raw
from nowiser.engines.render import quote
from nowiser.errors import Misconfigured
from nowiser.files.records import Misquoted
from nowiser.files.unreadable import NEUTRAL, WHY
from nowiser.model.policy import Policy
from nowiser.model.schema import Csv, Protect, Role, Table

_PLACE = "struct(src._metadata.file_path, src._metadata.file_block_start, {index})"


@dataclass(frozen=True)
class Input:
    raw: Raw
    view: str
    paths: tuple[Path, ...]  # on this machine; none where Spark alone can look
    filed: bool  # rows know their file
    bytes: int


def look(session: Any, policy: Policy, table: Table) -> Input:
    """Raises Misconfigured where there is no such file or table."""
    suffix = Path(table.source.rstrip("/")).suffix
    remote = "://" in table.source
    path = sources.folder(policy) / table.source
    files: tuple[Path, ...] = ()
    name = f"nowiser_raw_{hashlib.sha256(json.dumps([str(policy.path), table.name]).encode()).hexdigest()[:16]}"
    if suffix in (".parquet", ".csv", ".tsv") or remote:
        if not remote and not path.exists():
            raise Misconfigured(
                f"The source of table {table.name} is not there: {table.source}.", hint=f"Looked for {path}."
            )
        where = table.source if remote else str(path)
        csv = delimited.dialect(table)
        if suffix in (".csv", ".tsv") and not remote and path.is_file() and not delimited.well_formed(path, csv):
            where, suffix = _mended(policy, path, csv), ".parquet"
        files = () if remote else tuple(sorted(p for p in path.rglob("*.parquet")) if path.is_dir() else [path])
        if suffix in (".csv", ".tsv"):
            # A field in quotes may have several lines; so one task reads one file.
            quoted = {"quote": csv.quote or "", "escape": csv.escape or "\0", "multiLine": True}
            frame = session.read.csv(where, header=True, sep=csv.delimiter, **quoted)
            index = "monotonically_increasing_id()"
        else:
            frame = session.read.parquet(where)
            index = "src._metadata.row_index"
        types = {f.name: f.dataType.simpleString() for f in frame.schema.fields}
        # The hidden column has to be named while it can still be seen.
        frame = frame.select("*", "_metadata") if "_metadata" not in types else frame
        frame.createOrReplaceTempView(name)
        size = sum(p.stat().st_size for p in files)
        return Input(Raw(quote(name), types, _PLACE.format(index=index)), name, files, filed=True, bytes=size)
    if not session.catalog.tableExists(table.source):
        raise Misconfigured(
            f"The source of table {table.name} is neither a file nor a table of Spark's catalog: {table.source}.",
            hint="Name a parquet or csv file, or database.table.",
        )
    frame = session.table(table.source)
    types = {f.name: f.dataType.simpleString() for f in frame.schema.fields}
    sql = ".".join(quote(p) for p in table.source.split("."))
    return Input(Raw(sql, types, _by_columns(table)), sql, (), filed=False, bytes=0)


def _mended(policy: Policy, path: Path, csv: Csv) -> str:
    """The rows of a file that is not well-formed, which Spark reads in its own ways; kept until the file changes.

    Raises Misconfigured where it cannot be mended.
    """
    folder = sources.folder(policy) / ".nowiser"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mine = f"mended-{hashlib.sha256(str(path).encode()).hexdigest()[:16]}-"
    told = hashlib.sha256(json.dumps([sources.stamp(path), *astuple(csv)]).encode()).hexdigest()
    target = folder / f"{mine}{told[:16]}.parquet"
    if not target.is_file():
        draft = folder / f"draft-{secrets.token_hex(8)}.parquet"
        try:
            delimited.mend(path, csv, draft)
            draft.replace(target)
        except Misquoted:
            raise Misconfigured(NEUTRAL, hint=WHY) from None
        finally:
            draft.unlink(missing_ok=True)
    for old in folder.glob(f"{mine}*"):
        if old != target:
            old.unlink(missing_ok=True)
    return str(target)


def stamp(session: Any, found: Input) -> str:
    """Another text when the rows change.

    Files on this machine: size, times and number of each file. Files elsewhere: the same as Spark sees them.
    A table of the catalog: the number of rows and a checksum of all of them, which reads the table.
    """
    if found.paths:
        return json.dumps([[str(p), *sources.stamp(p)] for p in found.paths])
    if found.filed:
        meta = "_metadata.file_path, _metadata.file_size, _metadata.file_modification_time"
        rows = session.sql(f"SELECT DISTINCT {meta} FROM {quote(found.view)} ORDER BY 1").collect()
    else:
        columns = ", ".join(quote(c) for c in found.raw.types)
        rows = session.sql(
            f"SELECT count(*), sum(CAST(xxhash64({columns}) AS DECIMAL(38, 0))) FROM {found.view}"
        ).collect()
    return json.dumps([[str(v) for v in row] for row in rows])


def _by_columns(table: Table) -> str:
    """Rows of a catalog table have no place: order them by a key, or by everything where that may be looked at."""
    open_ = {c.name for c in table.columns if c.role is not Role.SENSITIVE}
    key = next((k for k in table.unique if set(k) <= open_), None)
    if key is None and table.protect is Protect.VALUES and not table.is_public:
        raise Misconfigured(
            f"Table {table.name} is a table of Spark's catalog, and which rows of a person count must not depend on"
            " secrets.",
            hint="Declare a `unique:` key of columns that are not sensitive, or name its Parquet files.",
        )
    columns = key or tuple(c.name for c in table.columns)
    return f"struct({', '.join(f'src.{quote(c)}' for c in columns)})"
