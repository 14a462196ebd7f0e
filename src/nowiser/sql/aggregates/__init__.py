"""What is released: one file per family of aggregates.

* `syntax`: which SQL is which aggregate
* `sums`: COUNT, SUM, AVG
* `moments`: VARIANCE, STDDEV, COVAR, CORR
* `ranges`: counts under conditions that cut one expression into ranges, from one histogram
* `picking`, `picked`: a few of MEDIAN, PERCENTILE_CONT, PERCENTILE_DISC, MIN, MAX: what they cost, what is drawn
* `quantiles`: many of them, from a tree of counts
* `grids`: the buckets both have
* `running`: SUM(COUNT(*)) OVER (ORDER BY key)
* `histograms`: what ranges, quantiles and running sums measure
"""
