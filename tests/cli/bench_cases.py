"""Cases and scripts of `keyray bench` for kinds that cast rays, and of bench/experiments."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

from cases import BENCH, bad, ok
from scripts import Skip

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "experiments"
CLAIMS = EXPERIMENTS.parent / "claims"

LOADS = "bench loads --entries 4000 --repeat 1 --device cpu"

CASES = [
    ok(f"bench point {BENCH} --probes 100 --format json --index array",
       json={"runs.0.components": lambda parts: sum(part["nbytes"] for part in parts) > 0, "runs.0.tracer": "none",
             "runs.0": lambda run: "work" not in run and sum(part["nbytes"] for part in run["components"]) == run["footprint"]}),
    ok(f"bench point {BENCH} --sweep probes=10,20,30 --format json",
       json={"runs": lambda runs: [run["workload"]["probes"] for run in runs] == [10, 20, 30]}),
    bad(2, "report a.json --compare", "--compare takes two FILEs, OLD and NEW; 1 were given"), bad(2, "report --compare a.json b.json -o d", "leave out --output"),
    bad(2, "report a.json --other-machines", "--other-machines is of --compare"), bad(2, "report --pyhton x a.json", r"did you mean --python\?"),
    ok(f"bench point {BENCH} --probes 50 --index array --baseline --format json",
       json={"runs.0.baselines.0": lambda rival: rival["version"].startswith(("libstdc++ ", "libc++ ")) and rival["lookups"] == 50
             and len(rival["seconds"]["each"]) == 2 and abs(rival["per_second"] * rival["seconds"]["median"] - 50) < 0.01}),
    ok(f"bench range {BENCH} --probes 50 --result sum --sweep stride=1,2", out=r"(?s)stride=1.*stride=2"),
    *(ok(f"bench {what} --uniformity 100 --count 1000 --repeat 1 --device cpu --texts {form} {words}",
         out=rf"(?s)1000 u\d+ as texts, {form}, .*checked: ") for what, form, words in
      [("point", "url", "--probes 300 --hit-rate 50 --index hash --index pivot"), ("range", "customer", "--probes 300 --hits 4 --index pivot"),
       ("build", "hex", "--bits 64 --index array"), ("point", "customer", "--bits 64 --probes 300 --prepared")]),
    bad(2, f"bench point {BENCH} --texts hex --baseline", "leave out --texts or --baseline"),
    bad(2, f"bench join {BENCH} --texts hex --asof backward", "--asof and --overlap join numbers; leave out --texts"),
    ok("bench build --count 3000 --repeat 2 --index array --index pivot --save built.krx --format json --device cpu", files={"built.krx": None},
       json={"runs.0.saved": lambda saved: saved["nbytes"] > 24000 and saved["checked"] and "pinned_copy" not in saved
             and all(saved[name]["median"] > 0 for name in ("save", "read", "load", "first_lookup"))
             and list(saved["load_phases"]) == ["read", "verify"],
             "runs.1.saved.load_of_read": lambda share: share > 0}),
    ok("bench build --count 3000 --repeat 1 --index array --save built.krx --device cpu", files={"built.krx": None},
       out=r"(?s)file of .* loaded is checked likewise.*saved, [\d.]+ GB/s.*one key looked up.*loading at [\d.]+ of the rate of reading; read"),
    bad(1, "bench build --count 3000 --repeat 1 --index array --save nowhere/built.krx --device cpu", "--save nowhere/built.krx: there is no folder nowhere; make it"),
    bad(2, f"bench point {BENCH} --save x.krx", "unknown option --save of bench point"),
    bad(1, f"bench update {BENCH} --probes 10 --index array", "kind 'array' cannot give rows other keys; give --waves N to insert and delete rows"),
    bad(2, f"bench point {BENCH} --probes 10 --outside --outliers 50 --index array", "--outside is --outliers 100; leave out one of them"),
    ok(f"bench point --uniformity 100 --count 1000 --probes 200 --hit-rate 0 --outliers 50 --index array --format json",
       json={"runs.0.workload.outliers": 50}),
    bad(2, f"bench update {BENCH} --probes 10 --changes 501", "changes is 501: 1000 keys make at most 500"),
    bad(2, f"bench update {BENCH} --pattern diagonal", "positions|ranks"),
    bad(2, f"bench point {BENCH} --changes 5", "unknown option --changes of bench point"),
    bad(2, f"bench point {BENCH} --waves 5", "unknown option --waves of bench point"),
    bad(2, f"bench update {BENCH} --waves 2 --changes 3", "--changes and --pattern exchange keys"),
    bad(2, f"bench update {BENCH} --waves 2 --pattern ranks", "--changes and --pattern exchange keys"),
    bad(2, f"bench update {BENCH} --waves 2 --multiplicity 2", "leave out --multiplicity"),
    bad(2, f"bench update {BENCH} --waves 64 --growth 1.05", "leaves no row to insert in some of 64 waves"),
    bad(2, f"bench update {BENCH} --growth 3", "--growth, --rebuild, --wave-form and --wave-rows need --waves"),
    bad(2, f"bench update {BENCH} --rebuild array", "--growth, --rebuild, --wave-form and --wave-rows need --waves"),
    bad(2, f"bench update {BENCH} --waves 2 --rebuild best:k=2", "best has no option .k.; its options: updates, ranges"),
    bad(2, f"bench update {BENCH} --wave-rows 5", "--growth, --rebuild, --wave-form and --wave-rows need --waves"),
    bad(2, f"bench update {BENCH} --wave-form churn", "--growth, --rebuild, --wave-form and --wave-rows need --waves"),
    bad(2, f"bench update {BENCH} --waves 2 --wave-form churn", "need --wave-rows from 1 to 1000"),
    bad(2, f"bench update {BENCH} --waves 2 --wave-form alternate --wave-rows 1001", "need --wave-rows from 1 to 1000"),
    bad(2, f"bench update {BENCH} --waves 2 --wave-rows 10 --growth 3", "--growth takes the place of --wave-rows in waves that grow"),
    bad(2, f"bench update {BENCH} --waves 2 --wave-form swap", "grow|alternate|churn"),
    bad(2, f"bench update {BENCH} --waves 64 --wave-rows 2^26", "the waves make 4294968296 rows"),
    bad(2, f"bench update {BENCH} --waves 65", "--waves is a number from 0 to 64"),
    ok(f"bench point {BENCH} --probes 10 --index array --index array:probes=sorted --sweep array.k=2,5 --format json",
       json={"runs": lambda runs: [run["swept"] for run in runs] == ["k=2", "k=2", "k=5", "k=5"]
             and all(f"k={k}," in run["spec"] for run, k in zip(runs, (2, 2, 5, 5)))}),
    bad(2, f"bench point {BENCH} --index array --index best --sweep array.k=2", "is of kind 'array', but --index is best"),
    bad(2, f"bench point {BENCH} --index arrays --sweep array.k=2", "unknown kind 'arrays'"),
    bad(2, f"bench point {BENCH} --index pivot --sweep array.k=2", "is of kind 'array', but --index is pivot"),
    ok(f"{LOADS} --lanes 3072 --steps 5 --format json", json={"operation": "loads", "runs": lambda runs: [
        run["workload"]["group"] for run in runs] == [1 << n for n in range(11)], "runs.0.bytes_per_second": (int, float)}),
    ok(f"{LOADS} --lanes 8 --steps 5 --group 4 --aligned --json b.json", out=r" 4  8 lanes, 5 steps, 4000 entries, aligned\n$",
       files={"b.json": None}),
    ok(f"{LOADS} --sweep steps=1,2 --group 2 --format json",
       json={"runs": lambda runs: [(run["swept"], run["workload"]["group"]) for run in runs] == [("steps=1", 2), ("steps=2", 2)]}),
    bad(2, f"{LOADS} --group 3", "--group is a power of two, not 3"), bad(2, f"{LOADS} --group 2048", "from 1 to 1024"),
    bad(2, f"{LOADS} --lanes 12 --sweep group=4,8", "--lanes 12 is not a multiple of --group 8"),
    bad(2, "bench loads --entries 7 --group 8 --device cpu", "--entries 7 are fewer than a group of 8"),
    bad(2, f"{LOADS} --sweep frob=3", "--sweep frob is not an option of bench loads"),
    bad(2, f"{LOADS} --index array", "unknown option --index of bench loads"),
    bad(1, f"{LOADS} --memory-cap 4000", "--memory-cap"),
    ok(f"bench point {BENCH} --probes 100 --index array", out=r"(?s)build:.* sort [\d.]+ ms.*untimed runs:.* search [\d.]+ ms"),
]


def run_json(keyray, line, folder):
    done = subprocess.run([keyray, *line.split(), "--format", "json"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (line, done.stderr)
    return json.loads(done.stdout)


def needs_rx(keyray, device, folder):
    line = f"bench build --count 10 --repeat 1 --index rx --device {device} --quiet"
    done = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skip(done.stderr.strip())


def work(keyray, device, folder):
    """bench counts the rays of a kind that casts them, over all batches"""
    needs_rx(keyray, device, folder)
    line = f"bench point --count 1000 --probes 500 --batches 3 --repeat 1 --index rx --device {device}"
    run = run_json(keyray, line, folder)["runs"][0]
    assert run["work"]["rays"] == run["work"]["hits"] == 500 and run["work"]["repaired"] == 0, run["work"]
    assert run["work_per_probe"]["rays"] == 1 and run["tracer"] != "none", run
    text = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert re.search(r"work per probe: 1 rays, 1 hits, 0 filtered, 0 repaired, 0 untraced; by ", text), text


def updates(keyray, device, folder):
    """bench update exchanges keys, and checks the answers before and after"""
    needs_rx(keyray, device, folder)
    for spec in ("rx", "rx:update=refit", "rx:preset=paper,update=refit"):
        for pattern in ("positions", "ranks"):
            for repeat in (1, 2):
                line = (f"bench update --count 1000 --probes 500 --hit-rate 50 --outside --uniformity 100 --index {spec} "
                        f"--pattern {pattern} --sweep changes=1,2^6,500 --repeat {repeat} --device {device}")
                runs = run_json(keyray, line, folder)["runs"]
                assert [run["workload"]["changes"] for run in runs] == [1, 64, 500]
                for run in runs:
                    assert run["workload"]["pattern"] == pattern and run["checked"].startswith("all 500 rows")
                    assert min(run[key]["minimum"] for key in ("seconds", "lookups_before", "lookups_after")) > 0
                    moved = "refit" if "refit" in spec else "bvh"
                    assert {"sort", "triangles", moved} <= set(run["update_phases"]), run["update_phases"]
                    assert sum(run["update_phases"].values()) <= run["seconds"]["maximum"] * 1.5, run
    host = run_json(keyray, f"bench update --count 1000 --probes 50 --host --result sum --multiplicity 4 --index rx --device "
                    f"{device} --changes 100 --pattern ranks --repeat 1", folder)
    assert "rows and keys" in host["runs"][0]["inside"]["copies"]


def has_kind(keyray, kind):
    return subprocess.run([keyray, "kinds", kind], capture_output=True, check=False).returncode == 0


def check_waves(run, count, waves, come):
    """Rows grow by `come` and shrink again, in waves that differ by a row at most."""
    rows = [wave["rows"] for wave in run["waves"]]
    ascent = [count + come // waves * i + come % waves * i // waves for i in range(waves + 1)]
    assert rows == ascent[1:] + ascent[-2::-1], rows
    assert sum(wave["changed"] for wave in run["waves"] if wave["change"] == "insert") == come
    assert sum(wave["changed"] for wave in run["waves"] if wave["change"] == "delete") == come
    assert run["after_inserts"]["rows"] == count + come and run["after_deletes"]["rows"] == count, run
    assert run["checked"].endswith("every key that is or was there"), run["checked"]
    assert all(min(wave["seconds"], wave["lookups"]["minimum"]) > 0 for wave in run["waves"])
    seconds = sorted(wave["seconds"] for wave in run["waves"])
    assert run["seconds"]["minimum"] == seconds[0] and run["seconds"]["maximum"] == seconds[-1]


def waves_anew(keyray, device, folder):
    """bench update --waves builds kinds anew that take no updates, and says why"""
    needs_rx(keyray, device, folder)
    line = (f"bench update --count 1000 --probes 300 --uniformity 50 --hit-rate 70 --index rx --device {device} "
            "--sweep waves=1,3,64 --growth 1.11 --result sum")
    for run, waves in zip(run_json(keyray, line, folder)["runs"], (1, 3, 64)):
        check_waves(run, 1000, waves, 110)
        assert run["changed_by"] == "rebuild" and "rebuild" not in run and "lists" not in run["after_inserts"], run
    line = f"bench update --count 100 --probes 50 --waves 2 --index rx --device {device}"
    text = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert "every wave built the index anew: kind 'rx' cannot insert and delete rows" in text, text
    assert len(re.findall(r"^ *(?:insert|delete) +\d+ ", text, re.MULTILINE)) == 4, text


def check_same_size(run, count, rows, changes):
    """Every wave brings and takes `rows` rows; in the end the size is what it was, and lookups still find their keys."""
    assert [wave["change"] for wave in run["waves"]] == changes
    assert [wave["rows"] for wave in run["waves"]] == [count + (rows if change == "insert" else 0) for change in changes]
    assert all(wave["changed"] == rows * (1 + (change == "replace")) for wave, change in zip(run["waves"], changes))
    assert run["before_waves"]["rows"] == run["after_waves"]["rows"] == count
    assert run["checked"].endswith("after the waves every key that is or was there"), run["checked"]
    for change in {"insert", "delete", "replace"}:
        seconds = sorted(wave["seconds"] for wave in run["waves"] if wave["change"] == change)
        assert (change in run) == bool(seconds) and (not seconds or seconds[0] == run[change]["minimum"] and seconds[-1] == run[change]["maximum"])
    assert run["wave_peak"] == max(wave["peak"] for wave in run["waves"]) >= run["waves"][-1]["footprint"]
    assert run["waves"][-1]["footprint"] == run["after_waves"]["footprint"]
    assert run["lookups_before"]["median"] > 0 and run["lookups_after"]["median"] > 0


def waves_of_one_size(keyray, device, folder):
    """bench update --wave-form alternate and churn keep the size, and compare with building anew at the end"""
    forms = {"alternate": ["insert", "delete"] * 5, "churn": ["replace"] * 5}
    for spec, options in (("array", ""), ("pivot", " --host --bits 64"), ("array", " --sweep wave-rows=1,1000 --result sum")):
        for form, changes in forms.items():
            line = (f"bench update --count 1000 --probes 300 --uniformity 50 --hit-rate 70 --waves 5 --wave-form {form} --wave-rows 300 "
                    f"--index {spec} --index eytzinger --rebuild array --device {device}{options}")
            for run in run_json(keyray, line, folder)["runs"]:
                check_same_size(run, 1000, run["workload"]["wave_rows"], changes)
                assert run["workload"]["wave_form"] == form and run["changed_by"] == "update", run
                assert run["rebuild_spec"].startswith("array:") and run["rebuilt_lookups"]["median"] > 0
                ratio = run["after_waves"]["footprint"] / run["rebuilt_footprint"]
                assert abs(run["footprint_per_rebuilt"] / ratio - 1) < 1e-6, run
    line = f"bench update --count 2000 --probes 300 --waves 3 --wave-rows 100 --index array --device {device}"
    check_waves(run_json(keyray, line, folder)["runs"][0], 2000, 3, 300)
    text = subprocess.run([keyray, *line.split(), "--wave-form", "churn"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert "in each of 3 waves the 100 oldest rows deleted and 100 inserted" in text, text
    assert re.search(r"^ +replace: [0-9.]+ ms \(", text, re.MULTILINE), text
    assert re.search(r"^ +building array anew took [0-9.]+ ms, which is [0-9.]+ times as long as an update \([0-9.]+ to [0-9.]+\); its footprint is [0-9.]+ [KMG]iB\n"
                     r" +after the last wave, lookups took [0-9.]+ times as long as in the index built anew, and the footprint was 1.00 times as large$", text, re.MULTILINE), text
    needs_rx(keyray, device, folder)
    line = f"bench update --count 1000 --probes 300 --waves 2 --wave-rows 100 --wave-form churn --index rx --device {device}"
    run = run_json(keyray, line, folder)["runs"][0]
    check_same_size(run, 1000, 100, ["replace"] * 2)
    assert run["changed_by"] == "rebuild" and "rebuild_spec" not in run, run


def waves_merged(keyray, device, folder):
    """bench update --waves merges batches into sorted entries"""
    for spec in ("array", "array:layout=aos", "pivot", "eytzinger"):
        line = f"bench update --count 3000 --probes 300 --waves 3 --index {spec} --device {device}"
        run = run_json(keyray, line, folder)["runs"][0]
        check_waves(run, 3000, 3, 3600)
        assert run["changed_by"] == "update", run


def waves_updated(keyray, device, folder):
    """bench update --waves updates cgrx in place, and compares with building it anew"""
    needs_rx(keyray, device, folder)
    if not has_kind(keyray, "cgrx"):
        raise Skip("no kind cgrx")
    line = f"bench update --count 100 --probes 50 --waves 1 --index cgrx --device {device}"
    text = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert re.search("every wave built the index anew: .*updates=off and does not change; create it with updates=on", text), text
    for options in ("", " --host", " --bits 64 --uniformity 100 --rebuild cgrx"):
        line = f"bench update --count 3000 --probes 300 --waves 3 --index cgrx:updates=on --device {device}{options}"
        run = run_json(keyray, line, folder)["runs"][0]
        check_waves(run, 3000, 3, 3600)
        assert run["changed_by"] == "update", run
        assert ("updates=off" in run["rebuild_spec"]) == ("rebuild cgrx" in options), run["rebuild_spec"]
        assert all(wave["phases"]["apply"] > 0 and sum(wave["phases"].values()) < wave["seconds"] * 1.1 for wave in run["waves"]), run
        ratios = sorted(wave["rebuild"] / wave["seconds"] for wave in run["waves"])
        assert abs(run["rebuild_per_update"]["maximum"] / ratios[-1] - 1) < 1e-6, ratios
        for half in ("after_inserts", "after_deletes"):
            nodes = run[half]
            assert 0 < nodes["node_fill"] <= 1 and nodes["node_room"] >= nodes["nodes"] >= nodes["lists"] > 0


def load(name):
    """A module from an executable file, with its neighbours."""
    sys.path.insert(0, str(EXPERIMENTS))
    loader = importlib.machinery.SourceFileLoader(name, str(EXPERIMENTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def experiments(keyray, device, folder):
    """Every experiment of bench/experiments runs, at a small size, with an answer in every cell"""
    script = load("rtindex")
    assert script.least_squares([(1, 5), (2, 7), (4, 11)]) == (3, 2)
    assert script.least_squares([(1, 1), (2, 0)]) == (0.5, 0) and script.least_squares([(1, 1), (2, 4)])[0] == 0
    assert [each.spec for each in script.OF_MANY if each.label == "SA"] == ["array:ends=scan,scan_threads=1,probes=as-is"]
    names = [experiment.name for experiment in script.EXPERIMENTS]
    assert len(set(names)) == len(names) and {"fig3a", "tab4", "fig18"} <= set(names)
    for line, code in (("list", 0), ("frob", 2), ("fig18 --build nowhere", 2)):
        assert subprocess.run([EXPERIMENTS / "rtindex", *line.split()], capture_output=True, check=False).returncode == code
    needs_rx(keyray, device, folder)
    run_experiments(keyray, device, folder, "rtindex", names)


def experiments_thesis(keyray, device, folder):
    """So does every experiment of the thesis on joins"""
    names = [experiment.name for experiment in load("thesis").EXPERIMENTS]
    assert len(set(names)) == len(names) and {"scan", "settings", "range-hits"} <= set(names)
    needs_rx(keyray, device, folder)
    run_experiments(keyray, device, folder, "thesis", names)


def experiments_cgrx(keyray, device, folder):
    """So does every experiment on cgrx"""
    names = [experiment.name for experiment in load("cgrx").EXPERIMENTS]
    assert len(set(names)) == len(names) and {"fig1", "fig8b", "tab1", "rays", "fig15"} <= set(names)
    needs_rx(keyray, device, folder)
    if not has_kind(keyray, "cgrx"):
        raise Skip("no kind cgrx")
    out = run_experiments(keyray, device, folder, "cgrx", names)
    for title in ("rows of key and row id, ms", "compaction, ms", "the rest, ms", "rays, ms", "bucket search, ms", "bucket search and results, ms", "apply, ms",
                  "Lookups of what was built anew by wave, ms", "insert 8", "delete 8"):
        assert title in out, (title, out)


def experiments_lightweight(keyray, device, folder):
    """And every experiment on lightweight indexes"""
    script = load("lightweight")
    assert script.trimmed(28) == [10, 20, 24, 0] and script.trimmed(8) == [1, 4, 0]
    names = [experiment.name for experiment in script.EXPERIMENTS]
    assert len(set(names)) == len(names) and {"fig1a", "fig7", "fig14c", "fig18b", "fig22", "ranges-sum"} <= set(names)
    for kind in ("eytzinger", "pivot"):
        if not has_kind(keyray, kind):
            raise Skip(f"no kind {kind}")
    out = run_experiments(keyray, device, folder, "lightweight", names)
    assert "build phases, ms" in out and "| 128/16 |" in out and "| group 1024 |" in out, out
    assert out.count("beside them") == 9 and out.count("the best with 2^8 keys: EO+KS: k=") == len(script.BEST_AT), out
    assert script.best_here("AO+PB+BS", 27) == script.best_here("AO+PB+BS", 26) != script.best_here("AO+PB+BS", 28)


def experiments_rtscan(keyray, device, folder):
    """And every experiment on scans"""
    experiments = load("rtscan").EXPERIMENTS
    names = [each.name for first in (True, False) for each in experiments if each.decides == first]  # what decides comes first
    assert len(set(names)) == len(names) and {"fig2", "fig5", "fig20", "fig29", "vectors64"} <= set(names)
    needs_rx(keyray, device, folder)
    out = run_experiments(keyray, device, folder, "rtscan", names, "--rows 2000 --figures figures.json")
    assert "| 64, both: % of rows skipped |" in out, out
    figures = json.loads((folder / "figures.json").read_text())
    assert list(figures) == names, list(figures)
    assert [name for name in names if empty_cells(figures[name]["panels"])] == [], figures
    rays = figures["fig4"]["panels"]["Rays over three columns"]["selectivity 90"]
    assert rays["rtc3"]["rays"] > 0 and rays["rtc1"]["intersections"] >= 3 * 0.89 * 2000, rays
    line = f"fig4 --build {pathlib.Path(keyray).parents[1]} --device {device} --rows 1000 --quick --repeat 1"
    quick = subprocess.run([EXPERIMENTS / "rtscan", *line.split()], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert "selectivity 50 " in quick and "selectivity 40 " not in quick, quick
    skipped = figures["fig28"]["panels"]["Share of rows that vectors skip"]["selectivity 50"]
    assert 50 < skipped["32, positive"]["% of rows skipped"] <= skipped["128, both"]["% of rows skipped"] <= 100, skipped
    if sys.version_info < (3, 11):
        raise Skip("the claims' data need Python 3.11")
    takes_figures(folder, "rtscan", device)


def takes_figures(folder, paper, device):
    """bench/claims/make takes the figures of a run into the data, all that the claims name and a device has"""
    data = folder / "claims"
    data.mkdir()
    text = (CLAIMS / f"{paper}.toml").read_text()
    run = '[runs.here]\ngpu = "here"\ndriver = "none"\ncommit = "none"\ndate = "today"\nsmaller = "a test"\n'
    (data / f"{paper}.toml").write_text(f"{text}\n{run}")
    line = f"--data {data} --docs {data} --figures figures.json --run here"
    done = subprocess.run([sys.executable, CLAIMS / "make", *line.split()], cwd=folder, capture_output=True, text=True, check=True).stdout
    # Tables of a CPU beside a GPU are made on a GPU alone.
    named = len([claim for claim in text.split("[[section.claim]]") if "\nplaces." in claim and 'on the CPU", of' not in claim])
    taken = int(re.search(r"(\d+) claims have figures", done)[1])
    assert taken > 20 and (taken == named or device != "cpu"), (taken, named, done)
    assert "not measured**: smaller (a test)" in (data / "scan-claims.md").read_text()


def empty_cells(panels):
    return [(title, point, series, column) for title, points in panels.items() for point, runs in points.items()
            for series, columns in runs.items() for column, value in columns.items() if value is None]


def rivals_not_built(keyray, device, folder):
    """On a GPU rivals are those of KEYRAY_PEERS; on a CPU a build may lack Abseil (one with sanitizers does)."""
    if device != "cpu":
        return ("thrust", "cuco")
    line = f"bench point --count 2^4 --probes 2^4 --baseline --quiet --device {device} --json rivals.json"
    subprocess.run([keyray, *line.split()], cwd=folder, check=True, capture_output=True)
    return () if "absl::" in (folder / "rivals.json").read_text() else ("absl",)


def experiments_choosing(keyray, device, folder):
    """bench/experiments/choosing measures every kind, with rivals and prepared calls beside them, and goes on where it was cut off"""
    line = f"all --build {pathlib.Path(keyray).parents[1]} --device {device} --keys-log2 8 --probes-log2 8 --repeat 2 --reports kept --figures f.json"

    def run(*more):
        return subprocess.run([EXPERIMENTS / "choosing", *line.split(), *more], cwd=folder, capture_output=True, text=True, check=False)

    needs_rx(keyray, device, folder)
    cut = run("--seconds", "0.0001")
    assert cut.returncode == 3 and "left: points builds" in cut.stderr, cut.stderr
    first = run()
    assert first.returncode == 0, first.stderr
    times = {path: path.stat().st_mtime_ns for path in (folder / "kept/runs").iterdir()}
    again = run()
    assert again.stdout == first.stdout and times == {path: path.stat().st_mtime_ns for path in (folder / "kept/runs").iterdir()}
    kept = {path.stem: json.loads(path.read_text()) for path in (folder / "kept").glob("*.json")}
    figures = json.loads((folder / "f.json").read_text())
    assert len(kept) == len(figures) == 12, kept.keys()
    absent = [cell for each in figures.values() for cell in empty_cells(each["panels"])]
    unbuilt = rivals_not_built(keyray, device, folder)
    assert all(series.split(":")[0] in unbuilt for _, _, series, _ in absent), (unbuilt, absent)
    points = kept["choosing-points"]["panels"][0]["cells"]
    assert {cell["series"].partition(":")[0] for cell in points} == {"array", "pivot", "eytzinger", "btree", "hash", "chain", "cgrx", "rx"}
    rivals = [cell for panel in kept["choosing-peers"]["panels"] for cell in panel["cells"] if cell.get("rival")]
    assert any(cell["series"].startswith("std::lower_bound") and "libstdc++" in cell["spec"] for cell in rivals), rivals
    commands = [json.loads(path.read_text())["command"] for path in times]
    assert sum(" --prepared" in command for command in commands) == 1 and sum(" --baseline" in command for command in commands) == 2


# Stands in for a Python without matplotlib.
WITHOUT_MATPLOTLIB = "raise ModuleNotFoundError(\"No module named 'matplotlib'\", name='matplotlib')\n"


def report_runs(keyray, _, folder):
    """keyray report compares two reports, makes pages where matplotlib is, and says what is missing where not"""
    def run(line, **environment):
        return subprocess.run([keyray, "report", *line.split()], cwd=folder, capture_output=True, text=True, check=False,
                              env={**os.environ, **environment})

    for name, repeat in (("old", 3), ("new", 3), ("other", 3)):
        count = 5000 if name == "other" else 4000
        subprocess.run([keyray, *f"bench point --count {count} --probes 4000 --repeat {repeat} --device cpu --index array --index hash --json {name}.json".split()],
                       cwd=folder, check=True, capture_output=True)
    same = run("--compare old.json old.json")
    assert same.returncode == 0 and "0 slower, 0 faster, 2 within the spread" in same.stdout, same
    slow = json.loads((folder / "old.json").read_text())
    for each in slow["runs"]:
        each["seconds"] = {name: [9 * one for one in value] if name == "each" else 9 * value for name, value in each["seconds"].items()}
    (folder / "slow.json").write_text(json.dumps(slow))
    assert run("slow.json --compare old.json").returncode == 0 and run("old.json slow.json --compare").returncode == 1
    refused = run("old.json other.json --compare")
    assert refused.returncode == 2 and "workloads differ: keys 4000 and 5000" in refused.stderr, refused
    (folder / "matplotlib.py").write_text(WITHOUT_MATPLOTLIB)
    bare = run("old.json -o pages", PYTHONPATH=str(folder))
    assert bare.returncode == 2 and "plots need matplotlib" in bare.stderr and "-m venv DIR && DIR/bin/pip install matplotlib" in bare.stderr, bare
    assert not (folder / "pages").exists()
    (folder / "matplotlib.py").unlink()
    gone = run("old.json --python no-such-python")
    assert gone.returncode == 2 and "Python was not found as no-such-python; install Python 3.11 or newer with matplotlib" in gone.stderr, gone
    (folder / "cut.json").write_text('{"runs": [')
    if subprocess.run([sys.executable, "-c", "import matplotlib"], capture_output=True, check=False).returncode:
        print("keyray report: no pages were made, since this Python has no matplotlib")
        return
    made = run(f"old.json cut.json --python {sys.executable}")
    assert made.returncode == 1 and made.stdout == "keyray-report/index.html\n" and "truncated" in made.stderr, made
    assert "<svg" in (folder / "keyray-report/index.html").read_text()


# Stands in for ncu: runs the command on little data and prints three kernels, and one more for each lookup of a run.
NCU = """#!/usr/bin/env python3
import subprocess, sys
metrics, command = sys.argv[3].split(","), sys.argv[4:]
small = {"--probes": "16", "--changes": "4", "--count": "1024"}
subprocess.run([small.get(before, word) for before, word in zip([""] + command, command)], check=True, capture_output=True)
print('==PROF==\\n"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"')
lookups = 3 if command[2] == "update" else 1
for kernel in range(3 + lookups * int(command[command.index("--repeat") + 1])):
    for name in metrics:
        unit, value = ("us", "3,000") if "time" in name else ("%", 20 if kernel == 0 else 50) if "pct" in name else ("inst", 1 << 20)
        print(f'"{kernel}","k<int, 3>","{name}","{unit}","{value}"')
"""


def experiments_counters(keyray, device, folder):
    """bench/experiments/counters takes what the timed runs add to a profile"""
    needs_rx(keyray, device, folder)
    (folder / "ncu").write_text(NCU)
    (folder / "ncu").chmod(0o755)
    line = f"modes updates small duplicates divergence reorder --build {pathlib.Path(keyray).parents[1]} --device {device} --ncu {folder}/ncu"
    listed = subprocess.run([EXPERIMENTS / "counters", "list"], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^  (\S+)  ", listed, re.M) == list(load("counters").TABLES), listed
    done = subprocess.run([EXPERIMENTS / "counters", *line.split()], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    rows = {row[0]: row[1:] for row in (re.split("  +", line.strip()) for line in done.stdout.splitlines()) if len(row) > 2}
    assert rows["B+, Zipf 5"] == ["3"] + ["50"] * 7, rows
    assert len(rows) == 1 + 4 + 3 + 6 + 6 + 4 + 5 and rows["refit, 2^8 pairs of positions"][1:4] == ["1", "32", "32"], rows
    for words, row, values in (("misses-sorted --only HT --brief --probes-log2 20", "HT, 0% hits", ["3", "1", "32", "1"]),
                               ("blocks --only EO+KS", "EO+KS, 1024/1, pin=none", ["3"] + ["1.049e+06"] * 3)):
        done = subprocess.run([EXPERIMENTS / "counters", *words.split(), *line.split()[6:]], capture_output=True, text=True, check=False)
        assert re.search(rf"^{re.escape(row)} +{' +'.join(map(re.escape, values))}$", done.stdout, re.MULTILINE) and "hash" not in done.stdout, done
    keep_counters(folder, [EXPERIMENTS / "counters", "tab7", "--only", "HT", "--reports", folder / "kept", "--figures", folder / "figures", *line.split()[6:]])


def keep_counters(folder, command):
    """--reports keeps rows, counts none twice, and goes on after a cut"""
    cut = subprocess.run([*command, "--seconds", "1e-9"], capture_output=True, text=True, check=False)
    assert cut.returncode == 3 and cut.stderr == "cut off after 1e-09 s\n", cut
    whole = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kept = json.loads((folder / "kept/counters/tab7.json").read_text())
    assert [row["row"] for row in kept["rows"]] == ["HT, Zipf 0", "HT, Zipf 1.5"] and kept["rows"][0]["values"]["ms"] == 3, kept
    (folder / "ncu").unlink()
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == whole
    panels = json.loads((folder / "figures").read_text())["counters tab7"]["panels"]
    assert panels["Table 7, 4.8: caches under skew; 2^26 keys, 2^24 lookups"]["Zipf 1.5"]["HT"]["bytes from memory"] == 1 / 16, panels


def points_of_kinds(_, __, ___):
    """Points that vary options of the index share commands of as many specs as one takes"""
    load("lightweight")
    experiment = sys.modules["experiment"]
    points = experiment.kinds_of(range(50), lambda n: f"threads={n}") + experiment.sweep("count", [5])
    series = [experiment.Series("a", "array"), experiment.Series("b", "array:k=3")]
    panel = experiment.Panel("", "point", {}, points, series, [])
    commands = list(experiment.commands_of(panel, series))
    assert [len(specs) for _, _, specs in commands] == [64, 36, 2]
    assert commands[1][2][:2] == ["array:threads=32", "array:k=3,threads=32"] and commands[2][1] == {"count": "5"}
    series = [experiment.Series("a", lambda point: f"array:k={point.options['count']}")]
    panel = experiment.Panel("", "point", {}, experiment.sweep("count", [2, 3]), series, [])
    assert [each[1:] for each in experiment.commands_of(panel, series)] == [({"count": "2"}, ["array:k=2"]), ({"count": "3"}, ["array:k=3"])]
    panel = experiment.Panel("", "loads", {}, experiment.sweep("group", [1, 2]), [experiment.Series("", None)], [])
    assert [each[1:] for each in experiment.commands_of(panel, panel.series)] == [({"sweep": "group=1,2"}, [])]


def run_experiments(keyray, device, folder, script, names, size="--keys-log2 8 --probes-log2 8"):
    build = pathlib.Path(keyray).parents[1]
    line = f"all --build {build} --device {device} {size} --repeat 1 --markdown --reports reports"
    done = subprocess.run([EXPERIMENTS / script, *line.split()], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert [name for name in names if f"### {name}: " not in done.stdout] == [], done.stdout
    assert "| > " not in done.stdout and "commit" in done.stdout
    check_reports(folder / "reports", script, names)
    return done.stdout


def up_to(*most):
    """Numbers of figures; of several chapters: "1.1" to "1.3"."""
    return {f"{i}.{n}" if len(most) > 1 else str(n) for i, last in enumerate(most, 1) for n in range(1, last + 1)}


# Figures and tables of a paper, by the script that repeats it.
IN_PAPERS = {"rtindex": (up_to(18), up_to(8)), "cgrx": (up_to(15), up_to(1)), "lightweight": (up_to(22), set()),
             "rtscan": (up_to(29), set()), "thesis": (up_to(3, 5, 4, 5, 25), up_to(0, 1, 0, 0, 5))}


def numbers_named(source, noun):
    """The numbers of "Figures 3 to 5" or "Tables 5.1 and 5.2"; "Figure 8(b)" is 8."""
    found, number = set(), r"((?:\d+\.)?)(\d+)(?:\([a-z]\))?"
    for chapter, first, word, _, last in re.findall(rf"{noun}s? {number}(?:( to | and ){number})?", source):
        last = int(last or first)
        found |= {chapter + str(n) for n in (range(int(first), last + 1) if word == " to " else (int(first), last))}
    return found


def every_figure(keyray, device, folder):
    """Each figure and table of the papers has its experiment, or the reason why there is none"""
    for script, (figures, tables) in IN_PAPERS.items():
        module = load(script)
        sources = [each.source for each in [*module.EXPERIMENTS, *module.WITHOUT]]
        for noun, wanted in (("Figure", figures), ("Table", tables)):
            named = set().union(*(numbers_named(source, noun) for source in sources))
            assert named == wanted, (script, noun, sorted(named ^ wanted))
        listed = subprocess.run([EXPERIMENTS / script, "list"], capture_output=True, text=True, check=True).stdout
        assert all(each.why in listed for each in module.WITHOUT), listed


def check_reports(folder, script, names):
    """Every cell of every experiment is found again in a run's report, with its repetitions."""
    runs = {path.stem: json.loads(path.read_text()) for path in (folder / "runs").iterdir()}
    for name in names:
        kept = json.loads((folder / f"{script}-{name}.json").read_text())
        assert kept["commit"] and kept["source"] and (kept["panels"] or kept["note"]), kept
        for cell in (cell for panel in kept["panels"] for cell in panel["cells"]):
            report = runs[cell["run"]]["report"]
            run = report["runs"][cell["number"]]
            assert run.get("spec") == cell["spec"] and report["device"] and report["driver"], cell
            assert "waves" in run or len(run["seconds"]["each"]) >= 1 <= report["repeat"], run["seconds"]


def experiments_in_part(keyray, device, folder):
    """Tables, series and points by a part of their names; the file of figures keeps what other calls measured"""
    size = f"--build {pathlib.Path(keyray).parents[1]} --device {device} --keys-log2 8 --probes-log2 8 --repeat 1 --figures figures.json"
    for words in (["--panels", ", sorted keys", "--only", "SA", "--only", "HT", "--points", "unsorted"], ["--panels", "unsorted keys", "--only", "SA,"],
                  ["--only", "nothing"]):
        done = subprocess.run([EXPERIMENTS / "rtindex", "fig12", *size.split(), *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr, done
    panels = json.loads((folder / "figures.json").read_text())["fig12"]["panels"]
    some, other = (next(panel for title, panel in panels.items() if f", {keys} keys" in title) for keys in ("sorted", "unsorted"))
    assert list(some) == ["unsorted"] and set(some["unsorted"]) == {"SA", "HT", "SA, sorted", "HT, sorted", "SA, best", "HT, best"}, some
    assert list(other) == ["unsorted", "sorted"] and list(other["sorted"]) == ["SA, sorted", "SA, best"], other


def experiments_resume(keyray, device, folder):
    """What is in the folder of reports is not run again; a run that was cut says what is left"""
    line = f"fig10b --build {pathlib.Path(keyray).parents[1]} --device {device} --keys-log2 8 --probes-log2 8 --repeat 1"

    def run(options):
        return subprocess.run([EXPERIMENTS / "rtindex", *line.split(), "--reports", "kept", *options.split()], cwd=folder,
                              capture_output=True, text=True, check=False)

    needs_rx(keyray, device, folder)
    cut = run("--seconds 0.0001")
    assert cut.returncode == 3 and "left: fig10b" in cut.stderr and not list((folder / "kept/runs").iterdir()), cut.stderr
    first = run("")
    times = {path: path.stat().st_mtime_ns for path in (folder / "kept/runs").iterdir()}
    again = run("--seconds 0.0001")
    assert first.returncode == again.returncode == 0 and times and again.stdout == first.stdout, again.stderr
    assert times == {path: path.stat().st_mtime_ns for path in (folder / "kept/runs").iterdir()}


SCRIPTS = [work, updates, waves_anew, waves_of_one_size, waves_merged, waves_updated, report_runs, points_of_kinds]
EXPERIMENTS_SCRIPTS = [every_figure, experiments_in_part, experiments, experiments_resume, experiments_thesis, experiments_cgrx, experiments_lightweight,
                       experiments_rtscan, experiments_choosing, experiments_counters]
