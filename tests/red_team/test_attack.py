"""`nw.attack` and `nowiser attack`: verdicts, words, exit codes, and what bad input gets."""

import dataclasses
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import nowiser as nw
from nowiser.attacks.harness import judge, scored, stream
from nowiser.attacks.intervals import counted
from nowiser.attacks.outcome import Claim, judged
from nowiser.attacks.registry import attacks
from nowiser.attacks.rows import Rows, as_it_is
from nowiser.microdata.table.read import load
from support.commands import nowiser
from support.red_team import micro, people, shuffled

QUASI = ["age", "town", "sex", "job"]


@pytest.fixture(scope="module")
def tables():
    random = np.random.default_rng(5)
    return tuple(people(random, 1200, telling=True) for _ in range(2))


@pytest.fixture
def files(tables, tmp_path):
    inside, outside = tables
    for name, table in {"original": inside, "released": inside, "others": outside}.items():
        pc.write_csv(table, tmp_path / f"{name}.csv")
    return tmp_path


def test_the_original_released_as_it_is_refutes_every_claim(tables):
    inside, outside = tables
    found = nw.attack(
        inside,
        original=inside,
        quasi=QUASI,
        sensitive="disease",
        control=outside,
        claim="40%",
        seed=1,
        only=["look-alikes"],
    )
    (o,) = found.outcomes
    assert found.notes[0].startswith("the release IS the original")
    assert found.refuted
    assert o.verdict == "refuted"
    assert o.again
    assert o.control.value < o.after.value > o.before.value
    assert o.advantage.low > 0


def test_columns_without_any_relation_refute_nothing(tables):
    inside, outside = tables
    noise = shuffled(inside, np.random.default_rng(2))
    found = nw.attack(noise, original=inside, quasi=QUASI, sensitive="disease", control=outside, claim="40%", seed=1)
    assert not found.refuted
    promised = {o.verdict for o in found.outcomes if o.goal == "value" and o.attack != "background knowledge"}
    assert promised <= {"reached up to", "not decided"}
    for o in found.outcomes:
        assert o.advantage is None or o.advantage.low <= 0


def test_a_chance_hit_is_not_a_refutation(tables):
    inside, _ = tables
    (o,) = nw.attack(inside, original=inside, quasi=QUASI, sensitive="disease", seed=1, only=["look-alikes"]).outcomes
    claim = Claim("disease", 0.30, True, "")
    first = dataclasses.replace(o, surest={0.01: counted(20, 30, 0.99), 1.0: counted(250, 1000, 0.99)})
    assert judged(first, claim) == "above, not confirmed"
    second = {0.01: counted(8, 30, 0.99), 1.0: counted(250, 1000, 0.99)}
    assert judged(dataclasses.replace(first, again=second), claim) == "not decided"
    confirmed = {0.01: counted(19, 30, 0.99), 1.0: counted(250, 1000, 0.99)}
    assert judged(dataclasses.replace(first, again=confirmed), claim) == "refuted"
    average = dataclasses.replace(claim, every=False)
    assert judged(first, average) == "reached up to"  # held against all victims together


def test_an_attack_that_cannot_win_says_nothing(tables):
    inside, _ = tables
    (o,) = nw.attack(inside, original=inside, quasi=QUASI, sensitive="disease", seed=1, only=["look-alikes"]).outcomes
    weak = dataclasses.replace(
        o, unprotected=counted(130, 1000, 0.99), before=counted(135, 1000, 0.99), surest={1.0: counted(130, 1000, 0.99)}
    )
    assert judged(weak, Claim("disease", 0.30, True, "")) == "could not have won"


def test_the_same_seed_gives_the_same_figures(tables):
    inside, outside = tables
    options = {"original": inside, "quasi": QUASI, "sensitive": "disease", "control": outside, "victims": 200}
    first, second = (nw.attack(inside, **options, seed=4).to_json() for _ in range(2))
    for found in (first, second):
        for o in found["outcomes"]:
            del o["seconds"]
    assert first == second
    assert json.dumps(first)


SWEENEY = """Black,1965,M,0214*,short breath;Black,1965,M,0214*,chest pain;Black,1965,F,0213*,hypertension;\
Black,1965,F,0213*,hypertension;Black,1964,F,0213*,obesity;Black,1964,F,0213*,chest pain;White,1964,M,0213*,chest pain;\
White,1964,M,0213*,obesity;White,1964,M,0213*,short breath;White,1967,M,0213*,chest pain;White,1967,M,0213*,chest pain"""


def test_homogeneity_and_background_of_sweeneys_table():
    """k-anonymity 2002, figure 2: four of eleven are certain; whoever can rule out one value knows nearly all."""
    names = ["ethnicity", "birth", "gender", "zip", "condition"]
    table = pa.table(dict(zip(names, zip(*(r.split(",") for r in SWEENEY.split(";")), strict=True), strict=True)))
    known, more = [], []
    for seed in range(20):
        found = nw.attack(
            table,
            original=table,
            quasi=names[:4],
            sensitive="condition",
            seed=seed,
            only=["look-alikes", "background knowledge"],
            claim="50%",
        )
        each = {o.attack: o for o in found.outcomes}
        known.append(each["look-alikes"].after.value)
        more.append(each["background knowledge"].after.value)
        assert each["background knowledge"].before.value >= each["look-alikes"].before.value
        assert each["background knowledge"].verdict == "not comparable"
    assert known == pytest.approx([7 / 11] * 20)
    assert np.mean(more) == pytest.approx(9.5 / 11, abs=0.05)
    assert any("only 11 people" in n for n in found.notes)


def test_look_alikes_in_disjoint_groups_are_right_about_the_most_frequent_of_each(tables):
    """Mondrian cuts people into boxes that share nobody: members guessed rightly are the sum of the boxes' maxima."""
    inside = tables[0].slice(0, 390)
    made = nw.publish(inside, quasi=["age", "job"], sensitive="disease", k=5, steps=["mondrian"])
    (o,) = nw.attack(
        made.table, original=inside, quasi=["age", "job"], sensitive="disease", seed=1, only=["look-alikes"]
    ).outcomes
    boxes = {}
    for row in made.table.to_arrow().to_pylist():
        boxes.setdefault((row["age"], row["job"]), []).append(row["disease"])
    assert min(map(len, boxes.values())) >= 5
    assert len(boxes) > 10
    assert o.after.right == sum(max(map(b.count, b)) for b in boxes.values())


def test_two_releases_tell_more_than_one():
    random = np.random.default_rng(0)
    n = 900
    a, b = random.integers(0, 120, n), random.integers(0, 120, n)
    ill = np.array(["flu", "cold", "gout", "none", "burn", "ache"])[random.integers(0, 6, n)]
    original = pa.table({"a": a, "b": b, "ill": ill})
    first = pa.table({"a": a.astype(str), "b": ["*"] * n, "ill": ill})
    second = pa.table({"a": ["*"] * n, "b": b.astype(str), "ill": ill})
    found = nw.attack(first, original=original, releases=[second], quasi=["a", "b"], sensitive="ill", seed=0)
    got = {o.attack: o.after for o in found.outcomes}
    assert got["intersection"].low > got["look-alikes"].high


def test_voters_give_names_back():
    random = np.random.default_rng(1)
    n = 1500
    voters = pa.table(
        {
            "name": [f"n{i}" for i in range(n)],
            "born": random.integers(0, 20_000, n),
            "zip": random.integers(0, 30, n),
            "sex": random.integers(0, 2, n),
        }
    )
    sick = voters.slice(0, 500).append_column("ill", pa.array([f"i{i % 9}" for i in range(500)]))
    options = {"original": sick, "aux": voters, "identity": "name", "sensitive": "ill", "seed": 0, "in_order": True}
    released = sick.drop_columns(["name"])
    (o,) = nw.attack(released, quasi=["born", "zip", "sex"], only=["linkage"], **options).outcomes
    assert o.after.value > 0.95
    assert o.precision.value > 0.99
    year = {"quasi": ["sex", "zip"], "only": ["linkage"]}
    (o,) = nw.attack(released, **year, **options).outcomes
    assert o.claimed < 0.01


def test_a_recipe_gives_people_outside(tables, tmp_path):
    inside, _ = tables
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(
        "quasi: [town, sex]\nsensitive: [disease]\nmodels: {k-anonymity: {k: 3}}\nsteps: [local_recoding]\n"
    )
    made = nw.publish(inside, recipe=recipe)
    found = nw.attack(made.table, original=inside, recipe=recipe, seed=1, only=["look-alikes"])
    (o,) = found.outcomes
    assert o.control is not None
    assert o.advantage.value > -0.1


class TestCommand:
    def test_exit_code_nine(self, files):
        args = ["attack", "released.csv", "--original", "original.csv", "--quasi", ",".join(QUASI), "--sensitive"]
        args += ["disease", "--control", "others.csv", "--seed", "1", "--only", "look-alikes"]
        told = nowiser(files, *args, "--claim", "40%")
        assert told.returncode == 9
        assert "REFUTED twice" in told.stdout
        assert nowiser(files, *args).returncode == 0
        assert nowiser(files, *args, "--fail-above", "50%").returncode == 9
        assert nowiser(files, *args, "--fail-above", "99.9%").returncode == 0
        out = nowiser(files, *args, "--json", "-o", "report.html")
        content = json.loads(out.stdout)
        assert {"claims", "outcomes", "not_run", "seed", "version"} <= set(content)
        assert set(content["outcomes"][0]["after"]) == {"value", "low", "high", "right", "of"}
        page = (files / "report.html").read_text()
        assert "custodian only" in page
        assert "http" not in page.replace("http://www.w3.org", "")

    def test_words_never_promise(self, files):
        args = ["attack", "released.csv", "--original", "original.csv", "--quasi", "town", "--sensitive", "disease"]
        said = " ".join(nowiser(files, *args, "--seed", "1").stdout.split())
        assert "An attack that fails proves nothing" in said
        assert "needs people outside the release" in said
        for word in ("safe", "anonymous", "private", "passed", "no risk"):
            assert word not in said

    def test_the_catalogue(self, files):
        listed = json.loads(nowiser(files, "attack", "--list", "--json").stdout)
        assert {"look-alikes", "model"} <= {a["name"] for a in listed}
        assert "look-alikes" in nowiser(files, "attack", "--list").stdout


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"original": None}, nw.Misconfigured, "scored by the original"),
        ({"quasi": ["zip"]}, nw.Misconfigured, "no column 'zip'"),
        ({"sensitive": "wage"}, nw.Misconfigured, "no column 'wage'"),
        ({"claim": "140%"}, nw.Misconfigured, "not between 0 and 100"),
        ({"only": ["magic"]}, nw.Misconfigured, "there is no attack 'magic'"),
        ({"victims": 0}, nw.Misconfigured, "at least 1"),
        ({"aux": pa.table({"n": [1]})}, nw.Misconfigured, "identity"),
        ({"control": "same"}, nw.Misconfigured, "must hold other people"),
        ({"sensitive": "flat"}, nw.NotAnswerable, "one value"),
        ({"sensitive": "number"}, nw.NotAnswerable, "another value in every row"),
        ({"generator": lambda table, seed: 1 / 0}, nw.Misconfigured, "the generator failed"),
    ],
)
def test_bad_input_is_told(tables, options, error, match):
    inside = tables[0].append_column("flat", pa.array(["x"] * 1200)).append_column("number", pa.array(range(1200)))
    given = {"original": inside, "quasi": ["age", "town", "job"], "sensitive": "disease", "seed": 1} | options
    if options.get("control") == "same":
        given |= {"control": inside, "quasi": ["age", "number"]}
    with pytest.raises(error, match=match):
        nw.attack(inside, **given)


def test_labels_nobody_can_read_are_said(tables):
    inside, _ = tables
    coarse = inside.set_column(1, "town", pa.array([["north", "south"][i % 2] for i in range(1200)]))
    found = nw.attack(coarse, original=inside, quasi=QUASI, sensitive="disease", seed=1, only=["look-alikes"])
    assert any("of the rows cannot be read" in n for n in found.notes)


def test_time_that_is_over_is_said(tables):
    inside, _ = tables
    found = nw.attack(inside, original=inside, quasi=QUASI, sensitive="disease", seed=1, seconds=1e-6)
    assert len(found.outcomes) == 1
    assert any("the time is over" in n.why for n in found.not_run)


@pytest.mark.long
@pytest.mark.parametrize("step", ["local_recoding", "mondrian"])
def test_look_alikes_on_adult(real_data, step):
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
    table = load(real_data("adult/adult.csv"))
    half = np.random.default_rng(0).permutation(table.rows)
    a, b = (table.take(np.sort(h)).to_arrow() for h in np.array_split(half, 2))
    quasi = {n: str(real_data(f"adult/adult_hierarchy_{n}.csv")) for n in names}
    made = nw.publish(a, quasi=quasi, sensitive="occupation", k=5, steps=[step])
    found = nw.attack(
        made.table, original=a, control=b, quasi=quasi, sensitive="occupation", only=["look-alikes"], seed=0
    )
    (o,) = found.outcomes
    want, due = {"local_recoding": (0.418, 0.15), "mondrian": (0.405, 0.17)}[step]
    assert o.after.value == pytest.approx(want, abs=0.025)
    assert o.advantage.value == pytest.approx(due, abs=0.03)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_a_gain_of_twenty_points_is_refuted_by_a_model(real_data, seed):
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
    table = load(real_data("adult/adult.csv"))
    half = np.random.default_rng(0).permutation(table.rows)
    a, b = (table.take(np.sort(h)).to_arrow() for h in np.array_split(half, 2))
    quasi = {n: str(real_data(f"adult/adult_hierarchy_{n}.csv")) for n in names}
    made = nw.publish(b, quasi=quasi, sensitive="occupation", k=5, gain="20%", steps=["local_recoding"])
    found = nw.attack(
        made.table, original=b, control=a, quasi=quasi, sensitive="occupation", claim=0.336, only=["model"], seed=seed
    )
    assert found.refuted
    assert found.outcomes[0].surest[0.05].low > 0.336
    assert found.outcomes[0].advantage.low < 0.02  # it is what the release teaches about people in general


def test_a_control_that_shares_people_with_the_original_is_refused(tables):
    inside, outside = tables
    mixed = pa.concat_tables([outside.slice(0, 900), inside.slice(0, 300)])
    options = {"original": inside, "quasi": QUASI, "sensitive": "disease", "seed": 1, "only": ["look-alikes"]}
    with pytest.raises(nw.Misconfigured, match=r"control: 3\d\d of its 1,200 rows are rows of the original"):
        nw.attack(inside, control=mixed, **options)
    nw.attack(inside, control=outside, **options)  # rows that are equal by chance are no reason


@pytest.mark.parametrize(("years", "said"), [(0, False), (10, True)])
def test_a_control_from_another_population_is_said(tables, years, said):
    """Ages have more values than a table of frequencies could compare: a model is asked."""
    inside, outside = tables
    older = outside.set_column(0, "age", pa.array(outside["age"].to_numpy() + years))
    found = nw.attack(
        inside, original=inside, control=older, quasi=QUASI, sensitive="disease", seed=1, only=["look-alikes"]
    )
    assert any("another population" in n for n in found.notes) == said


def test_nobody_is_a_victim_of_both_runs(tables):
    """A person's rows stand together: those tried again are other people, and the halves of a crossover share nobody."""
    inside = tables[0].append_column("who", pa.array((np.arange(1200) * 7919) % 1200 // 5))
    game = Rows(micro(inside), micro(inside), tuple(QUASI), "disease", person="who", seed=3, rerun=as_it_is)
    first, second = (set(game.whose[game._drawn(game.order, 9999, fresh=f)]) for f in (False, True))
    assert not first & second
    assert len(first | second) == 240
    one, two = ({*game.half(k).original["who"].codes.tolist()} for k in (0, 1))
    assert not one & two


def test_copies_are_counted_among_as_many_claims_as_there_are_rows(tables):
    inside, _ = tables
    (o,) = nw.attack(inside, original=inside, seed=1, only=["copied rows"], victims=5000).outcomes
    assert o.victims == 1200
    assert o.after.value > 0.95


def test_names_for_people_who_are_not_there_are_counted(tables):
    """Half of the columns fit somebody else by chance: he stays silent rather than name the nearest row."""
    inside, _ = tables
    options = {"original": inside, "in_order": True, "seed": 1, "only": ["linkage"]}
    (o,) = nw.attack(inside, quasi=QUASI, **options).outcomes
    assert o.claimed > 0.9
    assert o.precision.low > 0.98
    assert o.misnamed.value < 0.1
    assert o.control is None
    (o,) = nw.attack(inside, quasi=["age", "sex"], **options).outcomes
    assert o.claimed == 0
    assert o.misnamed.right == 0


def test_the_same_predicates_are_tried_on_people_outside():
    """Drawn anew, they would be about other columns, and the difference would be of columns and not of people."""
    random = np.random.default_rng(3)
    inside, outside = (people(random, 600, telling=True) for _ in range(2))
    game = Rows(micro(inside), micro(inside), control=micro(outside), seed=1)
    attack = attacks()["singling out"]
    found = scored(attack, game, "outside", 300, 1)
    twin = judge(attack, found.trial.twin, stream(1, attack.name, "outside"))
    assert found.guesses.value.tolist() == twin.guesses.value.tolist()
    assert twin.right.mean() > 0.99
    assert found.right.mean() < 0.5


def test_ruling_out_one_of_two_values_is_no_attack(tables):
    inside, _ = tables
    found = nw.attack(inside, original=inside, quasi=["age", "town"], sensitive="sex", seed=1, victims=100)
    assert any(n.attack == "background knowledge" and "three categories" in n.why for n in found.not_run)
