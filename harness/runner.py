"""The main job: a config in, every model through the same exam, a `Result` out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness import cache, chance, load, metrics, plugins
from harness import config as config_
from harness.comparison import against_chance, interval
from harness.dataset import Dataset, Int32
from harness.draws import Draws, UInt64, user_hashes
from harness.errors import HarnessError, RecommenderError
from harness.evaluation import EvaluationSet, build
from harness.progress import steps
from harness.recommendations import Recommendations, checked
from harness.recommender import Recommender, Train
from harness.results import Chance, Figure, ModelResult, Result
from harness.scoring import ScoreTable, mean, score
from harness.split import Split, split

DEFAULT_METRICS = ("MAP", "Recall", "NDCG")
BATCH_CELLS = 1 << 28
"""Users × candidates of one call to a recommender: a dense float32 score matrix of 1 GiB."""


def run(config: config_.Config | str | Path, *, progress: bool = False) -> Result:
    """Let every model of a config sit the exam it sets.

    Parameters
    ----------
    config : Config or path of a TOML file
    progress : bool
        Show bars on standard error for steps that take longer than a second.

    Raises
    ------
    HarnessError
        Anything a person can mend: the config, a file, an empty exam, a model that breaks its
        contract.
    """
    if not isinstance(config, config_.Config):
        config = config_.read(Path(config))
    asked = _metrics(config)
    models = [plugins.load(m.name, m.use, m.params, config.folder) for m in config.models]
    with ThreadPoolExecutor(1) as background:  # leaving waits until the cache is written
        return _run(config, asked, models, background, progress)


def _run(
    config: config_.Config,
    asked: tuple[metrics.Metric, ...],
    models: list[Recommender],
    background: Executor,
    progress: bool,
) -> Result:
    clock = Clock()
    with clock.step("read"):
        data = _read(config, background, progress)
    with clock.step("exam"), steps("setting the exam", 3, " steps", progress) as bar:
        parts = split(data, config.split)
        bar.update()
        exam = build(data, parts, config.evaluation)
        bar.update()
        train = Train(data, parts.train, exam.candidates, parts.cutoff)
        hashes = np.zeros(len(data.user_ids), np.uint64)
        hashes[exam.users] = user_hashes(exam.user_ids)
        for array in (exam.users, exam.candidates, hashes):
            array.setflags(write=False)  # one model must not change what the next one reads
    with clock.step("chance"):
        floors = {m: _floor(m, exam) for m in asked}
    results = [
        _sit(model, settings, exam, train, hashes, config.evaluation.seed, floors, progress)
        for model, settings in zip(models, config.models, strict=True)
    ]
    first = str(asked[0])
    return Result(
        config=_resolved(config, data, asked),
        layout=data.layout,
        window=parts.summary(),
        start=_start(parts),
        exam=exam,
        metrics=asked,
        models=tuple(sorted(results, key=lambda r: -r.metrics[first].mean)),
        chance={str(m): _chance(f) for m, f in floors.items() if f is not None},
        notes=_notes(data, parts, exam, floors),
        seconds=clock.seconds,
    )


def _resolved(
    config: config_.Config, data: Dataset, asked: tuple[metrics.Metric, ...]
) -> dict[str, Any]:
    """Return the config with what the layout and the defaults decided written out."""
    values = config.resolved()
    values["evaluation"]["metrics"] = [str(metric) for metric in asked]
    values["evaluation"].setdefault("candidates", data.candidates)
    return values


class Clock:
    """Seconds spent in each named step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Add the time until the end of the block to `name`."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def _metrics(config: config_.Config) -> tuple[metrics.Metric, ...]:
    k = config.evaluation.k
    texts = config.evaluation.metrics or [f"{name}@{k}" for name in DEFAULT_METRICS]
    return tuple(dict.fromkeys(metrics.parse(text) for text in texts))


def _read(config: config_.Config, background: Executor, progress: bool) -> Dataset:
    with steps("reading events", None, " rows", progress) as bar:
        if config.data.cache:
            return cache.dataset(config.layout(), bar.update, background)[0]
        return load.load(config.layout(), bar.update)


def _floor(metric: metrics.Metric, exam: EvaluationSet) -> chance.Moments | None:
    return chance.exact(metric, exam.n_candidates, exam.truth.sizes, exam.relevant)


def _chance(moments: chance.Moments) -> Chance:
    return Chance(*chance.of_set(moments))


def _sit(
    model: Recommender,
    settings: config_.ModelConfig,
    exam: EvaluationSet,
    train: Train,
    hashes: UInt64,
    seed: int,
    floors: dict[metrics.Metric, chance.Moments | None],
    progress: bool,
) -> ModelResult:
    clock = Clock()
    with clock.step("fit"):
        model = _guarded(settings.name, "fit", lambda: model.fit(train))
    with (
        clock.step("recommend"),
        steps(settings.name, settings.repeats * len(exam.users), " users", progress) as bar,
    ):
        repeats = [
            recommend(settings.name, model, exam, train, Draws(seed, r, hashes), bar.update)
            for r in range(settings.repeats)
        ]
    with clock.step("score"):
        scores = score(repeats, exam, tuple(floors))
        figures = {str(m): _figure(scores, m) for m in floors}
        first, floor = next(iter(floors.items()))
        verdict = None if floor is None else against_chance(scores, first, floor)
    return ModelResult(settings.name, settings.repeats, figures, verdict, clock.seconds, scores)


def recommend(
    name: str,
    model: Recommender,
    exam: EvaluationSet,
    train: Train,
    draws: Draws,
    progress: Callable[[int], object] = lambda users: None,
) -> Recommendations:
    """Return a fitted model's checked lists for all users of the exam, asked for in batches."""
    batch = max(1, BATCH_CELLS // len(exam.candidates))
    items = np.empty((len(exam.users), _places(exam)), np.int32)
    for start in range(0, len(exam.users), batch):
        users = exam.users[start : start + batch]
        # Copied at once: a model may answer the next batch in the same array.
        items[start : start + batch] = _batch(name, model, exam, start, users, draws)
        progress(len(users))
    return Recommendations(items)


def _places(exam: EvaluationSet) -> int:
    """Return how long a list can be: places beyond the last candidate would stay empty."""
    return min(exam.k, len(exam.candidates))


def _batch(
    name: str, model: Recommender, exam: EvaluationSet, start: int, users: Int32, draws: Draws
) -> Int32:
    ids = exam.user_ids[start : start + len(users)]
    seen = None if exam.seen is None else exam.seen.rows(start, start + len(users))
    exclude = None
    if seen is not None:
        held = np.ones(len(seen.indices), np.bool_)
        shape = (len(users), len(exam.candidates))
        exclude = csr_array((held, seen.indices, seen.indptr), shape=shape)
    answer = _answer(name, model, users, ids, _places(exam), draws, exclude)
    return checked(name, answer, ids, _places(exam), len(exam.candidates), seen)


def _answer(
    name: str,
    model: Recommender,
    users: Int32,
    ids: pl.Series,
    k: int,
    draws: Draws,
    exclude: csr_array[Any] | None,
) -> Any:
    try:
        return model.recommend(users, k, draws, exclude=exclude)
    except BaseException as error:  # a stranger's code may raise anything
        plugins.raise_interrupt(error)
        user = ids[_first_raising(model, users, k, draws, exclude)]
        raise RecommenderError(
            f'model "{name}" raised in recommend, first for user {user}: {plugins.told(error)}'
        ) from error


def _first_raising(
    model: Recommender, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None
) -> int:
    """Return the first row that raises, found by halving; 0 where only the whole batch does."""
    start, stop = 0, len(users)
    while stop - start > 1:
        middle = (start + stop) // 2
        if _raises(model, users, slice(start, middle), k, draws, exclude):
            stop = middle
        elif _raises(model, users, slice(middle, stop), k, draws, exclude):
            start = middle
        else:
            break
    return start


def _raises(
    model: Recommender,
    users: Int32,
    rows: slice,
    k: int,
    draws: Draws,
    exclude: csr_array[Any] | None,
) -> bool:
    try:
        model.recommend(users[rows], k, draws, exclude=None if exclude is None else exclude[rows])
    except BaseException as error:
        plugins.raise_interrupt(error)
        return True
    return False


def _guarded(name: str, method: str, call: Callable[[], Any]) -> Any:
    try:
        answer = call()
    except HarnessError:
        raise
    except BaseException as error:  # a stranger's code may raise anything
        plugins.raise_interrupt(error)
        raise RecommenderError(
            f'model "{name}" raised in {method}: {plugins.told(error)}'
        ) from error
    if answer is None:
        raise RecommenderError(f'model "{name}": {method} returned None; expected self')
    return answer


def _figure(scores: ScoreTable, metric: metrics.Metric) -> Figure:
    values = scores.of_users(metric)
    repeats = scores.of_repeats(metric)
    spread = float(np.std(repeats, ddof=1)) if len(repeats) > 1 else None
    return Figure(mean(values), interval(values), spread)


def _start(parts: Split) -> str:
    """Return the date the window starts, for the run's name."""
    if parts.cutoff is None:
        return "given"
    return str(np.datetime64(parts.cutoff, "us").astype("datetime64[D]"))


def _notes(
    data: Dataset,
    parts: Split,
    exam: EvaluationSet,
    floors: dict[metrics.Metric, chance.Moments | None],
) -> tuple[str, ...]:
    notes = list(data.notes)
    if exam.k > len(exam.candidates):
        notes.append(f"k = {exam.k:,} is more than the {len(exam.candidates):,} candidates")
    unknown = [str(metric) for metric, floor in floors.items() if floor is None]
    if unknown:
        notes.append(f"no exact chance value is known for {', '.join(unknown)}")
    if parts.held_back:
        notes.append(f"{parts.held_back:,} events lie in another window and are left out")
    return tuple(notes)
