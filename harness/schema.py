"""The one spelling of column names: layouts write them, everything after reads them."""

from __future__ import annotations

from typing import Final

USER: Final = "user"
ITEM: Final = "item"
TIME: Final = "time"
KIND: Final = "kind"
ROW: Final = "row"

ID: Final = "id"
REGISTERED: Final = "registered"
SHOWN_FROM: Final = "shown_from"

DAY_US: Final = 86_400_000_000
"""Microseconds in a day: times are whole microseconds since 1970-01-01, without a zone."""
