"""Attacks on published figures: averages, answers to many questions, tables of a census block."""
