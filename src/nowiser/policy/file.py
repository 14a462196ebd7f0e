"""The file a policy was read from: whether it still says the same."""

from nowiser.errors import Misconfigured
from nowiser.model.policy import Policy
from nowiser.policy.reader import read


class PolicyFile:
    """Looked at before every question, so that an edited policy binds gateways that are open on the same machine.

    Only its stamp is looked at; the file is read again where that has changed. On other hosts, and without a file, the
    policy in the ledger decides (`ledger/access.py`).
    """

    def __init__(self, policy: Policy) -> None:
        self._policy, self._stamp = policy, self._now(policy)

    def check(self) -> None:
        """Raise Misconfigured where the file says something else than the policy that was read from it."""
        stamp = self._now(self._policy)
        if stamp == self._stamp:
            return
        if self._policy.path is None or stamp is None or read(self._policy.path).digest != self._policy.digest:
            raise Misconfigured(
                "the policy file was changed since this gateway was opened; it answers under the old policy no more",
                hint="Open the gateway again: it then reads the policy file as it is now. Nothing was charged.",
            )
        self._stamp = stamp

    @staticmethod
    def _now(policy: Policy) -> tuple[int, int, int] | None:
        try:
            found = policy.path.stat() if policy.path is not None else None
        except OSError:
            return None
        return None if found is None else (found.st_mtime_ns, found.st_size, found.st_ino)
