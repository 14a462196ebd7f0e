"""The PostgreSQL wire: psql, drivers and BI tools connect as to a PostgreSQL server."""
