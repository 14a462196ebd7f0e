# ruff: noqa: S608 (printed from the policy; every identifier is quoted, every literal escaped)
"""Which rows are beyond `rows_per_person`: found by one look at everybody and a second at those who have too many.

Sorting every row by person, which is what window functions do, costs far more than the question it serves. Most
people are within the limit, and all of their rows count. Only rows of the others are fetched, as (number of the
person, place of the row), and one pass over them in the order of the source decides row by row:

    a person has n rows, t of them were looked at and k of those taken; m count
    the next one is taken if   draw(salt, person, t) · (n − t)   is below   m − k,   draw in [0, 1)

(selection sampling). *Exactly* m are taken: when as many are left as are still wanted, the right side is at least
the left and every further row is taken; when none is wanted, the right side is zero. What is decided looks at the
salt, at what names the person, at how many rows the person has and at their order: at nobody else, and at no value.
So a table without Alice has the same rows of everybody else, and changing a secret changes nothing.

Of the m rows that are taken, min(m, n − m) are *marked*: each stands for one row of that person that is left out. They
are as likely to be any of the m as any other, so marks can be counted, with noise, like rows.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nowiser.engines.render import quote, text
from nowiser.errors import Misconfigured

MOST_ROWS = 2**31 - 1  # places of bits are 32 bits wide
COMPILED = 100_000  # rows from which loading a compiler pays: a second, and once per installation a few more


class Excess(NamedTuple):
    """One bit for each place, most significant first: the row does not count; it counts, and stands for one that
    does not.
    """

    left_out: bytes
    marked: bytes


Codes = NDArray[np.int32]
Seeds = NDArray[np.int64]
Bits = NDArray[np.uint8]


def find(connection: Any, rows: str, person: Sequence[str], most: int, salt: str) -> Excess | None:
    """Which rows do not count, and which stand for them; None where all count.

    `rows`: a SELECT of the columns that name the person and `:at`, the place of the row, different for every row.
    """
    names = ", ".join(quote(p) for p in person)
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE many AS SELECT {names}, count(*) AS n FROM ({rows}) GROUP BY {names}"
        f" HAVING count(*) > {most}"
    )
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE many AS SELECT *, CAST(row_number() OVER () - 1 AS INTEGER) AS code,"
        f" CAST(hash({text(salt)}, {names}) >> 1 AS BIGINT) AS seed FROM many"
    )
    people = connection.execute("SELECT n, seed FROM many ORDER BY code").fetchnumpy()
    if not len(people["n"]):
        return None
    pairs = " AND ".join(f"r.{quote(p)} = many.{quote(p)}" for p in person)
    found = connection.execute(f'SELECT code, r.":at" AS place FROM ({rows}) AS r JOIN many ON {pairs}').fetchnumpy()
    places = np.asarray(found["place"])
    total = int(connection.execute(f'SELECT max(":at") + 1 FROM ({rows})').fetchall()[0][0])
    if total > MOST_ROWS:
        raise Misconfigured(f"A table has more than {MOST_ROWS:,} rows, the most this engine limits per person.")
    codes = np.full(total, -1, dtype=np.int32)
    codes[places] = found["code"]  # joins keep no order: this puts the rows back into that of the source
    bits = np.zeros((2, (total + 7) // 8), dtype=np.uint8)
    work = _compiled() if len(places) >= COMPILED else _select
    work(codes, np.asarray(people["n"], np.int64), np.asarray(people["seed"], np.int64), most, bits)
    return Excess(bits[0].tobytes(), bits[1].tobytes())


def _select(codes: Codes, counts: Seeds, seeds: Seeds, most: int, bits: Bits) -> None:
    """Set the bits of rows that are left out (`bits[0]`), and the marks (`bits[1]`). The same compiled or not.

    `draw` is a mix of 32 bits (the finaliser of MurmurHash3) over seed and turn. Products may pass 63 bits when
    compiled, where they wrap: of them only the low 32 bits are used, and those are right. n is below 2³¹.
    """
    seen = np.zeros(len(counts), dtype=np.int64)
    taken = np.zeros(len(counts), dtype=np.int64)
    low = 0xFFFFFFFF
    for i in range(len(codes)):
        c = codes[i]
        if c < 0:
            continue
        turn, seed = int(seen[c]), int(seeds[c])
        seen[c] += 1
        draw = (turn ^ (seed & low)) & low
        for word in ((seed >> 32) & low, 0):
            draw = ((draw ^ (draw >> 16)) * 0x85EBCA6B) & low
            draw = ((draw ^ (draw >> 13)) * 0xC2B2AE35) & low
            draw = (draw ^ (draw >> 16)) ^ word
        if (draw * (int(counts[c]) - turn)) >> 32 < most - int(taken[c]):
            if (int(taken[c]) + seed % most) % most < int(counts[c]) - most:
                bits[1, i >> 3] |= 128 >> (i & 7)
            taken[c] += 1
        else:
            bits[0, i >> 3] |= 128 >> (i & 7)


@cache
def _compiled() -> Callable[..., None]:
    """Machine code where numba is installed (the extra `rows`): a tenth of a second for ten million rows."""
    try:
        import numba
    except ImportError:
        return _select
    compiled: Callable[..., None] = numba.njit(cache=True, nogil=True)(_select)
    return compiled
