"""Attacks on released graphs: who is who, who is linked to whom."""
