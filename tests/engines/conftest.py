"""One Spark session for all tests of engines: starting one takes its time."""

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def spark_session():
    """A local Spark, or a skip with the reason."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, and there is none here")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    from nowiser.engines.spark.session import open_session

    # The first to ask decides for the process: two cores, few partitions, and small tables not evaluated by the planner.
    SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(
        "spark.sql.shuffle.partitions", "2"
    ).config("spark.driver.host", "127.0.0.1").config(
        "spark.sql.optimizer.excludedRules", "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
    )
    session = open_session("spark")
    yield session
    session.stop()
