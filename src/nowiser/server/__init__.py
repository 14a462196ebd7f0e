"""`nowiser serve`: the gateway for psql, BI tools, programs and people, with accounts. Needs `nowiser[server]`."""
