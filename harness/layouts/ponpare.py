"""Ponpare Coupon Purchase Prediction (Kaggle, 2015): purchases and visits of coupons."""

from __future__ import annotations

from pathlib import Path

from harness.layouts.tables import AttributeTable, EventTable, Layout, Table


def layout(folder: Path, *, time_format: str = "iso") -> Layout:
    """Return the layout of the competition's folder; coupons shown in the window are candidates.

    The visit log names its item column ``VIEW_COUPON_ID_hash``, the purchases ``COUPON_ID_hash``.
    All times of the tables are written in one way.
    """
    purchases = EventTable(
        Table(folder / "coupon_detail_train.csv"),
        user="USER_ID_hash",
        item="COUPON_ID_hash",
        time="I_DATE",
        kind="purchase",
        time_format=time_format,
    )
    visits = EventTable(
        Table(folder / "coupon_visit_train.csv"),
        user="USER_ID_hash",
        item="VIEW_COUPON_ID_hash",
        time="I_DATE",
        kind="visit",
        time_format=time_format,
    )
    return Layout(
        name="ponpare",
        events=(purchases, visits),
        users=AttributeTable(
            Table(folder / "user_list.csv"), "USER_ID_hash", "REG_DATE", time_format
        ),
        items=AttributeTable(
            Table(folder / "coupon_list_train.csv"), "COUPON_ID_hash", "DISPFROM", time_format
        ),
        candidates="shown",
    )
