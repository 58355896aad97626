"""The config file: TOML in, one checked and frozen `Config` out; every mistake names its key."""

from harness.config.load import parse, read, read_for_submissions
from harness.config.sections import (
    IN_PYTHON,
    Config,
    DataConfig,
    EvaluationConfig,
    ModelConfig,
    SubmissionConfig,
    SubmissionOnly,
)
from harness.config.space import TunedRecord
from harness.config.splits import (
    FractionSplit,
    GivenSplit,
    InnerSplit,
    LastNSplit,
    SplitConfig,
    TimeSplit,
)

__all__ = [
    "IN_PYTHON",
    "Config",
    "DataConfig",
    "EvaluationConfig",
    "FractionSplit",
    "GivenSplit",
    "InnerSplit",
    "LastNSplit",
    "ModelConfig",
    "SplitConfig",
    "SubmissionConfig",
    "SubmissionOnly",
    "TimeSplit",
    "TunedRecord",
    "parse",
    "read",
    "read_for_submissions",
]
