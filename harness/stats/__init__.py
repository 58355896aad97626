"""Statistics of values of users: arrays in, intervals, tests and verdicts out.

Nothing here knows what a model is.
"""

import harness.core.compiled  # noqa: F401
