"""Reads what was measured, in three forms, and makes results of it, which pages and comparisons use:

    a report of `keyray bench --json FILE`
    a folder of `--reports DIR` of bench/experiments, with its experiments and their runs
    a result, as `bench/report --keep` writes it: one experiment, small, with every repetition of what it shows

A result is {"form", "work", "experiment", "source", "title", "note", "runs", "panels", "notes"}. A run is {"command", "began",
"call", "commit", "version", "device", "description", "driver", "tracers", "repeat"}. A panel is {"title", "columns", "series",
"points", "specs", "cells", "below"}, and "rivals" where there are any: {series: name and version}; "specs" has by series its
spec, or {point: spec} where points have their own, as the command of the run names it (in full where the script has changed since); a cell {"series", "point", "run",
"values", "report"}: by column all repetitions, or the one number that a column has, and of its report what KEPT names (bytes, counters,
seconds of phases; files kept at 566c17e5 or before may lack it); or {"series", "point", "too_long"}. Of a report of one's own there are neither specs nor "report". Nothing is left out without a Trouble that says so.
"""
import collections
import json
import pathlib

import papers

FORM = 1
KEPT = ("footprint", "peak", "counters", "work", "build_phases", "lookup_phases", "update_phases", "scan_phases")

# `bad`: not shown, since it is broken. Others are shown, with these words beside them.
Trouble = collections.namedtuple("Trouble", "where what bad", defaults=[True])


class Broken(Exception):
    """What a file lacks."""


def read_json(path):
    try:
        text = pathlib.Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Broken(f"cannot be read: {error}") from None
    if not text.strip():
        raise Broken("is empty: what wrote it failed, or was killed")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if text.rstrip()[-1] not in "}]":
            raise Broken(f"is truncated at line {error.lineno}: what wrote it was killed; run it again") from None
        raise Broken(f"is no JSON: {error}") from None


# ---- Reports of keyray bench

REPORT = ("operation", "device", "description", "driver", "version", "commit", "repeat", "runs")
RUN = ("spec", "workload", "seconds", "checked")
WITHOUT_INDEX = ("loads",)  # operations whose runs have no spec: their own name stands for it


def check_report(report):
    """Raises Broken unless it is whole, and its answers were checked."""
    if not isinstance(report, dict) or "runs" not in report:
        raise Broken("is no report of keyray bench: it has no runs")
    lacks = [name for name in REPORT if name not in report]
    if lacks:
        raise Broken(f"is a report of an older keyray bench: it has no {', '.join(lacks)}; run its command again")
    if not report["runs"]:
        raise Broken("has no run")
    for run in report["runs"]:
        if report["operation"] in WITHOUT_INDEX:
            run.setdefault("spec", report["operation"])
        lacks = [name for name in RUN if name not in run]
        if lacks == ["checked"]:
            raise Broken(f"has answers of {run['spec']} that were not checked; they may be wrong")
        if lacks:
            raise Broken(f"has a run without {', '.join(lacks)}; run its command again")
        if "median" not in run["seconds"] or run["seconds"]["median"] <= 0:
            raise Broken(f"has no time of {run['spec']}")


def without_repetitions(run):
    return "each" not in run["seconds"]


def head_of(report, command="", began="", call=""):
    tracers = sorted({run.get("tracer", "none") for run in report["runs"]} - {"none"})
    return {"command": command, "began": began, "call": call, "tracers": tracers,
            **{name: report[name] for name in ("commit", "version", "device", "description", "driver", "repeat")}}


# ---- Numbers of columns, repetition by repetition

def with_time(run, seconds):
    """The run as if this repetition were all."""
    factor = run["seconds"]["median"] / seconds
    rates = {name: run[name] * factor for name in ("per_second", "per_second_per_byte", "bytes_per_second") if name in run}
    return {**run, **rates, "seconds": {"minimum": seconds, "median": seconds, "maximum": seconds}}


def values_of(get, run, times=None):
    """All repetitions of a column that follows the time, or the one number of another; None where the run has none. `times`: as
    Column has it."""
    value = get(run)
    if value is None:
        return None
    if times:
        seconds = times(run)
        return [float(f"{value * one / seconds['median']:.6g}") for one in seconds.get("each") or [seconds[name] for name in ("minimum", "median", "maximum")]]
    seconds = run["seconds"]
    each = [one for one in seconds.get("each") or [seconds["minimum"], seconds["median"], seconds["maximum"]] if one > 0]
    values = [get(with_time(run, one)) for one in each]
    if max(values) == min(values) or abs(get(with_time(run, seconds["median"])) - value) > 1e-6 * abs(value):
        values = [value]
    return [float(f"{one:.6g}") for one in values]


# ---- A folder of an experiment's script

class Runs:
    """The runs of a folder, each read once."""

    def __init__(self, folder):
        self.folder, self.read, self.used = folder, {}, set()

    def get(self, name):
        self.used.add(name)
        if name not in self.read:
            try:
                self.read[name] = self.load(name)
            except Broken as error:
                self.read[name] = error
        if isinstance(self.read[name], Broken):
            raise self.read[name]
        return self.read[name]

    def load(self, name):
        path = self.folder / "runs" / f"{name}.json"
        if not path.is_file():
            raise Broken(f"run {name} is not there")
        try:
            kept = read_json(path)
        except Broken as error:
            raise Broken(f"run {name} {error}") from None
        if not isinstance(kept, dict) or not {"command", "commit", "report"} <= kept.keys():
            raise Broken(f"run {name} is no run that an experiment kept")
        if "failed" in kept["report"]:
            raise Broken(f"{kept['command']}: {kept['report']['failed']}")
        if "too_long" not in kept["report"]:
            try:
                check_report(kept["report"])
            except Broken as error:
                raise Broken(f"run {name} {error}") from None
        return kept


def scale_of(kept):
    """The scale that an experiment ran at. Those that were kept without one ran on a GPU, at their own sizes."""
    script = papers.script_of(kept["work"])
    experiment = next((each for each in script.EXPERIMENTS if each.name == kept["experiment"]), None)
    if experiment is None:
        raise Broken(f"bench/experiments/{kept['work']} has no experiment {kept['experiment']!r}")
    scale = sys_experiment().Scale
    if "scale" in kept:
        return experiment, scale(**kept["scale"])
    if kept["work"] == "rtscan":
        return experiment, scale(0, 0, True, 10 ** 8, False)
    return experiment, scale(*experiment.gpu, True)


def sys_experiment():
    papers.script_of("rtindex")
    import experiment  # pylint: disable=import-outside-toplevel
    return experiment


def panel_of(kept, panel, runs, heads, notes):
    """A panel of a result. `panel`: the script's, which has the columns; `heads`: of the result, which grow."""
    cells, found, rivals, specs = [], {}, {}, []
    for cell in kept["cells"]:
        made = {"series": cell["series"], "point": cell["point"]}
        try:
            if cell.get("too_long"):
                made["too_long"] = True
            else:
                file = runs.get(cell["run"])
                if cell["number"] >= len(file["report"]["runs"]):
                    raise Broken(f"run {cell['run']} has only {len(file['report']['runs'])} specs: it ran again with others")
                run = file["report"]["runs"][cell["number"]]
                if cell.get("rival"):
                    rival = next((each for each in panel.rivals if each.label == cell["series"]), None)
                    run = rival and rival.run_of(run) or {"spec": None}
                    rivals[cell["series"]] = run["spec"]
                if (cell.get("spec") or file["report"]["operation"]) != run["spec"]:
                    raise Broken(f"run {cell['run']} has another index there: it ran again")
                made["run"] = place_of(head_of(file["report"], file["command"], file.get("began", ""), file.get("call", "")), heads)
                made["values"] = {column.title: values for column in panel.columns
                                  if (values := values_of(column.get, run, column.times)) is not None}
                made["report"] = {name: run[name] for name in KEPT if run.get(name)}
                point = sys_experiment().BESIDE if cell["point"] == "beside" and panel.beside else cell["point"]
                found[cell["series"], point] = run
                if cell.get("spec") and not cell.get("rival"):
                    specs.append((cell["series"], cell["point"], spec_as_asked(panel, cell, file["command"], cell["spec"])))
                if without_repetitions(run):
                    notes.add("no single repetitions: of each time only minimum, median and maximum are there")
        except Broken as error:
            made["lost"] = str(error)
            notes.add(f"not shown: {cell['series']} {cell['point']}".rstrip() + f": {error}")
        cells.append(made)
    below = below_of(panel, found, notes)
    return {"title": panel.title, "columns": [column.title for column in panel.columns], "specs": specs_of(specs), "cells": cells,
            "below": below, **({"rivals": rivals} if rivals else {}),
            "series": [each.label for each in [*panel.lines, *panel.beside]], "points": [point.label for point in panel.points]}


def spec_as_asked(panel, cell, command, full):
    """The spec of a cell as the script and its command name it. If the script has changed since: `full`, that of the report."""
    of = next((each for each in [*panel.series, *panel.beside] if each.label == cell["series"]), None)
    point = next((each for each in panel.points if each.label == cell["point"]), None)
    asked = of and of.spec and (of.spec_at(point) if point else of.spec)
    return asked if f"--index {asked} " in command + " " else full


def specs_of(found):
    """By series: its spec, or by point where they differ. `found`: [(series, point, spec)]."""
    made = {}
    for series, point, spec in found:
        made.setdefault(series, {})[point] = spec
    return {series: at if len(set(at.values())) > 1 else next(iter(at.values())) for series, at in made.items()}


def lost(result):
    """How many cells of a result have no run."""
    return sum("lost" in cell for panel in result["panels"] for cell in panel["cells"])


def below_of(panel, found, notes):
    """The lines that the script prints below a table."""
    try:
        return [line for line in panel.after(panel, found) if line] if panel.after else []
    except (KeyError, ValueError, ZeroDivisionError, TypeError, AttributeError) as error:
        notes.add(f"the lines below the table {panel.title!r} could not be computed: {type(error).__name__}")
        return []


def place_of(head, heads):
    if head not in heads:
        heads.append(head)
    return heads.index(head)


def of_kept(kept, runs):
    """A result of an experiment that a script kept."""
    for name in ("work", "experiment", "source", "title", "note", "commit", "panels"):
        if name not in kept:
            raise Broken(f"is no experiment: it has no {name}")
    if kept["work"] not in papers.NAMES:
        raise Broken(f"is of work {kept['work']!r}, which the report does not have")
    experiment, scale = scale_of(kept)
    panels = {panel.title: panel for panel in experiment.panels(scale)} if experiment.panels else {}
    heads, notes = [], Ordered()
    made = []
    for each in kept["panels"]:
        if each["title"] not in panels:
            notes.add(f"not shown: the script has no table {each['title']!r} any more; run the experiment again")
            continue
        made.append(panel_of(each, panels[each["title"]], runs, heads, notes))
    for head in heads:
        if head["commit"] != kept["commit"]:
            notes.add(f"commit {head['commit']} ran a command again after the experiment was whole (commit {kept['commit']})")
    return {"form": FORM, **{name: kept[name] for name in ("work", "experiment", "source", "title", "note")}, "runs": heads,
            "panels": made, "notes": list(notes)}


class Ordered(dict):
    """A set that keeps its order."""

    def add(self, what):
        self[what] = True


def leftovers(folder, runs):
    """Runs of a folder that no experiment uses, and files that were cut off."""
    for path in sorted(folder.rglob("*.new")):
        yield Trouble(str(path), "is half written: its program was killed; the run goes on with the same command")
    for path in sorted((folder / "runs").glob("*.json")):
        if path.stem in runs.used:
            continue
        try:
            kept = runs.load(path.stem)
            if "too_long" in kept["report"]:
                continue  # its table says so
            yield Trouble(str(path), f"belongs to no whole experiment: {kept['command']}. Its script was cut off or ran again with "
                          "other options; the same command goes on", False)
        except Broken as error:
            yield Trouble(str(path), str(error))


def from_folder(folder, troubles):
    """The results of a folder and of those in it. Experiments of older scripts that have runs there are read, too."""
    results, runs = [], Runs(folder)
    for path in sorted(folder.glob("*.json")):
        results += from_file(path, troubles, runs)
    troubles += leftovers(folder, runs) if (folder / "runs").is_dir() else []
    for inner in sorted(each for each in folder.iterdir() if each.is_dir() and each.name not in ("runs", "counters")):  # tables of a profiler have no page
        results += from_folder(inner, troubles)
    return results


# ---- A report of one's own

def title_of(report):
    """The workload, of what all runs have in common."""
    loads = [run["workload"] for run in report["runs"]]
    swept = {run.get("swept", "").partition("=")[0].replace("-", "_") for run in report["runs"]}
    common = [f"{name.replace('_', ' ')} {value}" for name, value in loads[0].items()
              if all(load.get(name) == value for load in loads) and value not in (False, 0, "") and name not in swept]
    result = f", {report['result']}" if report.get("result") else ""
    return f"{report['operation']}{result}: {', '.join(common)}"


def own_columns(report):
    """Of any report: title and function."""
    columns = [("ms", lambda run: run["seconds"]["median"] * 1e3)]
    if all("per_second" in run for run in report["runs"]):
        columns.append(("M/s", lambda run: run["per_second"] / 1e6))
    if all(run.get("footprint") and run["workload"].get("keys") for run in report["runs"]):
        columns.append(("bytes per key", lambda run: run["footprint"] / run["workload"]["keys"]))
    return columns


def names_of(specs):
    """Short names of specs: the kind, and the options that tell those of one kind apart."""
    parsed = {spec: (spec.partition(":")[0], spec.partition(":")[2].split(",")) for spec in specs}
    names = {}
    for spec, (kind, options) in parsed.items():
        like = [set(others) for other, others in parsed.values() if other == kind]
        own = [option for option in options if not all(option in others for others in like)]
        names[spec] = kind + (":" + ",".join(own) if own else "")
    return names if len(set(names.values())) == len(names) else {spec: spec for spec in specs}


def of_report(report, path):
    check_report(report)
    names = names_of(dict.fromkeys(run["spec"] for run in report["runs"]))
    columns, notes = own_columns(report), Ordered()
    words = [run.get("swept", "").replace("=", " ") for run in report["runs"]]
    cells = []
    for run, point in zip(report["runs"], words):
        cells.append({"series": names[run["spec"]], "point": point, "run": 0,
                      "values": {title: values for title, get in columns if (values := values_of(get, run)) is not None}})
        if without_repetitions(run):
            notes.add("no single repetitions: of each time only minimum, median and maximum are there")
    seen = [(cell["series"], cell["point"]) for cell in cells]
    if len(set(seen)) < len(seen):
        raise Broken("has the same index twice for the same workload")
    panel = {"title": title_of(report), "columns": [title for title, _ in columns], "cells": cells, "below": [],
             "series": list(names.values()), "points": list(dict.fromkeys(words))}
    return {"form": FORM, "work": "", "experiment": pathlib.Path(path).stem, "source": str(path), "title": report["operation"], "note": "",
            "runs": [head_of(report)], "panels": [panel], "notes": list(notes)}


# ---- Any file

RESULT = ("work", "experiment", "source", "title", "note", "runs", "panels", "notes")


def of_result(data):
    if data["form"] != FORM:
        raise Broken(f"is a result of form {data['form']}, this program reads form {FORM}")
    lacks = [name for name in RESULT if name not in data]
    if lacks:
        raise Broken(f"is a result without {', '.join(lacks)}")
    for panel in data["panels"]:
        for cell in panel["cells"]:
            if "values" in cell and not 0 <= cell["run"] < len(data["runs"]):
                raise Broken(f"has a figure of a run that it does not name: {cell['series']} {cell['point']}")
    return data


def from_file(path, troubles, runs=None):
    """A list of at most one result. What is broken goes to the troubles."""
    path = pathlib.Path(path)
    try:
        data = read_json(path)
        if not isinstance(data, dict):
            raise Broken("is no report, experiment or result")
        if "form" in data:
            return [of_result(data)]
        if "experiment" in data:
            return [of_kept(data, runs or Runs(path.parent))]
        return [of_report(data, path)]
    except Broken as error:
        troubles.append(Trouble(str(path), str(error)))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        troubles.append(Trouble(str(path), f"is not whole ({type(error).__name__}: {error})"))
    return []


def collect(paths):
    """(results, troubles) of files and folders, each result once."""
    results, troubles = [], []
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            found = from_folder(path, troubles)
            if not found:
                troubles.append(Trouble(str(path), "is a folder without a report, an experiment or a result"))
            results += found
        else:
            results += from_file(path, troubles)
    return once(results, troubles), troubles


def once(results, troubles):
    """Without those that are there twice. What is the same but measured again is shown, each, and said."""
    kept = []
    for result in results:
        twins = [each for each in kept if all(each[name] == result[name] for name in ("work", "runs", "panels"))
                 and (not result["work"] or each["experiment"] == result["experiment"])]
        if twins and result["panels"]:
            troubles.append(Trouble(f"{result['source']} {result['title']}", f"is there twice ({twins[0]['source']}); it is shown once", False))
            continue
        again = [each for each in kept if result["work"] and (each["work"], each["experiment"]) == (result["work"], result["experiment"])]
        if again and result["panels"]:
            result["notes"] = [*result["notes"], f"measured more than once: this is one of the {len(again) + 1} results of this experiment"]
        kept.append(result)
    return kept


# ---- What mixes

def differences(heads):
    """What runs that stand in one plot do not have in common, in words."""
    for name, words in (("description", "machines"), ("driver", "drivers"), ("commit", "commits")):
        there = list(dict.fromkeys(head[name] for head in heads))
        if len(there) > 1:
            yield f"mixes {words}: {', '.join(there)}"


def calls_of(heads):
    """How often an experiment was cut off and went on."""
    return len({head["call"] for head in heads if head.get("call")})


def of_column(panel, column):
    """{series: {point: repetitions}} of what has a figure."""
    found = {}
    for cell in panel["cells"]:
        values = cell.get("values", {}).get(column)
        if values and cell["series"] in panel["series"]:
            found.setdefault(cell["series"], {})[cell["point"]] = values
    return {series: found[series] for series in panel["series"] if series in found}


def heads_of(result, panel):
    numbers = dict.fromkeys(cell["run"] for cell in panel["cells"] if "values" in cell)
    return [result["runs"][number] for number in numbers]
