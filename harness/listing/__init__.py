"""What there is, as ``harness list`` shows it: metrics, baselines, layouts, checks, data sets."""
