"""What a counted release showed, and in which group of look-alikes everybody is: all that measuring it again takes.

A record is kept in the ledger. It holds the released rows, group by group, and beside every group who is in it, by a
hash of the person's key. Which row of a group is whose is not in it.
"""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.table.column import Ints
from nowiser.microdata.table.micro_table import MicroTable, group_codes

VERSION = 1
Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Record:
    """Row i of `group` and `values` is a released row; `people[j]` is in group `member[j]`. Orders say nothing."""

    people: Keys
    member: Ints
    group: Ints
    labels: dict[str, tuple[str | None, ...]]  # per released column that is no quasi-identifier
    codes: dict[str, Ints]
    changed: tuple[str, ...] = ()  # columns whose values a step changed: no count of the true ones
    several: bool = False  # whether somebody has several rows: whose they are is not in here
    whose: tuple[str, ...] = ()  # the columns that tell people apart

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.labels)

    def to_bytes(self) -> bytes:
        head = {
            "version": VERSION,
            "labels": self.labels,
            "changed": self.changed,
            "several": self.several,
            "whose": self.whose,
        }
        file = io.BytesIO()
        arrays: dict[str, Any] = {f"c{i}": self.codes[c].astype(np.int32) for i, c in enumerate(self.labels)}
        np.savez_compressed(
            file,
            head=np.frombuffer(json.dumps(head).encode(), np.uint8),
            people=self.people,
            member=self.member.astype(np.int32),
            group=self.group.astype(np.int32),
            **arrays,
        )
        return file.getvalue()

    @staticmethod
    def from_bytes(data: bytes) -> "Record":
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            head = json.loads(found["head"].tobytes())
            labels = {name: tuple(values) for name, values in head["labels"].items()}
            codes = {name: found[f"c{i}"].astype(np.int64) for i, name in enumerate(labels)}
            member, group = found["member"].astype(np.int64), found["group"].astype(np.int64)
            said = tuple(head["changed"]), bool(head.get("several")), tuple(head.get("whose", ()))
            return Record(found["people"], member, group, labels, codes, *said)


def record(
    released: MicroTable,
    people: Keys,
    quasi: Sequence[str],
    secret: Sequence[str],
    *,
    changed: Sequence[str] = (),
    several: bool = False,
    whose: Sequence[str] = (),
) -> Record:
    """Of a released table. `people`: the keys of the original's rows; `secret`: columns that no attacker knows."""
    known = [released[q] for q in quasi]
    key, _ = group_codes([c.codes for c in known], [len(c.values) for c in known])
    _, group = np.unique(key, return_inverse=True) if known else (None, np.zeros(released.rows, np.int64))
    group = group.reshape(-1).astype(np.int64)
    mine = people[released.origin]
    labels: dict[str, tuple[str | None, ...]] = {}
    codes: dict[str, Ints] = {}
    for name in secret:
        used, own = np.unique(released[name].codes, return_inverse=True)
        all_labels = (*released[name].labels, None)
        labels[name] = tuple(all_labels[i] for i in used)  # −1, the last one, is NULL
        codes[name] = own.reshape(-1).astype(np.int64)
    rows = np.lexsort([*reversed(list(codes.values())), group])
    members = np.lexsort([mine, group])
    return Record(
        mine[members],
        group[members],
        group[rows],
        labels,
        {name: c[rows] for name, c in codes.items()},
        tuple(c for c in changed if c in labels),
        several,
        tuple(whose),
    )


def keys(original: MicroTable, columns: Sequence[str]) -> Keys:
    """A number for every row: a hash of these columns, and of how many such rows came before."""
    parts = [original[c] for c in columns]
    texts = [(*part.labels, "\x00") for part in parts]
    rows = zip(*(part.codes.tolist() for part in parts), strict=True) if parts else iter([()] * original.rows)
    found = np.empty(original.rows, np.uint64)
    seen: dict[tuple[int, ...], int] = {}
    for i, row in enumerate(rows):
        nth = seen[row] = seen.get(row, -1) + 1
        told = "\x1f".join([*(texts[j][code] for j, code in enumerate(row)), str(nth)])
        found[i] = int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "little")
    return found
