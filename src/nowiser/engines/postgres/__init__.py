"""PostgreSQL: the plan runs where the data live. Reading needs no right but SELECT."""

from nowiser.engines.postgres.engine import Postgres

__all__ = ["Postgres"]
