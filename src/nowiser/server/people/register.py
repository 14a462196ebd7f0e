"""The register: accounts in the ledger's database, every change of them an entry of the chain."""

import hmac
from dataclasses import replace
from fractions import Fraction

from nowiser.errors import Misconfigured
from nowiser.ledger.base import Ledger
from nowiser.percent import percent
from nowiser.server.people import passwords, tokens
from nowiser.server.people.account import PER_DAY, Account, Role, checked_name


class Register:
    """Reads the database each time: a change binds every process and host at once."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def find(self, name: str) -> Account | None:
        """The account, if there is one and it is not switched off."""
        stored = self._ledger.account(name) if len(name) <= 63 and name.isprintable() else None
        account = None if stored is None else Account.of(stored)
        return None if account is None or account.disabled else account

    def every(self) -> tuple[Account, ...]:
        return tuple(Account.of(stored) for stored in self._ledger.accounts().values())

    def add(self, name: str, role: Role, *, by: str, per_day: Fraction = PER_DAY, label: str = "first") -> str:
        """A new account with one token, whose text is returned and kept nowhere."""
        if self._ledger.account(checked_name(name)) is not None:
            raise Misconfigured(f"There is an account {name} already.", hint="`nowiser user list` shows them.")
        account = Account(name, role, _share(per_day), tokens.new_salt())
        token, text = tokens.made(account, label)
        what = f"{role.value} added, {percent(float(per_day))} of the allowance per day"
        self._keep(replace(account, tokens=(token,)), what, by)
        return text

    def add_token(self, name: str, label: str, *, by: str) -> str:
        account = self._known(name)
        if len(account.tokens) >= 20:
            raise Misconfigured(f"{name} has 20 tokens already.", hint="Drop one that is not used any more.")
        token, text = tokens.made(account, label)
        self._keep(replace(account, tokens=(*account.tokens, token)), f"token {token.id} made", by)
        return text

    def drop_token(self, name: str, token: str, *, by: str) -> None:
        account = self._known(name)
        rest = tuple(t for t in account.tokens if token not in (t.id, t.label))
        if len(rest) == len(account.tokens):
            raise Misconfigured(f"{name} has no token {token}.", hint="`nowiser user list` shows them.")
        self._keep(replace(account, tokens=rest), f"token {token} dropped", by)

    def set_password(self, name: str, password: str, *, by: str) -> None:
        account = self._known(name)
        self._keep(replace(account, password=passwords.hashed(password)), "password set", by)

    def change(
        self,
        name: str,
        *,
        by: str,
        role: Role | None = None,
        per_day: Fraction | None = None,
        disabled: bool | None = None,
        subject: str | None = None,
    ) -> None:
        account = self._known(name)
        said: list[str] = []
        if role is not None:
            account, said = replace(account, role=role), [*said, f"role {role.value}"]
        if per_day is not None:
            account, said = replace(account, per_day=_share(per_day)), [*said, f"{percent(float(per_day))} per day"]
        if disabled is not None:
            account, said = replace(account, disabled=disabled), [*said, "switched off" if disabled else "switched on"]
        if subject is not None:
            self._nobody_else(subject, name)
            account, said = replace(account, subject=subject or None), [*said, "single sign-on changed"]
        if said:
            self._keep(account, ", ".join(said), by)

    def drop(self, name: str, *, by: str) -> None:
        self._ledger.keep_account(self._known(name).name, None, what="account dropped", by=by)

    def of_token(self, text: str, name: str | None = None) -> Account | None:
        """Whose token it is. Tokens are compared by their digests, so nothing of their text shows in the time."""
        wanted = tokens.digest(text)
        named = self.find(name) if name is not None else None
        found = None
        for account in self.every() if name is None else (named,) if named is not None else ():
            if not account.disabled and any(hmac.compare_digest(t.digest, wanted) for t in account.tokens):
                found = account
        return found

    def of_password(self, name: str, password: str) -> Account | None:
        account = self.find(name)
        return account if passwords.right(account.password if account else None, password) else None

    def of_subject(self, subject: str) -> Account | None:
        return next((a for a in self.every() if a.subject == subject and not a.disabled), None)

    def _nobody_else(self, subject: str, name: str) -> None:
        issuer, _, who = subject.partition(" ")
        if subject and not (issuer.startswith("http") and who):
            raise Misconfigured(
                "The person of single sign-on is written as the provider's address, a space, and who she is there.",
                hint="For example https://id.hospital.example 00u1a2b3. The log-in page tells it.",
            )
        if subject and any(a.subject == subject for a in self.every() if a.name != name):
            raise Misconfigured("Another account has this person of single sign-on.", hint="One person, one account.")

    def _known(self, name: str) -> Account:
        stored = self._ledger.account(name)
        if stored is None:
            raise Misconfigured(f"There is no account {name}.", hint="`nowiser user list` shows them.")
        return Account.of(stored)

    def _keep(self, account: Account, what: str, by: str) -> None:
        self._ledger.keep_account(account.name, account.to_json(), what=what, by=by)


def _share(per_day: Fraction) -> Fraction:
    if not 0 < per_day <= 1:
        raise Misconfigured("The share per day is more than 0 % and at most 100 %.", hint="For example --per-day 5%.")
    return per_day
