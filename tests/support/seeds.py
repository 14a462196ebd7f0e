"""Seeds as a recipe takes them: long, one for each number."""

import hashlib


def seed(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()[:32]
