"""The command line: `moretta`, and `python -m moretta`."""

import sys

from . import _native


def main() -> int:
    """Runs the command line of this process."""
    name = sys.argv[0] if not sys.argv[0].endswith("__main__.py") else "moretta"
    return _native.command_line([name, *sys.argv[1:]], [sys.executable, "-m", "moretta"])


if __name__ == "__main__":
    sys.exit(main())
