"""Cases of `keyray scan` and `keyray bench scan`."""
import re

from cases import bad, ok

SCAN = "scan --column a=keys.npy --column b=ints.npy --column v=values.npy {device} "
TEXT = "scan --column n=a.csv:name:str --column d=a.csv:day --column p=a.csv:price {device} "
BENCH_SCAN = "bench scan --rows 3000 --queries 5 --repeat 1 --device cpu "
CONDITION = "--where 'a < 8 and b > 0' "

ENDS = ("scan --column v=ends.csv:v --column u=ends.csv:u:u64 --column day=ends.csv:day {device} ")


def swept_once(runs):
    """A table of each spec serves all values, which come one after the other."""
    assert [run["swept"] for run in runs] == ["selectivity=10"] * 2 + ["selectivity=90"] * 2, runs
    assert [run["spec"].split(":")[0] for run in runs] == ["full", "bindex"] * 2, runs
    assert [run["build"] for run in runs[:2]] == [run["build"] for run in runs[2:]], runs
    return True


CASES = [
    ok(SCAN + CONDITION + "-o x.npy --format json",
       json={"spec": str, "device": str, "tracer": "none", "rows": 5, "columns": 3, "matches": 3, "steps": list,
             "footprint": int, "seconds.scan": float, "seconds.write": float},
       files={"x.npy": ("<u4", [0, 3, 4])}),
    ok(SCAN + CONDITION, out="^matches +3$"), ok(SCAN + CONDITION + "--quiet", out=r"\A\Z"),
    bad(1, "scan --column price=values.npy {device} --where 'prize > 1'", r"no column 'prize' at character 1 \(did you mean 'price'\?\); its columns: price"),
    bad(2, "scan --column price=values.npy {device} --sum prcie", r"no --column is named 'prcie' \(did you mean 'price'\?\)"),
    bad(2, "scan --column price=values.npy {device} --index rtscan:groups=prcie --count", r"no column 'prcie' \(did you mean 'price'\?\)"),
    ok("scan --column p_q=a.csv:price {device} --count", out=r"^copied columns +\d+$(.|\n)*^  p_q +1$"),  # a name of the user's has its '_'
    ok(SCAN, out="^matches +5$"), ok(SCAN + "--where ''", out="^matches +5$"),
    ok(SCAN + CONDITION + "--count -o x.npy", files={"x.npy": ("<u8", [3])}),
    ok(SCAN + CONDITION + "--bitmap -o x.npy", out="^matches +3$", files={"x.npy": ("<u4", [0b11001])}),
    ok(SCAN + CONDITION + "--sum v -o x.npy", out="^sum +4.5$", files={"x.npy": ("<f8", [4.5])}),
    ok(SCAN + CONDITION + "--sum b -o x.npy", out="^sum +100$", files={"x.npy": ("<i8", [100])}),
    ok(SCAN + "--sum a -o x.npy", out="^sum +27$", files={"x.npy": ("<u8", [27])}),
    ok(ENDS + "--where \"v > 5\" --sum v -o x.csv --format json", json={"sum": 18446744073709551614}, files={"x.csv": "sum\n18446744073709551614\n"}),
    ok(ENDS + "--sum u", out="^sum +36893488147419103242$"), ok(ENDS + "--where \"v < 0\" --sum v", out="^sum +-9223372036854775809$"),
    ok(ENDS + "--where \"v < -1\" --sum v -o x.npy", files={"x.npy": ("<i8", [-(1 << 63)])}),
    bad(1, ENDS + "--sum u -o x.npy", "the sum is 36893488147419103242, which uint64, the type of x.npy, cannot hold"),
    bad(1, ENDS + "--where \"v < 0\" --sum v -o x.npy", "the sum is -9223372036854775809, which int64"),
    bad(1, ENDS + "--sum day", "--sum day holds dates, which have no sum; min, max and count take them"),
    ok(SCAN + CONDITION + "--min b -o x.npy", out="^min +10$", files={"x.npy": ("<i4", [10])}),
    ok(SCAN + "--max v", out="^max +8$"), ok(SCAN + "--where false --max v --format json", json={"max": None}),
    ok(SCAN + "--where 'a < 0' -o x.npy", files={"x.npy": ("<u4", [])}),
    ok(SCAN + "--where 'a > 4' --alive one.npy", out="^matches +1$"),  # rows 0 and 1 are alive
    ok("scan --column a=empty.npy {device} --where 'a < 5'", out="^matches +0$"),
    ok(TEXT + "--where \"n > 'banana'\" -o x.npy", files={"x.npy": ("<u4", [0, 2])}),
    ok(TEXT + "--where \"n in ('pear', 'none') or n is null\" -o x.npy", files={"x.npy": ("<u4", [0, 3])}),
    ok(TEXT + "--where \"d >= date '2020-01-02' and not p is null\" -o x.npy", files={"x.npy": ("<u4", [2])}),
    ok("scan --column a.csv:name {device} --where \"name like '%p%' or name not like '_i%'\" --count --quiet", out=r"\A2\n\Z"),
    ok("scan --column a.csv:name {device} --where \"name like '!p%' escape '!' or name like '!%%' escape '!'\" --count --quiet",
       out=r"\A1\n\Z"),
    bad(1, "scan --column a.csv:name --where \"name like 'p' escape '!!'\" --count", "ESCAPE of LIKE at character 22 takes one character"),
    ok("scan --column n=a.csv:name:str --column d=a.csv:day:str {device} --where \"n > d and d < 'fig'\" -o x.npy",
       files={"x.npy": ("<u4", [0, 1, 2])}),
    ok(TEXT + "--where 'not (p < 2)' -o x.npy", files={"x.npy": ("<u4", [2, 3])}),
    ok(SCAN + "--index full:logic=branching " + CONDITION, out="^spec +full:logic=branching$"),
    ok(SCAN + "--index full:narrow=on " + CONDITION + "--count", out=r"(?s)^count +3$.*, 2 of them in narrow copies$"),
    ok(SCAN + "--index full:narrow=off " + CONDITION + "--count", out=r"(?s)^count +3$(?!.*narrow copies)"),
    bad(2, SCAN + "--index full:narrow=yes " + CONDITION, "narrow"),
    bad(2, SCAN + "--where 'a <'", r"--where: the condition, character 4, its end: expected a value"),
    bad(2, SCAN + "--where '(a < 5'", r"character 1, at \"\(a < 5\": this parenthesis is not closed"),
    bad(1, SCAN + "--where 'zz < 5'", r"no column 'zz' at character 1; its columns: a, b, v"),
    bad(1, SCAN + "--where \"a < 'x'\"", "column 'a' is u32, but it is compared with the text 'x' at character 5; give an integer"),
    bad(1, SCAN + "--where 'a < 2.5'", "with a number with decimals at character 5; give an integer"),
    bad(1, "scan --column n=a.csv:name:str --column k=a.csv:k:u32 {device} --where 'n = k'", "'n' and 'k' at character 1 are text and u32; only columns of one type can be compared"),
    bad(1, TEXT + "--where 'n = 5'", "column 'n' is text, but it is compared with an integer at character 5"),
    bad(1, TEXT + "--where \"d in ('2020-01-02', '1970-02-30')\"", "'1970-02-30' at character 21, which does not exist"),
    ok(SCAN + "--where 'v < 1e400 and v > -1e400'", out="^matches +5$"), ok(SCAN + "--where 'v = 1e400'", out="^matches +0$"),
    bad(1, TEXT + "--where 'n = pear'", r"no column 'pear' at character 5; put texts in single quotes: 'pear'; its columns: n, d, p"),
    bad(1, TEXT + "--where 'p > 1 and n = pear'", r"no column 'pear' at character 15; put texts"), ok(TEXT + "--where \"p > 1 and n = 'pear'\" --count", out=r"\Acount +1$"),
    bad(1, TEXT + "--where 'p > 1 and n = \"pear\"'", r"no column 'pear' at character 15; put texts in single quotes: 'pear'"),
    bad(2, TEXT + "--where 'n in (pear)'", r"character 7, at \"pear\)\": expected a value; put texts in single quotes: 'pear'"),
    bad(2, TEXT + "--where 'p > 1 and d > 2020-01-01'", r"character 15, at .*: put dates and times in single quotes: '2020-01-01'"),
    bad(1, TEXT + "--where \"p = 1 and p = '5'\"", "the text '5' at character 15; give a number without quotes"),
    bad(1, SCAN + "--where 'a = 2.5'", r"give an integer\nExample"),  # and no word on types of files
    bad(1, "scan --column n=a.csv:name:str --column k=a.csv:k:u32 {device} --where 'n = k'", "columns 'n' and 'k' at character 1 are text and u32"),
    bad(1, SCAN + "--where 'a < b'", "only columns of one type can be compared; read them as a=keys.npy:i64 and b=ints.npy:i64"),
    bad(2, "scan {device}", r"--column \[NAME=\]COL,... is missing"),
    bad(2, "scan --column a=keys.npy --column a=ints.npy {device}", "two columns are named 'a'"),
    bad(1, "scan --column a=keys.npy --column b=probes.npy {device}", "the columns of a table must have equally many rows"),
    bad(2, SCAN + "--count --bitmap", "give one of them"), bad(2, SCAN + "--sum zz", "no --column is named 'zz'"),
    bad(1, TEXT + "--sum n", "--column a.csv:name:str is text: --sum, --min and --max do not take"), bad(1, SCAN + "--alive keys.npy", "is not a bitmap of 5 rows"),
    ok(SCAN, out="^reason +faster than reading every row"), ok(SCAN + "--index full", out="^reason +named in the spec$"),
    bad(2, SCAN + "--index best:updates=on", "--index best takes no options here"),
    bad(2, SCAN + "--index frob", "unknown kind 'frob'"), bad(1, SCAN + "--index array", "makes an index of one column"),
    bad(1, "lookup --keys keys.npy --probes probes.npy --index full {device}", "makes no index of one column"),
    ok("kinds full", out="^    can: scan$"), ok("scan --help", out=r"keyray help columns\s+lists"),
    ok(BENCH_SCAN + "--format json", json={"operation": "scan", "result": "bitmap", "runs.0.workload.rows": 3000,
                                          "runs.0.seconds.median": float, "runs.0.enqueued.median": float,
                                          "runs.0.checked": lambda text: "the bitmaps of 4 queries" in text}),
    *[ok(BENCH_SCAN + f"--distribution {name} --selectivity 30 --result {result}", out="checked: the bitmaps of 4")
      for name, result in (("uniform", "count"), ("distinct", "rows"), ("zipf", "sum"), ("normal", "bitmap"),
                           ("small", "count"))],
    ok(BENCH_SCAN + "--conditions 70 --predicates 4 --width 64 --host --index full", out="full: 64 conditions, 64 lanes, 4 columns"),
    ok(BENCH_SCAN + "--index full --sweep logic=and,branching", out=r"(?s)logic=and.*logic=branching"),
    ok(BENCH_SCAN + "--sweep selectivity=10,90 --index full --index bindex --format json", json={"runs": swept_once}),
    ok(BENCH_SCAN + "--sweep selectivity=10,90 --ascending", out=r"(?s)selectivity=10.*selectivity=90"),
    *[ok(BENCH_SCAN + f"--append 700 --delete 200 --predicates 2 --index {spec} --format json",
         json={"runs.0.appends.rows": 700, "runs.0.appends.of_build": float, "runs.0.appends.first": float,
               "runs.0.appends.seconds.median": float, "runs.0.appends.phases": lambda phases: "copy" in phases,
               "runs.0.deletes.rows": 200, "runs.0.deletes.phases": lambda phases: "delete" in phases,
               "runs.0.builds.rows": 3000, "runs.0.builds.first": float, "runs.0.checked": lambda text: "of 4 queries" in text})
      for spec in ("full", "bindex")],
    ok(BENCH_SCAN + "--sweep append=0,5,3000", out=r"(?s)append=0\n +checked.*append=5\n +build of 3000 rows.*\n +append of 5 rows"
       r".*append=3000.*append of 3000 rows.*of the build"),
    ok(BENCH_SCAN + "--delete 3000 --result rows", out="(?s)delete of 3000 rows.*they select 0%"),
    bad(2, BENCH_SCAN + "--delete 3001", "--delete 3001, but the table has 3000 rows"),
    bad(2, BENCH_SCAN + "--append 4294964295", "make 4294967295 rows"), bad(2, "bench loads --append 5", "unknown option --append of bench loads"),
    *[ok(BENCH_SCAN + f"--index {spec} --checked 6 {more}",
         out="(?s)the bitmaps of 5 queries .*3 lookups of one range each, row ids as bits, merged by AND")
      for spec in ("btree", "array:layout=aos") for more in ("", "--host", "--width 64", "--distribution zipf", "--selectivity 100")],
    {**ok(BENCH_SCAN + "--distribution distinct --index rx:mode=extended,range=anyhit --selectivity 50 --format json",
          json={"runs.0.spec": lambda spec: spec.startswith("rx:"), "runs.0.work.rays": 3, "runs.0.work.hits": lambda n: n >= 4500}),
     "needs": "rx"},
    # Zipf's least rank is 1: a ray that ends there would meet all its rows.
    {**ok(BENCH_SCAN + "--distribution zipf --zipf 1.5 --index rx:preset=paper --selectivity 0 --format json",
          json={"runs.0.work.rays": 0, "runs.0.checked": lambda text: "select 0% of the rows" in text}), "needs": "rx"},
    ok(BENCH_SCAN + "--baseline --format json", json={"runs.0.sum_of_columns.median": float}),
    ok(BENCH_SCAN + "--baseline --width 64 --host", out="adding up the columns takes .* of the median"),
    *[ok(f"bench scan --device cpu --workload {name} --scale 0.01 --queries 30 --checked 30 --repeat 1 --index full --index {kind}",
         out="(?s)" + re.escape(text) + ".*(the bitmaps of 30 queries.*){2}")
      for name, text in (("q3", "o_orderdate < date '1995-03-15' and c_mktsegment = 'BUILDING'"),
                         ("q6", "l_discount between 5 and 7 and l_quantity < 24"),
                         ("q17", "p_brand = 'Brand#23' and p_container = 'MED BOX' and l_quantity < 6")) for kind in ("bindex", "btree")],
    ok("bench scan --device cpu --scale 0.01 --repeat 1 --sweep workload=q3,q17 --format json",
       json={"runs.1.workload.name": "q17", "runs.1.workload.scale": 0.01, "runs.1.workload.first_condition": str}),
    bad(2, BENCH_SCAN + "--workload q6", "--scale sets its size"), bad(2, BENCH_SCAN + "--scale 2", "give --workload q3, q6 or q17, too"),
    bad(2, BENCH_SCAN + "--index btree --result count", "btree answers with bitmaps here; leave --result out"),
    bad(2, BENCH_SCAN + "--index hash", "hash answers no ranges"),
    ok(BENCH_SCAN + "--index bindex --format json", json={"runs.0.steps": lambda steps: len(steps) == 3}),
    ok(BENCH_SCAN + "--index bindex", out=r"(?s)c2 <=? \d+: vectors.*c1 <=? \d+: vectors.*c0 <=? \d+: vectors"),
    ok(BENCH_SCAN + "--index bindex --conditions 8", out=r"and \d+ more steps"),
    bad(2, BENCH_SCAN + "--predicates 9", "1 to 8"), bad(2, BENCH_SCAN + "--count 5", "unknown option --count of bench scan"),
]
