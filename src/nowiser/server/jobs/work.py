"""The process of one job: a wish as JSON on standard input, lines of JSON on standard output.

`{"done": 0.4, "message": …}` while it works; at the end `{"result": …}` or `{"failed": …}`.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nowiser.errors import NowiserError
from nowiser.percent import percent
from nowiser.report import failure
from nowiser.server.jobs.wish import FOLDER, Compare, Publish, Wish

UNSEEN = "The job could not be carried out. The server's log says where it stopped."


def publish(policy: Path, wish: Publish) -> dict[str, Any]:
    """`nowiser publish -p`, with the roles and promises of the policy."""
    from nowiser.microdata.for_policy import from_policy
    from nowiser.microdata.publish import release
    from nowiser.microdata.recipe import parse
    from nowiser.report.released_table import sentence

    source = from_policy(policy, wish.table, None, by=wish.by)
    given: dict[str, Any] = {
        "quasi": source.quasi,
        "sensitive": source.sensitive,
        "identifiers": source.identifiers,
        "models": [{"k-anonymity": wish.k}],
        "suppress": wish.suppress,
        "seconds": wish.seconds,
    }
    recipe = source.promised(parse(given, where="the release"))
    folder = policy.resolve().parent / FOLDER
    if not wish.look:
        folder.mkdir(exist_ok=True)
    made = release(
        source.needed(),
        recipe,
        output=None if wish.look else folder / f"{wish.name}.csv",
        progress=told,
        check=source.check,
        enter=source.enter,
        counting=source.counting,
        every=False,
    )
    content = made.report()
    words = sentence(content, content["candidates"][content["chosen"]])
    if not wish.look:
        return {"file": f"{FOLDER}/{wish.name}.csv", "words": words}
    assert source.price is not None
    used, left = source.price(made.chosen)
    price = f"Publishing it would use {percent(used)} of the allowance for answers and leave {percent(left)}. "
    return {"used": used, "left": left, "words": price + words}


def compare(policy: Path, wish: Compare) -> dict[str, Any]:
    """`nowiser compare -p`, with the roles of the policy and what its answers have told."""
    from nowiser.ledger import for_policy
    from nowiser.microdata.compare import compare as held_against
    from nowiser.microdata.for_policy import from_policy
    from nowiser.microdata.risk.intersection import answered_about
    from nowiser.policy import read

    source, declared = from_policy(policy, wish.table, None), read(policy)
    released = policy.resolve().parent / wish.file
    told(0.1, "comparing")
    with for_policy(declared) as ledger:
        totals = ledger.totals()
    answered = {c: answered_about(declared, totals, f"{wish.table}.{c}") for c in source.sensitive}
    found = held_against(
        source.needed(), released, quasi=tuple(source.quasi), sensitive=tuple(source.sensitive), answered=answered
    )
    report = found.save(released.with_name(f"{released.stem}.compare.html"))
    return {"file": str(report.relative_to(policy.resolve().parent)), "words": "The comparison is written."}


def told(done: float, message: str) -> None:
    _line({"done": round(done, 3), "message": message})


def _line(content: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(content, ensure_ascii=True) + "\n")
    sys.stdout.flush()


def main() -> None:
    said = json.loads(sys.stdin.read())
    policy, logs = Path(said["policy"]), Path(said["logs"])
    try:
        with failure.wall(logs, UNSEEN, "in a job"):
            if said["kind"] == Publish.kind:
                _line({"result": publish(policy, Publish(**said["wish"]))})
            else:
                _line({"result": compare(policy, Compare(**said["wish"]))})
    except NowiserError as error:
        _line({"failed": {"message": error.message, "hint": error.hint or ""}})
    except KeyboardInterrupt:
        _line({"failed": {"message": "Stopped. No file was written.", "hint": ""}})


def sent(policy: Path, logs: Path, wish: Wish) -> bytes:
    """What `main` reads."""
    return json.dumps({"policy": str(policy), "logs": str(logs), "kind": wish.kind, "wish": asdict(wish)}).encode()


if __name__ == "__main__":
    main()
