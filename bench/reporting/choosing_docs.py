#!/usr/bin/env python3
"""Writes what docs/choosing.md has of measurements: between its marks the tables, and the plots docs/choosing-*.svg, of the results
that the marks name (bench/results). Needs matplotlib.

    choosing_docs.py           writes them
    choosing_docs.py --check   writes nothing; fails where the tables are not these, or a plot is of other figures. Needs no matplotlib
                               for that; where it is the version that made a plot, every byte is compared
"""
import hashlib
import json
import pathlib
import re
import statistics
import sys

sys.dont_write_bytecode = True  # nothing of ours in the source tree

import choices  # noqa: E402
import papers  # noqa: E402
import sources  # noqa: E402

PAGE = papers.ROOT / "docs" / "choosing.md"
RESULTS = papers.ROOT / "bench" / "results"
MARK = re.compile(r"(<!-- choosing ([\w-]+): .*? -->\n).*?(<!-- end of choosing \2 -->\n)", re.S)

# Of the plot: title, experiment, the panel's title up to {log2 of keys}, column
PLOTS = [
    ("Points, all hits, u32", "points", "u32 keys, all lookups hit", "M/s"),
    ("Points, all hits, u64", "points", "u64 keys, all lookups hit", "M/s"),
    ("Points by size of the batch", "batches", "Lookups in one call", "M/s"),
    ("Points by share of hits", "hits", "Lookups that hit", "M/s"),
    ("Points by skew", "skew", "Skewed lookups", "M/s"),
    ("One key in four values", "close", "One key in four values, in no order", "M/s"),
    ("Ranges, row ids summed", "ranges", "Row ids of ranges summed", "M matches/s"),
    ("COUNT of ranges", "ranges", "Matches of ranges counted", "M/s"),
    ("Build, u32", "builds", "Builds, u32 keys", "ms"),
    ("Memory, u32", "builds", "Builds, u32 keys", "bytes per key"),
    ("Updates", "updates", "Rows deleted, and rows inserted", "ms"),
    ("Calls, plain and prepared", "prepared", "One call", "us"),
    ("Scans by selectivity", "scans", "Rows that each", "ms"),
    ("Scans by comparisons", "scans", "Comparisons in a condition", "ms"),
    ("Appends to a table", "appends", "Rows appended", "ms"),
    ("Other libraries, points", "peers", "Lookups, u32 keys", "M/s"),
]


class Wrong(Exception):
    pass


def results_of(folder):
    results, troubles = sources.collect([RESULTS / folder])
    found = choices.of_choosing(results)
    if troubles or not found:
        raise Wrong(f"bench/results/{folder}: {troubles or 'has no result of bench/experiments/choosing'}")
    choices.with_looks(found)
    return found


# ---- Tables

def head_of(results):
    """Machine, driver, commits and days."""
    heads = [head for result in results for head in result["runs"]]
    what = {name: list(dict.fromkeys(head[name] for head in heads)) for name in ("description", "driver", "commit", "repeat")}
    days = sorted({head["began"][:10] for head in heads if head["began"]})
    return (f"{', '.join(what['description'])}; {', '.join(what['driver'])}; {' to '.join(dict.fromkeys([days[0], days[-1]]))}; commit "
            f"{', '.join(commit[:8] for commit in what['commit'])}; medians of {', '.join(map(str, what['repeat']))}, of updates of 8 calls.")


def tables(results):
    yield "| what is wanted | " + " | ".join(f"u{bits} keys" for bits in choices.WIDTHS) + " |"
    yield "| --- |" + " --- |" * len(choices.WIDTHS)
    for wanted in choices.WANTED:
        cells = [choices.decision_in_words(wanted, choices.medians(results, wanted, bits)) for bits in choices.WIDTHS]
        yield f"| {wanted.title} | " + " | ".join(cells) + " |"
    for bits in choices.WIDTHS:
        keys = choices.most_keys(results, bits)
        kinds, rows = choices.rows_at(results, bits, keys)
        yield from ("", f"2^{keys} u{bits} keys:", "", "| operation | " + " | ".join(f"`{kind}`" for kind in kinds) + " |")
        yield "| --- |" + " ---: |" * len(kinds)
        yield from (f"| {title} | " + " | ".join(cells.get(kind, "-") for kind in kinds) + " |" for title, cells in rows)


def rivals_table(results):
    """Other libraries beside kinds, at the most keys; nothing where none were measured."""
    panels = {panel["title"]: panel for result in results if result["experiment"] in ("peers", "builds") for panel in result["panels"]}
    lookups = panels.get("Lookups, u32 keys", {})
    if not lookups.get("rivals"):
        return
    point = lookups["points"][-1]
    builds = [panels[title] for title in ("Builds, u32 keys", "Builds of rivals, u32 keys") if title in panels]
    columns = [("M lookups/s", [lookups], "M/s"), ("build, ms", builds, "ms"),
               ("bytes per key", [lookups], "bytes per key")]
    yield from ("", f"Other libraries in the same runs, {point.partition(' ')[2]} u32 keys, all hits:", "", "| | " + " | ".join(title for title, _, _ in columns) + " |")
    yield "| --- |" + " ---: |" * len(columns)
    for series in lookups["series"]:
        medians = [next((statistics.median(values) for panel in those if (values := sources.of_column(panel, column).get(series, {}).get(point))), None)
                   for _, those, column in columns]
        name = lookups["rivals"].get(series, f"`{series}`")
        if any(medians):
            yield f"| {name} | " + " | ".join(map(choices.shown, medians)) + " |"


def device_of(results):
    return "cpu" if results[0]["runs"][0]["device"] == "cpu" else "gpu"


def section(results):
    device = device_of(results)
    kind = "cpu" if device == "cpu" else "cuda"
    lines = [f"    bench/experiments/choosing all --device {kind} --reports reports", "", head_of(results), "",
             f"![Every kind on a {device.upper()}](choosing-{device}.svg)", "", *tables(results), *rivals_table(results)]
    return "\n".join(lines) + "\n"


def page_text(old, sections):
    return MARK.sub(lambda mark: mark[1] + sections[mark[2]] + mark[3], old)


# ---- The plot

def panels_of(results):
    """[(title, panel, column)] of what was measured."""
    for title, experiment, begins, column in PLOTS:
        panels = [panel for result in results if result["experiment"] == experiment for panel in result["panels"] if panel["title"].startswith(begins)]
        if panels:
            yield title, panels[0], column


def digest(results):
    """Of all that a plot shows."""
    shown = [head_of(results), [(title, column, panel) for title, panel, column in panels_of(results)]]
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:16]


def made_of(svg):
    """(version of matplotlib, digest) that a plot names."""
    found = re.search(r"matplotlib ([\w.]+), figures ([0-9a-f]+)", svg)
    return found.groups() if found else ("", "")


def plot_text(results):
    import plots  # pylint: disable=import-outside-toplevel
    words = f"{head_of(results)} Made with matplotlib {plots.matplotlib.__version__}, figures {digest(results)}."
    return plots.many(list(panels_of(results)), choices.KINDS, head_of(results), words)


def wrong_plot(path, results):
    """What is wrong with a kept plot, or None."""
    if not path.is_file():
        return "is not there"
    svg = path.read_text()
    version, figures = made_of(svg)
    if figures != digest(results):
        return "is a plot of other figures"
    try:
        import plots  # pylint: disable=import-outside-toplevel
    except ModuleNotFoundError:
        return None
    return "is not what the program draws" if plots.matplotlib.__version__ == version and plot_text(results) != svg else None


# ---- All

def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    old = PAGE.read_text()
    folders = [mark[2] for mark in MARK.finditer(old)]
    if not folders:
        print("docs/choosing.md: has no marks <!-- choosing FOLDER: ... -->", file=sys.stderr)
        return 1
    try:
        found = {folder: results_of(folder) for folder in folders}
    except Wrong as error:
        print(error, file=sys.stderr)
        return 1
    new = page_text(old, {folder: section(results) for folder, results in found.items()})
    plots_there = {PAGE.parent / f"choosing-{device_of(results)}.svg": results for results in found.values()}
    if not arguments:
        PAGE.write_text(new)
        for path, results in plots_there.items():
            path.write_text(plot_text(results))
        return 0
    wrong = ["docs/choosing.md: its tables are not"] if new != old else []
    wrong += [f"docs/{path.name}: {why}:" for path, results in plots_there.items() if (why := wrong_plot(path, results))]
    for line in wrong:
        print(f"{line} what bench/reporting/choosing_docs.py writes: run it", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
