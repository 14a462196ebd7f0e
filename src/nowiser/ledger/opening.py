"""Which ledger belongs to a policy, and opening it."""

from pathlib import Path

from nowiser.ledger.base import Ledger
from nowiser.model.policy import Policy

FOLDER = ".nowiser"  # beside the policy file


def open_ledger(url: str, *, anchor: Path | None = None, lost: bool = False) -> Ledger:
    """Open, or start, the ledger at `sqlite:///file` or `postgresql://…`.

    The anchor of a file `x.sqlite` is `x.head` beside it unless another place is given; a ledger on PostgreSQL is
    anchored where the caller says. `lost`: an older copy was put back, to `accept_lost`.
    Raises Unreachable, or LedgerBroken when the anchor finds a roll-back.
    """
    from nowiser.ledger.account import SqlLedger
    from nowiser.ledger.anchor import Anchor
    from nowiser.ledger.store import open_store

    store = open_store(url)
    if anchor is None and store.file is not None:
        anchor = store.file.with_suffix(".head")
    return SqlLedger(store, Anchor(anchor) if anchor is not None else None, lost=lost)


def state_folder(policy: Policy) -> Path:
    """Where everything that belongs to a policy is kept, for the custodian alone."""
    return (policy.path.resolve().parent if policy.path is not None else Path.cwd()) / FOLDER


def for_policy(policy: Policy, *, lost: bool = False) -> Ledger:
    """The ledger of a policy: its `ledger:` URL, or `.nowiser/ledger.sqlite` beside the policy file.

    A relative file starts at the policy's folder. The anchor is `.nowiser/ledger.head` there.
    """
    state = state_folder(policy)
    url = policy.ledger or f"sqlite:///{state / 'ledger.sqlite'}"
    if policy.ledger and url.startswith("sqlite:///"):
        file = state.parent / url.removeprefix("sqlite:///")
        return open_ledger(f"sqlite:///{file}", lost=lost)
    return open_ledger(url, anchor=state / "ledger.head", lost=lost)
