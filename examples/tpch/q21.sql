-- EXISTS and NOT EXISTS compare lines of one order: each order is summed up first, then only the late supplier alone counts.
SELECT s_name, SUM(late_lines) AS numwait
FROM (SELECT l_orderkey, COUNT(DISTINCT l_suppkey) AS suppliers,
             COUNT(DISTINCT CASE WHEN l_receiptdate > l_commitdate THEN l_suppkey END) AS late_suppliers,
             MAX(CASE WHEN l_receiptdate > l_commitdate THEN l_suppkey END) AS culprit,
             COUNT(*) FILTER (WHERE l_receiptdate > l_commitdate) AS late_lines
      FROM lineitem GROUP BY l_orderkey) AS waiting
JOIN orders ON o_orderkey = l_orderkey
JOIN supplier ON s_suppkey = culprit
JOIN nation ON s_nationkey = n_nationkey
WHERE o_orderstatus = 'F' AND suppliers > 1 AND late_suppliers = 1 AND n_name = 'SAUDI ARABIA'
GROUP BY s_name
ORDER BY numwait DESC, s_name
LIMIT 100
