"""The table. Each case runs in a folder of its own that holds the fixtures.

run: the command line ({device} is replaced); before: command lines that make files for it; exit: 0 unless given; out, err: a regular expression;
json: paths into the report; files: what must be there besides the fixtures, nothing else may: name to
(dtype, values), (dtype, shape, values) or None; needs: a spec without which the case is skipped;
without: an error that says that this build lacks what the case is about, which is then skipped.
"""
import re

import npy

NO = 0xFFFFFFFF
KEYS = [5, 3, 9, 3, 7]
PROBES = [3, 4, 9, 5]


def write_fixtures(folder):
    columns = {
        "keys": ("<u4", KEYS), "probes": ("<u4", PROBES), "lower": ("<u4", [3, 10, 8]), "upper": ("<u4", [5, 4, 9]),
        "right": ("<u4", [3, 7, 3]), "rlower": ("<u4", [3, 8]), "rupper": ("<u4", [5, 9]),
        "values": ("<f8", [0.5, 1.5, 2.5, -4.0, 8.0]), "ints": ("<i4", [10, -20, 30, 40, 50]), "empty": ("<u4", []),
        "one": ("<u4", [3]), "equal": ("<u4", [3] * 6), "wide": ("<u8", KEYS), "days": ("<M8[D]", [0, 18262, 18263]),
        "many": ("<u4", list(range(20000))),
    }
    for name, (dtype, values) in columns.items():
        (folder / f"{name}.npy").write_bytes(npy.dump(dtype, values))
    bad = {
        "truncated": npy.dump("<u4", KEYS)[:-3], "lying": npy.dump("<u4", KEYS, (500,)),
        "huge": npy.dump("<u4", KEYS, (1 << 63,)), "big_endian": npy.dump(">u4", KEYS),
        "matrix": npy.dump("<u4", [1, 2, 3, 4], (2, 2)), "text": b"these are not numbers at all, just bytes",
        "nothing": b"", "header": b"\x93NUMPY\x01\x00\xff\xff{'descr'",
    }
    for name, data in bad.items():
        (folder / f"{name}.npy").write_bytes(data)
    texts = {
        "a.csv": "k,day,name,price\n1,2020-01-01,pear,1.5\n2,2020-01-03,apple,\n1,2020-01-02,fig,2.5\n,2020-01-01,,4\n",
        "b.csv": "k,day,name\n2,2020-01-01,fig\n1,2020-01-02,grape\n1,2020-01-01,pear\n",
        "nulls.csv": "k,x\n,1\n,2\n", "fields.csv": "a,b\n1,2\n3\n", "range.csv": "a\n1\n300\n", "words.csv": "a\n1\nx\n",
        "t.tbl": "1|10|x|\n2|20|y|\n1|30|z|\n",
        "c.csv": "x,y\n1,100\n1,200\n2,100\n,100\n", "d.csv": "x,y\n1,200\n2,100\n2,200\n2,\n",
        "ends.csv": "v,u,n,day,at\n-9223372036854775808,0,1,2024-01-01,2024-01-01 10:00:00\n9223372036854775807,18446744073709551615,,,\n"
                    "-1,7,3,,\n9223372036854775807,18446744073709551615,4,,\n5,5,5,,\n",
        "spread.csv": "x,y\n-9223372036854775808,0\n9223372036854775807,5\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "folder.npy").mkdir()
    (folder / "raw.bin").write_bytes(bytes([3, 0, 0, 0, 9, 0, 0, 0]))
    (folder / "odd.bin").write_bytes(bytes(7))


def ok(run, **wanted):
    return {"run": run, **wanted}


def bad(code, run, err):
    return {"run": run, "exit": code, "err": err}


REPORT = {"spec": lambda s: "probes=" in s, "device": str, "tracer": str, "keys": 5, "probes": 4, "found": 3,
          "footprint": int, "peak": int, "seconds.load": float,
          "seconds.build": float, "seconds.lookup": float}

LOOKUP = "lookup --keys keys.npy --probes probes.npy {device} "
RANGE = "range --keys keys.npy --lower lower.npy --upper upper.npy {device} "
JOIN = "join --left keys.npy --right right.npy {device} "

GENERAL = [
    ok("--help", out="Usage: keyray COMMAND"), ok("help", out="lookup"), ok("help columns", out=r"\ACOL names"), ok("help answers", out=r"\AAnswers"),
    ok("help join", out=r"\AUsage: keyray join"), bad(2, "help colums", r"no help on 'colums' \(did you mean columns\?\); keyray --help lists"), ok("--version", out=r"^keyray \d+\.\d+\.\d+ \("),
    bad(2, "", r"Usage(.|\n)*\nExample:\n  keyray lookup .*\n$"), bad(2, "frobnicate", r"unknown command 'frobnicate'; keyray --help .*\nExample: keyray lookup"),
    bad(2, "--frob", "unknown command"), bad(2, "lokup", r"unknown command 'lokup' \(did you mean lookup\?\)"),
    bad(2, "--hlep", r"did you mean --help\?"), bad(2, "scna", r"did you mean scan\?"),
    *[ok(f"{name} --help", out=r"^Example:\n  keyray " + name) for name in
      ("info", "kinds", "explain", "advise", "gen", "lookup", "range", "update", "join", "scan", "index", "bench", "report")],
    # An option is written whole.
    *[bad(2, f"bench update --{name} x.npy", rf"unknown option --{name} of bench update; bench update reads no files, it generates its keys: --count, .*--stride say how; "
          "the report of keyray update has the times of a file\n") for name in ("keys", "lower", "insert")],
    *[bad(2, f"bench {line} x.npy", rf"unknown option --{name} of bench .*; bench point, range, build and join read --keys COL, and --probes COL, or --lower COL and --upper COL")
      for line, name in (("point --probe", "probe"), ("build --values", "values"), ("range --keys keys.npy --left", "left"))],
    bad(2, "bench --keys x.npy", "must come first, not '--keys'; bench point, range, build and join read --keys COL"), bad(2, "bench --keys=x.npy", "build and join read --keys COL"),
    bad(2, "bench join --sums --unordered", "--sums adds up rows with equal keys, and makes no pairs; leave out --unordered"),
    ok("bench join --count 300 --probes 200 --sums --inverse on --repeat 1 {device}", out="200 sampled sums with a sorted array(.|\\n)*left side indexed"),
    bad(2, "bench join --left=x.npy", "unknown option --left=x.npy of bench join; bench join reads --keys COL, right, and --probes COL, left; the report of keyray join"),
    bad(2, "bench scan --where x.npy", "bench scan reads --column NAME=COL, or it generates its table: --rows"), bad(2, "bench loads --keys x.npy", "generates its array: --entries says"),
    bad(2, "bench point --key x.npy", r"unknown option --key of bench point \(did you mean --"), bad(2, "bench poimt --keys x.npy", r"did you mean point\?"),
    *[bad(2, f"{line} {option}", "unknown option " + re.escape(option.partition(" ")[0]) + f" of {line};? ?")
      for line, option in (("info", "--form json"), ("kinds", "--quie"), ("explain point", "--key=keys.npy"), ("gen keys", "--coun 5"),
                           ("lookup", "--prob keys.npy"), ("range", "--low=5"), ("update", "--del 5"), ("join", "--lef keys.npy"), ("scan", "--colum a=keys.npy"),
                           ("bench point", "--cou 5"), ("lookup", "--hel"), ("lookup", "--ma"), ("lookup", "--quie=1"), ("lookup", "--key"))],
    ok("lookup --quiet -h", out="^Usage: keyray lookup"),
    bad(2, "lookup --frob", r"unknown option --frob of lookup \(did you mean --probe\?\);"), bad(2, "lookup -z", "unknown option -z of lookup;"),
    bad(2, "lookup --keys=a.npy --porbes b.npy", r"unknown option --porbes of lookup \(did you mean --probes\?\); .*\nExample: keyray lookup .*--probes "),
    bad(2, "range --uper=x.npy", r"unknown option --uper=x.npy of range \(did you mean --upper\?\); .*\nExample: keyray range "),
    bad(2, LOOKUP + "--result cuont", r"row\|.*, not 'cuont' \(did you mean count\?\)"), bad(2, "gen kyes", r"not 'kyes' \(did you mean keys\?\)\nExample: keyray gen keys"),
    bad(2, "gen ranges --hit 5", r"\nExample: keyray gen ranges "), bad(2, "bench build --baselin=1", r"\nExample: keyray bench build "),
    bad(2, LOOKUP + "--index aray", r"unknown kind 'aray' \(did you mean array\?\); known"),
    bad(2, LOOKUP + "--index array:layuot=aos", r"no option 'layuot' \(did you mean layout\?\); its options"),
    bad(2, LOOKUP + "--index array:layout=aso", r"soa\|aos, not 'aso' \(did you mean aos\?\)"), bad(2, "kinds arary", r"did you mean array\?"),
    bad(1, "lookup --keys a.csv:pric --probes values.npy {device}", r"no column 'pric' \(did you mean 'price'\?\); its header has"),
    bad(1, "lookup --keys a.csv:quantity --probes values.npy {device}", r"no column 'quantity'; its header has: k, day, name, price\nExample: keyray lookup "),
    bad(2, "lookup --keys", "--keys needs a value"), bad(2, "lookup", "--keys COL is missing"),
    bad(2, "lookup --quiet=1", "takes no value"), bad(2, LOOKUP + "extra", "unexpected 'extra'"),
    bad(2, LOOKUP + "--keys keys.npy", "--keys is given twice"), bad(2, LOOKUP + "--format xml", "text|json"),
    bad(2, LOOKUP + "--threads many", "--threads is a number"), bad(2, LOOKUP + "--threads 99999", "0 to 1024, not"),
    bad(2, LOOKUP + "--result most", "--result is one of row"), bad(2, LOOKUP + "-o out.txt", r"ending in \.npy"),
    bad(2, LOOKUP + "--index frob", "unknown kind 'frob'; known kinds: .*array"),
    bad(2, LOOKUP + "--index array:frob=1", "no option 'frob'; its options: .*layout"),
    bad(2, LOOKUP + "--index array:layout=frob", "soa|aos"), bad(2, LOOKUP + "--index best:k=3", "best has no option .k.; its options"),
    *[bad(2, run, "a[?]b") for run in ("'a\nb'", "lookup '--a\nb'", LOOKUP + "--index 'a\nb'", LOOKUP + "--result 'a\nb'")],
    ok("info", out="^keyray "), ok("info", out="^  rt cores +(yes|none|not known)"),
    ok("info --format json", json={"devices.0.name": "cpu", "commit": str}),
    bad(2, "info extra", "unexpected 'extra'"),
    ok("kinds", out="layout=soa"), ok("kinds array", out=r"^array: (.|\n)*^    can: point range nearest update$"),
    bad(2, "kinds frob", "unknown kind 'frob'"),
    bad(2, "kinds array:k=2", "is a spec"), bad(2, "kinds best", "stands for pivot"),
    ok("kinds --format json", json={"kinds.0.name": "array", "kinds.0.options.0.default": str}),
    ok("explain point --keys keys.npy {device}", out="^spec +(array|pivot|dense)$"),
    ok("explain point --keys keys.npy --index array:k=2,layout=aos {device}", out="^spec +array:layout=aos$"),
    ok("explain point --keys keys.npy --index best:updates=on {device} --format json", json={
        "reason": lambda text: text != "named in the spec", "spec": lambda s: s.partition(":")[0] != "best"}),
    ok("explain point --keys keys.npy {device}", out=r"^reason .*; 5 keys from -?[0-9]+ to -?[0-9]+, 1 in [0-9.]+ values"),
    ok("explain build --keys keys.npy --index pivot {device}", out="^reason +named in the spec$"),
    ok("explain join --keys keys.npy --device cpu", out="^indexed +(left|right)$(.|\\n)*on a CPU, keyray merges two sides that both ascend"),
    bad(2, "explain point --keys keys.npy --index best:updates=maybe", r"option 'updates' is one of off\|on, not 'maybe'"),
    bad(2, "explain point --keys keys.npy --index best:k=3", "best has no option 'k'; its options: updates, ranges, lookups, batch, hits; for an option of a kind, name"),
    bad(2, "explain point --keys keys.npy --index best:hits=110", "option 'hits' is a number from 0 to 100, not '110'"),
    ok("explain point --keys keys.npy --index best:ranges=off,lookups=1 --device cpu", out="^spec +pivot$(.|\\n)*few lookups before the next build"),
    ok("explain point --keys keys.npy --index best:ranges=off,lookups=1000 --device cpu", out="^spec +dense$(.|\\n)*as fast as a hash table or faster"),
    ok("explain point --keys keys.npy --index best:ranges=off {device}", out="^spec +(hash$(.|\\n)*for points alone|dense$)"),
    ok("explain point --keys keys.npy --all {device}", out="^spec +(array|pivot|dense):.*,probes=auto$"),
    ok("explain range --keys keys.npy --probes 2^20 {device} --format json",
       json={"operation": "range", "probes": 1 << 20, "keys": 5, "reason": str, "memory_accesses_per_probe": (int, float),
             "tracer": "none", "rays_per_probe": 0}),
    bad(2, "explain frob --keys keys.npy", "point|range|build|join"), bad(2, "explain", "is missing"),
    bad(2, "explain point --keys keys.npy --index frob", "unknown kind"),
]

LOOKUPS = [
    ok(LOOKUP + "--format json -o x.npy", json={**REPORT, "seconds.write": float},
       files={"x.npy": ("<u4", [1, NO, 2, 0])}),
    ok(LOOKUP, out="^found +3$"), ok(LOOKUP + "--quiet", out=r"\A\Z"),
    ok(LOOKUP + "--quiet --format json", json={"found": 3}),
    ok(LOOKUP + "--result count -o x.npy --format json", json={"matches": 4, "found": 3},
       files={"x.npy": ("<u8", [2, 0, 1, 1])}),
    ok(LOOKUP + "--result sum-rows -o x.npy --format json", json={"found": 3}, files={"x.npy": ("<u8", [4, 0, 2, 0])}),
    ok(LOOKUP + "--result exists -o x.npy", files={"x.npy": ("|u1", [1, 0, 1, 1])}),
    ok(LOOKUP + "--result rows -o x.npy", files={"x.offsets.npy": ("<u8", [0, 2, 2, 3, 4]),
                                                 "x.rows.npy": ("<u4", [1, 3, 2, 0])}),
    ok(LOOKUP + "--result rows --format json", json={"matches": 4}),
    ok(LOOKUP + "--result sum --values values.npy -o x.npy", files={"x.npy": ("<f8", [-2.5, 0, 2.5, 0.5])}),
    ok(LOOKUP + "--result sum --values ints.npy -o x.npy", files={"x.npy": ("<i8", [20, 0, 30, 10])}),
    ok(LOOKUP + "--result sum --values keys.npy -o x.npy", files={"x.npy": ("<u8", [6, 0, 9, 5])}),
    ok(LOOKUP + "--result min --values ints.npy -o x.npy --format json", json={"found": 3},
       files={"x.npy": None, "x.valid.npy": ("|u1", [1, 0, 1, 1])}),
    ok("lookup --keys keys.npy --probes right.npy {device} --result max --values ints.npy -o x.npy",
       files={"x.npy": ("<i4", [40, 50, 40]), "x.valid.npy": ("|u1", [1, 1, 1])}),
    ok(LOOKUP + "--index array:layout=aos,probes=sorted -o x.npy", files={"x.npy": ("<u4", [1, NO, 2, 0])}),
    # Sums of integers have 128 bits; a file of numpy's has 64.
    ok(LOOKUP + "--result count,sum --values ends.csv:v -o x.csv",
       files={"x.csv": "probe,count,sum\n3,2,18446744073709551614\n4,0,\n9,1,-1\n5,1,-9223372036854775808\n"}),
    ok(LOOKUP + "--result sum --values ends.csv:u:u64 --values ends.csv:v --values ends.csv:n -o x.csv",
       files={"x.csv": "probe,sum_u,sum_v,sum_n\n3,36893488147419103230,18446744073709551614,4\n4,,,\n9,7,-1,3\n5,0,-9223372036854775808,1\n"}),
    ok("range --keys keys.npy --lower 5,6 --upper 9,3 {device} --result sum --values ends.csv:v -o x.npy", files={"x.npy": ("<i8", [-(1 << 63) + 4, 0])}),
    bad(1, LOOKUP + "--result sum --values ends.csv:v -o x.npy",
        "the sum of probe 0 is 18446744073709551614, which int64, the type of x.npy, cannot hold: write text, as with -o OUT.csv"),
    bad(1, LOOKUP + "--result sum --values ends.csv:u:u64 -o x.npy", "is 36893488147419103230, which uint64, the type of x.npy, cannot hold"),
    bad(1, LOOKUP + "--result sum --values ends.csv:day", "--values ends.csv:day holds dates, which have no sum; min, max and count take them"),
    bad(1, LOOKUP + "--result count,sum --values ends.csv:at", "--values ends.csv:at holds times, which have no sum; min, max and count"),
    ok(LOOKUP + "--result min,max --values ends.csv:at -o x.csv", files={"x.csv": None}),
    bad(2, LOOKUP + "--result sum", "need --values"), bad(2, LOOKUP + "--values ints.npy", "needs --result"),
    bad(1, LOOKUP + "--result sum --values one.npy", "--values one.npy has 1; give one value per key"),
    bad(1, LOOKUP + "--result sum --values a.csv:name:str", "is text"),
    ok("lookup --keys a.csv:k --probes b.csv:k {device} -o x.npy", files={"x.npy": ("<u4", [1, 0, 0])}),
    ok("lookup --keys t.tbl:0:u32 --probes raw.bin:u32 {device} -o x.npy", files={"x.npy": ("<u4", [NO, NO])}),
    ok("lookup --keys a.csv:name:str --probes b.csv:name:str {device} -o x.npy",
       files={"x.npy": ("<u4", [2, NO, 0])}),
    ok("lookup --keys a.csv:day --probes b.csv:day {device} --result count -o x.npy",
       files={"x.npy": ("<u8", [2, 1, 2])}),
    ok("lookup --keys a.csv:day --probes days.npy {device} --result exists -o x.npy",
       files={"x.npy": ("|u1", [0, 1, 1])}),
    ok("lookup --keys a.csv:price --probes values.npy {device} -o x.npy", files={"x.npy": ("<u4", [NO, 0, 2, NO, NO])}),
]

RANGES = [
    ok(RANGE + "--format json", json={"found": 2, "probes": 3}),
    ok(RANGE + "--result count -o x.npy", files={"x.npy": ("<u8", [3, 0, 1])}),
    ok(RANGE + "-o x.npy", files={"x.npy": ("<u4", [0, NO, 2])}),
    ok(RANGE + "--result rows -o x.npy", files={"x.offsets.npy": ("<u8", [0, 3, 3, 4]),
                                                "x.rows.npy": ("<u4", [0, 1, 3, 2])}),
    ok(RANGE + "--result rows --row-order key -o x.npy", files={"x.offsets.npy": ("<u8", [0, 3, 3, 4]),
                                                                "x.rows.npy": ("<u4", [1, 3, 0, 2])}),
    bad(1, "range --keys keys.npy --lower lower.npy --upper probes.npy {device}",
        "--lower lower.npy has 3 rows but --upper probes.npy has 4"),
    bad(1, "range --keys keys.npy --lower lower.npy --upper days.npy {device}",
        "--upper days.npy is date32, which does not compare with keys.npy, which is u32"),
    bad(2, "range --keys keys.npy --lower lower.npy", r"--upper COL\|VALUES is missing"),
    # "g" to "pz" holds pear only; "fig" to "b" is empty.
    ok("range --keys a.csv:name:str --lower b.csv:name:str --upper b.csv:name:str {device} --result count -o x.npy",
       files={"x.npy": ("<u8", [1, 0, 1])}),
]

JOINS = [
    ok(JOIN + "-o x.npy --format json", json={"pairs": 5, "indexed": "right", "left": 5, "right": 3, "keys": 3,
                                              "probes": 5, "tracer": str, "seconds.join": float},
       files={"x.npy": ("<u4", (5, 2), [1, 0, 1, 2, 3, 0, 3, 2, 4, 1])}),
    ok(JOIN + "--inverse on -o x.npy --format json", json={"indexed": "left", "keys": 5, "probes": 3},
       files={"x.npy": ("<u4", (5, 2), [1, 0, 1, 2, 3, 0, 3, 2, 4, 1])}),
    ok(JOIN + "--inverse on --unordered --format json", json={"pairs": 5}),
    ok(JOIN + "--type semi -o x.npy", out="^rows +3$", files={"x.npy": ("<u4", [1, 3, 4])}),
    ok(JOIN + "--type anti -o x.npy", files={"x.npy": ("<u4", [0, 2])}),
    ok(JOIN + "--type left -o x.npy",
       files={"x.npy": ("<u4", (7, 2), [0, NO, 1, 0, 1, 2, 2, NO, 3, 0, 3, 2, 4, 1])}),
    ok("join --left keys.npy --right empty.npy {device} -o x.npy", files={"x.npy": ("<u4", (0, 2), [])}),
    ok("join --left a.csv:k --right b.csv:k --type anti {device} -o x.npy", files={"x.npy": ("<u4", [3])}),
    ok("join --left a.csv:name:str --right b.csv:name:str {device} -o x.npy",
       files={"x.npy": ("<u4", (2, 2), [0, 2, 2, 0])}),
    ok("join --left keys.npy --right-lower rlower.npy --right-upper rupper.npy {device} -o x.npy",
       files={"x.npy": ("<u4", (4, 2), [0, 0, 1, 0, 2, 1, 3, 0])}),
    ok("join --left c.csv:x --left c.csv:y --right d.csv:x --right d.csv:y {device} -o x.npy",
       files={"x.npy": ("<u4", (2, 2), [1, 0, 2, 1])}),
    ok("join --left c.csv:x --left c.csv:y --right d.csv:x --right d.csv:y --type anti {device} -o x.npy",
       files={"x.npy": ("<u4", [0, 3])}),
    ok("join --left a.csv:name:str --left a.csv:day --right b.csv:name:str --right b.csv:day {device} -o x.npy",
       files={"x.npy": ("<u4", (1, 2), [0, 2])}),
    # Together they take more than 64 bits.
    ok("join --left spread.csv:x --left spread.csv:y --right spread.csv:x --right spread.csv:y {device} -o x.npy",
       files={"x.npy": ("<u4", (2, 2), [0, 0, 1, 1])}),
    ok("join --left spread.csv:y --left spread.csv:x --right spread.csv:x --right spread.csv:y --type anti {device} -o x.npy",
       files={"x.npy": ("<u4", [0, 1])}),
    bad(1, "join" + " --left keys.npy" * 9 + " --right keys.npy" * 9 + " {device}", "9 columns, but a join takes 1 to 8"),
    bad(1, "join --left keys.npy --left one.npy --right right.npy --right right.npy {device}", "the columns of a composite key must be of one table"),
    ok("join --left keys.npy --right wide.npy {device}", out="^pairs +7$"),
    bad(1, "join --left keys.npy --right days.npy {device}", "--right days.npy is date32, which does not compare"),
    bad(2, "join --left keys.npy {device}", "--right COL is missing"),
    bad(2, "join --left keys.npy --left keys.npy --right right.npy", "as many of each"),
    bad(2, JOIN + "--right-lower rlower.npy", "belong together"), bad(2, JOIN + "--type outer", "inner|semi|anti|left|right|full"),
    ok("join --left keys.npy --right-lower rlower.npy --right-upper rupper.npy --inverse off {device}", out="indexed +right"),
    bad(1, "join --left keys.npy --right-lower rlower.npy --right-upper rupper.npy --inverse off --index rx {device}", "nearest keys"),
]

GENERATED = [
    ok("gen keys --count 4 --order ascending -o g.npy", files={"g.npy": ("<u4", [0, 1, 2, 3])}),
    ok("gen keys --count 3 --order ascending --bits 64 --stride 10 -o g.npy", files={"g.npy": ("<u8", [0, 10, 20])}),
    ok("gen keys --count 4 --order ascending --multiplicity 2 -o g.npy", files={"g.npy": ("<u4", [0, 0, 1, 1])}),
    ok("gen keys --count 0 -o g.npy", files={"g.npy": ("<u4", [])}),
    ok("gen probes --keys one.npy --count 3 -o g.npy --format json", json={"count": 3, "type": "u32"},
       files={"g.npy": ("<u4", [3, 3, 3])}),
    ok("gen probes --keys one.npy --count 3 --order half -o g.npy", files={"g.npy": ("<u4", [3, 3, 3])}),
    ok("gen ranges --help", out=r"^  --order random\|ascending\|descending\|half$"),
    bad(2, "gen keys --count 4 --order half -o g.npy", r"random\|ascending, not"),
    ok("gen probes --keys keys.npy --count 3 --hit-rate 0 --zipf 1.25 -o g.npy", files={"g.npy": None}),
    ok("gen ranges --keys one.npy --count 2 --hits 4 --multiplier 2 -o g.npy",
       files={"g.lower.npy": ("<u4", [3, 3]), "g.upper.npy": ("<u4", [10, 10])}),
    bad(2, "gen", "keys|probes|ranges is missing"), bad(2, "gen frob", "not 'frob'"),
    bad(2, "gen keys -o g.npy", "--count N is missing"), bad(2, "gen keys --count 4", "--output OUT.npy is missing"),
    bad(2, "gen keys --count 4 --hit-rate 3 -o g.npy", "unknown option --hit-rate of gen keys;"),
    bad(2, "gen keys --count 10 --multiplicity 3 -o g.npy", "no multiple of the --multiplicity 3"),
    bad(2, "gen keys --count -4 -o g.npy", "--count is a number"), bad(2, "gen keys --count 4.5 -o g.npy", "not '4.5'"),
    bad(2, "gen keys --count 99999999999999999999 -o g.npy", "--count is a number"),
    bad(2, "gen keys --count 4 --uniformity 101 -o g.npy", "0 to 100"),
    bad(2, "gen keys --count 4 --order descending -o g.npy", r"random\|ascending, not"),
    ok("gen keys --help", out=r"^  --order random\|ascending$"), ok("gen ranges --help", out="Example:\n  keyray gen ranges"),
    ok("gen keys --count 3 --seed 0 -o g.npy", files={"g.npy": None}),
    bad(2, "gen probes --keys keys.npy --count 4 --zipf 1.234 -o g.npy", "two decimals"),
    bad(2, "gen keys --count 3G --stride 100 -o g.npy", "lower --stride or --count"),
    bad(1, "gen probes --keys empty.npy --count 1 -o g.npy", "--keys empty.npy is empty"),
    bad(1, "gen probes --keys equal.npy --count 1 --hit-rate 0 -o g.npy", "--hit-rate: .* ask for --outside"),
    bad(1, "gen probes --keys values.npy --count 1 -o g.npy", "--keys values.npy is f64"),
]

BENCH = "--count 1000 --repeat 2 --device cpu "
BENCHES = [
    ok(f"bench point {BENCH} --probes 500", out=r"checked: all 500 rows with the generator, 500 sampled"),
    ok(f"bench point {BENCH} --probes 500 --multiplicity 4 --uniformity 50 --zipf 1.5 --bits 64 --result count",
       out=r"checked: 500 sampled"),
    ok(f"bench point {BENCH} --probes 777 --format json --batches 3 --hit-rate 50 --outside --result exists --host",
       json={"operation": "point", "result": "exists", "runs.0.checked": lambda s: s.startswith("all 777 answers"),
             "runs.0.seconds.minimum": float, "runs.0.seconds.median": float, "runs.0.seconds.maximum": float,
             "runs.0.inside.copies": lambda s: "host" in s, "runs.0.inside.probe_sort": str, "driver": str,
             "runs.0.inside.value_gather": "none", "runs.0.footprint": int, "runs.0.peak": int, "commit": str,
             "runs.0.per_second": (int, float), "runs.0.per_second_per_byte": (int, float),
             "runs.0.spec": lambda s: s.startswith(("array:", "pivot:", "dense:")), "runs.0.workload.batches": 3}),
    ok(f"bench point {BENCH} --probes 100 --index array --index array:layout=aos --presorted-keys --presorted-probes "
       "--format json", json={"runs": lambda runs: len(runs) == 2, "runs.1.spec": lambda s: "aos" in s,
                              "runs.0.workload.order": "ascending"}),
    ok(f"bench point {BENCH} --probes 501 --order half --uniformity 50 --hit-rate 60 --format json",
       json={"runs.0.checked": lambda s: s.startswith("all 501 rows"), "runs.0.workload.order": "half"}),
    ok(f"bench point {BENCH} --probes 100 --sweep hit-rate=0,100 --outside --format json",
       json={"runs.0.swept": "hit-rate=0", "runs.1.workload.hit_rate": 100}),
    ok(f"bench point {BENCH} --probes 100 --sweep layout=soa,aos --index array --json b.json", out="layout=aos",
       files={"b.json": None}),
    ok(f"bench range {BENCH} --probes 100 --hits 8 --multiplier 2 --result sum", out="value gather: one u32"),
    ok(f"bench range {BENCH} --probes 100 --hits 8 --format json",
       json={"result": "sum-rows", "runs.0.workload.hits": 8}),
    ok(f"bench range {BENCH} --probes 100 --hits 8 --result row", out="100 sampled"),
    ok(f"bench point {BENCH} --probes 40 --phases 7 --format json", json={"repeat": 2, "phase_runs": 7}),
    ok(f"bench point {BENCH} --probes 40 --format json", json={"phase_runs": 2}), bad(2, f"bench build {BENCH} --phases 2", "unknown option --phases of bench build;"),
    ok(f"bench point {BENCH} --probes 0", out="checked: all 0 rows"), ok(f"bench range {BENCH} --probes 0", out="checked: 0 sampled"),
    ok(f"bench point {BENCH} --probes 1 --calls 50 --prepared", out=r"was prepared once\n +50 calls back to back; times are those of one"),
    ok(f"bench range {BENCH} --probes 10 --hits 8 --result sum --calls 7 --prepared --format json",
       json={"calls": 7, "prepared": True, "runs.0.enqueued.median": (int, float)}),
    ok(f"bench point {BENCH} --probes 100 --result rows --prepared", out="checked: all 100 answers"),
    ok(f"bench point {BENCH} --sweep probes=50,100 --in-turn --index array --index hash --baseline", out="of each index in turn"),
    ok(f"bench range {BENCH} --probes 10 --hits 8 --in-turn --prepared --index array --index btree --format json",
       json={"in_turn": True, "runs.1.spec": lambda spec: spec.startswith("btree"), "runs.1.seconds.median": (int, float)}),
    bad(2, f"bench build {BENCH} --in-turn", "unknown option --in-turn of bench build;"),
    bad(2, f"bench point {BENCH} --probes 100 --prepared --batches 2", "leave out --batches"),
    bad(2, f"bench build {BENCH} --calls 5", "unknown option --calls of bench build;"),
    ok(f"bench build {BENCH} --bits 64", out="M pairs/s"),
    ok(f"bench build {BENCH} --scaling --format json", json={"runs.0.scaling.ratio": (int, float)}),
    ok("bench point --keys-log2 8 --probes-log2 7 --repeat 1 {device}", out="keys: 256 u32"),
    bad(2, "bench", "is missing"), bad(2, f"bench point {BENCH} --index frob", "unknown kind"),
    ok(f"bench point {BENCH} --probes 500 --seed 0 --index array:probes=sorted", out=r"probes: sorted\n +untimed runs:.* sort [0-9.]+ ms"),
    ok(f"bench range {BENCH} --probes 500 --hits 3 --index array:probes=partitioned",
       out=r"probes: partitioned\n +untimed runs:.* partition [0-9.]+ ms.* back [0-9.]+ ms"),
    bad(2, f"bench point {BENCH} --keys-log2 5", "--count and --keys-log2"),
    bad(2, "bench point --probes 5 --probes-log2 5", "--probes and --probes-log2"),
    bad(2, "bench point --order random --presorted-probes", "--order and --presorted-probes"),
    bad(2, f"bench build {BENCH} --probes 5", "unknown option --probes of bench build;"),
    bad(2, f"bench point {BENCH} --sweep frob=1", "not an option of the workload"),
    bad(2, f"bench point {BENCH} --sweep frob=1 --index array", "no option 'frob'"),
    bad(2, f"bench point {BENCH} --sweep count", "OPT=A,B,C"), bad(2, f"bench point {BENCH} --sweep count=5,", "empty"),
    bad(2, f"bench point {BENCH} --sweep count=x", "not 'x'"), bad(2, f"bench point {BENCH} --result lists", "not 'lists'"),
    ok(f"bench point {BENCH} --probes 500 --result rows", out=r"untimed runs:.* offsets [0-9.]+ ms.* rows [0-9.]+ ms"),
    ok(f"bench range {BENCH} --probes 500 --hits 3 --result rows-by-key", out=r"checked: 500 sampled answers"),
    bad(2, f"bench range {BENCH} --baseline", "--baseline compares point lookups and builds"),
    bad(2, f"bench point {BENCH} --probes 10 --multiplicity 2 --result sum --baseline", "maps hold one row per key; give --result row"),
    bad(1, f"bench point {BENCH} --json no/b.json", "--json no/b.json: there is no folder no; make it"),
]

WITH = "lookup --probes probes.npy {device} --keys "
BAD_INPUT = [
    # Columns with no row, one row, or one value are not errors.
    ok(WITH + "empty.npy --format json", json={"keys": 0, "found": 0}),
    ok("lookup --keys keys.npy --probes empty.npy {device} -o x.npy", files={"x.npy": ("<u4", [])}),
    ok("lookup --keys keys.npy --probes empty.npy {device} --result rows -o x.npy",
       files={"x.offsets.npy": ("<u8", [0]), "x.rows.npy": ("<u4", [])}),
    ok(WITH + "one.npy -o x.npy", files={"x.npy": ("<u4", [0, NO, NO, NO])}),
    ok(WITH + "equal.npy --result count -o x.npy", files={"x.npy": ("<u8", [6, 0, 0, 0])}),
    ok("lookup --keys nulls.csv:k:u32 --probes probes.npy {device} --format json", json={"keys": 0, "found": 0}),
    ok("lookup --keys nulls.csv:x:u32 --probes nulls.csv:k:u32 {device} -o x.npy", files={"x.npy": ("<u4", [NO, NO])}),
    # Files.
    bad(1, WITH + "missing.npy", "cannot open missing.npy: No such file"),
    bad(1, WITH + "folder.npy", "it is a directory"), bad(2, WITH + ".", "is not a supported column file"),
    bad(1, WITH + "truncated.npy", "17 bytes follow"), bad(1, WITH + "lying.npy", "500 elements"),
    bad(1, WITH + "huge.npy", "9223372036854775808 elements"), ok(WITH + "big_endian.npy", out="^found +3$"),
    bad(1, WITH + "matrix.npy", r"shape \(2, 2\)"), bad(1, WITH + "text.npy", "not a .npy file"),
    bad(1, WITH + "nothing.npy", "not a .npy file"), bad(1, WITH + "header.npy", "header"),
    ok(WITH + "keys.npy:u32", out="^found +3$"), bad(2, WITH + "keys.npy:u33", "takes only a type after it, not 'u33'"),
    bad(1, WITH + "fields.csv:a", r"fields\.csv:3: .*1 fields?, the header has 2"),
    bad(1, WITH + "range.csv:a:u8", r"range\.csv:3: column 'a': '300' is out of range for u8"),
    bad(1, WITH + "words.csv:a", r"words\.csv:3: column 'a': 'x'"), bad(1, WITH + "a.csv:frob", "no column 'frob'"),
    bad(2, WITH + "a.csv", "needs a column"), bad(2, WITH + "a.csv:k:frob", "'frob' is not a type; types are u8 "), bad(1, WITH + "t.tbl:9", "no column 9"),
    bad(1, WITH + "odd.bin:u32", "7"), bad(2, WITH + "raw.bin", "needs a type"),
    # Types.
    ok(WITH + "a.csv:k", out="^type +i64$"), ok(WITH + "wide.npy", out="^type +u64$"),
    bad(1, WITH + "a.csv:name:str", "--probes probes.npy is u32, which does not compare with a.csv:name:str, which is str"),
    # Devices and memory.
    bad(2, LOOKUP.replace("{device}", "--device gpu"), "not 'gpu'"),
    bad(1, LOOKUP.replace("{device}", "--device cuda:999999"), "use --device cpu or auto"),
    bad(1, "lookup --keys many.npy --probes many.npy {device} --memory-cap 1K", "--memory-cap is 1024"),
    # Places that cannot be written.
    bad(1, LOOKUP + "-o no/x.npy", "-o no/x.npy: there is no folder no; make it, or give another name"), bad(1, LOOKUP + "-o folder.npy", "directory"),
    bad(1, LOOKUP + "-o keys.npy/x.npy", "-o keys.npy/x.npy: keys.npy is no folder that can be read; give another name"),
]

CASES = GENERAL + LOOKUPS + RANGES + JOINS + GENERATED + BENCHES + BAD_INPUT
