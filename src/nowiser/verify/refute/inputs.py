"""Pairs of neighbours worth a look: from the programme's dual, from the program's own thresholds, by patterns."""

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

from nowiser.verify.bounded.bound import Worst
from nowiser.verify.question import Question
from nowiser.verify.symbolic.paths import Path

Data = list[Fraction]
LEVELS = (0, -1, 1, -2, 2, Fraction(1, 2), Fraction(-1, 2), -4, 4)
FAR = (10, -10, 100)


def pairs(
    question: Question, size: int, paths: Sequence[Path], worst: Worst | None, most: int
) -> Iterator[tuple[Data, Data]]:
    """Neighbours, the most promising first; both lists of a pair may be the likelier one."""
    rng = random.Random(1)  # noqa: S311 (where to look first; nothing is concluded from it)
    levels = _levels(question, paths)
    marked = _moves(worst, size)
    near = question.neighbours
    for turn in range(most):
        if turn < 2 * len(levels):  # all elements alike, then one that stands out
            d = [levels[turn // 2]] * size
            if turn % 2:
                d[-1] = levels[0]
        else:
            d = [rng.choice(levels) for _ in range(size)]
        if near.kind == "length":
            i = rng.randrange(size)
            yield d, d[:i] + d[i + 1 :]
            continue
        moves = [_amount(question, rng, turn) for _ in range(size)]
        if near.kind == "one":
            i = _changed(worst, size, rng, turn)
            yield d, [x + moves[i] if j == i else x for j, x in enumerate(d)]
            continue
        if marked and turn % 3 < 2:
            sign = 1 if turn % 2 else -1
            moves = [sign * m * abs(a) for m, a in zip(marked, moves, strict=True)]
        elif turn % 3 == 2:
            half = rng.randrange(size + 1)  # the first ones rise, the others fall
            moves = [abs(m) if j < half else -abs(m) for j, m in enumerate(moves)]
        yield d, [x + m for x, m in zip(d, moves, strict=True)]


def _levels(question: Question, paths: Sequence[Path]) -> Data:
    """Where comparisons of data change their outcome, and steps around."""
    found = [Fraction(x) for x in LEVELS]
    if question.neighbours.by is None:
        found += [Fraction(x) for x in FAR]
    for path in paths[:200]:
        for row in path.data_rows:
            names = [n for n in row.form.terms if n.startswith("d")]
            if len(names) == 1 and len(row.form.terms) == 1:
                edge = -row.form.constant / row.form.terms[names[0]]
                found = [
                    *dict.fromkeys([edge, edge - 1, edge + 1, edge + Fraction(1, 2), edge - Fraction(1, 2), *found])
                ]
    if question.whole:
        found = [x for x in found if x.denominator == 1]
    return found


def _amount(question: Question, rng: random.Random, turn: int) -> Fraction:
    by = question.neighbours.by
    if by is None:
        return Fraction(rng.choice((1, -1)) * rng.choice((1, 2, 10, 100)))
    if question.whole:
        by = Fraction(int(by))
    return by * (1 if turn % 2 else -1) if question.neighbours.kind == "one" else by * rng.choice((1, -1))


def _changed(worst: Worst | None, size: int, rng: random.Random, turn: int) -> int:
    words = worst.case.name.split() if worst is not None else []
    if turn % 2 and len(words) > 1 and words[0] == "one" and int(words[1]) < size:
        return int(words[1])
    return rng.randrange(size)


def _moves(worst: Worst | None, size: int) -> list[Fraction]:
    """Which way each element moves where the programme's cost is largest: the dual's active neighbour rows."""
    if worst is None or not worst.active:
        return []
    found = [Fraction(1)] * size
    for row in worst.active:
        for name, c in row.form.terms.items():
            if name.startswith("m") and int(name[1:]) < size:
                found[int(name[1:])] = Fraction(-1 if c > 0 else 1)  # the row ±m + b ≥ 0 holds with equality
    return found
