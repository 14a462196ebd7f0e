"""The recipe of a release as one frozen value, and how it is read from YAML.

    quasi: {age: intervals:5:10:20, zip: prefix, sex: }   # what attackers may know, with hierarchies
    hierarchies: levels                                  # a folder with a csv file for each other quasi-identifier
    sensitive: {diagnosis: }                             # what they want to guess (hierarchy optional)
    person: patient                                      # whose a row is, where people have several; removed
    identifiers: [name]                                  # removed, unless a step makes pseudonyms of them
    keep: [remarks]                                      # released as they are; columns nobody named are left out
    models: {k-anonymity: 5, gain: 20%}                  # what the released table must satisfy
    suppress: 5%                                         # rows that may be left out
    loss: loss                                           # what the search minimises
    gs_factor: 0.5                                       # below a half suppression counts less, above it generalisation
    importance: {age: 2}                                 # how much a column counts in the loss; 1 if it is not named
    steps: [generalise]                                  # what is done, in this order

A model is written `name: limit`, or `name: {options}`; a list of such mappings allows one model twice.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.microdata import registry
from nowiser.microdata.hierarchies import files
from nowiser.microdata.hierarchies.spec import Spec
from nowiser.microdata.method_contract import Method, Roles

SEED = re.compile(r"[0-9a-f]{32,}")
VARIED = 7  # different digits that 32 random ones have but once in 10⁹
KEYS = (
    "quasi",
    "hierarchies",
    "sensitive",
    "identifiers",
    "keep",
    "weight",
    "household",
    "person",
    "strata",
    "models",
    "suppress",
    "loss",
    "gs_factor",
    "importance",
    "steps",
    "seed",
    "seconds",
    "population",
    "blind",
)


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a release, apart from the table."""

    quasi: Mapping[str, Spec]
    sensitive: Mapping[str, Spec] = field(default_factory=dict)
    identifiers: tuple[str, ...] = ()
    models: tuple[Any, ...] = ()  # Model values
    suppress: Fraction = Fraction(0)
    loss: str = "loss"
    gs_factor: float = 0.5
    importance: Mapping[str, float] = field(default_factory=dict)
    steps: tuple[Method, ...] = ()  # empty: the flow tries those that fit and offers them
    weight: str | None = None
    household: str | None = None
    strata: tuple[str, ...] = ()
    person: str | None = None  # whose a row is, where persons have several; not released
    seed: str | None = field(default=None, repr=False)
    seconds: float = 60.0
    keep: tuple[str, ...] = ()  # columns without a role that are released as they are; "*" for all
    population: str | None = None  # a file with the whole population's quasi-identifiers (k-map, δ-presence)
    blind: bool = False  # the version is chosen by sizes of groups alone; models about secrets are only held
    within: Mapping[str, float] = field(default_factory=dict)  # how near a guess of a sensitive number must come
    folder: Path | None = None  # relative hierarchy files start here

    @property
    def roles(self) -> Roles:
        return Roles(
            tuple(self.quasi), tuple(self.sensitive), self.identifiers, self.weight, self.household, self.strata
        )


def read(path: Path) -> Recipe:
    """The recipe in a YAML file."""
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Misconfigured(f"there is no recipe {path}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} is not YAML: {error}") from None
    return parse(content, folder=path.parent, where=str(path))


def parse(content: Any, *, folder: Path | None = None, where: str = "the recipe") -> Recipe:
    """A recipe from plain values; every mistake names its key."""
    if not isinstance(content, Mapping):
        raise Misconfigured(f"{where} must be a mapping", hint=f"Its keys: {', '.join(KEYS)}.")
    unknown = [str(k) for k in content if k not in KEYS]
    if unknown:
        raise Misconfigured(f"{where}: unknown key {', '.join(unknown)}", hint=f"Allowed: {', '.join(KEYS)}.")
    sensitive, within = near(columns(content.get("sensitive"), f"{where}: sensitive"), f"{where}: sensitive")
    return Recipe(
        quasi=with_files(columns(content.get("quasi"), f"{where}: quasi"), content.get("hierarchies"), folder),
        sensitive=sensitive,
        within=within,
        identifiers=names(content.get("identifiers"), f"{where}: identifiers"),
        keep=names(content.get("keep"), f"{where}: keep"),
        models=asked_near(parse_models(content.get("models"), tuple(sensitive), f"{where}: models"), within),
        suppress=share(content.get("suppress", 0), f"{where}: suppress"),
        loss=parse_loss(content.get("loss", "loss"), where),
        gs_factor=float(share(content.get("gs_factor", "0.5"), f"{where}: gs_factor")),
        importance=importance(content.get("importance"), f"{where}: importance"),
        steps=parse_steps(content.get("steps"), f"{where}: steps"),
        weight=name(content.get("weight"), f"{where}: weight"),
        household=name(content.get("household"), f"{where}: household"),
        person=name(content.get("person"), f"{where}: person"),
        strata=names(content.get("strata"), f"{where}: strata"),
        seed=seed(content.get("seed"), f"{where}: seed"),
        seconds=seconds(content.get("seconds", 60), f"{where}: seconds"),
        population=name(content.get("population"), f"{where}: population"),
        blind=flag(content.get("blind", False), f"{where}: blind"),
        folder=folder,
    )


def columns(value: Any, where: str) -> dict[str, Spec]:
    """`{age: spec, sex: }`, or a list of names and one-entry mappings."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(k): v for k, v in value.items()}
    out: dict[str, Spec] = {}
    for item in [value] if isinstance(value, str) else value if isinstance(value, Sequence) else [None]:
        if isinstance(item, str):
            out[item] = None
        elif isinstance(item, Mapping):
            out.update({str(k): v for k, v in item.items()})
        else:
            raise Misconfigured(f"{where}: expected column names, found {item!r}")
    return out


def with_files(named: dict[str, Spec], given: Any, folder: Path | None) -> dict[str, Spec]:
    """The columns with the files of a folder of hierarchies, where none is named beside them."""
    if given is None:
        return named
    if not isinstance(given, str | Path):
        raise Misconfigured(f"hierarchies: expected a folder, found {given!r}")
    there = files.found(Path(given) if folder is None else folder / given, [n for n, spec in named.items() if not spec])
    return {name: spec or there.get(name) for name, spec in named.items()}


def near(given: Mapping[str, Any], where: str) -> tuple[dict[str, Spec], dict[str, float]]:
    """`Score: 5` is no hierarchy: a guess of the number counts as right within that distance."""
    specs, within = dict(given), {}
    for column, spec in given.items():
        try:
            radius = float(spec) if isinstance(spec, str | int | float) and not isinstance(spec, bool) else None
        except ValueError:
            continue
        if radius is None:
            continue
        if not 0 <= radius < float("inf"):
            raise Misconfigured(f"{where}: the distance of {column!r} must be a number of at least 0, not {spec!r}")
        specs[column], within[column] = None, radius
    return specs, within


def asked_near(models: Sequence[Any], within: Mapping[str, float]) -> tuple[Any, ...]:
    """Gains about a column with a distance are within it, unless they say otherwise."""

    def asked(model: Any) -> Any:
        if model.name != "gain" or model.about not in within:
            return model
        said = (model.within, model.among, model.between)
        return model if any(s is not None for s in said) else replace(model, within=within[model.about])

    return tuple(asked(m) for m in models)


def names(value: Any, where: str) -> tuple[str, ...]:
    return tuple(columns(value, where))


def name(value: Any, where: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise Misconfigured(f"{where}: expected one name, found {value!r}")
    return value


def flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise Misconfigured(f"{where}: {value!r} is neither true nor false")
    return value


def seed(value: Any, where: str) -> str | None:
    """128 bits or more, in hexadecimal: whoever can try all seeds can undo all noise."""
    if value is None:
        return None
    text = str(value).strip().lower() if isinstance(value, str) else ""
    if not SEED.fullmatch(text) or len(set(text)) < VARIED:
        raise Misconfigured(
            f"{where}: a seed has at least 32 random hexadecimal digits; a shorter one is found by trying all",
            hint="Make one with `openssl rand -hex 16` and keep it secret, or leave it out: "
            "without one the operating system's entropy is used.",
        )
    return text


def seconds(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise Misconfigured(f"{where}: {value!r} is no positive number of seconds")
    return float(value)


def share(value: Any, where: str) -> Fraction:
    """`5%`, `0.05` or `5 %` as an exact fraction between 0 and 1."""
    try:
        raw = str(value).strip()
        part = Fraction(raw[:-1].strip()) / 100 if raw.endswith("%") else Fraction(raw)
    except (ValueError, ZeroDivisionError):
        raise Misconfigured(f"{where}: {value!r} is no share; write 5% or 0.05") from None
    if not 0 <= part <= 1:
        raise Misconfigured(f"{where}: {value!r} is not between 0 and 100 %")
    return part


def parse_loss(value: Any, where: str) -> str:
    losses = registry.losses()
    if value not in losses:
        raise Misconfigured(f"{where}: there is no loss {value!r}", hint=f"There are: {', '.join(sorted(losses))}.")
    return str(value)


def importance(value: Any, where: str) -> dict[str, float]:
    """How much each column counts: positive numbers."""
    out = {}
    for name, weight in columns(value, where).items():
        try:
            out[name] = float(weight)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            out[name] = 0.0
        if not 0 < out[name] < float("inf"):
            raise Misconfigured(f"{where}: the importance of {name!r} is a positive number, not {weight!r}")
    return out


def parse_models(value: Any, sensitive: tuple[str, ...], where: str) -> tuple[Any, ...]:
    """`{k-anonymity: 5, t-closeness: {t: 0.2, distance: hierarchical}}` or a list of such mappings."""
    if value is None:
        return ()
    out: list[Any] = []
    for entry in value if isinstance(value, list) else [value]:
        if not isinstance(entry, Mapping):
            raise Misconfigured(f"{where}: expected `model: limit`, found {entry!r}")
        for name, options in entry.items():
            out.extend(model(str(name), options, sensitive))
    return tuple(out)


def model(name: str, options: Any, sensitive: tuple[str, ...]) -> list[Any]:
    """The model, for every sensitive column if it is about one and names none."""
    choices = registry.models()
    fields = list(choices[name].__dataclass_fields__) if name in choices else []
    given: dict[str, Any]
    if isinstance(options, Mapping):
        given = {str(k): v for k, v in options.items()}
    else:
        first = next((f for f in fields if f != "about"), None)
        given = {} if options is None or first is None else {first: options}
    given = {k: _plain(v) for k, v in given.items()}
    if "about" in fields and "about" not in given:
        if not sensitive:
            raise Misconfigured(f"model {name!r} is about a sensitive column, and none is named")
        return [registry.make("model", choices, name, {**given, "about": column}) for column in sensitive]
    made = registry.make("model", choices, name, given)
    if strange := [c for c in made.parts if c not in sensitive]:
        raise Misconfigured(
            f"model {name!r} is about {strange[0]!r}, which is no sensitive column",
            hint=f"Sensitive are: {', '.join(sensitive) or 'none'}.",
        )
    return [made]


_PERCENT = re.compile(r"\s*[0-9]+(\.[0-9]+)?\s*%\s*")


def _plain(value: Any) -> Any:
    """`20%` is 0.2, wherever a number may stand."""
    return float(share(value, "option")) if isinstance(value, str) and _PERCENT.fullmatch(value) else value


def parse_steps(value: Any, where: str) -> tuple[Any, ...]:
    """`[generalise, {rounding: {column: income, to: 100}}]`."""
    if value is None:
        return ()
    out: list[Any] = []
    choices = registry.methods()
    for entry in value if isinstance(value, list) else [value]:
        items = {entry: {}} if isinstance(entry, str) else entry
        if not isinstance(items, Mapping):
            raise Misconfigured(f"{where}: expected a method, found {entry!r}")
        for name, options in items.items():
            given = options or {}
            if not isinstance(given, Mapping):
                raise Misconfigured(
                    f"{where}: the options of {name!r} are a mapping, not {given!r}",
                    hint=f"Write them as in {name}: {{option: value}}.",
                )
            out.append(registry.make("method", choices, str(name), {str(k): _plain(v) for k, v in given.items()}))
    return private_first(out, where)


def private_first(steps: Sequence[Any], where: str) -> tuple[Any, ...]:
    """The steps, if those that pay for a column's release come first.

    What they charge covers their own output and all that is computed from it. A step before them may have looked at
    the true column (to suppress rows, to swap, to regress), and what it leaves in other columns nobody pays for.
    """
    for before, step in pairwise(steps):
        if is_private(step) and not is_private(before):
            raise Misconfigured(
                f"{where}: {step.name} comes after {before.name}, which may have looked at its column",
                hint="Steps that claim differential privacy come first: only then is everything released paid for.",
            )
    return tuple(steps)


def is_private(step: Any) -> bool:
    """Whether a step claims differential privacy and pays for it."""
    return str(step.name).startswith("private_")


def described(recipe: Recipe) -> dict[str, str]:
    """What decided a release, key by key, in words for a report. Seeds and key files are not told."""

    def named(specs: Mapping[str, Spec]) -> str:
        return ", ".join(f"{n} ({spec})" if isinstance(spec, str) and spec else n for n, spec in specs.items())

    def options(choice: Any) -> str:
        told = {
            f.name: value
            for f in fields(choice)
            if not f.name.startswith("key") and (value := getattr(choice, f.name)) not in (None, f.default, ())
        }
        return str(choice.name) + (f" ({', '.join(f'{k} {v}' for k, v in told.items())})" if told else "")

    out = {
        "quasi": named(recipe.quasi),
        "sensitive": named(recipe.sensitive),
        "identifiers": ", ".join(recipe.identifiers),
        "keep": ", ".join(recipe.keep),
        "models": "; ".join(options(m) for m in recipe.models),
        "suppress": f"{float(recipe.suppress):.4g}" if recipe.suppress else "",
        "loss": recipe.loss,
        "gs_factor": "" if recipe.gs_factor == registry.HALF else f"{recipe.gs_factor:g}",
        "importance": ", ".join(f"{n} {w:g}" for n, w in recipe.importance.items()),
        "steps": " → ".join(options(s) for s in recipe.steps),
        "population": recipe.population or "",
    }
    return {key: words for key, words in out.items() if words}
