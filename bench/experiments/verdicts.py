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
        return list(dict.fromkeys(line for each in self.all.values() for line in each["head"] if "keyray" in line))


# ---- Verdicts

def faster(paper, ours, is_few=False):
    """The paper says `paper` times as fast. `is_few`: ours is of fewer rows, and the factor grows with rows."""
    if ours >= 0.8 * paper:
        return "confirmed"
    if ours > 1.05:
        return "not measured: faster, but of a thousandth of the rows" if is_few else "refuted: faster, but by less"
    return "refuted: no difference" if ours > 0.95 else "refuted"


def near(pairs, factor=2):
    """Pairs of the paper's number and ours."""
    return "confirmed" if all(paper / factor <= ours <= paper * factor for paper, ours in pairs) else "refuted"


def near_or_in_kind(pairs, truth, kind):
    """Numbers of another size may say the same: `kind` is what they say."""
    verdict = near(pairs)
    return f"confirmed: {kind}; refuted: the number" if verdict != "confirmed" and truth else verdict


def holds(truth, otherwise="refuted"):
    return "confirmed" if truth else otherwise


def span(values):
    return shown(values[0]) if len(values) == 1 else f"{shown(min(values))} to {shown(max(values))}"


def mean_and_most(values):
    return f"on average {shown(statistics.mean(values))} times, at most {shown(max(values))}"
