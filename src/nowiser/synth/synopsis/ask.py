"""`nw.synopsis`: the arguments people give, made into a request."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nowiser.policy.reader import read
from nowiser.sql.plan import precision
from nowiser.synth.synopsis.make import Prepared, make, request_of
from nowiser.synth.synth import Told


def synopsis(
    table: str | None = None,
    *,
    spend: float | str,
    policy: str | Path | None = None,
    together: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    cells: Mapping[str, int | str | Sequence[Any]] | None = None,
    method: str = "all",
    anyway: bool = False,
    told: Told = lambda _done, _what: None,
    before: Callable[..., None] = lambda *_: None,
) -> Prepared:
    """Noisy counts of a table, paid for once; gateways whose policy says so answer questions from them, free.

    `spend`: the share of the whole allowance. `together`: what is counted together, as in ["age*ward*urgent"]; default:
    all pairs. `columns`, `cells`: as for `nw.synth`. The policy says `answers: {from: synopsis}`, or `best`.

    Raises NotAnswerable, Misconfigured, Useless (`anyway` makes it all the same) or Exhausted: nothing charged, no
    secret touched. Raises NotEvaluated: something failed after the charge, which stays.
    """
    declared = read(Path(policy or os.environ.get("NOWISER_POLICY") or "nowiser.yaml"))
    share = precision.wish(declared, None, spend).spend
    assert share is not None, "a wish without an error has a share"
    request = request_of(declared, table, spend=share, method=method, columns=columns, cells=cells, together=together)
    return make(request, anyway=anyway, told=told, before=before)
