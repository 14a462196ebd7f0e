"""What is released: one file per family of aggregates.

* `syntax`: which SQL is which aggregate
* `sums`: COUNT, SUM, AVG
* `moments`: VARIANCE, STDDEV, COVAR, CORR
* `ranges`: counts under conditions that cut one expression into ranges, from one histogram
* `quantiles`: MEDIAN, PERCENTILE_CONT, PERCENTILE_DISC, MIN, MAX
* `running`: SUM(COUNT(*)) OVER (ORDER BY key)
* `histograms`: what the last three measure
"""
