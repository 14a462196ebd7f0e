"""A policy about some people, and releases of their table."""

import numpy as np

from nowiser.microdata.for_policy import from_policy
from nowiser.microdata.publish import release
from nowiser.microdata.recipe import parse

POLICY = """
nowiser: 1
tables:
  people:
    source: people.csv
    person: id
    protect: values
    columns:
      id: identifier
      town: {public: [a, b, c, d, e, f]}
      job: {public: [p, q, r, s, t, u]}
      ill: {sensitive: {values: [flu, none, cold]}, nullable: false}
attackers:
  - {guess: people.ill exactly, gain: 30%}
"""


def people(folder):
    random = np.random.default_rng(1)
    lines = [
        f"{i},{random.choice(list('abcdef'))},{random.choice(list('pqrstu'))},{random.choice(['flu', 'none', 'cold'])}"
        for i in range(150)
    ]
    (folder / "people.csv").write_text("id,town,job,ill\n" + "\n".join(lines) + "\n", encoding="utf-8")
    path = folder / "nowiser.yaml"
    path.write_text(POLICY, encoding="utf-8")
    return path


def opened(path, quasi):
    source = from_policy(path, None, None)
    levels = {"town": int("town" not in quasi), "job": int("job" not in quasi)}
    recipe = {"quasi": {"town": "flat", "job": "flat"}, "sensitive": ["ill"], "identifiers": ["id"]}
    return source, source.promised(parse(recipe | {"steps": [{"generalise": {"levels": levels}}]}))


def publish(path, quasi, output, **more):
    source, recipe = opened(path, quasi)
    check, enter = more.pop("check", source.check), more.pop("enter", source.enter)
    return release(source.needed(), recipe, output=path.parent / output, check=check, enter=enter, **more)
