"""What is wanted in a week: item weights by launch, fading and trend, and draws by weight."""

import numpy as np
from numpy.random import Generator

from harness.data.synthetic.block import Floats, Ints
from harness.data.synthetic.rules import Rules

_NEARLY_NOTHING = 1e-9
_ALIVE = 0.02
_STOCK_WEEKS = 40
_HEAD = 5


class Appeal:
    """Item weights of one week after the other.

    Parameters
    ----------
    rules : Rules
    items : int
    growth : float64 array of shape (weeks,)
        Share of the launches in each week.
    rng : Generator

    Attributes
    ----------
    group : int32 array of shape (items,)
        Taste group.
    launch : float64 array of shape (items,)
        Days since the first day, ascending; negative for old stock.
    alive : bool array of shape (items,)
        Whether anybody would still come back to the item.
    """

    def __init__(self, rules: Rules, items: int, growth: Floats, rng: Generator) -> None:
        self._rules = rules
        self.group = rules.groups(rng.random(items))
        self.launch = _launches(rules, items, growth, rng)
        self._log_base = -rules.zipf * np.log(rng.permutation(items) + _HEAD)
        self._fade = rules.fade * np.exp(rules.spread * rng.standard_normal(items))
        self._period = rules.period * (0.8 + 0.4 * rng.random(items))
        self._phase = rng.random(items)
        self.alive = np.zeros(items, dtype=np.bool_)
        self._order = np.argsort(self.group, kind="stable").astype(np.int32)
        self._starts = np.searchsorted(self.group[self._order], np.arange(len(rules.shares) + 1))

    def move_to(self, week: int) -> None:
        """Weigh the items for a week."""
        life = self._life(week)
        self.alive = life > _ALIVE
        wave = self._rules.wave * np.sin(2 * np.pi * (week / self._period + self._phase))
        weight = np.exp(self._log_base + wave) * life + _NEARLY_NOTHING
        self._sums = np.concatenate([[0.0], np.cumsum(weight[self._order])])

    def draw(self, group: Ints, draw: Floats) -> Ints:
        """Items by weight within taste groups.

        Parameters
        ----------
        group : int32 array of shape (n,)
        draw : float64 array of shape (n,)
            Uniform in [0, 1).

        Returns
        -------
        int32 array of shape (n,)
            A group without items draws from all.
        """
        low, high = self._starts[group], self._starts[group + 1]
        empty = low == high
        low, high = np.where(empty, 0, low), np.where(empty, self.launch.size, high)
        goal = self._sums[low] + draw * (self._sums[high] - self._sums[low])
        place = np.searchsorted(self._sums, goal, side="right") - 1
        item: Ints = self._order[np.clip(place, low, high - 1)]
        return item

    def _life(self, week: int) -> Floats:
        """Factor for age: nothing, preview, then fading from 1."""
        first, _ = self._rules.days_of(week)
        age = np.ceil((first - self.launch) / 7)
        old = np.exp(-np.maximum(age, 0) / self._fade)
        early = np.where(age >= -self._rules.ahead, self._rules.preview, 0.0)
        return np.where(age < 0, early, old)


def _launches(rules: Rules, items: int, growth: Floats, rng: Generator) -> Floats:
    """Launch days, ascending: old stock first, then as the market grows."""
    draw = np.sort(rng.random(items))
    ends = [0] + [rules.days_of(week)[1] for week in range(rules.weeks)]
    stock = 7 * _STOCK_WEEKS * (draw / rules.stock - 1)
    later = np.interp((draw - rules.stock) / (1 - rules.stock), np.cumsum([0.0, *growth]), ends)
    return np.where(draw < rules.stock, stock, later)
