"""What the attacker wants to guess: every goal, and the reader of its text, in one place to import from."""

from nowiser.model.goal_kinds import (
    And,
    Exactly,
    Goal,
    In,
    Not,
    On,
    Or,
    Present,
    Value,
    Within,
    joined,
    named,
    shown,
)
from nowiser.model.goal_text import parse_goal

__all__ = [
    "And",
    "Exactly",
    "Goal",
    "In",
    "Not",
    "On",
    "Or",
    "Present",
    "Value",
    "Within",
    "joined",
    "named",
    "parse_goal",
    "shown",
]
