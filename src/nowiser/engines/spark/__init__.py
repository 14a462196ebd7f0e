"""Spark: the work stays in the cluster, only the numbers of each group come back."""

from nowiser.engines.spark.engine import Spark

__all__ = ["Spark"]
