"""The rooms of the gateway: planning, pricing, what is free, the run, and what is said of a question."""
