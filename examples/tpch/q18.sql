-- How many customers have such an order, instead of who they are.
SELECT COUNT(DISTINCT o_custkey) AS customers
FROM orders
JOIN (SELECT l_orderkey, SUM(l_quantity) AS quantity FROM lineitem GROUP BY l_orderkey) AS sizes ON l_orderkey = o_orderkey
WHERE quantity > 300
