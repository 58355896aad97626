"""Layouts of one's own: how files become events, as a declaration.

A layout is named in a config by its import path, ``layout = "my_layout:RetailRocket"``. The file
``my_layout.py`` beside the config holds

>>> from harness.layouts import Layout, events
>>> RetailRocket = Layout(
...     name="retailrocket",
...     events=(
...         events(
...             "events.csv",
...             user="visitorid",
...             item="itemid",
...             time="timestamp",
...             time_format="epoch_ms",
...             kind="event",
...         ),
...     ),
... )

`harness.testing.check_layout` reads files by it and says what is odd.
"""

from harness.data.layout import AttributeTable, EventTable, Layout, Table, attributes, events
from harness.data.layouts import BUILT_IN

__all__ = [
    "BUILT_IN",
    "AttributeTable",
    "EventTable",
    "Layout",
    "Table",
    "attributes",
    "events",
]
