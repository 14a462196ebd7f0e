"""Questions about the canteen, for tests of the PostgreSQL wire."""

AVERAGE = "SELECT faculty, AVG(time) AS minutes, COUNT(*) AS n FROM visits GROUP BY faculty ORDER BY faculty"
TOTAL = "SELECT AVG(time) AS minutes FROM visits"
BY_FACULTY = "SELECT COUNT(*) AS n FROM visits WHERE faculty = %s"
LATE = "SELECT COUNT(*) AS n FROM visits WHERE time > %s"
KINDS = (
    "SELECT DATE '2020-02-29' AS d, TIMESTAMP '2020-02-29 23:59:00.5' AS t, TRUE AS b, 'ü''\"\\' AS s, COUNT(*) AS n"
    " FROM visits"
)
