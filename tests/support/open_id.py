"""A provider of single sign-on on this machine: everybody who comes is let in at once, as whom the test says."""

import base64
import contextlib
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT, SECRET = "nowiser", "between us"


@cache
def key(name: str, number: int = 0) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": name})


class FakeProvider:
    """`subject`: who comes. `spoil`: what is wrong with an identity token, by claim."""

    def __init__(self) -> None:
        self.subject, self.spoil, self.issuer = "00u7", {}, ""
        self.keys = [key("first")]
        self.signed_with, self.algorithm = self.keys[0], "RS256"
        self.codes: dict[str, dict[str, str]] = {}
        self.asked = 0

    def says(self) -> dict:
        ends = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return {"issuer": self.issuer} | {end: f"{self.issuer}/{path}" for end, path in ends.items()}

    def code(self, asked: dict[str, str]) -> str:
        code = f"code{len(self.codes)}"
        self.codes[code] = asked
        return code

    def token(self, form: dict[str, str]) -> dict | None:
        self.asked += 1
        asked = self.codes.pop(form.get("code", ""), None)
        if asked is None or form.get("client_secret") != SECRET or form["redirect_uri"] != asked["redirect_uri"]:
            return None
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if _base64(digest) != asked["code_challenge"]:
            return None
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "sub": self.subject, "iat": now, "exp": now + 300}
        claims = {k: v for k, v in (claims | {"nonce": asked["nonce"]} | self.spoil).items() if v is not None}
        if self.algorithm != "RS256":
            return {"id_token": self.forged(claims)}
        return {"id_token": jwt.encode({"alg": "RS256", "kid": self.keys[0].kid}, claims, self.signed_with)}

    def forged(self, claims: dict) -> str:
        """Unsigned, or signed with the public key as if it were a shared secret."""
        header = {"alg": self.algorithm, "kid": self.keys[0].kid}
        signed = ".".join(_base64(json.dumps(part).encode()) for part in (header, claims))
        secret = self.keys[0].as_pem(private=False)
        seal = b"" if self.algorithm == "none" else hmac.digest(secret, signed.encode(), "sha256")
        return f"{signed}.{_base64(seal)}"


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@contextlib.contextmanager
def provider(host: str = "127.0.0.1") -> Iterator[FakeProvider]:
    told = FakeProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                asked = {k: v[0] for k, v in parse_qs(parts.query).items()}
                back = {"code": told.code(asked), "state": asked["state"]}
                self.send_response(303)
                self.send_header("location", f"{asked['redirect_uri']}?{urlencode(back)}")
                self.end_headers()
            elif parts.path == "/keys":
                self._json(KeySet(told.keys).as_dict(private=False))
            else:
                self._json(told.says())

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            found = told.token({k: v[0] for k, v in form.items()})
            self._json(found or {"error": "invalid_grant"}, 200 if found else 400)

        def _json(self, found: dict, status: int = 200) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    told.issuer = f"http://{host}:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
