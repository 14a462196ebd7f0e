"""A client for the application, in this process."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have a package that is not out yet
    from starlette.testclient import TestClient

__all__ = ["TestClient"]
