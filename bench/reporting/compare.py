"""Two sets of reports, run by run: what became slower or faster by more than their spread."""
import collections
import pathlib
import statistics

import sources

LEAST = 0.03  # smaller changes are none

# `old`, `new`: repetitions, in seconds; `word`: "slower", "faster", or "" where the change is within the spread
Change = collections.namedtuple("Change", "what old new word")


class Refused(Exception):
    """The two cannot be compared; the text says why."""


def changed(old, new):
    """The rule: the ranges from minimum to maximum lie apart, and the medians differ by more than 3%."""
    ratio = statistics.median(new) / statistics.median(old)
    if min(new) > max(old) and ratio > 1 + LEAST:
        return "slower"
    return "faster" if max(new) < min(old) and ratio < 1 / (1 + LEAST) else ""


def repetitions(run):
    seconds = run["seconds"]
    return seconds.get("each") or [seconds["minimum"], seconds["median"], seconds["maximum"]]


def reports_of(path):
    """The bench reports of a file or a folder; all of them must be whole."""
    path = pathlib.Path(path)
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    found = []
    for file in files:
        try:
            data = sources.read_json(file)
            if not isinstance(data, dict) or "panels" in data and "report" not in data:
                continue  # an experiment, whose runs are files of their own
            report = data.get("report", data)
            if "too_long" in report:
                continue
            if "failed" in report:
                raise sources.Broken(f"failed: {report['failed']}")
            sources.check_report(report)
            found.append((file, report))
        except sources.Broken as error:
            raise Refused(f"{file}: {error}") from None
    if not found:
        raise Refused(f"{path}: has no report of keyray bench")
    return found


ABOUT = ("operation", "result", "calls", "prepared", "in_turn")


def runs_of(path):
    """{what a run measures: run}, and the machines."""
    runs, machines = {}, {}
    for file, report in reports_of(path):
        machines[report["description"], report["driver"]] = True
        for run in report["runs"]:
            about = {name: report.get(name) for name in ABOUT}
            key = repr((sorted(about.items(), key=str), sorted(run["workload"].items()), run["spec"], run.get("swept", "")))
            if key in runs:
                raise Refused(f"{file}: {run['spec']} {run.get('swept', '')} is there twice with the same workload; name one of the files")
            runs[key] = (report, run)
    return runs, list(machines)



def refuse_other_loads(old, new):
    """Each run must have one to compare with."""
    lacks = [(side, key, runs[key]) for side, runs, others in (("OLD", old, new), ("NEW", new, old)) for key in runs if key not in others]
    if not lacks:
        return
    side, _, (report, run) = lacks[0]
    others = new if side == "OLD" else old
    like = [other for _, other in others.values() if other["spec"] == run["spec"]] or [other for _, other in others.values()]
    differ = [f"{name} {run['workload'].get(name)} and {like[0]['workload'].get(name)}" for name in {**run["workload"], **like[0]["workload"]}
              if run["workload"].get(name) != like[0]["workload"].get(name)]
    why = f"the workloads differ: {', '.join(differ)}" if differ else f"only {side} has {report['operation']} of {run['spec']}"
    raise Refused(f"{len(lacks)} runs have nothing to be compared with; {why}")


def compare(old_path, new_path, other_machines=False):
    """The changes, in the order of NEW. Raises Refused."""
    (old, old_machines), (new, new_machines) = runs_of(old_path), runs_of(new_path)
    if set(old_machines) != set(new_machines) and not other_machines:
        names = [", ".join(" with ".join(each) for each in machines) for machines in (old_machines, new_machines)]
        raise Refused(f"the machines differ: {names[0]}; {names[1]}. --other-machines compares them all the same")
    refuse_other_loads(old, new)
    changes = []
    for key, (report, run) in new.items():
        before, after = repetitions(old[key][1]), repetitions(run)
        what = " ".join(word for word in (report["operation"], run["spec"], run.get("swept", "")) if word)
        changes.append(Change(what, before, after, changed(before, after)))
    return changes


def told(changes):
    """Lines of text, the changes beyond the spread marked."""
    yield f"{'old ms':>10} {'new ms':>10} {'new/old':>8}"
    for change in changes:
        old, new = statistics.median(change.old) * 1e3, statistics.median(change.new) * 1e3
        yield f"{old:10.4g} {new:10.4g} {new / old:8.3f}  {change.word:6}  {change.what}"
    count = collections.Counter(change.word for change in changes)
    yield f"{count['slower']} slower, {count['faster']} faster, {count['']} within the spread"
    if any(len(change.old) < 2 or len(change.new) < 2 for change in changes):
        yield "one repetition has no spread: use --repeat 3 or more"
