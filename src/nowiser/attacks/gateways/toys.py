"""Gateways that are known to break, to show that the attackers can win: exact, with a size rule, with various noise.

| toy           | what it does                                                              | broken by           |
|---------------|---------------------------------------------------------------------------|---------------------|
| `exact`       | answers                                                                   | everything          |
| `size rule`   | answers exactly, but refuses sets of fewer than k or more than n − k rows | tracker             |
| `fresh`       | adds new noise to each answer                                             | repeating           |
| `sticky text` | adds the same noise to the same text                                      | rewording           |
| `sticky sets` | adds the same noise to the same set of rows                               | partitions          |
| `float`       | adds textbook noise in doubles                                            | low bits            |
"""

import hashlib
import re
import sqlite3
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nowiser.attacks.gateways.precision import textbook
from nowiser.errors import NotAnswerable

Rule = Literal["exact", "size rule", "fresh", "sticky text", "sticky sets", "float"]


class People:
    """A table of people in memory, with whole numbers and texts."""

    def __init__(self, columns: Mapping[str, NDArray[Any]], name: str = "people") -> None:
        self.rows = len(next(iter(columns.values())))
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        names = ", ".join(columns)
        self._database.execute(f"CREATE TABLE {name} (place, {names})")
        marks = ", ".join("?" * (len(columns) + 1))
        rows = zip(range(self.rows), *(v.tolist() for v in columns.values()), strict=True)
        self._database.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)  # noqa: S608 (a toy)

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        return self._database.execute(sql).fetchall()

    def __del__(self) -> None:
        self._database.close()


class Toy:
    """One of them, over one table. It keeps no account: each answer has noise of the same scale."""

    def __init__(
        self, people: People, rule: Rule, random: np.random.Generator, *, scale: float = 1.0, least: int = 5
    ) -> None:
        self._people = people
        self._rule, self._random, self._scale, self._least = rule, random, scale, least
        self._rows = people.rows
        self._salt = random.bytes(16)

    def ask(self, sql: str, share: float) -> tuple[float, float]:
        """The total and the 95 % half-width of its noise."""
        del share  # it keeps no account
        value = float(self._people.run(sql)[0][0] or 0)
        if self._rule == "exact":
            return value, 0.0
        if self._rule == "size rule":
            size = len(self._set(sql))
            if size < self._least or size > self._rows - self._least:
                raise NotAnswerable("The set of rows is too small or too large.")
            return value, 0.0
        return value + self._noise(sql), self._scale * np.log(20)

    def _noise(self, sql: str) -> float:
        match self._rule:
            case "float":
                return textbook(self._scale, self._random)
            case "sticky text":
                return float(self._stuck(sql).laplace(0, self._scale))
            case "sticky sets":
                return float(self._stuck(str(self._set(sql))).laplace(0, self._scale))
            case _:
                return float(self._random.laplace(0, self._scale))

    def _set(self, sql: str) -> list[int]:
        rest = re.split(r"\bFROM\b", sql, maxsplit=1, flags=re.IGNORECASE)[1]
        return [row[0] for row in self._people.run(f"SELECT place FROM {rest} ORDER BY place")]  # noqa: S608 (a toy)

    def _stuck(self, to: str) -> np.random.Generator:
        digest = hashlib.sha256(self._salt + to.encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "little"))
