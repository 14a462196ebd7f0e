-- The total of all stock (950,254,254) is asked before, instead of inside HAVING. Public tables only: exact and free.
SELECT ps_partkey, SUM(ps_supplycost * ps_availqty) AS value
FROM partsupp
JOIN supplier ON ps_suppkey = s_suppkey
JOIN nation ON s_nationkey = n_nationkey
WHERE n_name = 'GERMANY'
GROUP BY ps_partkey
HAVING SUM(ps_supplycost * ps_availqty) > 0.0001 * 950254254
ORDER BY value DESC
