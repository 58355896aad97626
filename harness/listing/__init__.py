"""What there is, as ``harness list`` shows it: metrics, conventions, baselines, checks."""
