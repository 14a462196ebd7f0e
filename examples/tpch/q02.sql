-- Rows are never shown: the lowest cost of each part, instead of who offers it. Public tables only: exact and free.
SELECT p_partkey, MIN(ps_supplycost) AS cheapest
FROM part
JOIN partsupp ON p_partkey = ps_partkey
JOIN supplier ON s_suppkey = ps_suppkey
JOIN nation ON s_nationkey = n_nationkey
JOIN region ON n_regionkey = r_regionkey
WHERE p_size = 15 AND p_type LIKE '%BRASS' AND r_name = 'EUROPE'
GROUP BY p_partkey
ORDER BY p_partkey
