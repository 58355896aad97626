"""Columns of lines, for the compiled modules beside this one."""

cpdef enum:  # columns of `starts` and `stops`: the user's id, the list, what orders it
    USER
    LIST
    ORDER

cpdef enum:  # users of lines, beside NO_ROW: not known, no id
    STRANGER = -1
    NO_ID = -3

cpdef enum:  # of an id that is not known: it may be a known one that was changed
    ASKED = -1
