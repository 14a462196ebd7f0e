"""What every database of PostgreSQL 16 has, as csv; written by tools/catalogue_facts.py."""
