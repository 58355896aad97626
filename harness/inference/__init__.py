"""Statistics of marks: intervals, paired tests, corrections and resampling; arrays in, arrays out.

Nothing here knows what a metric or a model is.
"""
