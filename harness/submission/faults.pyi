"""Types of the compiled module of this name."""

NO_ID: int
PADDED_ID: int
MANGLED_ID: int
UNKNOWN_ID: int
ODD_ID: int
EMPTY: int
ONE_ITEM: int
LONG: int
REPEATED: int
SPACES: int
UNKNOWN_ITEM: int
MISSHAPEN: int
ZEROS_LOST: int
DECIMAL: int
EXPONENT: int
LITERAL: int
SEPARATOR: int
BRACKETS: int
RESPELLED: int
ALIKE: int
COUNT: int
