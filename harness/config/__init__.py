"""The config file: TOML in, one checked and frozen `Config` out; every mistake names its key."""

from harness.config.file import parse, read
from harness.config.sections import (
    Config,
    DataConfig,
    EvaluationConfig,
    FractionSplit,
    GivenSplit,
    LastNSplit,
    ModelConfig,
    SplitConfig,
    SubmissionConfig,
    TimeSplit,
)

__all__ = [
    "Config",
    "DataConfig",
    "EvaluationConfig",
    "FractionSplit",
    "GivenSplit",
    "LastNSplit",
    "ModelConfig",
    "SplitConfig",
    "SubmissionConfig",
    "TimeSplit",
    "parse",
    "read",
]
