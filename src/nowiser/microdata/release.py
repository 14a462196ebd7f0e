"""The documented path of `Roles` and `Run`."""

from nowiser.microdata.method_contract import Roles, Run

__all__ = ["Roles", "Run"]
