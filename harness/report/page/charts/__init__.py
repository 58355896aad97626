"""The charts of a page, as plain values that plotly.js draws."""
