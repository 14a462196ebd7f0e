"""Questions inside a question: in FROM and WITH, EXISTS and IN, per person, side by side."""
