"""Notes under an answer are said once for each policy: what was said stands in a file beside the ledger.

A note is a sentence about the policy, so the file holds nothing secret. Where it cannot be read or written, every note
is said again.
"""

import contextlib
import json
from dataclasses import replace

from nowiser.ledger.opening import state_folder
from nowiser.model.policy import Policy
from nowiser.report.answer import Answer, gist

FILE = "notes.json"


def with_news(answer: Answer, policy: Policy) -> Answer:
    """The answer, with those notes as news that no earlier answer under this policy had."""
    file, said = state_folder(policy) / FILE, set[str]()
    with contextlib.suppress(OSError, ValueError, TypeError):
        said = set(map(str, json.loads(file.read_bytes())))
    news = tuple(note for note in answer.news if gist(note) not in said)
    if news and file.parent.is_dir():
        with contextlib.suppress(OSError):
            file.write_text(json.dumps(sorted(said.union(map(gist, news))), ensure_ascii=False), encoding="utf-8")
    return replace(answer, news=news)
