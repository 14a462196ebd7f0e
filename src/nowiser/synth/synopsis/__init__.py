"""A synopsis: noisy tables of counts that were paid for once, and questions answered from them, free.

`make` buys one, `value` is what is kept (in the ledger), `points` says what values lie in a cell, `components` combines
noisy tables, `answer` turns the plan of a question into cells with error bars.
"""
