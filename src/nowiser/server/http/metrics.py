"""`/metrics` for Prometheus: requests by method and status, and whether questions are answered.

Never seconds of the engine, rows, tables, analysts or texts: each would tell who reads metrics something about them.
Routes are not named either.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response
from starlette.types import Message, Scope, Send

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

REGISTRY = CollectorRegistry()
REQUESTS = Counter("nowiser_http_requests", "HTTP requests answered", ("method", "status"), registry=REGISTRY)
LOG_INS = Counter("nowiser_log_ins", "Log-ins tried", ("outcome",), registry=REGISTRY)
READY = Gauge("nowiser_ready", "1 while questions are answered", registry=REGISTRY)


def metrics(*, ready: bool) -> Response:
    READY.set(int(ready))
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)


class Counted:
    """Counts what is sent."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._method = scope["method"] if scope["method"] in METHODS else "other"
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            REQUESTS.labels(self._method, str(message["status"])).inc()
        await self._send(message)
