-- The exact average of each part may not enter a condition: the average quantity (25.5) is asked before, once for all parts.
SELECT SUM(l_extendedprice) / 7.0 AS avg_yearly
FROM lineitem
JOIN part ON p_partkey = l_partkey
WHERE p_brand = 'Brand#23' AND p_container = 'MED BOX' AND l_quantity < 0.2 * 25.5
