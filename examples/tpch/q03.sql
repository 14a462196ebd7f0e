-- An order is a row of one person: asked by day of order instead of by order.
SELECT o_orderdate, o_shippriority, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer
JOIN orders ON c_custkey = o_custkey
JOIN lineitem ON l_orderkey = o_orderkey
WHERE c_mktsegment = 'BUILDING' AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
  AND o_orderdate >= DATE '1994-11-01'
GROUP BY o_orderdate, o_shippriority
ORDER BY revenue DESC
LIMIT 10
