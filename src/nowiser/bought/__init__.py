"""What releases of rows and models share: the account of their noise, public domains, and the rows that count."""
