"""Clients: for the application in this process, and for one that runs elsewhere."""

import contextlib
import json
import threading
import time
import urllib.error
import urllib.request
import warnings

import uvicorn

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have a package that is not out yet
    from starlette.testclient import TestClient

__all__ = ["TestClient", "in_a_thread", "post"]


class Quiet(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self):
        yield


@contextlib.contextmanager
def in_a_thread(desk, **more):
    """The application of a desk in a thread of this process: its address."""
    from nowiser.server.http.app import application

    given = {"port": 0, "log_config": None, "access_log": False, "lifespan": "off", "proxy_headers": False} | more
    server = Quiet(uvicorn.Config(application(desk), **given))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


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
