"""The tutorial runs, and prints what the page has."""

from __future__ import annotations

import pytest

pytest.importorskip("polars")
pytest.importorskip("sklearn")

import tutorial  # noqa: E402


def test_the_tutorial_has_the_results_of_its_code() -> None:
    page = tutorial.PAGE.read_text(encoding="utf-8")
    assert tutorial.rendered(page) == page, "run python/tests/tutorial.py"
