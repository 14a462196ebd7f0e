"""Links between people: attacking, releasing and answering about graphs."""
