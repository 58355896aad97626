"""The parameters that make one market differ from another, and the weeks that follow from them."""

from dataclasses import dataclass

import numpy as np

from harness.core.arrays import Floats, Int32

_STEEPEST = 0.25
_EVEN = 0.05


@dataclass(frozen=True)
class Rules:
    """How a market behaves.

    Attributes
    ----------
    name : str
    days : int
        Length of the log; weeks are counted back from its end.
    shares : tuple of float
        Share of each taste group among users and items.
    hidden : float
        Items in the log but not in the item table, for each item in it.
    crowd : int
        Events wanted in the last week. A log too small for that grows from week to week.
    opens : float
        Chance that a row opens a new basket.
    baskets : float
        Baskets of an average user at most; a longer log has larger ones.
    pieces : float
        Chance that a row repeats the item before it in the same basket.
    again : float
        Chance that a row returns to a remembered item.
    loyal : float
        Chance that a new item comes from the user's favourite group.
    activity : float
        Spread of the logarithm of the users' activity above the least active.
    zipf : float
        Exponent of the items' appeal by rank.
    stock : float
        Share of the items launched before the first day.
    ahead, preview : int, float
        Weeks before the launch in which an item is seen already, and its appeal then.
    fade, spread : float
        Weeks in which appeal falls to 1/e (median item), and the spread of its logarithm.
    wave, period : float
        Appeal also swings: the height (of log appeal) and the length in weeks, each item with a
        phase of its own, so that last week says more than last quarter.
    """

    name: str
    days: int
    shares: tuple[float, ...]
    hidden: float
    crowd: int
    opens: float
    baskets: float
    pieces: float
    again: float
    loyal: float
    activity: float
    zipf: float
    stock: float
    ahead: int
    preview: float
    fade: float
    spread: float
    wave: float
    period: float

    @property
    def weeks(self) -> int:
        """Number of weeks; the first may be a part of one."""
        return -(-self.days // 7)

    def days_of(self, week: int) -> tuple[int, int]:
        """First day of a week and the day after its last.

        Parameters
        ----------
        week : int
            0 is the oldest.
        """
        end = self.days - 7 * (self.weeks - 1 - week)
        return max(0, end - 7), end

    def share_by_week(self, events: int) -> Floats:
        """Share of the events that falls in each week, float64 of shape (weeks,), sum 1.

        Parameters
        ----------
        events : int
            In the whole log.
        """
        growth = min(max(self.crowd / events - 1 / self.weeks, 0.0), _STEEPEST)
        length = np.diff([self.days_of(week) for week in range(self.weeks)])[:, 0]
        rising = length * (1 - growth) ** np.arange(self.weeks)[::-1]
        share = (1 - _EVEN) * rising / rising.sum() + _EVEN * length / length.sum()
        return np.asarray(share, dtype=np.float64)

    def groups(self, draw: Floats) -> Int32:
        """Taste groups for uniform draws, int32 of the same shape."""
        edges = np.cumsum(self.shares) / np.sum(self.shares)
        return np.searchsorted(edges[:-1], draw, side="right").astype(np.int32)
