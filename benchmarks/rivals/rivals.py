"""Python packages that `benchmarks/run rivals` compares with moretta. It reads a request as JSON from standard input
and prints a result as JSON.

A release of a package is written in the notation of moretta, so that `moretta measure` and `moretta check` can read it:
an interval `[17, 24]` for numbers, the set `{Female, Male}` of the values that occur for categories. Seconds are those
of the processor in the package's own call, without reading, conversion and the start of Python.
"""

import json
import re
import resource
import sys
import time

import pandas as pd


def table_of(job):
    """Reads the table with the types that the packages expect: numbers, and categories."""
    table = pd.read_csv(job["table"], dtype=str, keep_default_na=False)
    for column in job["columns"]:
        values = table[column["name"]]
        table[column["name"]] = pd.to_numeric(values) if column["number"] else values.astype("category")
    table[job["kept"]] = table[job["kept"]].astype("category")
    return table


def anonypyx(job, table, algorithm):
    import anonypyx

    release = anonypyx.Anonymiser(
        table,
        k=job["k"],
        algorithm=algorithm,
        feature_columns=names(job),
        sensitive_column=job["kept"],
        generalisation_strategy="human-readable",
    ).anonymise()
    return release.to_dict("records")


def anonypy(job, table):
    import anonypy

    return anonypy.Preserver(table, names(job), job["kept"]).anonymize_k_anonymity(job["k"])


def records_of_groups(job, groups):
    """Records of the groups of anonypy and anonypyx: numbers are printed as `17-24`, categories as `Female,Male`."""

    def cells(column, printed):
        printed = str(printed[0] if isinstance(printed, list) else printed)
        if not column["number"]:
            return printed.split(",")
        return [float(end) for end in re.fullmatch(r"(-?[\d.]+)(?:-(-?[\d.]+))?", printed).groups() if end]

    records = []
    for group in groups:
        row = [cells(column, group[column["name"]]) for column in job["columns"]]
        records += [(row, group[job["kept"]])] * int(group["count"])
    return records


def anjana_hierarchies(job, table):
    """Files for columns that have one; for other numbers intervals of an eighth, a quarter and half of the range, made
    by anjana; for other categories the root alone."""
    from anjana.anonymity.utils import utils

    hierarchies = {}
    for column in job["columns"]:
        values = sorted(set(table[column["name"]]))
        if column.get("hierarchy"):
            with open(column["hierarchy"], encoding="utf-8") as file:
                rows = [line.strip().split(";") for line in file if line.strip()]
            levels = [list(level) for level in zip(*rows)]
        elif column["number"]:
            first, last = min(values), max(values)
            widths = sorted({max(1, int(-(-(last - first) // parts))) for parts in (8, 4, 2)})
            intervals = [utils.generate_intervals(values, first, last + width, width) for width in widths]
            levels = [values, *intervals, ["*"] * len(values)]
        else:
            levels = [values, ["*"] * len(values)]
        hierarchies[column["name"]] = dict(enumerate(levels))
    return hierarchies


def anjana(job, table, suppressed):
    """Full-domain generalization. Returns the labels, and the suppressed records as `None`."""
    from anjana.anonymity import k_anonymity

    for column in job["columns"]:
        values = table[column["name"]]
        with_file = bool(column.get("hierarchy"))
        table[column["name"]] = values.astype(str if with_file or not column["number"] else values.dtype).astype(object)
    hierarchies = anjana_hierarchies(job, table)
    start = time.process_time()
    release = k_anonymity(table, [], names(job), job["k"], suppressed, hierarchies)
    seconds = time.process_time() - start
    if release.empty:
        raise ValueError("it ends without a release")
    if "index" in release:  # It has suppressed records.
        release = release.set_index("index")
    return release, seconds


def records_of_labels(job, table, release):
    """Replaces each label by the values that occur under it, the narrowest cell that it can mean. A suppressed record
    gets all values."""
    records = []
    meaning = {}
    for column in job["columns"]:
        name = column["name"]
        values = table.loc[release.index, name]
        values = pd.to_numeric(values) if column["number"] else values
        meaning[name] = values.groupby(release[name].to_numpy()).agg(lambda group: list(group.unique())).to_dict()
    everything = [list(table[name].unique()) for name in names(job)]
    for column, values in zip(job["columns"], everything):
        values[:] = [float(value) for value in values] if column["number"] else values
    labels = dict(zip(release.index, release[names(job)].itertuples(index=False)))
    for index, kept in table[job["kept"]].items():
        label = labels.get(index)
        row = everything if label is None else [meaning[name][cell] for name, cell in zip(names(job), label)]
        records.append((row, kept))
    return records


def names(job):
    return [column["name"] for column in job["columns"]]


def number(value):
    return str(int(value)) if float(value).is_integer() else str(value)


def label(column, values):
    if column["number"]:
        first, last = number(min(values)), number(max(values))
        return first if first == last else f"[{first}, {last}]"
    values = sorted(set(values))
    return values[0] if len(values) == 1 else "{" + ", ".join(values) + "}"


RIVALS = {
    "anonypyx-mondrian": lambda job, table: anonypyx(job, table, "Mondrian"),
    "anonypyx-mdav": lambda job, table: anonypyx(job, table, "MDAV-generic"),
    "anonypy": anonypy,
}


def anonymize(job):
    table = table_of(job)
    start = time.process_time()
    if job["rival"] in RIVALS:
        found = RIVALS[job["rival"]](job, table)
        seconds = time.process_time() - start
        peak = peak_memory()
        records = released = records_of_groups(job, found)
    else:
        original = table.copy()
        release, seconds = anjana(job, table, job["suppressed"])
        peak = peak_memory()
        records = records_of_labels(job, original, release)
        released = [record for record, index in zip(records, original.index) if index in release.index]
    for path, chosen in [("release", records), ("released", released)]:
        rows = [[label(*cell) for cell in zip(job["columns"], row)] + [kept] for row, kept in chosen]
        pd.DataFrame(rows, columns=[*names(job), job["kept"]]).to_csv(job[path], index=False)
    return {"seconds": seconds, "peak": peak}


def leaves(column):
    """Values of the column's hierarchy, which belong to its domain even if no record has them."""
    if not column.get("hierarchy"):
        return set()
    with open(column["hierarchy"], encoding="utf-8") as file:
        return {line.split(";")[0].strip() for line in file if line.strip()}


def judge(job):
    """k of the released records by pycanon, and the global certainty penalty of all labels by its definition."""
    from pycanon import anonymity

    table, release = table_of(job), pd.read_csv(job["release"], dtype=str, keep_default_na=False)
    released = pd.read_csv(job["released"], dtype=str, keep_default_na=False)
    lost = 0.0
    for column in job["columns"]:
        values = table[column["name"]]
        span = values.max() - values.min() if column["number"] else len(set(values) | leaves(column))

        def loss(printed):
            if printed == "*":
                return 1.0
            if column["number"]:
                ends = [float(end) for end in printed.strip("[]").split(",")]
                return (ends[-1] - ends[0]) / span if span else 0.0
            return len(printed.strip("{}").split(", ")) / span if printed.startswith("{") else 0.0

        labels = release[column["name"]].value_counts()
        lost += sum(loss(printed) * count for printed, count in labels.items())
    gcp = lost / len(release) / len(job["columns"])
    return {"gcp": gcp, "k": int(anonymity.k_anonymity(released, names(job)))}


def peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    if "seconds" in request:
        resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"] + 5))
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        result = {"anonymize": anonymize, "judge": judge}[request["do"]](request)
    except MemoryError:
        result = {"reason": f"needs more than {request['memory'] // 10**9} GB of memory"}
    except Exception as error:  # A rival that fails is a row of the table.
        result = {"reason": f"{type(error).__name__}: {error}".splitlines()[0]}
    json.dump(result, out)
