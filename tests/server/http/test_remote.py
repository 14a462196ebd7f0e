"""`nw.connect("https://…")`: a gateway that is somewhere else."""

import datetime as dt
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import nowiser as nw
from nowiser import dbapi
from nowiser.errors import Exhausted, Misconfigured, NotAuthorised, Unreachable, Useless
from support.serving import serving

AVERAGE = "SELECT AVG(time) AS minutes FROM visits WHERE faculty = 'math'"


def test_a_gateway_and_a_connection(served, tokens, folder):
    here = nw.open(folder / "nowiser.yaml")
    with nw.connect(served.address, token=tokens["ana"]) as gw:
        explained = gw.explain(AVERAGE, spend="5%")
        assert explained.price == here.explain(AVERAGE, spend="5%").price
        assert gw.describe(AVERAGE) == here.describe(AVERAGE)
        assert gw.tables() == here.tables()
        assert str(gw.tables()) == str(here.tables())
        answer = gw.query(AVERAGE, spend="5%", anyway=True)
        assert isinstance(answer, nw.Answer)
        assert "±" in str(answer)
        assert answer.to_arrow().num_rows == 1
        assert here.query(AVERAGE, spend="5%", anyway=True).rows == answer.rows  # the same account: stored
        assert gw.allowance() == here.allowance()
        assert gw.remaining(AVERAGE, spend="5%") == here.remaining(AVERAGE, spend="5%")
        assert [q["analyst"] for q in gw.questions()] == ["ana"]
        cursor = gw.cursor().execute("SELECT AVG(time) FROM visits WHERE faculty = ?", ["math"], anyway=True)
        assert len(cursor.fetchall()) == 1
        with pytest.raises(nw.NotAnswerable) as refusal:
            gw.query("SELECT AVG(tim) FROM visits")
        with pytest.raises(nw.NotAnswerable) as same:
            here.query("SELECT AVG(tim) FROM visits")
        assert str(refusal.value) == str(same.value)
        assert refusal.value.span is not None
        with pytest.raises(Useless) as refusal:
            gw.query(AVERAGE, spend="0.1%")
        assert refusal.value.levers
        assert refusal.value.figures
        with pytest.raises(Exhausted) as short:
            gw.query(AVERAGE, error=0.001)
        assert short.value.needed is None or short.value.needed > 1
        with pytest.raises(Misconfigured):
            gw.query(AVERAGE, analyst="ben")
    here.close()


def test_a_wrong_token(served):
    with pytest.raises(NotAuthorised), nw.connect(served.address, token="nw_wrong") as gw:
        gw.tables()
    with pytest.raises(NotAuthorised, match="needs an account"):
        nw.connect(served.address).tables()


@pytest.mark.parametrize(
    "url", ["http://hospital.example", "http://10.0.0.1:8080", "https://", "https://ana:x@h", "https://h?x=1"]
)
def test_addresses_that_are_none(url):
    with pytest.raises(dbapi.InterfaceError):
        nw.connect(url, token="nw_x")


def test_nobody_is_there():
    with pytest.raises(Unreachable, match="cannot be reached"):
        nw.connect("http://127.0.0.1:9", token="nw_x").tables()


def test_somebody_else_is_there():
    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>hello</html>")

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Other)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with pytest.raises(Unreachable, match="no server of nowiser"):
            nw.connect(f"http://127.0.0.1:{server.server_address[1]}", token="nw_x").tables()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for localhost that nobody trusts unless told."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder


def test_over_tls_certificates_are_checked(settings, tokens, certificate):
    options = ("--certificate", str(certificate / "cert.pem"), "--key", str(certificate / "key.pem"))
    with serving(settings.policy, *options) as server:
        address = server.address.replace("127.0.0.1", "localhost")
        assert address.startswith("https://")
        with pytest.raises(Unreachable, match="certificate"):
            nw.connect(address, token=tokens["ana"]).tables()
        assert "visits" in nw.connect(address, token=tokens["ana"], ca=certificate / "cert.pem").tables()
        assert server.end() == 0
