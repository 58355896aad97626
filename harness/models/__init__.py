"""What a recommender is, and what recommenders share."""
