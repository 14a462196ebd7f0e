"""A synopsis as a value, and as the bytes that the ledger keeps: noisy counts, and the model fitted to them."""

import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.bought.rows import homes
from nowiser.errors import Misconfigured
from nowiser.model.policy import Policy
from nowiser.model.schema import Table
from nowiser.policy.meaning import canonical
from nowiser.synth.model import Model
from nowiser.synth.noisy import Noisy
from nowiser.synth.synopsis.components import Components

FORM = "nowiser synopsis"
VERSION = 1
SAID = ("people",)  # of a table, which changes no answer


@dataclass(frozen=True, eq=False)
class Synopsis:
    """`measured`: every noisy table of counts that was paid for; `at`: the day it was made."""

    model: Model
    measured: tuple[Noisy, ...]
    at: str

    @property
    def table(self) -> str:
        return self.model.table

    @cached_property
    def components(self) -> Components:
        return Components(self.model.sizes, self.measured)

    @cached_property
    def drawn(self) -> list[NDArray[np.int32]]:
        """Rows of the model, always the same, for questions whose columns were not counted together."""
        many = min(max(round(self.model.rows), 100_000), 1_000_000)
        return self.model.codes(many, np.random.default_rng(0))

    def and_also(self, others: Iterable["Synopsis"]) -> "Synopsis":
        """With what earlier ones of the same cells counted."""
        same = [m for o in others if o.model.domain == self.model.domain for m in o.measured]
        return replace(self, measured=(*self.measured, *same))

    def to_bytes(self) -> bytes:
        """Numbers as arrays, everything else as JSON beside them."""
        model = self.model
        beside = {
            "form": FORM,
            "version": VERSION,
            "at": self.at,
            "model": model.to_json() | {"counted": []},
            "counted": [list(c) for c in model.parameters],
            "measured": [[list(m.columns), m.variance] for m in self.measured],
        }
        arrays: dict[str, Any] = {"beside": np.frombuffer(json.dumps(beside).encode(), np.uint8)}
        arrays |= {f"parameters{i}": p.astype(np.float32) for i, p in enumerate(model.parameters.values())}
        arrays |= {f"counts{i}": m.counts for i, m in enumerate(self.measured)}
        sink = io.BytesIO()
        np.savez_compressed(sink, **arrays)
        return sink.getvalue()

    @staticmethod
    def from_bytes(kept: bytes) -> "Synopsis":
        """Raises Misconfigured for one of another version."""
        with np.load(io.BytesIO(kept), allow_pickle=False) as arrays:
            beside = json.loads(arrays["beside"].tobytes())
            if (beside["form"], beside["version"]) != (FORM, VERSION):
                raise Misconfigured(
                    f"the synopsis is of version {beside['version']!r}, and this nowiser reads version {VERSION}",
                    hint="Make a new one, or ask with the nowiser that made it.",
                )
            parts = [
                {"columns": c, "deviation": None, "parameters": arrays[f"parameters{i}"].astype(np.float64)}
                for i, c in enumerate(beside["counted"])
            ]
            model = Model.from_json(beside["model"] | {"counted": parts})
            measured = tuple(Noisy(tuple(c), arrays[f"counts{i}"], v) for i, (c, v) in enumerate(beside["measured"]))
        return Synopsis(model, measured, beside["at"])


def base_of(policy: Policy, table: Table) -> str:
    """The name under which synopses of a table are found: they hold for what the policy declares of it now."""
    declared = canonical(policy)["tables"]
    said = [{k: v for k, v in declared[t.name].items() if k not in SAID} for t in (*homes(policy, table), table)]
    return hashlib.sha256(json.dumps(["synopsis", table.name, said], sort_keys=True).encode()).hexdigest()
