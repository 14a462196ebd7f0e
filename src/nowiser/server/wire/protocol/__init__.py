"""Bytes: messages, values and parameters, SCRAM. No question is looked at here."""
