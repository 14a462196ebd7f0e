-- The largest of the noisy totals, instead of the supplier whose exact total equals the exact maximum.
SELECT s_suppkey, SUM(l_extendedprice * (1 - l_discount)) AS total_revenue
FROM lineitem
JOIN supplier ON s_suppkey = l_suppkey
WHERE l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-01-01' + INTERVAL '3' MONTH
GROUP BY s_suppkey
ORDER BY total_revenue DESC
LIMIT 1
