"""Published figures: membership in averages, bits from answers, the people of a block. Figures of the papers."""

from itertools import product

import numpy as np
import pytest

from nowiser.attacks.tables_published import bits, membership
from nowiser.attacks.tables_published.blocks import certified, of_tables, solve, tables_of
from nowiser.attacks.tables_published.small_blocks import Line, certain, fitting
from nowiser.errors import NotEvaluated

KINDS = list(product("FM", "BW", "SM"))
AGE = np.tile(np.arange(116), (8, 1))
FEW = (0, 2)  # printed as (D): fewer than three


def column(place, value):
    return np.array([k[place] == value for k in KINDS])[:, None] & (AGE >= 0)


F, B, M = column(0, "F"), column(1, "B"), column(2, "M")
# Garfinkel, Abowd and Martindale 2018, table 1; and nobody under 18 is married
BLOCK = {
    "1A": Line(AGE >= 0, 7, 30, 38),
    "2A": Line(F, 4, 30, 33.5),
    "2B": Line(~F, 3, 30, 44),
    "2C": Line(B, 4, 51, 48.5),
    "2D": Line(~B, 3, 24, 24),
    "3A": Line(~M & (AGE >= 18), FEW),
    "3B": Line(M & (AGE >= 18), 4, 51, 54),
    "4A": Line(B & F, 3, 36, 36.7),
    "4B": Line(B & ~F, FEW),
    "4C": Line(~B & ~F, FEW),
    "4D": Line(~B & F, FEW),
    "5A": Line(AGE < 5, FEW),
    "5B": Line(AGE < 18, FEW),
    "5C": Line(AGE >= 64, FEW),
    "law": Line(M & (AGE < 18), 0),
}
SEVEN = {"FBS 8", "MWS 18", "FWS 24", "MWM 30", "FBM 36", "FBM 66", "MBM 84"}


def without(*lines):
    return fitting([line for name, line in BLOCK.items() if name not in lines], 7)


class TestBlockOfSeven:
    def test_its_seven_people_are_the_only_ones(self):
        (found,) = without()
        assert {f"{''.join(KINDS[c])} {age}" for c, age in found} == SEVEN
        assert len(certain([found])) == 7

    def test_without_a_line_others_fit_too(self):
        assert len(without("3B")) == 22

    @pytest.mark.long
    def test_without_further_lines(self):
        assert len(without("4A")) == 2
        six = without("2A", "2B")
        assert len(six) == 6
        assert len(certain(six)) == 4

    def test_all_that_fit_are_found(self):
        """Against trying everything: two people of up to 5 years in one class."""
        years = np.arange(6)[None, :]
        line = Line(years >= 0, 2, 3, 3.0)
        found = {tuple(a for _, a in t) for t in fitting([line], 2)}
        assert found == {(a, b) for a in range(6) for b in range(a, 6) if a + b == 6}


class TestCounts:
    def test_certified_people_are_in_every_table_that_fits(self):
        """Against trying everything: all tables of four people over 2 × 2 × 2 records."""
        random = np.random.default_rng(1)
        everything = list(product(range(5), repeat=8))
        records = np.array(list(product(range(2), repeat=3)))
        for _ in range(10):
            people = random.integers(0, 2, (4, 3))
            tables = tables_of(people, (2, 2, 2), 2)
            programme, possible = of_tables((2, 2, 2), tables)
            fit = []
            for counts in everything:
                if sum(counts) == 4:
                    rows = np.repeat(records, counts, axis=0)
                    if all((tables_of(rows, (2, 2, 2), 2)[k] == v).all() for k, v in tables.items()):
                        fit.append(dict(zip(map(tuple, records.tolist()), counts, strict=True)))
            found = dict(zip(map(tuple, possible.tolist()), certified(programme).tolist(), strict=True))
            for record in map(tuple, records.tolist()):
                assert found.get(record, 0) == min(f[record] for f in fit)

    def test_tables_over_all_but_few_attributes_give_everybody_away(self):
        random = np.random.default_rng(2)
        sizes = (2, 5, 7, 16, 7, 2)
        people = np.column_stack([np.minimum(random.geometric(0.4, 100) - 1, s - 1) for s in sizes])
        programme, _ = of_tables(sizes, tables_of(people, sizes, 4))
        assert certified(programme).sum() / 100 >= 0.9

    def test_contradicting_tables(self):
        tables = {(0,): np.array([2, 1]), (1,): np.array([1, 1])}
        programme, _ = of_tables((2, 2), tables)
        assert solve(programme) is None
        with pytest.raises(NotEvaluated, match="contradict"):
            certified(programme)


@pytest.mark.long
@pytest.mark.parametrize(("ways", "people", "share"), [(3, 100, 1.0), (2, 20, 1.0)])
def test_blocks_of_adult(adult_columns, ways, people, share):
    codes, sizes = adult_columns
    for seed in range(3):
        some = codes[np.random.default_rng(seed).choice(len(codes), people, replace=False)]
        programme, _ = of_tables(sizes, tables_of(some, sizes, ways))
        assert certified(programme).sum() / people == share


@pytest.fixture
def adult_columns(real_data):
    names = ("sex", "race", "marital-status", "education", "workclass", "salary-class")
    text = real_data("adult/adult.csv").read_text(encoding="utf-8")
    head, *rows = [line.split(";") for line in text.splitlines() if line]
    table = np.array(rows)
    codes = np.column_stack([np.unique(table[:, head.index(n)], return_inverse=True)[1] for n in names])
    return codes, tuple(int(c) + 1 for c in codes.max(axis=0))


class TestMembership:
    @pytest.mark.parametrize(
        ("persons", "attributes", "auc", "at_one"), [(100, 400, 0.921, 0.372), (100, 100, 0.760, 0.092)]
    )
    def test_reaches_what_the_theory_says(self, persons, attributes, auc, at_one):
        found = []
        for seed in range(15):
            random = np.random.default_rng(seed)
            p = random.uniform(0.1, 0.9, attributes)
            inside, outside = ((random.random((persons, attributes)) < p).astype(np.int8) for _ in range(2))
            found.append([membership.scores(g, inside.mean(axis=0), p) for g in (inside, outside)])
        told = membership.separation(*(np.concatenate(g) for g in zip(*found, strict=True)))
        wanted = membership.expected(persons, attributes)
        assert told.auc == pytest.approx(auc, abs=0.015)
        assert told.at_one_percent == pytest.approx(at_one, abs=0.05)
        assert told.advantage == pytest.approx(wanted.advantage, abs=0.03)
        assert (wanted.auc, wanted.at_one_percent) == (pytest.approx(auc, abs=1e-3), pytest.approx(at_one, abs=1e-3))

    def test_what_everybody_has_tells_nothing(self):
        assert not membership.scores(np.ones((3, 2)), np.ones(2), np.ones(2)).any()


class TestBits:
    @staticmethod
    def answers(persons, many, noise, seed=0):
        random = np.random.default_rng(seed)
        truth = random.integers(0, 2, persons)
        sets = bits.questions(many, persons, random)
        return truth, sets, sets @ truth.astype(float) + random.normal(0, noise, many) * (noise > 0)

    @pytest.mark.parametrize(("c", "share"), [(0.2, 0.925), (0.5, 0.743), (1.0, 0.635)])
    def test_linear_attacker_reaches_his_closed_form(self, c, share):
        assert bits.expected(1000, 2000, c * np.sqrt(1000)) == pytest.approx(share, abs=1e-3)
        right = []
        for seed in range(4):
            truth, sets, told = self.answers(400, 800, c * 20, seed)
            right.append((bits.linear(sets, told, c * 20) > 0.5) == truth)
        assert np.mean(right) == pytest.approx(share, abs=0.03)

    def test_exact_answers_give_everybody_away(self):
        truth, sets, told = self.answers(200, 200, 0)
        assert ((bits.linear(sets, told, 0) > 0.5) == truth).all()

    def test_message_passing_beats_the_linear_attacker(self):
        truth, sets, told = self.answers(1000, 1000, 0.1 * np.sqrt(1000), 1)
        linear, passing = (
            ((way(sets, told, 0.1 * np.sqrt(1000)) > 0.5) == truth).mean() for way in (bits.linear, bits.passing)
        )
        assert passing >= max(0.97, linear)

    def test_the_programme_bears_a_few_wild_answers(self):
        truth, sets, told = self.answers(40, 160, 0)
        told[:8] += 50
        assert ((bits.programme(sets, told) > 0.5) == truth).all()
