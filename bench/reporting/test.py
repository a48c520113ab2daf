#!/usr/bin/env python3
"""Doctored files: what is broken is said and not shown, what is mixed or repeated is said beside its plot. And the lists of
figures, comparisons, and pages where matplotlib is there."""
import contextlib
import copy
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True  # nothing of ours in the source tree
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import choices  # noqa: E402
import choosing_docs  # noqa: E402
import claims_of  # noqa: E402
import compare  # noqa: E402
import papers  # noqa: E402
import sources  # noqa: E402

RESULTS = papers.ROOT / "bench" / "results"
LOADER = importlib.machinery.SourceFileLoader("report", str(papers.ROOT / "bench" / "report"))
REPORT = importlib.util.module_from_spec(importlib.util.spec_from_loader("report", LOADER))
LOADER.exec_module(REPORT)


def run_of(spec, each, **workload):
    each = list(each)
    return {"spec": spec, "tracer": "none", "swept": "", "workload": {"type": "u32", "keys": 1024, "multiplicity": 1, "probes": 2048, **workload},
            "checked": "all", "seconds": {"minimum": min(each), "median": sorted(each)[len(each) // 2], "maximum": max(each), "each": each},
            "per_second": 2048 / sorted(each)[len(each) // 2], "per_second_per_byte": 1.0, "footprint": 8192, "peak": 9000, "components": [],
            "build_phases": {}, "lookup_phases": {}, "work": {}}


def report_of(*runs, **changes):
    return {"operation": "point", "result": "sum", "device": "cuda:0", "description": "NVIDIA H200", "driver": "driver 1", "version": "0.1.0",
            "commit": "aaaa", "repeat": 3, "calls": 1, "prepared": False, "in_turn": False, "runs": list(runs), **changes}


ARRAY, HASH = run_of("array", [0.010, 0.0102, 0.0101]), run_of("hash", [0.005, 0.0051, 0.0052])


class Case(unittest.TestCase):
    def setUp(self):
        self.there = tempfile.TemporaryDirectory()
        self.addCleanup(self.there.cleanup)
        self.folder = pathlib.Path(self.there.name)

    def write(self, name, what):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(what if isinstance(what, str) else json.dumps(what))
        return path

    def refused(self, path, words):
        results, troubles = sources.collect([path])
        self.assertEqual(results, [])
        self.assertTrue(any(each.bad and words in each.what for each in troubles), troubles)


class Reports(Case):
    def test_a_whole_one(self):
        results, troubles = sources.collect([self.write("a.json", report_of(ARRAY, HASH))])
        self.assertEqual(troubles, [])
        self.assertEqual(results[0]["panels"][0]["cells"][0]["values"]["ms"], [10.0, 10.2, 10.1])
        self.assertEqual(results[0]["panels"][0]["cells"][1]["values"]["bytes per key"], [8.0])

    def test_names(self):
        specs = ["array:a=1,b=2", "array:a=1,b=3", "hash:c=1"]
        self.assertEqual(list(sources.names_of(specs).values()), ["array:b=2", "array:b=3", "hash"])

    def test_truncated(self):
        self.refused(self.write("a.json", json.dumps(report_of(ARRAY))[:200]), "truncated")

    def test_empty(self):
        self.refused(self.write("a.json", ""), "empty")

    def test_no_report(self):
        self.refused(self.write("a.json", {"some": "thing"}), "no report")
        self.refused(self.write("b.json", [1, 2]), "no report")

    def test_loads_without_an_index(self):
        loads = run_of("", [0.001, 0.0011, 0.0012], group=4)
        del loads["spec"]
        results, troubles = sources.collect([self.write("a.json", report_of(loads, operation="loads"))])
        self.assertEqual(troubles, [])
        self.assertEqual(results[0]["panels"][0]["cells"][0]["series"], "loads")
        self.refused(self.write("b.json", report_of(loads)), "without spec")

    def test_older(self):
        old = report_of(ARRAY)
        del old["commit"]
        self.refused(self.write("a.json", old), "older keyray bench")

    def test_older_without_repetitions(self):
        old = copy.deepcopy(report_of(ARRAY))
        del old["runs"][0]["seconds"]["each"]
        results, _ = sources.collect([self.write("a.json", old)])
        self.assertIn("only minimum, median and maximum", results[0]["notes"][0])

    def test_answers_that_were_not_checked(self):
        unchecked = copy.deepcopy(report_of(ARRAY))
        del unchecked["runs"][0]["checked"]
        self.refused(self.write("a.json", unchecked), "not checked")

    def test_twice(self):
        self.refused(self.write("a.json", report_of(ARRAY, ARRAY)), "twice")
        paths = [self.write("b.json", report_of(HASH)), self.write("c.json", report_of(HASH))]
        results, troubles = sources.collect(paths)
        self.assertEqual(len(results), 1)
        self.assertIn("is there twice", troubles[0].what)


class Folders(Case):
    """Experiment fig12 of rtindex, one run for each of its two tables."""

    def keep(self, commits=("aaaa", "aaaa"), machines=("NVIDIA H200", "NVIDIA H200"), change=lambda number, kept: None):
        script = papers.script_of("rtindex")
        experiment = next(each for each in script.EXPERIMENTS if each.name == "fig12")
        scale = sources.sys_experiment().Scale(10, 10, True)
        panels = []
        for number, panel in enumerate(experiment.panels(scale)):
            kept = {"command": f"keyray bench {number}", "began": "2026-01-01", "call": f"call {number}", "commit": commits[number],
                    "report": report_of(run_of("rx", [0.01, 0.02, 0.03]), commit=commits[number], description=machines[number])}
            change(number, kept)
            self.write(f"d/runs/r{number}.json", kept)
            panels.append({"title": panel.title, "cells": [{"series": "rx", "point": "unsorted", "spec": "rx", "run": f"r{number}", "number": 0}]})
        panels[0]["cells"].append({"series": "rx", "point": "sorted", "spec": "rx", "run": "r1", "number": 0})
        self.write("d/rtindex-fig12.json", {"work": "rtindex", "experiment": "fig12", "source": "Figure 12", "title": "t", "note": "",
                                            "commit": "aaaa", "scale": scale._asdict(), "panels": panels})
        return self.folder / "d"

    def test_a_whole_one(self):
        results, troubles = sources.collect([self.keep()])
        self.assertEqual(troubles, [])
        self.assertEqual(results[0]["notes"], [])
        self.assertEqual(sources.calls_of(results[0]["runs"]), 2)  # it was cut off, and went on
        self.assertEqual(results[0]["panels"][0]["specs"], {"rx": "rx"})  # as it ran: the script has another spec now
        self.assertEqual(results[0]["panels"][0]["cells"][0]["report"], {name: run_of("rx", [0.01])[name] for name in ("footprint", "peak")})

    def test_specs_as_commands_name_them(self):
        panel = next(each for each in papers.script_of("lightweight").EXPERIMENTS if each.name == "fig20").panels(
            sources.sys_experiment().Scale(20, 10, True))[0]
        cell = {"series": "AO+PB+KS, best", "point": "count 2^20"}
        self.assertEqual(sources.spec_as_asked(panel, cell, "keyray bench --index pivot:k=5,layout=aos,probes=as-is", "full"), "pivot:k=5,layout=aos,probes=as-is")
        self.assertEqual(sources.spec_as_asked(panel, cell, "keyray bench --index pivot:k=5,layout=aos", "full"), "full")
        self.assertEqual(sources.specs_of([("a", "1", "x"), ("a", "2", "y"), ("b", "1", "x"), ("b", "2", "x")]), {"a": {"1": "x", "2": "y"}, "b": "x"})

    def test_mixed_commits_and_machines(self):
        results, _ = sources.collect([self.keep(("aaaa", "bbbb"), ("NVIDIA H200", "NVIDIA H100"))])
        said = list(sources.differences(sources.heads_of(results[0], results[0]["panels"][0])))
        self.assertEqual(said, ["mixes machines: NVIDIA H200, NVIDIA H100", "mixes commits: aaaa, bbbb"])
        self.assertTrue(any("commit bbbb ran a command again" in note for note in results[0]["notes"]))

    def test_a_run_that_is_gone_or_cut(self):
        folder = self.keep()
        (folder / "runs" / "r1.json").unlink()
        results, _ = sources.collect([folder])
        self.assertTrue(any("run r1 is not there" in note for note in results[0]["notes"]))
        self.write("d/runs/r1.json", '{"command": "keyray')
        results, _ = sources.collect([folder])
        self.assertTrue(any("truncated" in note for note in results[0]["notes"]))
        self.assertNotIn("values", results[0]["panels"][1]["cells"][0])

    def test_nothing_is_kept_without_its_runs(self):
        folder, to = self.keep(), self.folder / "kept"
        (folder / "counters").mkdir()
        (folder / "counters" / "tab7.json").write_text('{"table": "tab7"}')
        self.assertEqual(REPORT.keep(to, [folder]), 0)
        self.assertEqual((to / "counters" / "tab7.json").read_text(), '{"table": "tab7"}')
        self.assertEqual(sorted(path.name for path in to.iterdir()), ["counters", "rtindex-fig12.json"])
        before = (to / "rtindex-fig12.json").read_text()
        (folder / "runs" / "r1.json").unlink()
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(REPORT.keep(to, [folder]), 1)
        self.assertIn("rtindex fig12: 2 cells have lost their runs", said.getvalue())
        self.assertEqual((to / "rtindex-fig12.json").read_text(), before)

    def test_wrong_answers(self):
        def change(number, kept):
            if number:
                kept["report"] = {"failed": "wrong answer to probe 7"}
        results, _ = sources.collect([self.keep(change=change)])
        self.assertTrue(any("wrong answer to probe 7" in note for note in results[0]["notes"]))
        self.assertNotIn("values", results[0]["panels"][1]["cells"][0])

    def test_killed(self):
        folder = self.keep()
        self.write("d/runs/x.json", {"command": "keyray bench x", "commit": "aaaa", "report": report_of(ARRAY)})
        self.write("d/runs/y.new", "{")
        self.write("d/runs/z.json", {"command": "keyray bench z", "commit": "aaaa", "report": {"failed": "wrong answer"}})
        _, troubles = sources.collect([folder])
        said = "\n".join(each.what for each in troubles)
        for words in ("belongs to no whole experiment: keyray bench x", "half written", "wrong answer"):
            self.assertIn(words, said)

    def test_another_index(self):
        def change(number, kept):
            kept["report"]["runs"][0]["spec"] = "rx" if number else "hash"
        results, _ = sources.collect([self.keep(change=change)])
        self.assertTrue(any("another index" in note for note in results[0]["notes"]))

    def test_a_table_of_another_script(self):
        folder = self.keep()
        kept = json.loads((folder / "rtindex-fig12.json").read_text())
        kept["panels"][0]["title"] = "of long ago"
        self.write("d/rtindex-fig12.json", kept)
        results, _ = sources.collect([folder])
        self.assertTrue(any("no table 'of long ago'" in note for note in results[0]["notes"]))


class Choosing(Case):
    """Experiments of bench/experiments/choosing, of made-up reports."""

    def keep(self, name, seconds):
        """All cells of an experiment; `seconds(series, point)` is how long each takes."""
        experiment = next(each for each in papers.script_of("choosing").EXPERIMENTS if each.name == name)
        scale = sources.sys_experiment().Scale(10, 10, False)
        panels = []
        for number, panel in enumerate(experiment.panels(scale)):
            cells, runs = [], []
            for point in panel.points:
                for each in panel.series:
                    run = run_of(each.label, [seconds(each.label, point.label)] * 2, keys=1024)
                    run["baselines"] = [{"name": "std::lower_bound, one thread", "version": "libstdc++ 1", "lookups": 1024, "footprint": 4096,
                                         "per_second": 819.2, "seconds": {"minimum": 1.0, "median": 1.25, "maximum": 1.5, "each": [1.0, 1.5]}}]
                    cells.append({"series": each.label, "point": point.label, "spec": each.label, "run": f"r{number}", "number": len(runs)})
                    runs.append(run)
                cells += [{"series": rival.label, "point": point.label, "spec": "std::lower_bound, one thread, libstdc++ 1", "run": f"r{number}",
                           "number": len(runs) - 1, "rival": True} for rival in panel.rivals[:1]]
            self.write(f"c/runs/r{number}.json", {"command": f"keyray bench {number}", "began": "2026-01-01", "call": "", "commit": "aaaa",
                                                  "report": report_of(*runs, device="cpu", description="CPU")})
            panels.append({"title": panel.title, "cells": cells})
        self.write(f"c/choosing-{name}.json", {"work": "choosing", "experiment": name, "source": "choosing", "title": "t", "note": "", "commit": "aaaa",
                                               "scale": scale._asdict(), "panels": panels})
        results, troubles = sources.collect([self.folder / "c"])
        self.assertEqual(troubles, [])
        return results

    def test_what_is_best(self):
        """hash is fastest at 2^12 keys; elsewhere eytzinger is, and array within 5%."""
        def seconds(series, point):
            return {"hash": 0.5 if point == "count 2^12" else 4.0, "eytzinger": 1.0, "array": 1.04}.get(series, 2.0)
        results = self.keep("points", seconds)
        wanted = choices.WANTED[0]
        self.assertEqual(choices.decision_in_words(wanted, choices.medians(results, wanted, 32)), "`array`, `eytzinger` at 2^4 to 2^10; `hash` at 2^12")
        self.assertEqual(choices.decision_in_words(choices.WANTED[3], choices.medians(results, choices.WANTED[3], 32)), "-")
        kinds, rows = choices.rows_at(results, 32, choices.most_keys(results, 32))
        self.assertEqual(rows[0][1]["hash"], "**0.004096**")
        self.assertEqual(rows[0][1]["array"], "0.001969")
        self.assertEqual([kind for kind in kinds if kind not in choices.KINDS], [])

    def test_less_may_be_better(self):
        wanted = choices.WANTED[4]
        self.assertEqual(choices.best_of(wanted, {"array": 1.0, "hash": 1.04, "btree": 1.06}), ["array", "hash"])
        self.assertEqual(choices.best_of(choices.WANTED[0], {"array": 1.0, "hash": 1.04, "btree": 1.06}), ["hash", "btree"])

    def test_rivals(self):
        results = self.keep("peers", lambda series, point: 1.0)
        panel = results[0]["panels"][0]
        self.assertEqual(panel["rivals"], {"std::lower_bound": "std::lower_bound, one thread, libstdc++ 1"})
        cell = next(each for each in panel["cells"] if each["series"].startswith("std"))
        self.assertEqual(cell["values"]["M/s"], [0.001024, 0.000682667])  # of 2048 probes, where a run has 1024
        looks = choices.looks_of(panel)
        self.assertEqual(len(set(looks.values())), len(looks))

    def test_another_rival(self):
        kept = self.keep("peers", lambda series, point: 1.0)
        data = json.loads((self.folder / "c/choosing-peers.json").read_text())
        for cell in data["panels"][0]["cells"]:
            if cell.get("rival"):
                cell["spec"] = "std::lower_bound, one thread, libstdc++ 0"
        self.write("c/choosing-peers.json", data)
        results, _ = sources.collect([self.folder / "c"])
        self.assertTrue(kept and any("another index" in note for note in results[0]["notes"]))

    def test_every_series_has_a_look_of_its_own(self):
        scale = sources.sys_experiment().Scale
        for experiment in papers.script_of("choosing").EXPERIMENTS:
            self.assertIn(experiment.name, choices.WORDS)
            for gpu in (False, True):
                for panel in experiment.panels(scale(22, 20, gpu)):
                    looks = [choices.LOOKS[each.label] for each in panel.series]
                    self.assertEqual(len(set(looks)), len(looks), panel.title)


class ChoosingPage(Case):
    """docs/choosing.md and its plots follow the kept results."""

    def check(self, page=lambda text: text, plot=lambda text: text):
        """Status of --check, with a copy of the page and the plots that are changed."""
        copy_of = self.folder / "docs"
        copy_of.mkdir(exist_ok=True)
        (copy_of / "choosing.md").write_text(page(choosing_docs.PAGE.read_text()))
        for path in choosing_docs.PAGE.parent.glob("choosing-*.svg"):
            (copy_of / path.name).write_text(plot(path.read_text()))
        with unittest.mock.patch.object(choosing_docs, "PAGE", copy_of / "choosing.md"), contextlib.redirect_stderr(io.StringIO()) as said:
            return choosing_docs.main(["--check"]), said.getvalue()

    def test_as_kept(self):
        self.assertEqual(self.check(), (0, ""))

    def test_another_figure(self):
        status, said = self.check(page=lambda text: re.sub(r"\*\*(\d)", r"**9\1", text))
        self.assertEqual(status, 1)
        self.assertIn("docs/choosing.md: its tables are not what", said)

    def test_a_plot_of_other_figures(self):
        status, said = self.check(plot=lambda text: re.sub(r"figures [0-9a-f]+", "figures 0123", text))
        self.assertEqual(status, 1)
        self.assertIn("is a plot of other figures", said)

    def test_no_marks(self):
        status, said = self.check(page=lambda text: text.replace("<!-- choosing", "<!--"))
        self.assertEqual(status, 1)
        self.assertIn("has no marks", said)


class Lists(unittest.TestCase):
    def test_all_figures_and_tables(self):
        for work in papers.WORKS:
            self.assertEqual(papers.missing(work), [])

    def test_one_that_is_missing(self):
        work = papers.work_of("rtindex")
        script = papers.script_of("rtindex")
        less = [each for each in script.EXPERIMENTS if each.name != "fig11"]
        self.assertEqual(papers.missing(work, experiments=less, without=script.WITHOUT),
                         ["rtindex: Figure 11 has no experiment, and no reason why not"])

    def test_one_that_the_paper_does_not_have(self):
        with self.assertRaises(papers.Wrong):
            papers.named_in("Figure 99, 3.2", papers.work_of("rtindex"))

    def test_a_section_is_no_figure(self):
        self.assertEqual(papers.named_in("Figure 20, 6", papers.work_of("lightweight")), [("Figure", "20")])

    def test_kept_results_are_whole(self):
        results, troubles = sources.collect([RESULTS])
        self.assertEqual(troubles, [])
        self.assertTrue(results)
        self.assertLess(sum(path.stat().st_size for path in RESULTS.rglob("*.json")), 4 << 20)
        for result in results:
            self.assertEqual(sources.lost(result), 0, (result["work"], result["experiment"]))
            names = [each.name for each in papers.script_of(result["work"]).EXPERIMENTS]
            self.assertIn(result["experiment"], names)

    def test_claims(self):
        for work in papers.WORKS:
            self.assertGreater(len({claim.word for claim in claims_of.of_work(work)}), 1, work.name)
        self.assertTrue(all(set(papers.SHOWS) >= {work.name} for work in papers.WORKS if claims_of.quarrel_of(work)))


class Compare(Case):
    def compare(self, old, new, **options):
        return [change.word for change in compare.compare(self.write("old.json", old), self.write("new.json", new), **options)]

    def test_words(self):
        slow = run_of("array", [0.012, 0.0121, 0.0122])
        self.assertEqual(self.compare(report_of(ARRAY), report_of(slow)), ["slower"])
        self.assertEqual(self.compare(report_of(slow), report_of(ARRAY)), ["faster"])
        self.assertEqual(self.compare(report_of(ARRAY), report_of(run_of("array", [0.0101, 0.012, 0.0125]))), [""])  # ranges meet
        self.assertEqual(self.compare(report_of(ARRAY), report_of(run_of("array", [0.01021, 0.01022, 0.01023]))), [""])  # 2%

    def refuses(self, old, new, words):
        with self.assertRaisesRegex(compare.Refused, words):
            self.compare(old, new)

    def test_refused(self):
        self.refuses(report_of(ARRAY), report_of(run_of("array", [0.01], keys=2048)), "workloads differ: keys 1024 and 2048")
        self.refuses(report_of(ARRAY), report_of(HASH), "only OLD has point of array")
        self.refuses(report_of(ARRAY), report_of(ARRAY, description="NVIDIA H100"), "machines differ")
        self.refuses(report_of(ARRAY), report_of(ARRAY, ARRAY), "twice")
        self.assertEqual(self.compare(report_of(ARRAY), report_of(ARRAY, description="NVIDIA H100"), other_machines=True), [""])
        with self.assertRaisesRegex(compare.Refused, "truncated"):
            compare.compare(self.write("a.json", report_of(ARRAY)), self.write("b.json", '{"runs": ['))


class Pages(Case):
    def test_pages(self):
        try:
            import page  # pylint: disable=import-outside-toplevel
        except ModuleNotFoundError as error:
            self.skipTest(f"Python's {error.name} is not here")
        results, troubles = sources.collect([*RESULTS.glob("*/thesis-*.json"), self.write("cut.json", '{"runs": [')])  # make report makes all
        page.write(self.folder / "pages", [each for each in results if each["experiment"] != "inverse"], troubles)
        first = (self.folder / "pages" / "index.html").read_text()
        self.assertIn("truncated", first)
        self.assertIn("no RT cores", first)
        self.assertIn("No data of a GPU yet", (self.folder / "pages" / "thesis.html").read_text())
        results, troubles = sources.collect([self.write("own.json", report_of(ARRAY, HASH))])
        page.write(self.folder / "own", results, troubles)
        own = (self.folder / "own" / "index.html").read_text()
        self.assertIn("<svg", own)
        self.assertIn("var(--c0)", own)
        self.assertIn(">10<", own)  # ms, as the plot has it


if __name__ == "__main__":
    unittest.main()
