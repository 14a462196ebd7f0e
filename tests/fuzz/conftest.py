"""The generators stand beside the tests, and the fixture's policy with the attacks."""

from support.live_engines import spark_session

__all__ = ["spark_session"]
