"""Packed codes are the codes they stand for."""

import numpy as np
import pytest

from nowiser.microdata.groups.packed import Fields, Packed


@pytest.mark.parametrize("seed", range(20))
def test_packed_codes_are_read_like_the_array_they_stand_for(seed):
    random = np.random.default_rng(seed)
    sizes = tuple(int(n) for n in random.integers(1, 70, random.integers(1, 7)))
    codes = np.stack([random.integers(0, n, 50) for n in sizes], axis=1).astype(np.int32)
    fields = Fields(sizes)
    packed = Packed(fields.pack([codes[:, j] for j in range(len(sizes))]), fields)
    assert packed.shape == codes.shape
    assert len(packed) == 50
    rows = random.random(50) < 0.5
    for j in range(len(sizes)):
        assert (packed[:, j] == codes[:, j]).all()
        assert (packed[rows, j] == codes[rows, j]).all()
    assert (packed[:, list(range(len(sizes)))] == codes).all()
    assert (packed[rows][:, 0] == codes[rows, 0]).all()
    j = int(random.integers(len(sizes)))
    to = random.integers(0, sizes[j], sizes[j]).astype(np.int32)
    moved = Packed(fields.recoded(packed.keys, j, to), fields)
    for i in range(len(sizes)):
        assert (moved[:, i] == (to[codes[:, i]] if i == j else codes[:, i])).all()
