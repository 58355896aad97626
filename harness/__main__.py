"""The command ``harness``, also as ``python -m harness``."""

import sys

from harness.core.errors import INTERRUPTED


def main() -> None:
    """Run the command line; an interruption while it is imported is one like any other."""
    try:
        from harness.cli import main as run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
