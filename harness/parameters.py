"""What a parameter may be: each check names the parameter, what was found and what may be."""

from __future__ import annotations


def require_above(low: float, **parameters: object) -> None:
    """Raise ValueError where a parameter is no number above `low`.

    Examples
    --------
    >>> require_above(0, window_days=7)
    >>> require_above(0, window_days=0)
    Traceback (most recent call last):
    ValueError: window_days is 0; expected a number above 0
    """
    for name, value in parameters.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not value > low:
            raise ValueError(f"{name} is {value!r}; expected a number above {low:g}")


def require_from(low: float, **parameters: object) -> None:
    """Raise ValueError where a parameter is no number from `low` up."""
    for name, value in parameters.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not value >= low:
            raise ValueError(f"{name} is {value!r}; expected a number from {low:g} up")


def require_whole(low: int, **parameters: object) -> None:
    """Raise ValueError where a parameter is no whole number from `low` up."""
    for name, value in parameters.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < low:
            raise ValueError(f"{name} is {value!r}; expected a whole number from {low} up")


def require_parts(models: object, most: int | None = None) -> None:
    """Raise ValueError where a model's parameter `models` is no list of recommenders.

    Parameters
    ----------
    most : int, optional
        How many there may be.
    """
    parts = list(models) if isinstance(models, (list, tuple)) else [models]
    for part in parts:
        if not all(callable(getattr(part, method, None)) for method in ("fit", "recommend")):
            raise ValueError(
                f"models holds {part!r}, which has no fit and recommend; a config names other "
                'models under of, such as of = ["popular"]'
            )
    if not isinstance(models, (list, tuple)) or not parts:
        raise ValueError(f"models is {models!r}; expected a list of one recommender or more")
    if most is not None and len(parts) > most:
        raise ValueError(f"models holds {len(parts)} recommenders; expected {most}")
