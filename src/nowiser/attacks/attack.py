"""`nw.attack`: reads what the custodian has, checks it, and hands the games to the flow `assess`."""

import secrets as system
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from nowiser.attacks.assess import SECONDS, VICTIMS, Assessment, Round, assess, quiet
from nowiser.attacks.checks import check_control, check_secret, check_tables, outside_list, remarks
from nowiser.attacks.claims import PRESENCE, beside, claims
from nowiser.attacks.graphs.assessed import on_graph
from nowiser.attacks.registry import attacks as registered
from nowiser.attacks.rerunning import by_generator, by_recipe, check_generator
from nowiser.attacks.rows import Rows
from nowiser.attacks.sparse.read import game
from nowiser.attacks.victims import Game
from nowiser.errors import Misconfigured
from nowiser.microdata.codebook import KEPT
from nowiser.microdata.compare import aligned
from nowiser.microdata.hierarchies.spec import hierarchy
from nowiser.microdata.recipe import Recipe, columns, near, read as read_recipe, share
from nowiser.microdata.risk.labels import rules
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.read import load
from nowiser.percent import percent

CROSSED = (
    "no people outside are given (--control): the release is made again from each half of the people; *outside*, and"
    " who is in, are measured on these halves and not on the file"
)


def attack(
    released: Any = None,
    *,
    gateway: Any = None,
    original: Any = None,
    quasi: Any = (),
    sensitive: Any = (),
    control: Any = None,
    aux: Any = None,
    identity: str | None = None,
    releases: Sequence[Any] = (),
    codebook: str | Path | None = None,
    recipe: str | Path | None = None,
    generator: Callable[..., Any] | None = None,
    key: str | None = None,
    in_order: bool = False,
    person: str | None = None,
    item: str | None = None,
    value: str | None = None,
    date: str | None = None,
    known: int = 4,
    graph: bool = False,
    people: Any = None,
    names: Any = None,
    seeds: Any = None,
    label: str | None = None,
    claim: float | str | Mapping[str, Any] | None = None,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    victims: int = VICTIMS,
    seconds: float = SECONDS,
    seed: int | None = None,
    progress: Callable[[str], None] = quiet,
) -> Assessment:
    """What attackers really reach on a release, held against what was promised.

    `original` is the custodian's table, `quasi` what attackers know of their victims (with hierarchies as `publish`
    takes them, if words of a hierarchy were released), `sensitive` what they guess (`{"score": 5}`: within 5).
    `control` holds people who are not in the release: what is guessed of them is what the release teaches about people
    in general. `claim` is a ceiling for everybody, "30%", or one for each column and for who is in the release, as in
    {"income": "82%", "presence": "57% on average"}; without it, that of the codebook is held against the attacks.

    `person` names a column whose values repeat, where a person has several rows. With `item` too, rows are entries of
    histories (films, searches, places), with a `value` and a `date` where these are released; an attacker has `known`
    entries of each victim, or an outside list (`aux`, `identity`) of places or of words.

    `graph`: the release and the original are links between people (edge lists, networkx, igraph, scipy). `people`: a
    table of the original's people; `names`: old and new names; `seeds`: people the attacker finds for certain; `label`:
    a column of `people` he guesses.

    `gateway`, a policy (or its file, or what `nw.open` gives), attacks a copy of its gateway with an account in memory.
    """
    number = system.randbits(31) if seed is None else int(seed)
    checked(victims, seconds)
    run = partial(assess, only=only, skip=skip, victims=victims, seconds=seconds, seed=number, progress=progress)
    if gateway is not None:
        return on_gateway(gateway, number, run)
    if graph:
        ceiling = None if claim is None else float(share(claim, "claim"))
        beside_ = {"people": people, "names": names, "seeds": seeds, "label": label, "claim": ceiling}
        return on_graph(released, original, run, **beside_)
    if released is None or original is None:
        raise Misconfigured(
            "an attack is scored by the original: name the released table and the original (--original, original=)",
            hint="Without it, `nowiser risk released.csv --quasi …` says who is alone with her values, and what"
            " look-alikes tell.",
        )
    if item is not None:
        files = (load(original), load(released), None if aux is None else load(aux))
        made = on_histories(files, person, item, identity, value=value, date=date, known=known)
        return run("release", [Round(made)])
    read = read_recipe(Path(recipe)) if recipe is not None else None
    specs = dict(read.quasi) if read is not None and not quasi else columns(quasi, "quasi") if quasi else {}
    within = secrets_of(sensitive, read)
    new, old = load(released), load(original)
    book = beside(released, None if codebook is None else Path(codebook))
    check_tables(old, new, tuple(specs), tuple(within))
    old, new = whose(old, new, key, book, in_order=in_order)
    outside = None if control is None else load(control)
    notes = remarks(old, new, tuple(specs), person)
    if outside is not None:
        notes += check_control(old, outside, tuple(specs), tuple(within), key or person)
    released_columns = [n for n in new.names if n in old]
    if generator is not None:
        notes += check_generator(generator, old, number, released_columns)
    if outside is None and (generator is not None or read is not None):
        notes.append(CROSSED)
    listed = outside_list(old, aux, identity, tuple(specs))
    folder = read.folder if read is not None else None
    labels = {n: rules(hierarchy(old[n], s, folder)) for n, s in specs.items() if s and n in old}
    notes += unread(old, new, labels, tuple(specs))
    base = Rows(
        old,
        new,
        tuple(specs),
        control=outside,
        releases=tuple(load(r) for r in releases),
        aux=listed,
        identity=identity,
        codebook=book,
        labels=labels,
        rerun=by_generator(generator, released_columns)
        if generator is not None
        else by_recipe(read)
        if read is not None
        else None,
        person=person,
        seed=number,
    )
    promised = claims(book, old, within, claim)
    rounds = []
    for name, radius in within.items():
        check_secret(old, name, radius)
        rounds.append(Round(replace(base, secret=name, within=radius), name, promised.get(name)))
    if not rounds:
        rounds = [Round(base)]
        notes.append("no sensitive column is named: attacks on secret values are not run (--sensitive)")
    rounds[0] = replace(rounds[0], presence=promised.get(PRESENCE) if PRESENCE not in within else None)
    return run("release", rounds, notes=notes)


def on_histories(
    files: tuple[MicroTable, MicroTable, MicroTable | None],
    person: str | None,
    item: str,
    identity: str | None,
    **more: Any,
) -> Game:
    """A game of histories; `item` says so."""
    if person is None:
        raise Misconfigured(f"item={item!r}: whose an entry is must be named too (--person)")
    old, new, listed = files
    if listed is not None:
        outside_list(old, listed, identity, ())
    return game(old, new, person=person, item=item, aux=listed, identity=identity, **more)


def on_gateway(gateway: Any, seed: int, run: Callable[..., Assessment]) -> Assessment:
    """Attack copies of a policy's gateway. Nothing is asked of the real one; its ledger is not opened."""
    from tempfile import TemporaryDirectory

    from nowiser import policy
    from nowiser.attacks.gateways.copied import rounds

    held = getattr(gateway, "policy", gateway)
    held = policy.read(Path(held)) if isinstance(held, str | Path) else held
    with TemporaryDirectory(prefix="nowiser-attack-") as folder:
        found, notes = rounds(held, Path(folder), seed)
        if not found:
            raise Misconfigured("there is no attacker of this policy that an attack is known for: " + "; ".join(notes))
        return run("gateway", found, notes=notes)


def attacks() -> tuple[Mapping[str, Any], ...]:
    """Every attack there is: name, goal, what it is against, what it knows, needs, and where it is from."""
    return tuple(
        {
            "name": a.name,
            "goal": a.goal,
            "against": a.against,
            "knows": a.knows,
            "needs": sorted(a.needs),
            "source": a.source,
        }
        for a in registered().values()
    )


def checked(victims: int, seconds: float) -> None:
    if victims < 1:
        raise Misconfigured(f"victims must be at least 1, not {victims}")
    if not seconds > 0:
        raise Misconfigured(f"seconds must be positive, not {seconds:g}")


def secrets_of(sensitive: Any, recipe: Recipe | None) -> dict[str, float | None]:
    """Sensitive columns, and how near a guess of a number must come."""
    if not sensitive and recipe is not None:
        return {name: recipe.within.get(name) for name in recipe.sensitive}
    if isinstance(sensitive, Mapping):
        radii = near(dict(sensitive), "sensitive")[1]
        return {name: radii.get(name) for name in sensitive}
    named = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    return dict.fromkeys(named, None)


def whose(
    old: MicroTable, new: MicroTable, key: str | None, book: Mapping[str, Any] | None, *, in_order: bool
) -> tuple[MicroTable, MicroTable]:
    """Which released row is whose, where something says so."""
    kept = book is not None and book.get("order") == KEPT
    old, new, _ = aligned(old, new, key, in_order=in_order or kept)
    return old, new


def unread(old: MicroTable, new: MicroTable, labels: Mapping[str, Any], quasi: tuple[str, ...]) -> list[str]:
    """Labels nobody can read make every attack weaker than a real one."""
    from nowiser.microdata.risk.labels import fit

    out = []
    for name in quasi:
        share = fit(old[name], new[name], labels.get(name)).unread
        if share > 0.001:
            out.append(
                f"{name}: the labels of {percent(share)} of the rows cannot be read, so attacks are weaker than"
                f" a real one; name its hierarchy, as in --quasi {name}:file.csv"
            )
    return out
