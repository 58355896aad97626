"""Layouts: how files on disk become events. Each is a declaration; `read` carries it out."""

from harness.layouts.tables import AttributeTable, EventTable, Layout, Table

__all__ = ["AttributeTable", "EventTable", "Layout", "Table"]
