"""The figures of experiments, and the rules that judge a paper's claims by them."""
import datetime
import json
import pathlib
import statistics

from experiment import shown


class Missing(Exception):
    pass


class Figures:
    """The numbers of the files; what is not there raises Missing."""

    def __init__(self, paths):
        self.all = {}
        self.days = set()
        for path in map(pathlib.Path, paths):
            self.all.update(json.loads(path.read_text()))
            self.days.add(str(datetime.date.fromtimestamp(path.stat().st_mtime)))

    def panel(self, name, title):
        if title not in self.all.get(name, {}).get("panels", {}):
            raise Missing
        return self.all[name]["panels"][title]

    def get(self, name, title, point, series, column="ms"):
        value = self.panel(name, title).get(point, {}).get(series, {}).get(column)
        if value is None:
            raise Missing
        return value

    def column(self, name, title, series, column="ms", points=None):
        return [self.get(name, title, point, series, column) for point in points or self.panel(name, title)]

    def times_as_fast(self, name, title, fast, slow, points=None):
        """By point: how many times `slow` takes as long as `fast`."""
        return [b / a for a, b in zip(self.column(name, title, fast, points=points), self.column(name, title, slow, points=points))]

    def heads(self):
        """Each line that names a device and a commit, with the experiments that ran so."""
        found = {}
        for name, each in self.all.items():
            for line in each["head"]:
                if "keyray" in line:
                    found.setdefault(line, []).append(name)
        return found

    def without_rt_cores(self, name):
        return any("no RT cores" in line for line in self.all[name]["head"])


# ---- Verdicts

def faster(paper, ours):
    """The paper says `paper` times as fast."""
    if ours >= 0.8 * paper:
        return "confirmed"
    return "refuted: faster, but by less" if ours > 1.05 else "refuted: no difference" if ours > 0.95 else "refuted"


def near(pairs, factor=1.25):
    """Pairs of the paper's number and ours, on either side."""
    return "confirmed" if all(paper / factor <= ours <= paper * factor for paper, ours in pairs) else "refuted"


def near_or_in_kind(pairs, truth, kind):
    """Numbers of another size may say the same: `kind` is what they say."""
    verdict = near(pairs)
    return f"refuted: the number; {kind} here, too" if verdict != "confirmed" and truth else verdict


def unless(reasons, verdict):
    """What is missing leaves a claim open, and only says what the figures show."""
    return f"not measured: {', '.join(reasons)}; {'so' if verdict.startswith('confirmed') else 'not so'} here" if reasons else verdict


def holds(truth, otherwise="refuted"):
    return "confirmed" if truth else otherwise


def span(values):
    return shown(values[0]) if len(values) == 1 else f"{shown(min(values))} to {shown(max(values))}"


def mean_and_most(values):
    return f"on average {shown(statistics.mean(values))} times, at most {shown(max(values))}"
