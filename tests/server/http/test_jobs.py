"""Jobs: published and compared in a process of its own, watched, stopped; nobody names a path."""

import asyncio
import json
import urllib.request

import pytest

from nowiser.ledger import for_policy
from nowiser.policy import read
from nowiser.server.jobs import running
from nowiser.server.jobs.running import Jobs
from nowiser.server.jobs.wish import Publish
from nowiser.server.problems import NotFound, TooMany
from support.web import post

WISH = {"table": "visits", "name": "one", "k": 5}


def got(served, token, path):
    return urllib.request.urlopen(
        urllib.request.Request(f"{served.address}{path}", headers={"authorization": f"Bearer {token}"}), timeout=120
    )


def events(served, token, job):
    """What is told until it is over."""
    with got(served, token, f"/api/v1/jobs/{job}/events") as stream:
        return [json.loads(line[6:]) for line in stream if line.startswith(b"data: ")]


def test_a_table_is_published_and_compared(served, tokens, folder):
    cleo, odo = tokens["cleo"], tokens["odo"]
    _, job = post(served.address, cleo, "jobs/publish", WISH | {"look": True})
    looked = events(served, odo, job["id"])[-1]["result"]
    with for_policy(read(folder / "nowiser.yaml")) as kept:
        assert not any(e.kind == "publication" for e in kept.entries())
        assert not kept.totals()
    assert not (folder / "releases").exists()
    status, job = post(served.address, cleo, "jobs/publish", WISH)
    assert (status, job["state"]) == (202, "waits")
    last = events(served, odo, job["id"])[-1]
    assert (last["state"], last["result"]["file"]) == ("done", "releases/one.csv")
    assert "groups of look-alikes" in last["message"] or "group of look-alikes" in last["message"]
    with for_policy(read(folder / "nowiser.yaml")) as kept:
        kept.verify()
        (entry,) = [e for e in kept.entries() if e.kind == "publication"]
    assert entry.body["analyst"] == "cleo"
    with got(served, odo, "/api/v1/allowance") as answer:
        assert abs(json.load(answer)["left"] - looked["left"]) < 1e-6  # what was said before is what was used
    assert post(served.address, cleo, "jobs/publish", WISH)[0] == 400  # it is there
    _, job = post(served.address, cleo, "jobs/compare", {"release": entry.seq, "table": "visits"})
    assert events(served, cleo, job["id"])[-1]["state"] == "done"
    assert (folder / "releases" / "one.compare.html").is_file()
    assert post(served.address, cleo, "jobs/compare", {"release": entry.seq + 1, "table": "visits"})[0] == 404
    _, job = post(served.address, cleo, "jobs/publish", WISH | {"name": "two", "k": 100_000})
    assert events(served, cleo, job["id"])[-1]["state"] == "failed"
    assert not (folder / "releases" / "two.csv").exists()


def test_one_that_is_stopped_writes_nothing_and_the_server_ends_in_time(served, tokens, folder):
    _, job = post(served.address, tokens["cleo"], "jobs/publish", WISH)
    _, other = post(served.address, tokens["cleo"], "jobs/publish", WISH | {"name": "two"})
    request = urllib.request.Request(
        f"{served.address}/api/v1/jobs/{other['id']}",
        method="DELETE",
        headers={"authorization": f"Bearer {tokens['cleo']}"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 204
    with got(served, tokens["odo"], f"/api/v1/jobs/{other['id']}") as answer:
        assert json.load(answer)["state"] == "failed"
    with got(served, tokens["odo"], f"/api/v1/jobs/{job['id']}") as answer:
        assert json.load(answer)["state"] == "runs"
    assert served.end() == 0
    assert not list(folder.glob("releases/*"))


@pytest.mark.parametrize("name", ["../one", "a/b", ".hidden", "One", "", "a" * 64, "a\x00", "con.csv"])
def test_no_path_comes_from_the_network(name, by_token, folder):
    assert by_token("cleo").post("/api/v1/jobs/publish", json=WISH | {"name": name}).status_code == 400
    assert not (folder / "releases").exists()


def test_who_may(by_token, client):
    for path, body in (("publish", WISH), ("compare", {"release": 1, "table": "visits"})):
        for name, status in (("ana", 403), ("odo", 403), (None, 401)):
            sender = client if name is None else by_token(name)
            assert sender.post(f"/api/v1/jobs/{path}", json=body).status_code == status
    assert by_token("ana").get("/api/v1/jobs").status_code == 403
    assert by_token("odo").get("/api/v1/jobs").json() == {"jobs": []}
    assert by_token("odo").get("/api/v1/jobs/x/events").status_code == 404


def test_one_at_a_time_and_no_endless_queue(settings, monkeypatch):
    """Of processes that say something else than a job, and of ones that say nothing."""

    async def story(module):
        monkeypatch.setattr(running, "work_module", lambda: module)
        jobs = Jobs(settings.policy)
        begun = [jobs.begin(Publish("cleo", "visits", f"n{i}"), settings.policy.parent) for i in range(running.WAITING)]
        with pytest.raises(TooMany):
            jobs.begin(Publish("cleo", "visits", "more"), settings.policy.parent)
        await jobs.stop(begun[-1].id)
        seen = [job.state async for job in jobs.watch(begun[0].id)]
        assert [job.state async for job in jobs.watch(begun[-1].id)] == ["failed"]
        found = jobs.every()
        await jobs.close()
        with pytest.raises(NotFound):
            jobs.find("x")
        return seen, found

    for module in ("this", "nowiser.percent"):
        seen, found = asyncio.run(story(module))
        assert seen[-1] == "failed"
        assert "log" in found[-1].message
        assert found[0].message.startswith("Stopped")
