"""From a bare socket to two streams: TLS asked for or direct, encryption by GSSAPI declined.

Bytes are taken one request at a time from the bare socket. So nothing that was sent in clear behind a request for TLS
is ever taken for something sent under TLS.
"""

import asyncio
import hashlib
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from nowiser.errors import Misconfigured
from nowiser.server.wire.protocol.messages import GSS, SSL, Malformed

ALPN = "postgresql"
HELLO = b"\x16"  # how TLS begins
REQUESTS = 4  # for encryption, before the start-up message
HANDSHAKE = 10.0  # seconds


@dataclass(frozen=True)
class Tls:
    """`binding`: the digest of the certificate that SCRAM binds to (RFC 5929); None where none is defined for it."""

    context: ssl.SSLContext
    binding: bytes | None


def tls_of(certificate: Path, key: Path) -> Tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols([ALPN])
    try:
        context.load_cert_chain(certificate, key)
        first = x509.load_pem_x509_certificates(certificate.read_bytes())[0]
    except (OSError, ValueError) as error:
        raise Misconfigured(
            f"The certificate and its key cannot be used: {type(error).__name__}.", hint="Give both in PEM."
        ) from None
    digest = first.signature_hash_algorithm
    if digest is None:
        return Tls(context, None)
    name = "sha256" if digest.name in ("md5", "sha1") else digest.name
    return Tls(context, hashlib.new(name, first.public_bytes(_DER)).digest())


_DER = Encoding.DER


@dataclass(frozen=True)
class Opened:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    secure: bool


async def opened(sock: socket.socket, tls: Tls | None) -> Opened | None:
    """The streams; None where the client wants what there is not."""
    loop = asyncio.get_running_loop()
    for _ in range(REQUESTS):
        if await _peek(loop, sock) == HELLO:
            if tls is None:
                return None
            found = await _streams(sock, tls)
            alpn = found.writer.get_extra_info("ssl_object").selected_alpn_protocol()
            if alpn != ALPN:  # another protocol may have been led here
                found.writer.transport.abort()
                await asyncio.sleep(0)  # it is closed in the next turn
                return None
            return found
        head = await _exactly(loop, sock, 8)
        size, code = int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")
        if size != 8 or code not in (SSL, GSS):
            return await _streams(sock, None, head)
        if code == SSL and tls is not None:
            await loop.sock_sendall(sock, b"S")
            return await _streams(sock, tls)
        await loop.sock_sendall(sock, b"N")
    raise Malformed("encryption is asked for again and again")


async def _streams(sock: socket.socket, tls: Tls | None, head: bytes = b"") -> Opened:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**16)
    reader.feed_data(head)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_accepted_socket(
        lambda: protocol,
        sock,
        ssl=None if tls is None else tls.context,
        ssl_handshake_timeout=None if tls is None else HANDSHAKE,
    )
    return Opened(reader, asyncio.StreamWriter(transport, protocol, reader, loop), tls is not None)


async def _exactly(loop: asyncio.AbstractEventLoop, sock: socket.socket, number: int) -> bytes:
    data = b""
    while len(data) < number:
        more = await loop.sock_recv(sock, number - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data


async def _peek(loop: asyncio.AbstractEventLoop, sock: socket.socket) -> bytes:
    """The next byte, which stays where it is."""
    while True:
        try:
            data = sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            await _readable(loop, sock)
            continue
        if not data:
            raise ConnectionError
        return data


async def _readable(loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
    done = loop.create_future()
    loop.add_reader(sock, lambda: None if done.done() else done.set_result(None))
    try:
        await done
    finally:
        loop.remove_reader(sock)
