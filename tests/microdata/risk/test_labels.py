"""A label that is written otherwise than the value it stands for is read all the same, as people read it."""

import pyarrow as pa
import pytest

from nowiser.microdata.risk.labels import fit
from nowiser.microdata.table.column import Column


@pytest.mark.parametrize(
    ("known", "released"),
    [
        ([True, False], ["true", "false"]),
        (["True", "False"], [True, False]),
        ([40, 7], ["40.0", "7.0"]),
        (["40", "7"], [40.0, 7.0]),
        (["Heart", "eyes"], [" heart", "EYES"]),
        (["007", "x"], ["007", "X"]),
    ],
)
def test_the_same_written_otherwise_is_read(known, released):
    old, new = Column.of("c", pa.array(known)), Column.of("c", pa.array(released))
    found = fit(old, new)
    assert found.unread == 0
    for v, label in zip(old.codes, new.codes, strict=True):
        assert found.fits[v, label]
    assert found.fits[:-1, :-1].sum() == 2


def test_another_word_stays_unread():
    found = fit(Column.of("c", pa.array(["a", "b"])), Column.of("c", pa.array(["a", "c", "1e999", ""])))
    assert found.unread == 0.75
