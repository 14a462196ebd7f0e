"""The first policy for a file: what the file shows, what is proposed, and the text that is written."""
