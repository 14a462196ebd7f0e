"""The generators stand beside the tests, and the fixture's policy with the attacks."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "attacks")]  # tests are not a package

from live_engines import spark_session  # noqa: E402 (found where the line above says)

__all__ = ["spark_session"]
