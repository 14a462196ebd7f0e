"""Append-only accounts, hash-chained, on SQLite or PostgreSQL."""

from nowiser.ledger.base import Admit, Entry, Head, Ledger, Reservation
from nowiser.ledger.opening import for_policy, open_ledger, state_folder

__all__ = ["Admit", "Entry", "Head", "Ledger", "Reservation", "for_policy", "open_ledger", "state_folder"]
