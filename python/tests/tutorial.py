"""Runs the code of docs/tutorial.md in a folder of its own and writes what it prints into the page, below each block.

With --check it only compares, and fails if the page has other results. The environment needs moretta, polars and scikit-learn.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
#: A block of code, and its results if it has some.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", re.MULTILINE | re.DOTALL)


def rendered(page: str) -> str:
    """The page with the results of its code."""
    names: dict[str, object] = {"__name__": "tutorial"}

    def run(block: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            exec(compile(block[1], PAGE.name, "exec"), names)
        for warning in caught:
            # Warnings of other packages are no part of the page.
            if warning.category.__name__ == "MorettaWarning":
                printed.write(f"MorettaWarning: {warning.message}\n")
        code = f"```python\n{block[1]}```\n"
        return f"{code}\n```text\n{printed.getvalue()}```\n" if printed.getvalue() else code

    # The width of the terminal is no part of the page.
    os.environ["POLARS_TABLE_WIDTH"] = "100"
    folder = os.getcwd()
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)
        try:
            return BLOCK.sub(run, page)
        finally:
            os.chdir(folder)


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    found = rendered(page)
    if "--check" in sys.argv[1:]:
        if found != page:
            print(f"{PAGE}: the code has other results; run python/tests/tutorial.py", file=sys.stderr)
        return int(found != page)
    PAGE.write_text(found, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
