"""Bad policies and what is said about them, as text pairs in `errors/*.txt`.

A case is a title line `=== title`, a policy, a line `---`, and the whole message. A policy that starts with `s/`
is a list of edits `s/old/new/` to the good policy below.
"""

import re
from pathlib import Path

import pytest

from nowiser.errors import Misconfigured
from nowiser.policy import parse

FOLDER = Path(__file__).parent / "errors"
GOOD = """\
nowiser: 1
tables:
  visits:
    source: canteen.csv
    person: student
    columns:
      student: identifier
      faculty: {public: [math, physics]}
      time: {sensitive: [0, 60]}
      dish: {sensitive: [soup, curry]}
attackers:
  - {guess: visits.time within 2, gain: 5%}
"""


def cases():
    for file in sorted(FOLDER.glob("*.txt")):
        for block in re.split(r"^=== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            title, _, rest = block.partition("\n")
            policy, _, message = rest.partition("\n---\n")
            yield pytest.param(policy + "\n", message.strip("\n"), id=f"{file.stem}: {title}")


def combined(policy: str) -> str:
    """The good policy after the edits, or the policy as it stands."""
    if not policy.startswith("s/"):
        return policy
    text = GOOD
    for line in policy.strip("\n").split("\n"):
        _, old, new, _ = re.split(r"(?<!\\)/", line)
        old, new = (part.replace("\\n", "\n").replace("\\/", "/") for part in (old, new))
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the good policy"
        text = text.replace(old, new)
    return text


def test_the_good_policy_is_good():
    assert parse(GOOD).attackers


@pytest.mark.parametrize(("policy", "message"), list(cases()))
def test_the_message_says_where_what_and_what_would_be_right(policy, message):
    with pytest.raises(Misconfigured) as caught:
        parse(combined(policy))
    assert "\n".join(line.rstrip() for line in str(caught.value).splitlines()) == message
    assert caught.value.exit_code == 3
