"""Engines: where the exact part of a plan is run. Chosen by the `engine:` line of the policy."""

from nowiser.engines.base import Engine
from nowiser.errors import Misconfigured
from nowiser.model.policy import Policy


def connect(policy: Policy) -> Engine:
    """The engine of a policy. Raises Misconfigured for one that is not known."""
    scheme = policy.engine.partition(":")[0]
    match scheme:
        case "duckdb":
            from nowiser.engines.duckdb import DuckDB

            return DuckDB(policy)
        case "postgresql" | "postgres":
            from nowiser.engines.postgres import Postgres

            return Postgres(policy)
        case "spark" | "spark-connect":
            from nowiser.engines.spark import Spark

            return Spark(policy)
    raise Misconfigured(
        f"The policy names an engine that is not known: {scheme}.",
        hint="Known: duckdb, duckdb:///file, postgresql://…, spark, spark://…, spark-connect://…",
    )
