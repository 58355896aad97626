"""The figures of a page, as plain values that plotly.js draws."""
