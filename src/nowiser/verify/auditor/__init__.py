"""Auditing a black box: two inputs and an event that refute its claim, or how hard it was looked."""

from nowiser.verify.auditor.audit import Audit as Audit, audit as audit
from nowiser.verify.auditor.exact import confirm as confirm
from nowiser.verify.auditor.pairs import patterns as patterns
from nowiser.verify.auditor.questions import Question as Question
