"""Types of the compiled module of this name: arrays are checked when it is called."""

LONGEST: int
SURE: int
