"""Attacks on sparse histories: films somebody rated, words somebody searched for."""
