"""Anonymize tabular microdata and verify what is released.

>>> import moretta
>>> people, policy = moretta.demo(2000)
>>> release = moretta.anonymize(people, policy.with_(k=5, method="mondrian"), seed=1)
>>> release.report.smallest_group >= 5
True
>>> bool(moretta.check(release, policy.with_(k=5)))
True

Tables are anything with the Arrow interface (pandas, polars, pyarrow, DuckDB) or paths. A release is handed over only
after it was read back and verified.
"""

from ._errors import (
    InputError,
    InternalError,
    MemoryLimit,
    MorettaError,
    MorettaWarning,
    PolicyError,
    Unsatisfiable,
    UsageError,
)
from ._hierarchy import Hierarchy
from ._job import Progress
from ._native import Table, __version__
from ._plan import Plan, plan
from ._policy import Policy, read_policy
from ._release import Recoding, Release, Report, anonymize, anonymize_file
from ._results import (
    Bound,
    Check,
    Comparison,
    Demo,
    Evaluation,
    Frontier,
    HierarchyCheck,
    Inferences,
    Linkage,
    Measures,
    Queries,
    Risks,
    bound,
    check,
    check_hierarchy,
    compare,
    convert_policy,
    demo,
    evaluate,
    formats,
    frontier,
    inferences,
    linkage,
    measure,
    measures,
    methods,
    models,
    queries,
    risks,
    verify_report,
)

__all__ = [
    "Bound",
    "Check",
    "Comparison",
    "Demo",
    "Evaluation",
    "Frontier",
    "Hierarchy",
    "HierarchyCheck",
    "Inferences",
    "InputError",
    "InternalError",
    "Linkage",
    "Measures",
    "MemoryLimit",
    "MorettaError",
    "MorettaWarning",
    "Plan",
    "Policy",
    "PolicyError",
    "Progress",
    "Queries",
    "Recoding",
    "Release",
    "Report",
    "Risks",
    "Table",
    "Unsatisfiable",
    "UsageError",
    "__version__",
    "anonymize",
    "anonymize_file",
    "bound",
    "check",
    "check_hierarchy",
    "compare",
    "convert_policy",
    "demo",
    "evaluate",
    "formats",
    "frontier",
    "inferences",
    "linkage",
    "measure",
    "measures",
    "methods",
    "models",
    "plan",
    "queries",
    "read_policy",
    "risks",
    "verify_report",
]
