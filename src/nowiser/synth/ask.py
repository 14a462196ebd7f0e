"""`nw.synth`: the arguments people give, made into a request; files written when all is done."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.files.writing import writing
from nowiser.microdata.table.write import check_target, staged, write_table
from nowiser.policy.reader import read
from nowiser.report.compare import check_page, write_page
from nowiser.report.synthetic import page as as_page
from nowiser.sql.plan import precision
from nowiser.synth import judged, several, synth as flow
from nowiser.synth.model import Model
from nowiser.synth.synth import Told


def synth(
    table: str | None = None,
    *,
    policy: str | Path | None = None,
    spend: float | str | None = None,
    rows: int | None = None,
    method: str = "aim",
    linked: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    cells: Mapping[str, int | Sequence[Any]] | None = None,
    workload: Mapping[str, float] | None = None,
    impossible: Sequence[Mapping[str, Any]] = (),
    analyst: str | None = None,
    anyway: bool = False,
    output: str | Path | None = None,
    model: str | Path | None = None,
    report: str | Path | None = None,
    target: str | None = None,
    force: bool = False,
    told: Told = lambda _done, _what: None,
    before: Callable[..., None] = lambda *_: None,
) -> Any:
    """Rows of nobody that look like a table of a policy, charged to its ledger beside answers and releases.

    `spend`: the share of the whole allowance (default: the policy's). `rows`: how many; default: about as many as the
    table has. `method`: `aim` (best), `mst` (a second or two) or `independent` (columns one by one). `columns`: default
    all but identifiers. `cells`: into how many cells a range is cut, or at which edges. `workload`: what the rows are
    wanted for, as in {"age*income": 3}; default: all pairs alike. `impossible`: cells that cannot be, as in
    [{"sex": "male", "pregnant": "yes"}]. `linked`: tables linked to this one, made with it so that keys fit: `output`
    is a folder then, and several tables come back. `output`: csv or parquet. `model`: keep the model; drawing from it
    is free. `report`: hold the rows against the real ones (distances, a classifier of `target` tried on real rows,
    attackers) and write that as HTML, for the custodian alone.

    Raises NotAnswerable, Misconfigured, Useless (`anyway` makes them all the same) or Exhausted: nothing charged,
    no secret touched. Raises NotEvaluated: something failed after the charge, which stays.
    """
    place = Path(policy or os.environ.get("NOWISER_POLICY") or "nowiser.yaml")
    out, keep = None if output is None else Path(output), None if model is None else Path(model)
    page = None if report is None else Path(report)
    if linked:
        _check_folder(out, [table or "", *linked], force=force)
    else:
        _check_files(out, keep, force=force)
    if page is not None:
        check_page(page)
        if page.exists() and not force:
            raise Misconfigured(f"{page} is already there", hint="Name another file, or overwrite it with force=True.")
    declared = read(place)
    share = precision.wish(declared, None, spend).spend
    assert share is not None, "a wish without an error has a share"
    if rows is not None and rows < 1:
        raise Misconfigured(f"rows must be at least 1, found {rows}")
    if linked:
        if columns or workload or impossible or keep is not None or page is not None:
            raise Misconfigured("of several tables all columns are modelled alike, and no model or report is kept")
        wish = several.asked(declared, table, linked, spend=share, method=method, cells=cells, analyst=analyst)
        tables = several.synth(wish, rows=rows, anyway=anyway, told=told, before=before)
        return replace(tables, files=_all_written(tables.tables, out))
    request = flow.asked(
        declared,
        table,
        spend=share,
        method=method,
        columns=columns,
        cells=cells,
        workload=workload,
        zeros=impossible,
        analyst=analyst,
    )
    judged.check_target(request.columns, target)
    made = flow.synth(request, rows=rows, anyway=anyway, told=told, before=before)
    made = replace(made, files=_written(made.table, made.model, out, keep))
    if page is None:
        return made
    found = judged.held_against_real_rows(declared, request.table, made.table, target)
    made = replace(made, files=(*made.files, page), comparison=found)
    write_page(as_page(made.to_json(), found.to_json()), page)
    return made


def again(
    model: str | Path | Model,
    *,
    rows: int | None = None,
    output: str | Path | None = None,
    force: bool = False,
    random: np.random.Generator | None = None,
) -> Any:
    """More rows from a model that was kept, as Arrow. Costs nothing."""
    known = model if isinstance(model, Model) else Model.load(Path(model))
    out = None if output is None else Path(output)
    _check_files(out, None, force=force)
    table = known.sample(rows, random)
    _written(table, known, out, None)
    return table.to_arrow()


def _check_files(out: Path | None, keep: Path | None, *, force: bool) -> None:
    """Refuse before anything is charged what could not be written after it."""
    if out is not None:
        check_target(out, None, force=force)
    if keep is not None:
        if keep.suffix.lower() != ".json":
            raise Misconfigured(f"a model is kept in a file that ends in .json, not in {keep.name!r}")
        if not keep.resolve().parent.is_dir():
            raise Misconfigured(f"there is no folder {keep.resolve().parent}")
        if keep.exists() and not force:
            raise Misconfigured(f"{keep} is already there", hint="Name another file, or overwrite it with force=True.")


def _check_folder(out: Path | None, names: Sequence[str], *, force: bool) -> None:
    if out is None:
        return
    if out.suffix or (out.exists() and not out.is_dir()) or not out.resolve().parent.is_dir():
        raise Misconfigured(f"several tables are written into a folder; {out} is none and cannot be made")
    there = [n for n in names if (out / f"{n}.csv").exists()]
    if there and not force:
        raise Misconfigured(f"{out / there[0]}.csv is already there", hint="Name another folder, or use force=True.")


def _all_written(tables: Mapping[str, Any], out: Path | None) -> tuple[Path, ...]:
    """All of them or none."""
    if out is None:
        return ()
    out.mkdir(exist_ok=True)
    files = [out / f"{name}.csv" for name in tables]
    parts = [f.with_name(f".partial.{f.name}") for f in files]
    try:
        with writing(out):
            for table, part in zip(tables.values(), parts, strict=True):
                write_table(table, part)
            for part, file in zip(parts, files, strict=True):
                part.replace(file)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
    return tuple(files)


def _written(table: Any, model: Model, out: Path | None, keep: Path | None) -> tuple[Path, ...]:
    """The model first: it was paid for, and rows can be drawn from it again."""
    files: list[Path] = []
    if keep is not None:
        part = keep.with_name(f".{keep.name}.partial")
        try:
            with writing(keep):
                model.save(part)
                part.replace(keep)
        finally:
            part.unlink(missing_ok=True)
        files.append(keep)
    if out is not None:
        with staged(out) as folder, writing(out):
            write_table(table, folder / out.name)
        files.append(out)
    return tuple(files)
