"""Texts: where statements end, which are for the session, what COPY was told."""
