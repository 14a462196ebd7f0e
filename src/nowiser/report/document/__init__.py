"""Short documents: what they are made of (blocks), and how they are written: Markdown, HTML, PDF."""
