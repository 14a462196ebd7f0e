"""What the custodian declares: one file, read strictly, compared edition by edition.

policy = read("nowiser.yaml")             # Policy, or Misconfigured with file, line and column
compare(old, new)                         # what an edition tightens and what it loosens
canonical(policy), from_canonical(data)   # its meaning as JSON, for the ledger, and back
json_schema()                             # for editors
"""

from nowiser.policy.changes import Change, Changes, Effect, compare
from nowiser.policy.meaning import canonical, canonical_text, digest, from_canonical
from nowiser.policy.reader import parse, read
from nowiser.policy.shape import json_schema

__all__ = [
    "Change",
    "Changes",
    "Effect",
    "canonical",
    "canonical_text",
    "compare",
    "digest",
    "from_canonical",
    "json_schema",
    "parse",
    "read",
]
