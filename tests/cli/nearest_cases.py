"""Cases of nearest keys, limits, as-of joins and joins of intervals."""
import json
import shlex
import subprocess

from cases import BENCH, LOOKUP, NO, bad, ok

NEAREST = [
    ok(LOOKUP + "--nearest below --format json -o x.npy", json={"found": 4}, files={"x.npy": ("<u4", [3, 3, 2, 0])}),
    ok(LOOKUP + "--nearest below --strict --format json -o x.npy", json={"found": 3}, files={"x.npy": ("<u4", [NO, 3, 4, 3])}),
    ok(LOOKUP + "--nearest above --strict --tolerance 1 --format json -o x.npy", json={"found": 1},
       files={"x.npy": ("<u4", [NO, 0, NO, NO])}),
    ok(LOOKUP + "--nearest either --result sum --values values.npy --index btree --format json -o x.npy",
       json={"found": 4}, files={"x.npy": ("<f8", [-4.0, -4.0, 2.5, 0.5])}),
    ok("lookup --keys days.npy --probes days.npy --nearest below --strict --tolerance 1 {device} -o x.npy",
       files={"x.npy": ("<u4", [NO, NO, 1])}),
    *[ok(f"lookup --keys a.csv:name --probe pear,banana,aaa,zebra --nearest {words} -o x.npy {{device}}", files={"x.npy": ("<u4", rows)})
      for words, rows in [("below", [0, 1, NO, 0]), ("below --strict", [2, 1, NO, 0]), ("above", [0, 2, 1, NO]), ("above --strict", [NO, 2, 1, NO])]],
    bad(2, LOOKUP + "--nearest most", r"--nearest is one of no\|below\|above\|either"),
    bad(2, LOOKUP + "--strict", "--strict needs --nearest"), bad(2, LOOKUP + "--tolerance 3", "--tolerance needs --nearest"),
    bad(2, LOOKUP + "--nearest below --tolerance 1.5", "--tolerance 1.5 is not a whole number, and keys.npy is u32"),
    bad(2, LOOKUP + "--nearest below --tolerance 9223372036854775808", "--tolerance 9223372036854775808 is more than any distance .*; leave it out"),
    *[bad(2, f"{LOOKUP} --nearest below --tolerance{between}-1", "--tolerance -1: a tolerance is not negative; give 1\n") for between in "= "],
    bad(2, LOOKUP + "--nearest below --tolerance -99999999999999999999", "--tolerance -9+: a tolerance is not negative"), bad(2, LOOKUP + "--nearest below --tolerance -x", "--tolerance -x is not a whole number"),
    bad(2, LOOKUP + "--nearest below --tolerance --1", "--tolerance --1 is not a whole number"), ok(LOOKUP + "--nearest below --tolerance -0 --format json", json={"found": 3}),
    bad(2, "lookup --keys values.npy --probe 1 --nearest below {device} --tolerance -1.5", "--tolerance -1.5: a tolerance is not negative; give 1.5\n"),
    bad(2, "lookup --keys values.npy --probe 1 --nearest below {device} --tolerance nan", "--tolerance nan is not a number, and values.npy is f64"),
    bad(1, LOOKUP + "--nearest below --tolerance 4294967296", "no two values of type u32 are more than 4294967295 apart"),
    bad(1, LOOKUP + "--nearest below --index hash", "kind 'hash' finds no nearest keys; .*: array, "),
    bad(1, "lookup --keys a.csv:name:str --probes b.csv:name:str --nearest either {device}", "is text: --tolerance and --nearest either need"),
]

# Quotes at 10:00:00, 10:00:05.500, 10:04:00, and at noon of the next day; each trade is a while after one of them.
TRADES = "join --left trades.csv:time --right quotes.csv:time --asof backward --type left {device} --no-rows --show-right bid -o -.csv --tolerance "


def bids(tolerance, *found):
    def check(text):
        lines = text.splitlines()
        got = [line.split(",")[1] for line in lines[1:]]
        assert lines[0] == "time,bid" and got == [str(bid) for bid in found], text
    return ok(TRADES + tolerance, out=check)


DURATIONS = [
    *[bids(text, *found) for text, found in (("4500ms", (1, 2, 3, "")), ("4499ms", (1, "", 3, "")), ("5s", (1, 2, 3, "")), ("4.5s", (1, 2, 3, "")),
                                             ("4.499999s", (1, "", 3, "")), ("0s", (1, "", "", "")), ("1min", (1, 2, 3, "")), ("12h", (1, 2, 3, 4)), ("0.5d", (1, 2, 3, 4)),
                                             ("11.9h", (1, 2, 3, "")), ("1000000us", (1, "", 3, "")), ("999999999ns", (1, "", "", "")), ("1000000", (1, "", 3, "")),
                                             ("999999", (1, "", "", "")), ("106751d", (1, 2, 3, 4)))],
    *[ok(f"lookup --keys days.npy --probe 2020-01-04 --nearest below --tolerance {text} {{device}} -o x.npy", files={"x.npy": ("<u4", [row])})
      for text, row in (("2d", 2), ("1", NO), ("2", 2), ("47h", NO), ("48h", 2), ("1.9d", NO))],
    ok("lookup --keys t_s.npy --probe '2024-01-01 10:00:01' --nearest below --tolerance 1999ms {device} -o x.npy", files={"x.npy": ("<u4", [0])}),
    ok("lookup --keys t_s.npy --probe '2024-01-01 10:00:01' --nearest below --tolerance 999ms {device} -o x.npy", files={"x.npy": ("<u4", [NO])}),
    bad(2, TRADES + "5sec", "--tolerance 5sec is not a duration; give one in ns, us, ms, s, min, h or d, .* or a whole number of us, which trades.csv:time counts in"),
    bad(2, TRADES + "s", "--tolerance s is not a duration"), bad(2, TRADES + "1.5", "not a duration"), bad(2, TRADES + "-x", "--tolerance -x is not a duration"),
    *[bad(2, TRADES + text, rf"--tolerance {text}: a tolerance is not negative; give {text[1:]}\n") for text in ("-5s", "-1.5h", "-5", "-0.5d", "-200000000d")], bids("-0s", 1, "", "", ""),
    bad(2, TRADES + "1.s", "not a duration"), bad(2, TRADES + "200000000d", "--tolerance 200000000d is more than any distance"),
    bad(2, "lookup --keys days.npy --probe 2020-01-04 --nearest below --tolerance x {device}", "or a whole number of days, which days.npy counts in"),
    bad(2, LOOKUP + "--nearest below --tolerance 5s", "--tolerance 5s is not a whole number, and keys.npy is u32"),
    bad(2, "lookup --keys values.npy --probe 1 --nearest below --tolerance 5s {device}", "--tolerance 5s is not a number, and values.npy is f64"),
    bad(2, "lookup --keys seconds.csv:x:timestamp64 --probe 5 --nearest below --tolerance 5s {device}", r"the unit of the timestamps of seconds.csv:x:timestamp64 is not known"),
    *[ok(f"{command} --help", out=r"(?s)--tolerance N +ignore matches farther than N: .*5s.*days\s+for\s+dates,\s+us\s+for\s+times") for command in ("lookup", "join")],
]

ASOF = "join --left keys.npy --right right.npy {device} --asof backward "
GROUPED = "join --left c.csv:y --right d.csv:y --left-by c.csv:x --right-by d.csv:x {device} --asof "
# keys 5 3 9 3 7; right 3 7 3. c: (1,100) (1,200) (2,100) (,100); d: (1,200) (2,100) (2,200) (2,).
JOINS = [
    ok(ASOF + "-o x.npy", files={"x.npy": ("<u4", (5, 2), [0, 2, 1, 2, 2, 1, 3, 2, 4, 1])}),
    ok(ASOF + "--count --quiet", out=r"\A5\n\Z"), ok(ASOF + "--strict --count", out=r"\Acount +3\nspec (.|\n)*^footprint "),
    ok(ASOF + "--strict --type anti --count -o -.csv", out=r"\Acount\n2\n\Z"), ok(ASOF + "--strict --count --type left --format json", json={"count": 5, "spec": str}),
    ok(ASOF + "--strict --type left --limit 2 -o x.npy", out="^pairs +5$", files={"x.npy": ("<u4", (2, 2), [0, 2, 1, NO])}),
    ok(GROUPED + "backward --limit 1 -o -.csv", out=r"\Ay,left_row,right_row\n200,1,0\n\Z"), ok(GROUPED + "backward --count --quiet", out=r"\A2\n\Z"),
    bad(2, ASOF + "--count --limit 2", "--limit is about rows; leave --count out"), bad(1, ASOF + "--count --type full", "as-of"),
    ok(ASOF + "--strict --type left -o x.npy", files={"x.npy": ("<u4", (5, 2), [0, 2, 1, NO, 2, 1, 3, NO, 4, 2])}),
    ok(ASOF + "--tolerance 1 --type anti --index btree -o x.npy", files={"x.npy": ("<u4", [0, 2])}),
    ok("join --left keys.npy --right right.npy {device} --asof forward --type semi -o x.npy",
       files={"x.npy": ("<u4", [0, 1, 3, 4])}),
    ok("join --left many.npy --right many.npy {device} --asof nearest --strict --format json",
       json={"indexed": lambda side: side in ("none", "right"), "pairs": 20000}),
    ok(GROUPED + "backward --type left -o x.npy", files={"x.npy": ("<u4", (4, 2), [0, NO, 1, 0, 2, 1, 3, NO])}),
    ok(GROUPED + "forward -o x.npy", files={"x.npy": ("<u4", (3, 2), [0, 0, 1, 0, 2, 1])}),
    ok(GROUPED + "nearest --tolerance 99 -o x.npy", files={"x.npy": ("<u4", (2, 2), [1, 0, 2, 1])}),
    ok("join --left a.csv:day --right b.csv:day --left-by a.csv:name:str --right-by b.csv:name:str {device} "
       "--asof forward -o x.npy", files={"x.npy": ("<u4", (1, 2), [0, 2])}),
    bad(2, "join --left keys.npy --right right.npy {device} --left-by keys.npy", "need --asof"),
    bad(2, "join --left keys.npy --right right.npy {device} --strict", "--strict needs --asof"),
    bad(2, ASOF + "--left keys.npy --right right.npy", "--asof takes one --left and one --right"),
    bad(2, ASOF + "--left-by keys.npy", "1 --left-by columns but 0 --right-by"),
    bad(2, ASOF + "--tolerance x", "--tolerance x is not a whole number, and keys.npy is u32"),
    bad(2, ASOF + "--tolerance -1", "--tolerance -1: a tolerance is not negative; give 1\n"), bad(1, ASOF + "--index hash", "finds no nearest keys"),
    bad(1, ASOF + "--inverse on", "an as-of join always indexes its right side: leave --inverse at auto"),
    bad(1, ASOF + "--left-by one.npy --right-by one.npy", "give one group for each left row"),
    bad(1, "join --left a.csv:name:str --right b.csv:name:str {device} --asof backward", "is text: --asof"),
]

RANGE_ROWS = "range --keys keys.npy --lower lower.npy --upper upper.npy {device} --result rows -o x.npy "
# keys 5 3 9 3 7; ranges 3 to 5, 10 to 4, 8 to 9.
LIMITS = [
    ok(RANGE_ROWS + "--limit 2", files={"x.offsets.npy": ("<u8", [0, 2, 2, 3]), "x.rows.npy": ("<u4", [0, 1, 2])}),
    ok(RANGE_ROWS + "--limit 2 --row-order key", files={"x.offsets.npy": ("<u8", [0, 2, 2, 3]), "x.rows.npy": ("<u4", [1, 3, 2])}),
    ok(LOOKUP + "--result rows --limit 1 --index hash -o x.npy",
       files={"x.offsets.npy": ("<u8", [0, 1, 1, 2, 3]), "x.rows.npy": ("<u4", [1, 2, 0])}),
    ok(LOOKUP + "--result rows --limit 2^40 --format json", json={"matches": 4}),
    bad(2, LOOKUP + "--limit 2", "--limit needs --result rows"), bad(2, LOOKUP + "--result rows --limit 0", "--limit is a number from 1"),
]
BENCHES = [
    ok(f"bench join {BENCH} --probes 3000 --asof {side} --bits 64 --stride {stride} --groups {groups} --hit-rate 40 "
       f"--type {kind} --format json",
       json={"runs.0.workload.asof": side, "runs.0.workload.groups": groups, "runs.0.per_second": (int, float),
             "runs.0.checked": lambda text: "in one group and in order" in text})
    for side, stride, groups, kind in (("backward", 4096, 10, "inner"), ("forward", 1 << 50, 1 << 20, "left"),
                                       ("nearest", 1 << 52, 7, "left"), ("nearest", 16, 300, "anti"))
] + [
    ok(f"bench join {BENCH} --probes 3000 --asof backward --uniformity 100 --presorted-keys --presorted-probes",
       out="as-of backward inner join(.|\n)*, none side indexed"),
    ok(f"bench join {BENCH} --probes 3000 --uniformity 100 --presorted-keys --presorted-probes",
       out="inner join(.|\n)*, none side indexed"),
    ok(f"bench join {BENCH} --probes 3000 --uniformity 100 --presorted-keys --presorted-probes --inverse off",
       out="inner join(.|\n)*, right side indexed"),
    bad(2, f"bench join {BENCH} --groups 5", "--groups needs --asof"),
    ok(f"bench join {BENCH} --probes 700 --overlap 5 --uniformity 100", out="overlap inner join(.|\n)*rows of the join overlap"),
    ok(f"bench join {BENCH} --probes 700 --overlap 5 --uniformity 100 --cover --unordered --bits 64 --format json",
       json={"runs.0.workload.overlap": 5, "runs.0.workload.cover": True, "runs.0.per_second_per_byte": float}),
    ok(f"bench join {BENCH} --probes 700 --overlap 50 --counted", out="pairs counted"),
    ok(f"bench join {BENCH} --probes 700 --overlap 50 --cover --chunk 1000", out="pairs handed over in chunks"),
    ok(f"bench join {BENCH} --probes 700 --overlap 3 --points --uniformity 100 --inverse off", out="right side indexed"),
    ok(f"bench join {BENCH} --probes 700 --overlap 3 --points --uniformity 100 --inverse on --cover", out="left side indexed"),
    bad(2, f"bench join {BENCH} --points", "--points needs --overlap"), bad(2, f"bench join {BENCH} --streamed --type semi", "leave out --type"),
    bad(2, f"bench join {BENCH} --chunk 5000", "--chunk needs --overlap"), bad(2, f"bench join {BENCH} --overlap 5 --type left", "leave out --type"),
    bad(2, f"bench join {BENCH} --overlap 5 --counted --chunk 100", "give one of them"),
]
OVERLAP = "join --left lower.npy --left-end upper.npy --right right.npy --right-end lower.npy {device} --overlap "
# left [3,5] (10 to 4: empty) [8,9]; right [3,3] [7,10] (3 to 8)
INTERVALS = [
    ok(OVERLAP + "closed -o x.npy", files={"x.npy": ("<u4", (4, 2), [0, 0, 0, 2, 2, 1, 2, 2])}),
    ok(OVERLAP + "open -o x.npy", files={"x.npy": ("<u4", (2, 2), [0, 2, 2, 1])}),
    ok(OVERLAP + "open --type left -o x.npy", files={"x.npy": ("<u4", (3, 2), [0, 2, 1, NO, 2, 1])}),
    ok(OVERLAP + "closed --type anti -o x.npy", files={"x.npy": ("<u4", [1])}),
    ok(OVERLAP + "closed --count --format json", json={"count": 4}),
    ok("join --left a.csv:day --left-end a.csv:day --right b.csv:day --right-end b.csv:day {device} --overlap closed --unordered "
       "--format json", json={"pairs": 5, "indexed": "both"}),
    bad(2, OVERLAP + "half", r"no\|closed\|open"), bad(2, OVERLAP + "closed --asof backward", "and no --asof"),
    bad(2, "join --left keys.npy --right right.npy {device} --left-end keys.npy", "--left-end needs --overlap"),
    bad(2, "join --left keys.npy --right right.npy {device} --overlap open", "--overlap needs --left-end COL"),
    ok(OVERLAP + "closed --count -o x.npy", out=r"\Acount +4$", files={"x.npy": ("<u8", [4])}), ok(OVERLAP + "open --type left --count", out=r"\Acount +3\nspec "),
    ok(OVERLAP + "closed --limit 3 -o x.npy", out="^pairs +4$", files={"x.npy": ("<u4", (3, 2), [0, 0, 0, 2, 2, 1])}),
    ok(OVERLAP + "open --unordered --limit 1 -o -.csv", out=r"\A.*\n(3,0,2|8,2,1)\n\Z"),
    bad(1, "join --left keys.npy --left-end one.npy --right right.npy --right-end right.npy {device} --overlap closed", "each interval needs one start and one end"),
    bad(1, OVERLAP + "closed --index hash", "answers no range lookups"), bad(1, OVERLAP + "closed --inverse on", "indexes both sides"),
    bad(1, "join --left a.csv:name:str --left-end a.csv:name:str --right b.csv:name:str --right-end b.csv:name:str {device} "
           "--overlap open", "is text: --overlap"),
]

# As GROUPED: y is a point, and lies within itself; rows 1 and 0, and 2 and 1, are equal in x, too.
BY = "--left-by c.csv:x --right-by d.csv:x {device} "
WITHIN = [f"join --left c.csv:y {right} {BY}" for right in ("--left-end c.csv:y --right d.csv:y --right-end d.csv:y --overlap closed", "--right-lower d.csv:y --right-upper d.csv:y")]
EQUAL = [
    *[case for form in WITHIN for case in (
        ok(form + "-o x.npy", files={"x.npy": ("<u4", (2, 2), [1, 0, 2, 1])}), ok(form + "--count --quiet", out=r"\A2\n\Z"),
        ok(form + "--type left -o x.npy", files={"x.npy": ("<u4", (4, 2), [0, NO, 1, 0, 2, 1, 3, NO])}), ok(form + "--type semi -o x.npy", files={"x.npy": ("<u4", [1, 2])}),
        ok(form + "--type anti --index btree --format json -o x.npy", files={"x.npy": ("<u4", [0, 3])}), ok(form + "--unordered --limit 1 -o -.csv", out=r"\A.*\n(200,.*1,0|100,.*2,1)\n\Z"),
        bad(1, form.replace("d.csv:x", "one.npy"), "give one group for each right row"), bad(2, form.replace("--right-by d.csv:x", ""), "1 --left-by columns but 0 --right-by"),
        bad(1, form + "--index hash", "answers no range lookups"))],
    ok(WITHIN[1] + "--type full -o x.npy", files={"x.npy": ("<u4", (6, 2), [0, NO, 1, 0, 2, 1, 3, NO, NO, 2, NO, 3])}),
    ok(WITHIN[1] + "--inverse on --format json", json={"indexed": "left", "pairs": 2}),
    *[ok(f"join --left a.csv:day {right} --left-by name:str --right-by name:str {{device}} -o x.npy", files={"x.npy": ("<u4", (1, 2), [0, 2])})
      for right in ("--left-end a.csv:day --right b.csv:day --right-end b.csv:day --overlap closed", "--right-lower b.csv:day --right-upper b.csv:day")],
    ok("join --help", out=r"with --asof, --overlap and --right-lower: left columns that must be equal,\s+too"),
]

COLUMNS = "join --left c.csv:x --left c.csv:y --right d.csv:x --right d.csv:y {device} "
FORMS = [*WITHIN, "join --left keys.npy --right right.npy {device} ", "join --left keys.npy --right-lower rlower.npy --right-upper rupper.npy {device} ", COLUMNS,
         *[OVERLAP + ends + " " for ends in ("closed", "open")], *[form + side + " " for form in (ASOF.replace("backward ", ""), GROUPED) for side in ("backward", "forward", "nearest")]]


def every_form(keyray, device, folder):
    """Every join: --count is how many lines it writes, --limit leaves the first of them"""
    def run(line):
        done = subprocess.run([keyray, *shlex.split(line.replace("{device}", f"--device {device}"))], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    counts = set()
    for form in FORMS:
        for kind in ("inner", "left", "right", "full", "semi", "anti"):
            line = f"{form} --type {kind} "
            code, text, errors = run(line + "-o -.csv")
            if code:
                assert kind in ("right", "full") and ("--asof" in form or "--overlap" in form), f"{line}: {errors}"
                assert run(line + "--count") == run(line + "--limit 1") == (code, "", errors), line
                continue
            lines = text.splitlines(keepends=True)
            n = len(lines) - 1
            assert run(line + "--count --quiet") == (0, f"{n}\n", ""), f"{line}: not {n}"
            code, report, errors = run(line + "--limit 2 -o x.csv --format json")
            assert code == 0 and json.loads(report).get("pairs", json.loads(report).get("rows")) == n, f"{line}: {report}{errors}"
            assert (folder / "x.csv").read_text() == "".join(lines[:3]), line
            assert run(line + f"--limit {n + 1} -o -.csv") == (0, text, ""), line
            counts.add((kind, n))
    assert len(counts) > 12, f"these joins hardly differ: {counts}"


SCRIPTS = [every_form]
CASES = NEAREST + DURATIONS + JOINS + LIMITS + BENCHES + INTERVALS + EQUAL
