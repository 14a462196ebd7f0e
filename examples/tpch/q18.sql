-- How many customers have such an order, instead of who they are.
SELECT COUNT(*) AS customers
FROM (SELECT o_custkey, MAX(quantity) AS largest
      FROM orders
      JOIN (SELECT l_orderkey, SUM(l_quantity) AS quantity FROM lineitem GROUP BY l_orderkey) AS sizes ON l_orderkey = o_orderkey
      GROUP BY o_custkey) AS buyers
WHERE largest > 300
