"""What a submission is checked and scored against, as a config or options say."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from harness.core.errors import DataError, UsageError
from harness.delimited.stream import Refused
from harness.scoring.options import SubmissionOptions, require_known
from harness.submission import expected, format
from harness.submission.expected import Against
from harness.submission.format import NAMES, Format, Named, TrueColumns

if TYPE_CHECKING:
    import polars as pl

    from harness.config import Config, SubmissionOnly
    from harness.metrics import Metric
    from harness.protocol.truth import Solution


@dataclass(frozen=True)
class Terms:
    """What a person names: a config alone, or a sample, items and a solution.

    Attributes
    ----------
    sample, items : Path, optional
        A file with a row for each id that must be there; a table of all items, ids first.
    solution : Path or polars.DataFrame, optional
        True items.
    named : Named
        What columns are called, where they are not to be found by themselves.
    keep_users_without_items : bool
        Whether users of a solution's file without true items are averaged, with 0.
    separator : str, optional
        What stands between the items of a list.
    own : SubmissionOnly, optional
        A config without data, which says what submissions look like.
    ids : "exact", optional
        Where an id that is not known is another one, however alike; a config may say it too.
    """

    config: Config | None = None
    sample: Path | None = None
    items: Path | None = None
    solution: Path | pl.DataFrame | None = None
    named: Named = field(default_factory=Named)
    keep_users_without_items: bool = False
    separator: str | None = None
    own: SubmissionOnly | None = None
    ids: Literal["exact"] | None = None

    @classmethod
    def of(cls, **options: Unpack[SubmissionOptions]) -> Terms:
        """Return the terms that options name; raises HarnessError where they do not go together."""
        require_known(options)
        config, own = _read(options.get("config"), options.get("overrides", ()))
        solution = options.get("solution")
        return cls(
            config=config,
            own=own,
            sample=_path(options.get("sample")),
            items=_path(options.get("items")),
            solution=None if solution is None else path_or_frame(solution, "solution"),
            named=Named(
                user=options.get("user_column"),
                item=options.get("item_column"),
                rank=options.get("rank_column"),
                score=options.get("score_column"),
                row_order=options.get("row_order", False),
                truth_user=options.get("truth_user_column"),
                truth_item=options.get("truth_item_column"),
                grade=options.get("grade_column"),
            ),
            separator=options.get("separator"),
            keep_users_without_items=options.get("keep_users_without_items", False),
            ids=options.get("ids"),
        )

    def __post_init__(self) -> None:
        if self.config is not None:
            self._refuse_beside_config()
        if self.separator is not None and self.separator not in NAMES:
            allowed = ", ".join(f"'{one}' ({name})" for one, name in NAMES.items())
            raise UsageError(f"--separator is '{self.separator}'; expected one of {allowed}")
        if self.ids not in (None, "exact"):
            raise UsageError(f'--ids is {self.ids!r}; expected "exact", or leave it out')
        named = self.named
        columns = list(named.columns.values())
        if len(set(columns)) < len(columns):
            raise UsageError(f"one column for two things: {', '.join(columns)}; name each its own")
        true = {
            "--truth-user-column": named.truth_user,
            "--truth-item-column": named.truth_item,
            "--grade-column": named.grade,
        }
        options = [option for option, column in true.items() if column]
        if options and self.solution is None:
            raise UsageError(
                f"{options[0]} names a column of --solution; add that, or leave it out"
            )
        if named.rank and named.score:
            raise UsageError("a list is ordered by rank or score, not both: name one column")
        if named.row_order and (named.rank or named.score):
            raise UsageError("a list is ordered by a column or as its rows stand: name one")

    def _refuse_beside_config(self) -> None:
        """Raise UsageError where something is named that the config says itself."""
        files = {"--sample": self.sample, "--items": self.items, "--solution": self.solution}
        given = [option for option, path in files.items() if path is not None]
        if given:
            raise UsageError(f"a config says it all: leave {' and '.join(given)} out, or --config")
        if self.separator is not None:
            raise UsageError(
                "a config says it all: leave --separator out, and set separator under "
                f"[submission], or add --set 'submission.separator=\"{self.separator}\"'"
            )
        if self.keep_users_without_items:
            raise UsageError(
                "--keep-users-without-items goes with --solution; a config's evaluation set counts "
                "everyone in it"
            )

    @property
    def folder(self) -> Path:
        """Where paths in the config start."""
        read = self.config or self.own
        return Path() if read is None else read.folder

    @property
    def files(self) -> list[Path]:
        """The files of the config's competition that are there, its sample among them."""
        from harness.data.table_files import files_of

        tables = () if self.config is None else self.config.layout().tables
        found = [self.asking] if self.own is not None and self.asking is not None else []
        for table in tables:
            with suppress(DataError):
                found += files_of(table)
        return found

    @property
    def asking(self) -> Path | None:
        """The sample that is named, by itself or in a config without data."""
        if self.sample is not None or self.own is None or not self.own.submission.sample:
            return self.sample
        return self.own.folder / self.own.submission.sample

    @property
    def folds(self) -> int:
        """How many evaluation sets the config has; lists are held against the last."""
        return 1 if self.config is None else self.config.n_folds

    @property
    def fold(self) -> str:
        """Which of the config's folds lists are held against, and how another is reached."""
        return last_of(self.folds)

    def checking(self, metrics: tuple[Metric, ...] = ()) -> tuple[Against, Solution | None]:
        """Return what a file is checked against, and the solution if there is one.

        `validate`, `score` and all others check by this, so that they find the same.

        Raises
        ------
        HarnessError
            A file that cannot be used, an empty evaluation set.
        """
        if self.config is None and self.solution is None:
            return self.against(), None
        solution = self.scored_against(metrics)
        return self.against().scored_by(solution), solution

    def against(self) -> Against:
        """Return what rows and lists are checked against; nothing is scored.

        Raises
        ------
        DataError, UsageError
            A file that cannot be read.
        """
        if self.config is not None:
            from harness.scoring import competition  # it takes pydantic and Polars

            found = replace(competition.of_config(self.config), named=self.named)
        else:
            found = self.like().asking()
        return found.exactly() if self._exact else found

    @property
    def _exact(self) -> bool:
        sections = (of.submission for of in (self.config, self.own) if of is not None)
        return "exact" in (self.ids, *(section.ids for section in sections))

    def like(self) -> Against:
        """Return what submissions look like, as no config with data says it; without users' ids."""
        found = expected.like_tables(self.asking, self.items)
        wanted = found.format or self._competition()
        if self.own is not None:
            wanted = format.as_said(self.own.submission, wanted or self._columns_format())
        told = replace(found, format=wanted, named=self.named, guess=self._guess)
        return told.separated(*self.between())

    @property
    def _guess(self) -> bool:
        """Whether nobody says what submissions look like, so that a competition may be known."""
        said = self.config or self.own or self.asking or self.named.user or self.named.item
        return said is None

    def between(self) -> tuple[str | None, str]:
        """Return what stands between items, None where a solution is to tell it, and who says so.

        Raises
        ------
        DataError
            A sample that cannot be read.
        """
        if self.config is not None:
            from harness.scoring import competition  # it takes pydantic and Polars

            return competition.separator(self.config)
        if self.separator is not None:
            return self.separator, "as named"
        if self.own is not None and self.own.submission.separator is not None:
            return self.own.submission.separator, "as the config says"
        told = None if self.asking is None else expected.separator_in(self.asking)
        if told is not None and self.asking is not None:
            return told, f"as in {self.asking.name}"
        known = self._competition()  # its own lists, however the truth is written
        return (None if known is None else known.between), ""

    def scored_against(self, metrics: tuple[Metric, ...] = ()) -> Solution:
        """Return the solution: that of the config's evaluation set, or the file's.

        Raises
        ------
        HarnessError
            No solution is named; a file that cannot be used.
        """
        if self.config is not None:
            from harness.protocol import truth  # it takes Polars

            return truth.of_config(self.config, metrics)
        if self.solution is None:
            also = "; this config has no [data]" if self.own is not None else ""
            raise UsageError(
                f"scored against what? name one of --config CONFIG and --solution SOLUTION{also}"
            )
        known = self._competition()
        everyone = known is not None and known.averages_everyone
        keep = self.keep_users_without_items or everyone
        return replace(self.solution_of(keep=keep), metrics=metrics)

    def solution_of(self, *, keep: bool) -> Solution:
        """Return the solution in the file or frame that is named.

        Parameters
        ----------
        keep : bool
            Whether users without true items are averaged.
        """
        from harness.submission.solution import of_file  # it takes Polars

        assert self.solution is not None  # noqa: S101 - asked for where there is one
        head, named = self._solution_columns(), self.named
        user, item, between = named.user, named.item, self.separator
        if self.own is not None:
            form = self.own.submission
            user, item, between = user or form.user, item or form.items, between or form.separator
        columns = TrueColumns(
            user=named.truth_user or (user if user in head else None),
            item=named.truth_item or (item if item in head else None),
            grade=named.grade,
        )
        return of_file(self.solution, columns, keep_users_without_items=keep, between=between)

    def _columns_format(self) -> Format:
        """Return the format of the solution's own columns."""
        if self.solution is None:
            return format.generic("user", "item")
        columns = self._solution_columns()
        try:
            return replace(format.of_header(columns), prescribed=True)
        except Refused as error:
            raise expected.unreadable(Path("solution"), error) from error

    def _competition(self) -> Format | None:
        """Return the competition that the solution is of, by its header and first rows."""
        if self.solution is None or not self._guess:
            return None
        first = partial(expected.first_cells, self.solution)
        return format.of_competition(self._solution_columns(), first)

    def _solution_columns(self) -> Sequence[str]:
        given = self.solution
        if given is None:
            return ()
        return expected.columns(given) if isinstance(given, Path) else given.columns


def last_of(folds: int) -> str:
    """Return what a command says that takes the last of several folds; nothing of a single one.

    Examples
    --------
    >>> last_of(3).partition(";")[0]
    'fold 3 of 3, the last'
    """
    if folds == 1:
        return ""
    return (
        f"fold {folds} of {folds}, the last; for another, harness split CONFIG --out DIR writes "
        "each fold with a config and a solution of its own"
    )


def which_of(fold: int, folds: int, command: str) -> str:
    """Return what a command says that takes one fold of a run; nothing of a single one.

    Examples
    --------
    >>> which_of(1, 3, "explain").partition(", or")[0]
    'fold 1 of 3; for another, explain a run with --fold N'
    """
    if folds == 1:
        return ""
    last = ", the last" if fold == folds else ""
    return (
        f"fold {fold} of {folds}{last}; for another, {command} a run with --fold N, or harness "
        "split CONFIG --out DIR writes each fold with a config and a solution of its own"
    )


def _read(
    config: Config | SubmissionOnly | Path | str | None, overrides: Sequence[str]
) -> tuple[Config | None, SubmissionOnly | None]:
    """Return a config with data, or one without."""
    if overrides and config is None:
        raise UsageError(f"--set {overrides[0]} overrides a key of a config; name it with --config")
    if config is None:
        return None, None
    from harness.config import Config, SubmissionOnly, read_for_submissions  # slow to import

    if not isinstance(config, (Config, SubmissionOnly)):
        config = read_for_submissions(_file(config), overrides)
    return (None, config) if isinstance(config, SubmissionOnly) else (config, None)


def _path(path: Path | str | None) -> Path | None:
    return None if path is None else _file(path)


def _file(path: Path | str) -> Path:
    if not isinstance(path, (str, Path)):
        raise UsageError(f"found {type(path).__name__}; give the path of a file")
    return Path(path)


def path_or_frame(given: Any, role: str) -> Path | pl.DataFrame:
    """Return a path, or a frame of any kind as Polars holds it; `role` names it in messages."""
    if isinstance(given, (str, Path)):
        return Path(given)
    from harness.metrics.inputs.frame import as_polars  # it takes Polars

    return as_polars(given, role)
