"""Questions about the canteen, for tests of the PostgreSQL wire."""

AVERAGE = "SELECT faculty, AVG(time) AS minutes, COUNT(*) AS n FROM visits GROUP BY faculty ORDER BY faculty"
TOTAL = "SELECT AVG(time) AS minutes FROM visits"
