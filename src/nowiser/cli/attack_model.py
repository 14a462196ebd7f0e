"""`nowiser attack model.json`: who was a model fitted on?"""

from pathlib import Path
from typing import Any

from nowiser.errors import Misconfigured


def membership_of(
    file: Path, original: Path | None, control: Path | None, target: tuple[str, ...], seed: int | None
) -> Any:
    """The attack, on a file that `nowiser learn` wrote."""
    from nowiser.attacks.models import membership
    from nowiser.files.unreadable import there
    from nowiser.learn.saved import from_json
    from nowiser.microdata.table.read import load

    if original is None or control is None:
        raise Misconfigured(
            "to attack a model name people it was fitted on (--original) and people like them it was not (--control)",
            hint="And what it predicts: --sensitive diagnosis.",
        )
    there(file)
    model = from_json(file.read_text(encoding="utf-8"))
    inside, outside = (load(path).to_arrow() for path in (original, control))
    return membership(model, inside, outside, target[0] if target else None, seed=seed)
