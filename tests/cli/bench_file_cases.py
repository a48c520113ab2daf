"""Cases and scripts of `keyray bench` on columns of files."""
import itertools
import json
import math
import random
import re
import subprocess

import npy
from cases import bad, ok

POINT = "bench point --keys keys.npy --probes probes.npy --repeat 1 --device cpu"
RANGE = "bench range --keys keys.npy --lower lower.npy --upper upper.npy --repeat 1 --device cpu"
OVERLAP = "bench join --keys rlower.npy --right-end rupper.npy --probes lower.npy --left-end upper.npy --repeat 1 --device cpu"
SCAN = "bench scan --queries 9 --repeat 1 --device cpu"
GENERATED = "it says how columns are generated, but --keys reads them; leave one of the two out"

CASES = [
    ok(f"{POINT} --format json --index array --index hash", json={
        "runs": lambda runs: len(runs) == 2 and all(run["checked"] == "all 4 rows and 4 sampled answers with a sorted array" for run in runs),
        "runs.0.workload": {"type": "u32", "keys": 5, "keys_of": "keys.npy", "keys_null": 0, "probes": 4, "probes_of": "probes.npy", "probes_null": 0, "batches": 1}}),
    ok(f"{POINT} --index array", out=r"(?s)^keys: 5 u32 of keys.npy, 0 of them NULL\nprobes: 4 values of probes.npy, 0 of them NULL\nin 1 batches, result row$.*checked: all 4 rows"),
    ok(f"{RANGE} --result sum --format json", json={"runs.0.workload": lambda w: (w["lower"], w["lower_of"], w["upper"], w["upper_of"]) == (3, "lower.npy", 3, "upper.npy"),
                                                    "runs.0.checked": "3 sampled answers with a sorted array"}),
    ok(f"{POINT} --sweep batches=1,2 --in-turn --index array --index array:keep=host --scaling --host", out="(?s)batches=1.*batches=2"),
    ok(f"{POINT} --prepared --calls 2 --json b.json", out="2 calls back to back", files={"b.json": None}),
    ok(f"{POINT} --baseline", out="times std::lower_bound"), bad(2, f"{POINT} --baseline --result sum", "maps hold one row per key; give --result row, or keys that are distinct"),
    ok("bench build --keys a.csv:k --repeat 1 --index hash --save x.krx --device cpu", out=r"(?s)keys: 4 \w+ of a.csv:k, 1 of them NULL$.*checked: all 4 rows", files={"x.krx": None}),
    ok("bench build --keys a.csv:name --repeat 1 --index array --save x.krx --device cpu", out=r"keys: 4 str, as codes, of a.csv:name, 1 of them NULL", files={"x.krx": None}),
    ok("bench point --keys a.csv:name --probes b.csv:name --repeat 1 --device cpu --format json", json={"runs.0.workload.type": "str", "runs.0.checked": r"all 3 rows and 3 sampled answers with a sorted array"}),
    ok("bench join --keys b.csv:day --probes a.csv:day --repeat 1 --type left --device cpu --format json", json={"runs.0.join": lambda text: text.startswith("6 rows of the result")}),
    ok("bench join --keys b.csv:day --probes a.csv:day --repeat 1 --sums --device cpu", out="4 sampled sums with a sorted array"),
    # What is missing, or too much.
    bad(2, "bench point --keys keys.npy", "--keys is a column, so the values to look up are, too: --probes COL is missing"),
    bad(2, "bench point --probes probes.npy", "--probes is a column, so --keys has to be one, too: --keys COL"),
    bad(2, "bench join --lower lower.npy", "--lower is a column, so --keys has to be one, too"),
    bad(2, "bench range --keys keys.npy --lower lower.npy", "--keys is a column, so the bounds are, too: --upper COL is missing"),
    bad(2, "bench range --keys keys.npy --probes probes.npy", "the bounds of ranges are --lower COL and --upper COL; leave out --probes"),
    bad(2, f"{POINT} --upper upper.npy", "--upper is a bound of ranges: bench range; here --probes COL are the values"),
    bad(2, "bench build --keys keys.npy --probes probes.npy", "bench build looks up some of its keys; leave out --probes"),
    *[bad(2, f"{POINT} {option}", f"unknown option {option.split()[0]} of bench point; {GENERATED}") for option in
      ("--count 9", "--spread 4", "--uniformity 100", "--bits 64", "--multiplicity 2", "--stride 2", "--seed 3", "--presorted-keys", "--hit-rate 9", "--zipf 1",
       "--outside", "--order half", "--texts hex")],
    *[bad(2, f"{RANGE} {option}", f"unknown option {option.split()[0]} of bench range; {GENERATED}") for option in ("--hits 4", "--multiplier 2")],
    *[bad(2, f"{line} {option}", f"{option.split()[0]} goes with generated columns, but --keys reads them; leave it out") for line, option in
      ((POINT, "--keys-log2 4"), (POINT, "--probes-log2 4"), (POINT, "--presorted-probes"), (POINT.replace("point", "join"), "--overlap 3"),
       (POINT.replace("point", "join"), "--streamed"), (POINT.replace("point", "join") + " --asof backward", "--groups 3"))],
    bad(2, f"{POINT} --sweep count=1,2", "--sweep count is not an option of the workload"),
    # Files that are missing, empty, of another type, of another length.
    bad(1, POINT.replace("keys.npy", "none.npy"), "cannot open none.npy"), bad(1, POINT.replace("keys.npy", "truncated.npy"), "truncated.npy"),
    bad(1, POINT.replace("keys.npy", "empty.npy"), "--keys empty.npy has no rows, so there is nothing to time; give another column"),
    bad(1, POINT.replace("probes.npy", "empty.npy"), "--probes empty.npy has no rows, so there is nothing to time"),
    bad(1, POINT.replace("probes.npy", "values.npy"), r"--probes values.npy.*row 0 is 0.5, which is not an integer.* it is compared with keys.npy"),
    bad(1, POINT.replace("probes.npy", "days.npy"), "--probes days.npy is timestamp64.*, which does not compare with keys.npy|--probes days.npy is date32, which does not compare"),
    bad(1, POINT.replace("keys.npy", "a.csv:name"), "--probes probes.npy is u32, which does not compare with a.csv:name, which is str"),
    bad(1, POINT.replace("keys.npy", "a.csv:none"), "a.csv has no column 'none'"),
    bad(2, POINT.replace("--probes probes.npy", "--probes 100"), "--probes 100 is not a supported column file"),
    bad(1, RANGE.replace("upper.npy", "one.npy"), "--lower lower.npy has 3 rows but --upper one.npy has 1; a range has one of each"),
    bad(1, f"{RANGE} --index hash", "kind 'hash' answers no range lookups"),
    bad(2, POINT.replace("keys.npy", "a.csv:k").replace("probes.npy", "a.csv:k") + " --baseline", r"--baseline has rivals for u32 and u64 without NULLs, and --keys a.csv:k is \w+ with NULLs"),
    bad(2, "bench join --keys values.npy --probes values.npy --asof backward --device cpu", "--asof is checked for integers, dates and times, and --keys values.npy is floats"),
    bad(2, "bench update --keys keys.npy", "unknown option --keys of bench update; bench update reads no files, it generates its keys: --count, "),
    ok(f"{OVERLAP} --format json", json={"runs.0.join": lambda text: text.startswith("2 rows of the result"), "runs.0.workload": lambda w: (
        w["keys_of"], w["right_end"], w["right_end_of"], w["probes"], w["left_end_of"]) == ("rlower.npy", 2, "rupper.npy", 3, "upper.npy") and "hit_rate" not in w}),
    ok(f"{OVERLAP} --counted", out="2 pairs counted"), ok(f"{OVERLAP} --chunk 8", out="2 pairs handed over in chunks"),
    bad(2, OVERLAP.replace("--right-end rupper.npy", ""), "both sides of a join of intervals have ends: --right-end COL is missing"),
    bad(2, OVERLAP.replace("--left-end upper.npy", ""), "both sides of a join of intervals have ends: --left-end COL is missing"),
    bad(2, f"{POINT} --left-end upper.npy", "--left-end is the end of intervals that are joined: bench join; leave it out"),
    bad(2, "bench join --right-end rupper.npy", "--right-end is a column, so --keys has to be one, too"),
    bad(1, OVERLAP.replace("--left-end upper.npy", "--left-end one.npy"), "--probes lower.npy has 3 rows but --left-end one.npy has 1; an interval has one of each"),
    bad(1, OVERLAP.replace("rupper.npy", "one.npy"), "--keys rlower.npy has 2 rows but --right-end one.npy has 1; an interval has one of each"),
    bad(2, f"{OVERLAP} --type left", "--left-end makes inner joins; leave out --type"), bad(2, f"{OVERLAP} --asof backward", "--left-end makes inner joins; leave out --asof"),
    bad(2, f"{OVERLAP} --sums", "makes no pairs; leave out --left-end and --right-end"), bad(2, f"{OVERLAP} --overlap 3", "--overlap goes with generated columns, but --keys reads them"),
    bad(2, f"{OVERLAP} --cover", "--cover goes with generated intervals, but --left-end reads them; leave it out"),
    bad(2, "bench join --keys values.npy --probes values.npy --left-end values.npy --right-end values.npy --device cpu", "--left-end is checked for integers, dates and times, and --keys values.npy is floats"),
    # Tables.
    ok(f"{SCAN} --column day=a.csv:day --column a.csv:price --index full --index bindex --checked 9 --format json", json={
        "runs": lambda runs: len(runs) == 2 and all(run["checked"].startswith("the bitmaps of 9 queries with the columns; they select ") for run in runs),
        "runs.0.workload": {"name": "columns", "rows": 4, "columns": [{"name": "day", "of": "a.csv:day", "type": "date32", "null": 0},
                                                                      {"name": "price", "of": "a.csv:price", "type": "f64", "null": 1}],
                            "selectivity": "random", "queries": 9, "conditions": 1, "seed": 42}}),
    ok(f"{SCAN} --column a.csv:name --column keys=a.csv:k --host --selectivity 50 --sweep queries=2,3", out=r"(?s)^table: 4 rows\n    name: str, as codes, of a.csv:name, 1 of them NULL\n    keys: i64 of a.csv:k, 1 of them NULL"
       r"\nqueries: a comparison of each column, each of selectivity 0.5; 2 calls.*queries=3"),
    *[ok(f"{SCAN} --column values.npy --column keys.npy --result {result} --selectivity {share}") for result in ("bitmap", "count", "rows", "sum") for share in (0, 100)],
    *[bad(2, f"{SCAN} --column keys.npy {option}", f"unknown option {option.split()[0]} of bench scan; it says how the table is generated, but --column reads it; leave one of the two out")
      for option in ("--rows 9", "--distribution zipf", "--width 64", "--zipf 1", "--sigma 4", "--ascending", "--predicates 2", "--append 3", "--delete 3", "--workload q6", "--scale 1")],
    bad(2, f"{SCAN} --column keys.npy --baseline", "--baseline adds up generated columns, but --column reads them; leave it out"),
    bad(2, f"{SCAN} --column keys.npy --index pivot", "--index pivot is a kind of index, which is compared with scans on generated columns only; give a kind that scans"),
    bad(2, f"{SCAN} --column keys.npy --sweep rows=1,2", "--sweep rows is not an option of the workload"),
    bad(2, f"{SCAN} --column keys.npy --column keys=ints.npy", "two columns are named 'keys'; give each a name of its own, as in NAME=ints.npy"),
    bad(2, f"{SCAN} --column =keys.npy", "--column is NAME=COL, as in day=orders.csv:day, or a COL, not '=keys.npy'"), bad(2, f"{SCAN} --column a=", "--column is NAME=COL"),
    bad(2, SCAN + "".join(f" --column a{i}=keys.npy" for i in range(9)), "--column may be given 8 times at most"),
    bad(1, f"{SCAN} --column keys.npy --column probes.npy", "--column keys.npy has 5 rows but --column probes.npy has 4; the columns of a table must have equally many rows"),
    bad(1, f"{SCAN} --column empty.npy", "--column empty.npy has no rows, so there is nothing to time"), bad(1, f"{SCAN} --column none.npy", "cannot open none.npy"),
    bad(1, f"{SCAN} --column nulls.csv:k:i64", "--column nulls.csv:k:i64 has no values but NULL and NaN, so there is nothing to compare; give another column"),
    bad(2, "bench scan --keys keys.npy", "unknown option --keys of bench scan; bench scan reads --column NAME=COL, or it generates its table: --rows"),
    bad(2, "bench point --column keys.npy", "unknown option --column of bench point; bench point, range, build and join read --keys COL"),
    ok("bench scan --help", out="(?s)--column NAME=COL.*--nulls"),
    ok("bench point --help", out="(?s)--keys COL.*--probes COL.*--lower COL.*--upper COL.*--nulls"),
]


def column(random_value, n, nulls):
    return [None if random.random() < nulls else random_value() for _ in range(n)]


def write(path, **columns):
    rows = zip(*columns.values())
    path.write_text("\n".join([",".join(columns), *(",".join("" if cell is None else str(cell) for cell in row) for row in rows)]) + "\n")


def pairs(left, right):
    """How often a value of the left side equals one of the right side, and how many of the left side have one that does."""
    there = {}
    for value in right:
        if value is not None:
            there[value] = there.get(value, 0) + 1
    return sum(there.get(value, 0) for value in left), sum(value in there for value in left)


def run(keyray, line, folder):
    done = subprocess.run([keyray, *line.split(), "--format", "json", "--repeat", "1"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (line, done.stderr)
    return json.loads(done.stdout)["runs"]


def joined(keyray, device, folder):
    """bench join on columns of files finds as many pairs as there are: numbers with and without a sign, floats, dates, texts, NULLs"""
    random.seed(11)
    makers = {"small": lambda: random.randrange(-90, 90), "wide": lambda: random.choice([-1, 1]) * random.randrange(2**40) // 2**33,
              "real": lambda: random.randrange(-50, 50) / 4, "day": lambda: f"2024-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}",
              "text": lambda: "n%d" % random.randrange(300)}
    right = {name: column(make, 700, 0.1) for name, make in makers.items()}
    left = {name: column(make, 500, 0.1) for name, make in makers.items()}
    write(folder / "right_side.csv", **right)
    write(folder / "left_side.csv", **left)
    for name, (join, inverse) in itertools.product(makers, itertools.product(("inner", "semi", "anti", "left"), ("on", "off"))):
        found, hits = pairs(left[name], right[name])
        wanted = {"inner": found, "semi": hits, "anti": 500 - hits, "left": found + 500 - hits}[join]
        line = f"bench join --keys right_side.csv:{name} --probes left_side.csv:{name} --type {join} --inverse {inverse} --device {device}"
        got = run(keyray, line, folder)[0]
        assert got["join"].startswith(f"{wanted} rows of the result"), (line, wanted, got["join"])
        assert (got["workload"]["keys_null"], got["workload"]["probes_null"]) == (right[name].count(None), left[name].count(None))
    for name, side in itertools.product(("small", "day"), ("backward", "forward", "nearest")):
        known, order = [value for value in right[name] if value is not None], {"backward": min, "forward": max}
        has = [value is not None and (side == "nearest" or (order[side](known) <= value if side == "backward" else order[side](known) >= value)) for value in left[name]]
        got = run(keyray, f"bench join --keys right_side.csv:{name} --probes left_side.csv:{name} --asof {side} --device {device}", folder)[0]
        assert got["join"].startswith(f"{sum(has)} rows of the result"), (name, side, sum(has), got["join"])


def every_type(keyray, device, folder):
    """bench point and range on columns of every type, -0, NaN and the ends of types among them, check the answers of every kind"""
    random.seed(12)
    ends = {"|u1": (0, 255), "|i1": (-128, 127), "<u2": (0, 2**16 - 1), "<i2": (-2**15, 2**15 - 1), "<u4": (0, 2**32 - 1), "<i4": (-2**31, 2**31 - 1),
            "<u8": (0, 2**64 - 1), "<i8": (-2**63, 2**63 - 1)}
    for dtype in [*ends, "<f4", "<f8"]:
        if dtype in ends:
            least, most = ends[dtype]
            values = [least, most] + [random.randrange(max(least, -300), min(most, 300)) for _ in range(400)]
        else:
            values = [0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf] + [random.randrange(-99, 99) / 8 for _ in range(400)]
        for name in ("column", "asked"):
            random.shuffle(values)
            (folder / f"{name}.npy").write_bytes(npy.dump(dtype, values))
        kinds = " ".join(f"--index {kind}" for kind in ("pivot", "hash", "btree", "best"))
        for result in ("row", "sum", "rows", "exists", "count"):
            runs = run(keyray, f"bench point --keys column.npy --probes asked.npy --result {result} {kinds} --device {device}", folder)
            assert all(r["checked"] == f"all {len(values)} rows and {len(values)} sampled answers with a sorted array" for r in runs), runs
            runs = run(keyray, f"bench range --keys column.npy --lower asked.npy --upper column.npy --result {result} --index pivot --index array "
                       f"--device {device}" if result != "row" else
                       f"bench build --keys column.npy {kinds} --device {device}", folder)
            assert all(f"{len(values)} sampled answers with a sorted array" in r["checked"] for r in runs), runs


def overlapped(keyray, device, folder):
    """bench join on columns of files finds as many overlapping intervals as there are: empty ones and NULLs among them"""
    random.seed(14)
    makers = {"number": lambda: random.randrange(-200, 200), "day": lambda: f"2024-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}"}
    for name, make in makers.items():
        sides = [(column(make, n, 0.1), column(make, n, 0.1)) for n in (300, 200)]
        for side, (starts, ends) in zip(("right_side", "left_side"), sides):
            write(folder / f"{side}.csv", start=starts, end=ends)
        right, left = ([(start, end) for start, end in zip(*side) if start is not None and end is not None and start <= end] for side in sides)
        pairs_wanted = sum(start <= end_there and start_there <= end for start, end in left for start_there, end_there in right)
        line = f"bench join --keys right_side.csv:start --right-end right_side.csv:end --probes left_side.csv:start --left-end left_side.csv:end --device {device}"
        assert run(keyray, line, folder)[0]["join"].startswith(f"{pairs_wanted} rows of the result")
        assert run(keyray, f"{line} --unordered --host", folder)[0]["join"].startswith(f"{pairs_wanted} rows of the result")
        assert run(keyray, f"{line} --counted", folder)[0]["join"] == f"{pairs_wanted} pairs counted"
        assert run(keyray, f"{line} --chunk 800", folder)[0]["join"] == f"{pairs_wanted} pairs handed over in chunks"


def scanned(keyray, device, folder):
    """bench scan on columns of files selects as many rows as compare so, of every type, with NULLs and NaNs"""
    random.seed(13)
    makers = {"small": lambda: random.randrange(-90, 90), "real": lambda: random.choice([random.randrange(-50, 50) / 4, math.nan, math.inf, -0.0]),
              "day": lambda: f"2024-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}", "byte": lambda: random.randrange(256)}
    table = {name: column(make, 900, 0.1) for name, make in makers.items()}
    write(folder / "table.csv", **table)
    for name, seed in itertools.product(makers, range(1, 6)):
        typed = f"table.csv:{name}:u8" if name == "byte" else f"table.csv:{name}:f64" if name == "real" else f"table.csv:{name}"
        got = run(keyray, f"bench scan --column {name}={typed} --queries 1 --index bindex --index full --value-seed {seed} --device {device}", folder)
        compare, constant = re.match(rf"{name} (<=?) '?([-\w.]+)'?:", got[0]["steps"][0]).groups()
        constant = constant if name == "day" else float(constant)
        rows = sum(value is not None and (value < constant or (compare == "<=" and value == constant)) for value in table[name])
        share = f"they select {100 * rows / 900:.4g}% of the rows"
        assert all(r["checked"].endswith(share) for r in got), (name, compare, constant, share, [r["checked"] for r in got])


SCRIPTS = [joined, every_type, overlapped, scanned]
