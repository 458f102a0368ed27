"""The Python examples of the documents run as they are printed."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import moretta

polars = pytest.importorskip("polars")
pytest.importorskip("pandas")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("document", ["README.md", "GUIDE.md", "docs/reference/python.md"])
def test_examples_run(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fences = re.findall(r"^```python\n(.*?)^```", (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert fences
    people = polars.DataFrame(moretta.demo(1000).people)
    people.write_parquet(tmp_path / "people.parquet")
    people.write_parquet(tmp_path / "march.parquet")
    people.write_csv(tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"moretta": moretta, "people": people}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", moretta.MorettaWarning)
        for fence in fences:
            # Fewer methods: a comparison of all takes minutes.
            exec(fence.replace("k=(5, 10, 50))", 'k=(5, 10, 50), methods=["mondrian"], queries=10)'), names)
