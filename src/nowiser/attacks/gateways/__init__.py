"""Attacks on gateways that answer questions, ours and simple ones that are known to break."""
