"""Models as JSON: parameters and what fitting released, with the version of the format. Nothing in it is executed."""

import json
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.learn.bins import Bins
from nowiser.learn.card import Card
from nowiser.learn.domain import Category, Domain, Number
from nowiser.learn.tree import Grown

VERSION = 1
FORMAT = "nowiser_model"


def to_json(model: Any) -> str:
    found = {n: v for n, v in vars(model).items() if n.endswith("_") and not n.startswith("_")}
    content = {
        FORMAT: VERSION,
        "model": type(model).__name__,
        "parameters": {f.name: written(getattr(model, f.name)) for f in fields(model)},
        "fitted": {n: written(v) for n, v in found.items()},
    }
    return json.dumps(content, ensure_ascii=False)


def from_json(text: str) -> Any:
    """A fitted model that `to_json` wrote."""
    import nowiser.learn as room

    try:
        content = json.loads(text)
        version, name = content[FORMAT], content["model"]
    except (ValueError, KeyError, TypeError):
        raise Misconfigured("this is not a model that nowiser wrote", hint="Write one with model.to_json().") from None
    if version != VERSION:
        raise Misconfigured(f"this model is of version {version!r} of the format; this nowiser reads version {VERSION}")
    if name not in room.MODELS:
        raise Misconfigured(f"no model is called {name!r}; there are {', '.join(room.MODELS)}")
    try:
        model = getattr(room, name)(**{n: read(v) for n, v in content["parameters"].items()})
        found = {n: read(v) for n, v in content["fitted"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Misconfigured(f"the file of this {name} is damaged: {error}") from None
    if strange := [n for n in found if n.startswith("_") or not n.endswith("_") or hasattr(type(model), n)]:
        raise Misconfigured(f"the file of this {name} is damaged: {strange[0]!r} is not what a model holds")
    vars(model).update(found)
    return model


def written(value: Any) -> Any:
    """A value in the words of JSON; what JSON has no word for stands in an object with one key."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Fraction():
            return {"fraction": str(value)}
        case np.ndarray():
            return {"array": [written(v) for v in value.tolist()], "of": value.dtype.kind}
        case np.generic():
            return value.item()
        case tuple():
            return {"tuple": [written(v) for v in value]}
        case list():
            return [written(v) for v in value]
        case dict():
            return {"map": [[written(k), written(v)] for k, v in value.items()]}
        case Function():
            return {"function": value.name}
    if is_dataclass(value) and type(value).__name__ in KINDS:
        return {"kind": type(value).__name__, "is": {f.name: written(getattr(value, f.name)) for f in fields(value)}}
    if callable(value):
        return {"function": getattr(value, "__name__", type(value).__name__)}
    raise Misconfigured(f"a {type(value).__name__} cannot be kept in a file")


@dataclass(frozen=True)
class Function:
    """In the place of a function, which no file holds."""

    name: str

    def __call__(self, *_given: Any) -> Any:
        raise Misconfigured(
            f"the function {self.name!r} is not in the file of the model: files hold numbers, and nothing that is run",
            hint="Give it again, as in model.set_params(predicts=…).",
        )


KINDS: dict[str, Any] = {k.__name__: k for k in (Number, Category, Domain, Bins, Grown, Card)}
ARRAYS = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_, "U": np.str_, "O": object}


def read(value: Any) -> Any:
    match value:
        case {"fraction": text}:
            return Fraction(text)
        case {"array": values, "of": kind}:
            return np.array(read(values), dtype=ARRAYS[kind])
        case {"tuple": values}:
            return tuple(read(v) for v in values)
        case {"map": pairs}:
            return {read(k): read(v) for k, v in pairs}
        case {"function": name}:
            return Function(str(name))
        case {"kind": kind, "is": content}:
            return KINDS[kind](**{n: read(v) for n, v in content.items()})
        case list():
            return [read(v) for v in value]
        case dict():
            raise ValueError("an object of no kind that is known")
    return value
