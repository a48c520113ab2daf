"""Runs experiments: tables of `keyray bench` commands and of their results.

An experiment has panels. A panel is one table: it varies one thing (its points) for several specs (its series) and
shows some figures of each run (its columns). Points share a command where possible.
"""
import argparse
import collections
import copy
import itertools
import json
import pathlib
import subprocess
import sys

from reports import Cut, Reports

ROOT = pathlib.Path(__file__).resolve().parents[2]

# log2 of the keys and probes, and whether this is a GPU. Of scans: the rows, and whether few points will do.
Scale = collections.namedtuple("Scale", "keys probes gpu rows quick", defaults=[0, False])

# A value of the x axis: its label, and the options of bench, or of the index, that select it.
Point = collections.namedtuple("Point", "label options spec", defaults=[""])

SPECS_MOST = 64  # that one command takes

# A figure of a run: `get(run)` is a number, or None where the run has none. `times(run)`: the times that it grows with, if not "seconds".
Column = collections.namedtuple("Column", "title get times", defaults=[None])


class Series:
    """A spec, or a function of the point that gives it, or None for no index. `alone`: every point has its own process,
    as it may take very long, and no point follows the first that takes too long; `fits(point)`: whether the kind can
    do this; `options`: of bench, for this series; series of other options have commands of their own."""

    def __init__(self, label, spec, alone=False, fits=lambda point: True, options=None):
        self.label, self.spec, self.alone, self.fits, self.options = label, spec, alone, fits, options or {}

    def spec_at(self, point):
        """With the options of the index that the point has."""
        spec = self.spec(point) if callable(self.spec) else self.spec
        return spec + ("," if ":" in spec else ":") + point.spec if point.spec else spec


class Rival:
    """What --baseline measures beside every index: the rival whose name in a report begins so. Reports that lack it (bench
    was built without it) have no figure of it."""

    def __init__(self, label, begins):
        self.label, self.begins = label, begins

    def run_of(self, run):
        """The rival as if it were a run, or None. `beside` is the run that it was measured with."""
        found = next((each for each in run.get("baselines", []) if f"{each['name']},".startswith(f"{self.begins},")), None)
        if found is None:
            return None
        scale = run["workload"].get("probes", found["lookups"]) / found["lookups"]  # a build has no probes
        times = {name: [one * scale for one in value] if name == "each" else value * scale for name, value in found["seconds"].items()}
        return {"spec": ", ".join(word for word in (found["name"], found.get("version")) if word), "workload": run["workload"], "seconds": times,
                "per_second": found["per_second"], "footprint": found["footprint"], "beside": run}


class Panel:
    """`after(panel, cells)` gives lines to print below; cells[series, point] is a report's run. `work`: how many cells'
    time a cell gets; `device`: instead of the one asked for; `shown`: only these series, of a command that has more;
    `beside`: series that do not vary, so that they are measured once, with the first point, and shown below. The
    points of such a panel are options of the index. `rivals`: of --baseline, which the options have then."""

    def __init__(self, title, operation, options, points, series, columns, after=None, work=1, device=None, shown=None,
                 beside=(), rivals=()):
        self.title, self.operation, self.options, self.points = title, operation, options, points
        self.series, self.columns, self.after, self.work, self.device = series, columns, after, work, device
        self.shown, self.beside, self.rivals = shown or series, list(beside), list(rivals)
        self.lines = [*self.shown, *self.rivals]


class Experiment:
    """`panels` is a function of the scale, or None with a `note` that says why nothing is measured; `gpu` is log2 of
    keys and probes that a GPU gets, `cpu` what a CPU gets; what `decides` a verdict runs first."""

    def __init__(self, name, source, title, panels=None, gpu=(26, 27), note="", decides=False, cpu=(16, 16)):
        self.name, self.source, self.title, self.panels, self.gpu, self.note = name, source, title, panels, gpu, note
        self.decides, self.cpu = decides, cpu


# Figures and tables of a paper that no experiment repeats: their numbers, and why.
Without = collections.namedtuple("Without", "source why")


# ---- Options

def lookups_at(scale, keys=None, probes=None, **options):
    """Options that every command of an experiment has."""
    common = {"count": f"2^{scale.keys if keys is None else keys}",
              "probes": f"2^{scale.probes if probes is None else probes}"}
    return {**common, **{name.replace("_", "-"): value for name, value in options.items() if value is not False}}


def build_at(scale, **options):
    return {name: value for name, value in lookups_at(scale, **options).items() if name != "probes"}


# ---- Points

def sweep(option, values):
    return [Point(f"{option} {value}", {option: str(value)}) for value in values]


def powers(option, first, last, step=1):
    """2^first to 2^last, the last included."""
    return sweep(option, [f"2^{n}" for n in range(last, first - 1, -step)][::-1])


def kinds_of(values, spec):
    """Points that differ in options of the index; `spec(value)` has them."""
    return [Point(str(value), {}, spec(value)) for value in values]


def one(label=""):
    return [Point(label, {})]


ORDERS = [Point("unsorted", {"order": "random"}), Point("sorted", {"order": "ascending"})]  # of probes, before the time


def hits_of(scale, most, step=2, option="hits"):
    """The same total of matches for any number per probe, so that long ranges take no longer than short ones."""
    return [Point(f"{option} 2^{n}", {option: f"2^{n}", "probes": f"2^{max(scale.probes - n, 0)}"})
            for n in range(0, min(most, scale.keys) + 1, step)]


# ---- Series

def arrays_that_scan(series):
    """The papers' sorted arrays, where a lookup matches several rows: one thread reads key by key, up to the first that does
    not qualify (RTIndeX, 4.9)."""
    def scanning(spec):
        kind, _, options = spec.partition(":")
        return ",".join(filter(None, ("array:ends=scan,scan_threads=1", options))) if kind == "array" else spec

    return [Series(each.label, scanning(each.spec), each.alone, each.fits, each.options) for each in series]


# ---- Columns

def milliseconds(run, key="seconds"):
    return run[key]["median"] * 1e3


def matches(run):
    """Rows that one probe matches, if it hits, on average."""
    workload = run["workload"]
    return workload.get("hits", 1) * workload["multiplicity"]


def work(name):
    return lambda run: run.get("work_per_probe", {}).get(name)


def phase(name):
    return lambda run: run["build_phases"][name] * 1e3 if name in run["build_phases"] else None


def lookup_phase(name):
    """Milliseconds of a phase of lookups: the median of runs of their own."""
    return lambda run: run["lookup_phases"][name] * 1e3 if name in run["lookup_phases"] else None


def phases(*names, key="build_phases"):
    """Milliseconds of these together, of those that there are."""
    return lambda run: sum(run[key].get(name, 0) for name in names) * 1e3


def phases_without(*names, key="build_phases"):
    """Milliseconds of the others together."""
    return lambda run: sum(seconds for name, seconds in run[key].items() if name not in names) * 1e3


def of_tree(run):
    """Bytes of the scenes alone."""
    parts = [each["nbytes"] for each in run["components"] if each["name"].startswith("bvh")]
    return sum(parts) / run["workload"]["keys"] if parts else None


def per_key(key):
    return lambda run: run[key] / run["workload"]["keys"]


MS = Column("ms", milliseconds)
RATE = Column("M/s", lambda run: run["per_second"] / 1e6)
NS_A_MATCH = Column("ns per match", lambda run: milliseconds(run) * 1e6 / run["workload"]["probes"] / matches(run))
TREE_BYTES = Column("tree, bytes per key", of_tree)
FOOTPRINT = Column("bytes per key", per_key("footprint"))
OVERHEAD = Column("more while built, bytes per key", lambda run: per_key("peak")(run) - per_key("footprint")(run))
PER_BYTE = Column("/s per byte", lambda run: run["per_second_per_byte"])
PEAK = Column("peak, bytes per key", per_key("peak"))
RAYS = Column("rays per probe", work("rays"))
HITS = Column("hits per probe", work("hits"))
UNTRACED = Column("untraced per probe", work("untraced"))


# ---- Running

class Problem(Exception):
    pass


TOO_LONG = "too long"
BESIDE = object()  # instead of a point's label, in cells


class Runner:
    """Runs the commands of one experiment and keeps the lines above its tables. `known`: what other experiments ran;
    `kept`: reports in a folder."""

    def __init__(self, options, device, known, kept):
        self.options, self.device, self.known, self.kept = options, device, known, kept
        self.commands, self.reports = [], []

    def run(self, arguments, cells, device=None):
        """One report, or TOO_LONG; what panels and experiments share is run once."""
        command = ["bench", *arguments, "--device", device or self.device, "--repeat", str(self.options.repeat)]
        key = " ".join(command)
        if "keyray " + key not in self.commands:
            self.commands.append("keyray " + key)
        if key not in self.known:
            self.known[key] = self.run_anew(command, cells)
        report = self.known[key]
        if report is not TOO_LONG and not any(report is each for each in self.reports):
            self.reports.append(report)
        return report

    def run_anew(self, command, cells):
        line, limit = "keyray " + " ".join(command), self.options.limit * cells
        report = self.kept.find(line, limit)
        if report is None:
            began = self.kept.begin()
            report = self.run_command(command, limit)
            self.kept.keep(line, began, report)
        if "failed" in report:
            raise Problem(f"{line}: {report['failed']}")
        return TOO_LONG if "too_long" in report else report

    def run_command(self, command, limit):
        try:
            done = subprocess.run([self.options.keyray, *command, "--format", "json"], capture_output=True, text=True,
                                  check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            return {"too_long": limit}
        if done.returncode:
            return {"failed": done.stderr.strip()}
        return json.loads(done.stdout)

    def head(self):
        """Device, driver, tracer and commit of the reports; a line for each device, as some panels are of a CPU."""
        devices, lines = {}, []
        for each in self.reports:
            devices.setdefault(each["description"], []).append(each)
        for reports in devices.values():
            lines += head_of(reports)
        return list(dict.fromkeys(lines))


def head_of(reports):
    """Of one device."""
    report = reports[0]
    tracers = sorted({run.get("tracer", "none") for each in reports for run in each["runs"]} - {"none"})
    lines = [f"{report['description']} ({report['device']}); {report['driver']}; tracer: "
             f"{', '.join(tracers) or 'none'}; keyray {report['version']}, commit {report['commit']}; median of "
             f"{report['repeat']}"]
    if any("software" in tracer or "no RT cores" in tracer for tracer in tracers):
        lines.append("software traversal: no RT cores")
    elif tracers and report["device"] == "cpu":
        lines.append("software traversal: a CPU has no RT cores")
    return lines


def specs_of(points, series):
    """The specs of all points, point by point."""
    return [each.spec_at(point) for point in points for each in series if each.spec]


def arguments_of(panel, options, specs):
    """One run tells phases, unless a table asks for another number; 0 is as many as are timed."""
    words = [panel.operation]
    phases = {"phases": "1"} if panel.operation in ("point", "range") else {}
    swept = options.get("sweep", "").partition("=")[0]
    for name, value in {**phases, **panel.options, **options}.items():
        if name == swept:
            continue
        words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    for spec in specs:
        words += ["--index", spec]
    return words


def swept_option(points, series):
    """The only option that the points set, or None. It is swept by one command, which has the same specs throughout."""
    names = {name for point in points for name in point.options}
    plain = all(len(point.options) == 1 and True not in point.options.values() and not point.spec for point in points)
    same = not any(callable(each.spec) for each in series)
    return names.pop() if len(points) > 1 and len(names) == 1 and plain and same else None


def commands_of(panel, series):
    """Points that share a command, its options and its specs: values of one option, or of the index's options."""
    option = swept_option(panel.points, series)
    if option:
        values = ",".join(point.options[option] for point in panel.points)
        yield panel.points, {"sweep": f"{option}={values}"}, specs_of(panel.points[:1], series)
        return
    for _, same in itertools.groupby(panel.points, lambda point: point.options):
        same = list(same)
        many = (SPECS_MOST - len(panel.beside)) // len(series) if same[0].spec else 1
        for first in range(0, len(same), many):
            points = same[first:first + many]
            yield points, points[0].options, specs_of(points, series)


def run_together(runner, panel, series, cells):
    """Series that fit every point and have the same options."""
    for n, (points, options, specs) in enumerate(commands_of(panel, series)):
        labels = [(each.label, point.label) for point in points for each in series]
        labels += [(each.label, BESIDE) for each in panel.beside if n == 0]
        specs = specs + [each.spec for each in panel.beside if n == 0]
        report = runner.run(arguments_of(panel, {**series[0].options, **options}, specs), len(labels) * panel.work, panel.device)
        for i, label in enumerate(labels):
            cells[label] = TOO_LONG if report is TOO_LONG else report["runs"][i]


def run_alone(runner, panel, each, cells):
    for point in panel.points:
        if each.fits(point):
            options = {**each.options, **point.options}
            report = runner.run(arguments_of(panel, options, specs_of([point], [each])), panel.work, panel.device)
            cells[each.label, point.label] = TOO_LONG if report is TOO_LONG else report["runs"][0]
            if report is TOO_LONG:
                return


def run_panel(runner, panel):
    cells = {}
    together = [each for each in panel.series if not each.alone and all(map(each.fits, panel.points))]
    for _, same in itertools.groupby(together, lambda each: each.options):
        run_together(runner, panel, list(same), cells)
    for each in panel.series:
        if each not in together:
            run_alone(runner, panel, each, cells)
    run_rivals(panel, cells)
    return cells


def run_rivals(panel, cells):
    """Rivals were measured with the first series of each point."""
    for rival, point in itertools.product(panel.rivals, panel.points):
        runs = [cells.get((each.label, point.label)) for each in panel.series]
        found = next((rival.run_of(run) for run in runs if run not in (None, TOO_LONG)), None)
        if found:
            cells[rival.label, point.label] = found


# ---- Tables

def shown(value):
    return "-" if value is None else f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def cell_text(column, run, limit):
    """`limit`: seconds that the cell had."""
    return "-" if run is None else f"> {limit:g} s" if run is TOO_LONG else shown(column.get(run))


def table_of(panel, cells, limit):
    """A list of rows of text, the head first: series down when there is one point, else points down."""
    def row(label, runs):
        return [label] + [cell_text(column, run, limit) for run in runs for column in panel.columns]

    if len(panel.points) == 1:
        head = ["spec"] + [column.title for column in panel.columns]
        return [head] + [row(each.label, [cells.get((each.label, panel.points[0].label))]) for each in panel.shown]
    single = len(panel.columns) == 1
    head = [panel.columns[0].title if single else ""]
    head += [each.label if single else f"{each.label}: {column.title}"
             for each in panel.lines for column in panel.columns]
    return [head] + [row(point.label, [cells.get((each.label, point.label)) for each in panel.lines])
                     for point in panel.points]


def aligned(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        yield "  ".join([row[0].ljust(widths[0])] + [text.rjust(width) for text, width in zip(row[1:], widths[1:])])


def print_table(rows, markdown):
    if markdown:
        rows = [rows[0], ["---"] * len(rows[0])] + rows[1:]
        print(*("| " + " | ".join(row) + " |" for row in rows), sep="\n")
    else:
        print(*aligned(rows), sep="\n")


def below(head, rows):
    """For Panel.after: a table of its own below the panel's."""
    yield ""
    for line in aligned([head] + [[row[0]] + [shown(value) for value in row[1:]] for row in rows]):
        yield f"    {line}"


def beside_below(panel, cells, limit):
    """What does not vary: the lines through a figure of bars."""
    rows = [["beside them"] + [column.title for column in panel.columns]]
    rows += [[each.label] + [cell_text(column, cells.get((each.label, BESIDE)), limit) for column in panel.columns]
             for each in panel.beside]
    return ["", *(f"    {line}" for line in aligned(rows))] if panel.beside else []


def phases_below(key):
    """For Panel.after: milliseconds by phase of a run of its own, for panels of one point."""
    def after(panel, cells):
        runs = {each.label: cells.get((each.label, panel.points[0].label)) for each in panel.series}
        phases = {label: run[key] for label, run in runs.items() if run not in (None, TOO_LONG)}
        names = list(dict.fromkeys(name for each in phases.values() for name in each))
        rows = [[label] + [each[name] * 1e3 if name in each else None for name in names] for label, each in phases.items()]
        return below([f"{key.replace('_', ' ')}, ms"] + names, rows) if names else []
    return after


def numbers_of(panel, cells):
    """What the panel's table shows, by point, series and column; None where nothing was measured."""
    def numbers(each, point):
        run = cells.get((each.label, point))
        return {column.title: None if run in (None, TOO_LONG) else column.get(run) for column in panel.columns}

    figures = {point.label: {each.label: numbers(each, point.label) for each in panel.lines} for point in panel.points}
    if panel.beside:
        figures["beside"] = {each.label: numbers(each, BESIDE) for each in panel.beside}
    return figures


def cells_of(panel, cells, reports):
    """A panel's cells as they are kept: where the run of each is. `reports`: by command."""
    def place(run):
        return next({"run": Reports.name("keyray " + command), "number": number} for command, report in reports.items()
                    if report is not TOO_LONG for number, each in enumerate(report["runs"]) if each is run)

    def found(run):
        beside = run.get("beside")
        return {"spec": run.get("spec"), **place(beside or run), **({"rival": True} if beside else {})}

    kept = [{"series": series, "point": "beside" if point is BESIDE else point, **({"too_long": True} if run is TOO_LONG else found(run))}
            for (series, point), run in cells.items()]
    return {"title": panel.title, "cells": kept}


def keep_figures(path, name, head, panels):
    """Adds an experiment to a file of figures, which pages are made of. Points and series that only earlier calls measured stay."""
    path = pathlib.Path(path)
    figures = json.loads(path.read_text()) if path.is_file() else {}
    every = figures.get(name, {}).get("panels", {})
    for title, points in panels.items():
        for point, series in points.items():
            every.setdefault(title, {}).setdefault(point, {}).update(series)
    figures[name] = {"head": head, "panels": every}
    path.write_text(json.dumps(figures, indent=1) + "\n")


def picked(panels, options):
    """The panels with the series and points that were asked for, without those that have none."""
    def among(words, things):
        return [each for each in things if not words or any(word in each.label for word in words)]

    for panel in map(copy.copy, panels):
        panel.series, panel.shown, panel.beside = (among(options.only, each) for each in (panel.series, panel.shown, panel.beside))
        panel.points, panel.lines = among(options.points, panel.points), [*panel.shown, *panel.rivals]
        if panel.series and panel.shown and panel.points and among(options.panels, [Point(panel.title, {})]):
            yield panel


def scale_of(experiment, options, gpu):
    if options.scans:
        return Scale(0, 0, gpu, options.rows or (10 ** 8 if gpu else 10 ** 5), options.quick)
    keys, probes = experiment.gpu if gpu else experiment.cpu
    return Scale(options.keys_log2 or keys, options.probes_log2 or probes, gpu)


def run_experiment(experiment, options, device, known, kept):
    scale = scale_of(experiment, options, device != "cpu")
    hashes = "### " if options.markdown else ""
    print(f"\n{hashes}{experiment.name}: {experiment.title} ({experiment.source})\n")
    if experiment.note:
        print(experiment.note, end="\n\n" if experiment.panels else "\n")
    if not experiment.panels:
        kept.keep_experiment(experiment, scale, [])
        return
    runner, figures, panels = Runner(options, device, known, kept), {}, []
    for panel in picked(experiment.panels(scale), options):
        first = not runner.reports
        runner.commands.clear()
        cells = run_panel(runner, panel)
        if first and runner.reports:
            print(*runner.head(), sep="\n", end="\n\n")
        print(panel.title, end="\n\n")
        print(*(f"    {command}" for command in runner.commands), sep="\n", end="\n\n")
        limit = options.limit * panel.work
        print_table(table_of(panel, cells, limit), options.markdown)
        below_it = beside_below(panel, cells, limit) + list(panel.after(panel, cells) if panel.after else [])
        print(*below_it, sep="\n", flush=True)
        figures[panel.title] = numbers_of(panel, cells)
        panels.append(cells_of(panel, cells, known))
    kept.keep_experiment(experiment, scale, panels)
    if options.figures:
        keep_figures(options.figures, experiment.name, runner.head() if runner.reports else [], figures)


# ---- The command line

def parse(description, epilog, arguments, scans):
    parser = argparse.ArgumentParser(description=description, epilog=epilog,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NAME", help="experiments; list: print their names; all: run them")
    parser.add_argument("--build", default=ROOT / "build/release", help="the folder of bin/keyray [build/release]")
    parser.add_argument("--device", help="a device name of keyray [cuda if there is one, else cpu]")
    if scans:
        parser.add_argument("--rows", type=int, metavar="N", help="of a table [10^8 on a GPU, 10^5 on a CPU]")
        parser.add_argument("--quick", action="store_true", help="few points of each table")
    else:
        parser.add_argument("--keys-log2", type=int, metavar="N", help="2^N keys instead of the experiment's own size")
        parser.add_argument("--probes-log2", type=int, metavar="N", help="2^N probes (or matches, where they are varied)")
    parser.add_argument("--panels", action="append", metavar="TEXT", help="only tables whose title contains it; may be repeated")
    parser.add_argument("--only", action="append", metavar="TEXT", help="only series whose name contains it; may be repeated")
    parser.add_argument("--points", action="append", metavar="TEXT", help="only points whose name contains it; may be repeated")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="timed runs [3]")
    parser.add_argument("--limit", type=float, default=8, metavar="SECONDS",
                        help="for one table cell, with all that it needs; longer ones are given up [8]")
    parser.add_argument("--reports", metavar="DIR", help="keep all reports in a folder; what is there is not run "
                        "again unless by another commit (bench/experiments/reports.py)")
    parser.add_argument("--seconds", type=float, metavar="N", help="begin no command after N seconds and end with status "
                        "3; the same --reports goes on later")
    parser.add_argument("--figures", metavar="FILE", help="add the numbers of the tables to a file of JSON")
    parser.add_argument("--markdown", action="store_true", help="tables as Markdown")
    parser.set_defaults(scans=scans)
    return parser.parse_args(arguments)


def facts_of(keyray):
    """What `keyray info` says."""
    done = subprocess.run([keyray, "info", "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def find_device(keyray):
    names = [device["name"] for device in facts_of(keyray)["devices"]]
    return "cuda" if any(name.startswith("cuda") for name in names) else "cpu"


def listing_of(experiments, without):
    width = max(len(each.name) for each in experiments)
    lines = [f"  {each.name:{width}}  {each.source}: {each.title}" + ("" if each.panels else f". {each.note}") for each in experiments]
    lines += [f"  {'-':{width}}  {each.source}: {each.why}" for each in without]
    return "\n".join(lines)


def main(description, experiments, arguments, scans=False, without=()):
    """`without`: what the paper has and no experiment repeats."""
    listing = listing_of(experiments, without)
    options = parse(description, "experiments:\n" + listing, arguments, scans)
    if options.names == ["list"]:
        print(listing)
        return 0
    by_name = {each.name: each for each in experiments}
    names = list(by_name) if options.names == ["all"] else options.names
    unknown = [name for name in names if name not in by_name]
    if unknown:
        print(f"no experiment {unknown[0]!r}; there are {', '.join(by_name)}", file=sys.stderr)
        return 2
    options.keyray = str(pathlib.Path(options.build) / "bin" / "keyray")
    if not pathlib.Path(options.keyray).is_file():
        print(f"{options.keyray} was not found; build it, or name its build with --build", file=sys.stderr)
        return 2
    device = options.device or find_device(options.keyray)
    failed, known = 0, {}
    kept = Reports(options.reports, pathlib.Path(sys.argv[0]).name, facts_of(options.keyray)["commit"], options.seconds)
    names.sort(key=lambda name: not by_name[name].decides)
    for n, name in enumerate(names):
        try:
            run_experiment(by_name[name], options, device, known, kept)
        except Problem as problem:
            print(f"{name}: {problem}", file=sys.stderr, flush=True)
            failed += 1
        except Cut:
            print(f"cut off after {options.seconds:g} s; left: {' '.join(names[n:])}", file=sys.stderr, flush=True)
            return 3
    return 1 if failed else 0
