"""The config file: TOML in, one checked and frozen `Config` out; every mistake names its key."""

from harness.config.file import parse, read
from harness.config.sections import (
    Config,
    DataConfig,
    EvaluationConfig,
    ModelConfig,
    SubmissionConfig,
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
    "TimeSplit",
    "TunedRecord",
    "parse",
    "read",
]
