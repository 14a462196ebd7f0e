"""The custodian's report, for a board: what is promised, who asked what, where every attacker stands, what is left.

    policy, ledger, findings → content (plain values, what --json prints) → pages (a document) → Markdown, HTML, PDF

Never a value from the data: figures of the account, declarations of the policy, and the questions as analysts typed
them. Answers are not in it.
"""

from nowiser.report.custodian.content import Report, report

__all__ = ["Report", "report"]
