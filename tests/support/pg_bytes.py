"""The PostgreSQL protocol from the client's side, byte by byte: written apart from the server's, to check it."""

import base64
import hashlib
import hmac
import os
import socket
import struct


def framed(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


def startup(version: int = 196608, **options: str) -> bytes:
    body = struct.pack("!I", version) + b"".join(n.encode() + b"\0" + v.encode() + b"\0" for n, v in options.items())
    return struct.pack("!I", len(body) + 5) + body + b"\0"


def query(text: str) -> bytes:
    return framed(b"Q", text.encode() + b"\0")


def parse(text: str, name: str = "", oids=()) -> bytes:
    return framed(
        b"P", name.encode() + b"\0" + text.encode() + b"\0" + struct.pack(f"!H{len(oids)}I", len(oids), *oids)
    )


def bind(values=(), portal: str = "", name: str = "", formats=(), results=()) -> bytes:
    body = portal.encode() + b"\0" + name.encode() + b"\0"
    body += struct.pack(f"!H{len(formats)}h", len(formats), *formats) + struct.pack("!H", len(values))
    body += b"".join(struct.pack("!i", -1) if v is None else struct.pack("!i", len(v)) + v for v in values)
    return framed(b"B", body + struct.pack(f"!H{len(results)}h", len(results), *results))


def execute(portal: str = "", most: int = 0) -> bytes:
    return framed(b"E", portal.encode() + b"\0" + struct.pack("!I", most))


def describe(which: str = "S", name: str = "") -> bytes:
    return framed(b"D", which.encode() + name.encode() + b"\0")


SYNC, END = framed(b"S"), framed(b"X")


class Client:
    """Reads messages; fails where they are cut."""

    def __init__(self, port: int, seconds: float = 20.0) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def exactly(self, number: int) -> bytes:
        data = b""
        while len(data) < number:
            more = self.sock.recv(number - len(data))
            if not more:
                raise EOFError(data)
            data += more
        return data

    def rest(self) -> bytes:
        """Everything until the server closes."""
        data = b""
        try:
            while more := self.sock.recv(65536):
                data += more
        except ConnectionError:
            pass
        return data

    def message(self) -> tuple[bytes, bytes]:
        head = self.exactly(5)
        return head[:1], self.exactly(struct.unpack("!I", head[1:])[0] - 4)

    def until(self, *kinds: bytes) -> list[tuple[bytes, bytes]]:
        """Messages up to the first of these kinds."""
        found = [self.message()]
        while found[-1][0] not in kinds:
            found.append(self.message())
        return found

    def ask(self, data: bytes) -> list[tuple[bytes, bytes]]:
        self.send(data)
        return self.until(b"Z")

    def login(self, name: str, password: str, version: int = 196608, **options: str) -> list[tuple[bytes, bytes]]:
        """All messages up to ReadyForQuery or an error; the server's proof is checked."""
        self.send(startup(version, user=name, **options))
        kind, body = self.until(b"R", b"E")[-1]
        if kind == b"E":
            return [(kind, body)]
        assert body[:4] == struct.pack("!I", 10), body
        nonce = base64.b64encode(os.urandom(18)).decode()
        bare = f"n=,r={nonce}"
        first = f"n,,{bare}".encode()
        self.send(framed(b"p", b"SCRAM-SHA-256\0" + struct.pack("!I", len(first)) + first))
        kind, body = self.message()
        assert body[:4] == struct.pack("!I", 11), (kind, body)
        said = body[4:].decode()
        fields = dict(f.split("=", 1) for f in said.split(","))
        assert fields["r"].startswith(nonce)
        salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(fields["s"]), int(fields["i"]))
        key = hmac.new(salted, b"Client Key", "sha256").digest()
        without = f"c=biws,r={fields['r']}"
        auth = f"{bare},{said},{without}".encode()
        signature = hmac.new(hashlib.sha256(key).digest(), auth, "sha256").digest()
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True))).decode()
        self.send(framed(b"p", f"{without},p={proof}".encode()))
        kind, body = self.message()
        if kind == b"E":
            return [(kind, body)]
        server = hmac.new(hmac.new(salted, b"Server Key", "sha256").digest(), auth, "sha256").digest()
        assert body[4:] == b"v=" + base64.b64encode(server)
        return self.until(b"Z", b"E")


def fields(body: bytes) -> dict[str, str]:
    """Of an error or a notice."""
    return {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}


def rows(messages) -> list[list[bytes | None]]:
    found = []
    for kind, body in messages:
        if kind == b"D":
            at, row = 2, []
            for _ in range(struct.unpack("!H", body[:2])[0]):
                (size,) = struct.unpack("!i", body[at : at + 4])
                row.append(None if size < 0 else body[at + 4 : at + 4 + size])
                at += 4 + max(size, 0)
            assert at == len(body)
            found.append(row)
    return found


def kinds(messages) -> str:
    return b"".join(kind for kind, _ in messages).decode()
