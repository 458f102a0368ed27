"""Makes a release in an environment that has the named packages and no others, in every form that they allow."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path

import moretta

FRAMES = ("pandas", "polars", "pyarrow", "sklearn")
given = ["sklearn" if name == "scikit-learn" else name for name in sys.argv[1:]]
found = [name for name in FRAMES if importlib.util.find_spec(name)]
assert sorted(found) == sorted(given), f"the environment has {found}"
assert not [name for name in FRAMES if name in sys.modules], "the package imports what it does not need"

people, policy = moretta.demo(500)
policy = policy.with_(k=5, method="mondrian", privacy={"k": 5})
frames = [people]
if "pandas" in given:
    import pyarrow

    frames.append(pyarrow.table(people).to_pandas())
if "polars" in given:
    import polars

    frames.append(polars.DataFrame(people))
if "pyarrow" in given:
    import pyarrow

    frames.append(pyarrow.table(people))
for frame in frames:
    release = moretta.anonymize(frame, policy, seed=1)
    assert len(release) == 500 and moretta.check(release, policy)
    assert release.report.smallest_group >= 5 and "guarantee" in release._repr_html_()
if "pandas" in given:
    assert len(release.to_pandas()) == 500
if "polars" in given:
    assert len(release.to_polars()) == 500
if "pyarrow" in given:
    assert len(release.to_arrow()) == 500
if "sklearn" in given:
    from moretta.sklearn import Encoder

    assert Encoder(policy).fit(release).transform(people).shape[0] == 500
with tempfile.TemporaryDirectory() as folder:
    release.write(Path(folder) / "out.csv")
    release.write(Path(folder) / "out.parquet")
    assert moretta.check(Path(folder) / "out.parquet", policy)
