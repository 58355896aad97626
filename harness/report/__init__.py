"""How results are shown to people."""
