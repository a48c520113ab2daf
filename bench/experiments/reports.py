"""Reports of `keyray bench`, kept in a folder, so that a program can read them and a run that was cut can go on.

    runs/HASH.json  one command: {"command", "began", "call", "commit", "report"}; "call" is when its call of the script
                    began; "report" is what `keyray bench --format json` wrote (machine, driver, sizes, every repetition,
                    phases, counters), {"too_long": SECONDS}, or {"failed": MESSAGE}
    WORK-NAME.json  one experiment of a script: {"work", "experiment", "source", "title", "note", "commit", "scale",
                    "panels"}; "scale" has the fields of Scale; a panel is {"title", "cells"}; a cell is {"series", "point",
                    "spec", "run", "number"}: the run HASH, and the place of the spec in its report

A command is run again only by another commit, with more time where it took too long, or where it failed.
"""
import datetime
import hashlib
import json
import pathlib
import time


class Cut(Exception):
    """The time for all experiments is over."""


class Reports:
    """`folder`: None to keep nothing; `work`: the script's name; `commit`: of the command that runs; `seconds`: after which
    no command begins."""

    def __init__(self, folder, work, commit, seconds):
        self.folder, self.work, self.commit = pathlib.Path(folder) if folder else None, work, commit
        self.ends = time.monotonic() + seconds if seconds else None
        self.call = self.now()
        if self.folder:
            (self.folder / "runs").mkdir(parents=True, exist_ok=True)

    @staticmethod
    def name(command):
        return hashlib.sha256(command.encode()).hexdigest()[:16]

    def find(self, command, limit):
        """The kept report of a command; None: it is to be run."""
        path = self.folder / "runs" / f"{self.name(command)}.json" if self.folder else None
        if not path or not path.is_file():
            return None
        kept = json.loads(path.read_text())
        report = kept["report"]
        if kept["commit"] != self.commit or report.get("too_long", limit) < limit or "failed" in report:
            return None
        return report

    @staticmethod
    def now():
        return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")

    def begin(self):
        """Before a command runs."""
        if self.ends and time.monotonic() > self.ends:
            raise Cut
        return self.now()

    def keep(self, command, began, report):
        if self.folder:
            self.write(f"runs/{self.name(command)}.json",
                       {"command": command, "began": began, "call": self.call, "commit": self.commit, "report": report})

    def keep_experiment(self, experiment, scale, panels):
        if self.folder:
            self.write(f"{self.work}-{experiment.name}.json",
                       {"work": self.work, "experiment": experiment.name, "source": experiment.source, "title": experiment.title,
                        "note": experiment.note, "commit": self.commit, "scale": scale._asdict(), "panels": panels})

    def write(self, name, what):
        """Whole or not at all, since a run may be cut at any time."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(what, indent=1) + "\n")
        new.replace(path)
