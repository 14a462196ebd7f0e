"""Clients: for the application in this process, and for one that runs elsewhere."""

import json
import urllib.error
import urllib.request
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have a package that is not out yet
    from starlette.testclient import TestClient

__all__ = ["TestClient", "post"]


def post(address, token, path, body):
    request = urllib.request.Request(
        f"{address}/api/v1/{path}",
        json.dumps(body).encode(),
        {"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)
