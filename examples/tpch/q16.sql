-- NOT IN written as a join. Public tables only: exact and free.
SELECT p_brand, p_type, p_size, COUNT(DISTINCT ps_suppkey) AS supplier_cnt
FROM partsupp
JOIN part ON p_partkey = ps_partkey
JOIN supplier ON s_suppkey = ps_suppkey
WHERE p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%' AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
  AND s_comment NOT LIKE '%Customer%Complaints%'
GROUP BY p_brand, p_type, p_size
HAVING COUNT(DISTINCT ps_suppkey) > 0
ORDER BY supplier_cnt DESC, p_brand, p_type, p_size
