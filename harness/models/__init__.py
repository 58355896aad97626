"""What a recommender is, and what recommenders share."""

import harness.core.compiled  # noqa: F401
