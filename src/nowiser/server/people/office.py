"""The office: changes of accounts as one account may make them, for pages and API alike.

Nobody locks herself out. With four eyes no custodian can act as two: none makes another, or opens the account of one.
"""

from dataclasses import dataclass
from fractions import Fraction

from nowiser.errors import NotAuthorised
from nowiser.server.people.account import Account, Role
from nowiser.server.people.register import Register
from nowiser.server.problems import LoginFailed


@dataclass(frozen=True)
class Office:
    """`by`: who is logged in."""

    register: Register
    by: Account
    four_eyes: bool

    def add(self, name: str, role: Role, *, per_day: Fraction, label: str) -> str:
        """A new account; the text of its token."""
        self._custodian()
        self._alone(role)
        return self.register.add(name, role, by=self.by.name, per_day=per_day, label=label)

    def change(
        self,
        name: str,
        *,
        role: Role | None = None,
        per_day: Fraction | None = None,
        disabled: bool | None = None,
        subject: str | None = None,
    ) -> None:
        self._custodian()
        self._not_oneself(name, role not in (None, self.by.role) or bool(disabled))
        held = self._role(name)
        self._alone(None if role is held else role, held if subject is not None or disabled is False else None)
        self.register.change(name, by=self.by.name, role=role, per_day=per_day, disabled=disabled, subject=subject)

    def drop(self, name: str) -> None:
        self._custodian()
        self._not_oneself(name, wrong=True)
        self.register.drop(name, by=self.by.name)

    def add_token(self, name: str, label: str) -> str:
        """One's own, or as a custodian somebody's."""
        if name != self.by.name:
            self._custodian()
            self._alone(self._role(name))
        return self.register.add_token(name, label, by=self.by.name)

    def drop_token(self, name: str, token: str) -> None:
        if name != self.by.name:
            self._custodian()
        self.register.drop_token(name, token, by=self.by.name)

    def set_password(self, name: str, old: str, new: str) -> None:
        """One's own. `old`: the password so far, or a token of the account."""
        if name != self.by.name:
            raise NotAuthorised("Everybody sets the own password.", hint="A forgotten one: nowiser user password.")
        if self.register.of_password(name, old) is None and self.register.of_token(old, name) is None:
            raise LoginFailed
        self.register.set_password(name, new, by=name)

    def _custodian(self) -> None:
        if self.by.role is not Role.custodian:
            raise NotAuthorised("Only a custodian changes other accounts.")

    def _role(self, name: str) -> Role | None:
        return next((a.role for a in self.register.every() if a.name == name), None)

    def _not_oneself(self, name: str, wrong: bool) -> None:
        if wrong and self.by.name == name:
            raise NotAuthorised(
                "Nobody changes the own role, switches the own account off or drops it.",
                hint="Ask another custodian, or use `nowiser user` on the server.",
            )

    def _alone(self, *roles: Role | None) -> None:
        if self.four_eyes and Role.custodian in roles:
            raise NotAuthorised(
                "Changes of promises need two custodians here, so none makes another or opens the account of one.",
                hint="Use `nowiser user` on the server.",
            )
