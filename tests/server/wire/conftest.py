"""A canteen served on the PostgreSQL wire."""

import datetime as dt
import ipaddress
from dataclasses import replace

import pytest

from nowiser.server.desk import Desk
from support.wire_served import serving


@pytest.fixture
def served(desk, tokens):
    with serving(desk, tokens) as found:
        yield found


@pytest.fixture
def connection(served):
    import psycopg

    with psycopg.connect(**served.given(), autocommit=True) as found:
        yield found


@pytest.fixture(scope="module", params=["rsa", "ecdsa-sha384"])
def certificate(request, tmp_path_factory):
    """A certificate of 127.0.0.1 and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    simple = request.param == "rsa"
    key = rsa.generate_private_key(65537, 2048) if simple else ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256() if simple else hashes.SHA384())
    )
    folder = tmp_path_factory.mktemp("tls")
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder


@pytest.fixture
def secure(certificate, settings, desk, tokens):
    told = replace(settings, certificate=certificate / "cert.pem", key=certificate / "key.pem")
    second = Desk(told)
    with serving(second, tokens) as found:
        yield found
    second.close()
