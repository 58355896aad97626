"""What can be wrong with a line, for the compiled modules beside this one; its shape stands before."""

cpdef enum:
    NO_ID = 3  # SHAPES
    PADDED_ID
    MANGLED_ID
    UNKNOWN_ID
    ODD_ID
    EMPTY
    ONE_ITEM
    LONG
    REPEATED
    SPACES
    UNKNOWN_ITEM  # this fault and those behind it are of single items
    MISSHAPEN
    ZEROS_LOST
    DECIMAL
    EXPONENT
    LITERAL
    SEPARATOR
    BRACKETS
    RESPELLED
    ALIKE
    COUNT
