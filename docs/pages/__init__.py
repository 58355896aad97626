"""The pages and schemas of docs/ that follow from the code."""
