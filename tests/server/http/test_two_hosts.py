"""Two servers on one ledger in PostgreSQL."""

import json
from concurrent.futures import ThreadPoolExecutor

from nowiser.examples import canteen
from nowiser.ledger import for_policy
from nowiser.policy import read
from nowiser.server.people.account import Role
from nowiser.server.people.register import Register
from support.serving import serving
from support.web import post

AVERAGE = {"sql": "SELECT AVG(time) AS minutes FROM visits WHERE faculty = 'math'", "spend": "5%", "anyway": True}


def test_two_hosts_have_one_account(postgres_url, tmp_path):
    """Two processes that read the same prepared data."""
    file = canteen.write(tmp_path)
    file.write_text(file.read_text().replace("engine: duckdb", f"ledger: '{postgres_url}'\nengine: duckdb"))
    with for_policy(read(file)) as kept:
        kept.declare(read(file))
        token = Register(kept).add("ana", Role.analyst, by="test", per_day=1)
    with (
        serving(file, log=tmp_path / "a.log") as here,
        serving(file, log=tmp_path / "b.log") as there,
        ThreadPoolExecutor(8) as pool,
    ):
        found = list(pool.map(lambda i: post((here, there)[i % 2].address, token, "query", AVERAGE), range(8)))
        assert {status for status, _ in found} == {200}
        assert len({json.dumps(answer["rows"]) for _, answer in found}) == 1
        with for_policy(read(file)) as kept:
            Register(kept).change("ana", by="test", disabled=True)
        assert post(here.address, token, "query", AVERAGE)[0] == 401  # switched off here and there
        assert post(there.address, token, "query", AVERAGE)[0] == 401
        assert here.end() == there.end() == 0
    with for_policy(read(file)) as kept:
        kept.verify()
        assert sum(e.kind == "reserve" for e in kept.entries()) == 1
