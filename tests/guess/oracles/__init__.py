"""Oracles for the calculus of guesses: plain sums, quadrature and linear programmes, written from the mathematics alone.

Nothing here imports `nowiser.guess`. Priors and goals are read by the names of their classes, so that another copy of
the library can be asked beside this one.

| file           | what it says                                                                                     |
|----------------|--------------------------------------------------------------------------------------------------|
| `truth.py`     | whether a value meets a goal                                                                     |
| `line.py`      | one number: the largest posterior, by a likelihood of slopes ±k found cell by cell               |
| `peak.py`      | one number, an interval: the largest posterior of a Laplace peak, by plain quadrature            |
| `table.py`     | records: the linear programme over all pairs                                                     |
| `plane.py`     | several continuous attributes: posteriors of likelihoods that obey the costs, on fine grids      |
| `parts.py`     | independent attributes: the product rules, over many victims                                     |
| `questions.py` | random priors, goals, costs and victims                                                          |
"""
