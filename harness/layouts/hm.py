"""H&M Personalized Fashion Recommendations (Kaggle, 2022): purchases, articles, customers."""

from __future__ import annotations

from pathlib import Path

from harness.layouts.tables import AttributeTable, EventTable, Layout, Table

ARTICLE_ID_WIDTH = 10


def layout(folder: Path, *, restore_zeros: bool = False, time_format: str = "iso") -> Layout:
    """Return the layout of the competition's folder; every article may be recommended."""
    purchases = EventTable(
        Table(folder / "transactions_train.csv"),
        user="customer_id",
        item="article_id",
        time="t_dat",
        kind="purchase",
        time_format=time_format,
        item_width=None if restore_zeros else ARTICLE_ID_WIDTH,
    )
    return Layout(
        name="hm",
        events=(purchases,),
        users=AttributeTable(Table(folder / "customers.csv"), id="customer_id"),
        items=AttributeTable(Table(folder / "articles.csv"), id="article_id"),
        candidates="catalogue",
        id_width=ARTICLE_ID_WIDTH,
        restore_zeros=restore_zeros,
    )
