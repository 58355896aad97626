"""Parameters searched on an inner split of train, for a config that names them."""
