-- EXISTS over the lines of an order, written as a join with the orders that have such a line.
SELECT o_orderpriority, COUNT(*) AS order_count
FROM orders
JOIN (SELECT l_orderkey, COUNT(*) AS late FROM lineitem WHERE l_commitdate < l_receiptdate GROUP BY l_orderkey) AS waiting
  ON l_orderkey = o_orderkey
WHERE o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-07-01' + INTERVAL '3' MONTH
GROUP BY o_orderpriority
ORDER BY o_orderpriority
