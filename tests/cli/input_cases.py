"""Files as people have them: what the command reads, what compares with what, and every error of these."""
import gzip
import subprocess

import npy
from cases import NO, bad, ok

DAY = 86400
JAN = 19723 * DAY  # 2024-01-01 in seconds
NAT = -(1 << 63)


def write_fixtures(folder):
    """Beside those of cases.py."""
    times = ("t;v;name\r\n2024-01-01 10:00:00;1;pear\r\n2024-01-05T12:30+02:00;2;NULL\r\n2024-01-31 00:00:00;3;NA\r\n"
             "2024-01-31T00:00:01Z;4;\"NA\"\r\n;5;\"a;b\"\r\n\r\n\r\n")
    texts = {
        "times.csv": times, "months.csv": "first,last\n2024-01-01,2024-01-31\n2024-02-01,2024-02-29\n",
        "dates.csv": "d\n2024-01-01\n2024-01-05\n", "index.csv": ",x\n0,5\n1,6\n2,5\n",
        "tabs.tsv": "a,b\tc\n5\t1\n6\t2\n", "tabs.csv": "a\tc\n5\t1\n6\t2\n", "numbers.csv": "2020,0,n\n5,6,7\n",
        "noheader.csv": "5,2024-01-01\n6,2024-01-02\n", "fraction.csv": "x\n5\n6.5\n", "large.csv": "x\n5\n300\n-1\n",
        "seconds.csv": f"x\n{JAN + 36000}\n", "mixed.csv": f"x\n2024-01-01 00:00:00\n{JAN}\n", "fine.csv": "x\n2024-01-01 00:00:00.123456789\n",
        "quotes.csv": "time,symbol,bid\n2024-01-01 10:00:00,a,1\n2024-01-01 10:00:05.500,b,2\n2024-01-01 10:04:00,a,3\n2024-01-02 12:00:00,b,4\n",
        "trades.csv": "time,symbol,size\n2024-01-01 10:00:00,a,10\n2024-01-01 10:00:10,b,20\n2024-01-01 10:04:01,a,30\n2024-01-03 00:00:00,b,40\n",
        "bom.csv": "\ufeffx\n5\n", "bom.tbl": "\ufeff5|1|\n6|2|\n", "bom.tsv": "\ufeffx\ty\n5\t1\n", "header.csv": "x,y\n", "blank.csv": "x,y\n5,6\n\n7,8\n", "twice.csv": "x,x\n1,2\n", "zone.csv": "x\n2024-01-01 00:00 CET\n",
        "countries.csv": "code,n\nNA,1\nDE,NA\n,3\nNULL,\n", "visits.csv": "code\nNA\n\nDE\n-\n",
        "returns.csv": "x,y\r5,1\r7,2\r", "trailing.tbl": "5|1|\n6|2|\n\n", "i64.csv": "x\n9223372036854775808\n", "comma.csv": "a;b\n1,5;2\n",
    }
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    (folder / "utf16.tbl").write_bytes("5|\n".encode("utf-16"))
    (folder / "utf16.csv").write_bytes("x\n5\n".encode("utf-16"))
    (folder / "nul.csv").write_bytes(b"x\n5\0\n")
    steps = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}
    columns = {
        **{f"t_{unit}": (f"<M8[{unit}]", [(JAN + 36000) * n, NAT, JAN * n]) for unit, n in steps.items()},
        "half": ("<f2", [5, 0.5]), "bools": ("|b1", [True, False, True]), "u4_big": (">u4", [3, 4]),
        "midnights": (">M8[s]", [JAN, JAN + 4 * DAY]), "odd_ns": ("<M8[ns]", [JAN * 10**9 + 1]), "i8": ("<i8", [JAN + 36000]), "complex": ("<c8", [1]),
    }
    for name, (dtype, values) in columns.items():
        (folder / f"{name}.npy").write_bytes(npy.dump(dtype, values))
    for name in ("months.csv", "probes.npy", "trailing.tbl", "raw.bin", "tabs.tsv", "lying.npy", "truncated.npy", "odd.bin"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    packed = (folder / "months.csv.gz").read_bytes()
    (folder / "two.csv.gz").write_bytes(packed + gzip.compress(b"2024-03-01,2024-03-31\n"))
    (folder / "cut.csv.gz").write_bytes(packed[:30])
    (folder / "cut_end.csv.gz").write_bytes(packed[:-3])
    (folder / "nothing.csv.gz").write_bytes(b"")
    (folder / "damaged.csv.gz").write_bytes(packed[:-6] + b"xxxxxx")
    (folder / "garbage.csv.gz").write_bytes(packed + b"garbage")
    (folder / "plain.csv.gz").write_bytes(b"x\n5\n")


IN_MONTHS = "range --keys times.csv:t --lower {lower} --upper {upper} --result count {device} -o x.npy"


def months(lower, upper, counts):
    return ok(IN_MONTHS.replace("{lower}", lower).replace("{upper}", upper), files={"x.npy": ("<u8", counts)})


def lookup(keys, probes, rows):
    return ok(f"lookup --keys {keys} --probes {probes} {{device}} -o x.npy", files={"x.npy": ("<u4", rows)})


def refused(keys, probes, err, code=1):
    return bad(code, f"lookup --keys {keys} --probes {probes} {{device}}", err)


TIMES = [
    # The last second of a month is not in it: a date is its midnight.
    months("months.csv:first", "months.csv:last", [3, 0]), ok(IN_MONTHS.replace("{lower}", "months.csv:first").replace(
        "{upper}", "months.csv:last").replace("-o x.npy", ""), out="^type +timestamp64$"),
    lookup("times.csv:t", "dates.csv:d", [NO, NO]), lookup("dates.csv:d", "midnights.npy", [0, 1]),
    *[lookup("times.csv:t", f"t_{unit}.npy", [0, NO, NO]) for unit in ("s", "ms", "us", "ns")],
    *[lookup(f"t_{a}.npy", f"t_{b}.npy", [0, NO, 2]) for a in ("s", "ns") for b in ("ms", "us")],
    lookup("times.csv:t", "seconds.csv:x:timestamp64[s]", [0]), lookup("times.csv:t", "i8.npy:timestamp64[s]", [0]),
    lookup("dates.csv:d:timestamp64", "t_ns.npy", [NO, NO, 0]), lookup("midnights.npy:timestamp64[ns]", "odd_ns.npy", [NO]),
    refused("dates.csv:d", "times.csv:t", r"--probes times.csv:t: row 0 is 2024-01-01 10:00:00, which has a time of day, which date32 lacks: "
            r"read timestamps on both sides, with ':timestamp64', or give dates; it is compared with dates.csv:d"),
    refused("t_s.npy", "odd_ns.npy", r"row 0 is 2024-01-01 00:00:00.000000001, which is finer than timestamp64\[s\]"),
    refused("times.csv:t", "seconds.csv:x:timestamp64", r"seconds.csv:x:timestamp64 has timestamps whose unit is not known, .*\[ms\]"),
    refused("seconds.csv:x:timestamp64", "dates.csv:d", "seconds.csv:x:timestamp64 has timestamps whose unit is not known"),
    refused("dates.csv:d", "seconds.csv:x", "seconds.csv:x is i64, which does not compare with dates.csv:d, which is date32"),
    refused("mixed.csv:x:timestamp64", "probes.npy", r"mixed.csv:3: column 'x' mixes integers and times: .*':timestamp64\[s\]'"),
    refused("mixed.csv:x", "probes.npy", "mixed.csv:3: column 'x' mixes dates and numbers"),
    refused("fine.csv:x", "probes.npy", r"fine.csv:2: column 'x': .* is finer than timestamp64\[us\]: read a finer unit, such as ':timestamp64\[ns\]'"),
    refused("zone.csv:x", "probes.npy", "probes.npy is u32, which does not compare with zone.csv:x, which is str"),
    *[ok(f"scan --column t={column} --where \"t >= '2024-01-01' and t <= date '2024-01-31'\" --count {{device}}", out="^count +" + n)
      for column, n in (("times.csv:t", "3$"), ("t_s.npy", "2$"), ("t_ns.npy", "2$"), ("dates.csv:d", "2$"))],
    ok("scan --column t=times.csv:t --where \"t = '2024-01-05 11:30+01:00'\" --count {device}", out="^count +1$"),
    ok("scan --column d=dates.csv:d --where \"d = '2024-01-05 00:00:00'\" --count {device}", out="^count +1$"),
    ok("scan --column x=large.csv:x --where \"x = 5.0 or x > 1e30\" --count {device}", out="^count +1$"),
    bad(1, "scan --column d=dates.csv:d --where \"d = '2024-01-05 10:00:00'\" --count {device}", "compared with '2024-01-05 10:00:00' at character 5, which has a time of day"),
    bad(1, "scan --column t=times.csv:t --where \"t < '2024-02-30'\" --count {device}", "'2024-02-30' at character 5, which does not exist, or is out of range"),
    bad(1, "scan --column t=t_s.npy --where \"t < '2024-01-01 00:00:00.5'\" --count {device}", r"finer than timestamp64\[s\]"),
    bad(1, "scan --column t=seconds.csv:x:timestamp64 --where \"t < '2024-01-01'\" --count {device}", "the unit of these timestamps is not known"),
    bad(1, "scan --column t=t_s.npy --column u=t_ms.npy --where \"t < u\" --count {device}", r"are timestamp64\[s\] and timestamp64\[ms\]"),
]

def says_no_nulls(text):
    assert "found" in text and "nulls" not in text, text


BY_CODE = "lookup --keys countries.csv:code:str --probes visits.csv:code:str {device} "
NULLS = [
    # The empty field alone is NULL: NA is a country.
    ok(BY_CODE + "-o x.npy", files={"x.npy": ("<u4", [0, NO, 1, NO])}),
    ok(BY_CODE, out="^found +2\nnulls\n  keys +1\n  probes +1\nfootprint"),
    ok(BY_CODE + "--format json", json={"nulls.keys": 1, "nulls.probes": 1}),
    ok(BY_CODE + "--nulls NA,- --format json", json={"nulls.keys": 2, "nulls.probes": 3, "found": 1}),
    ok("lookup --keys keys.npy --probes probes.npy {device} --format json", json={"nulls": {"keys": 0, "probes": 0}}),
    ok("lookup --keys keys.npy --probes probes.npy {device}", out=says_no_nulls),
    ok("lookup --keys countries.csv:code:str --probe NA,NULL,null,'\"NULL\"' {device} -o x.npy", files={"x.npy": ("<u4", [0, NO, NO, 3])}),
    ok("lookup --keys countries.csv:n --nulls NA --probe 1 {device}", out="^  keys +2$"),
    refused("keys.npy", "countries.csv:n", "countries.csv:3: column 'n': 'NA' is not a number, date or time; --nulls 'NA' reads it as NULL; add ':str'"),
    refused("keys.npy", "countries.csv:n:f64", "countries.csv:3: column 'n': 'NA' is not of type f64: .*; --nulls 'NA' reads it as NULL$"),
    ok("range --keys countries.csv:n --lower 1 --upper 9 --nulls NA --result sum --values n {device} --format json", json={"nulls": {"keys": 2, "lower": 0, "upper": 0, "values": 2}}),
    ok("update --keys nulls.csv:x --insert NULL,5 --delete NULL --probe 5 {device} --format json", json={"nulls": {"keys": 0, "probes": 0, "insert": 1, "delete": 1}}),
    ok("join --left visits.csv:code:str --right countries.csv:code:str --type left {device} --format json", json={"pairs": 4, "nulls": {"left": 1, "right": 1}}),
    ok("join --left keys.npy --right-lower NULL,1 --right-upper 5,6 {device} --format json", json={"nulls": {"left": 0, "right_lower": 1, "right_upper": 0}}),
    ok("join --left keys.npy --right keys.npy --asof backward --left-by keys.npy --right-by keys.npy {device} --format json",
       json={"nulls": {"left": 0, "right": 0, "left_by": 0, "right_by": 0}}),
    ok("scan --column c=countries.csv:code:str --column n=countries.csv:n --nulls NA --where \"n is null\" {device} --format json",
       json={"matches": 2, "nulls": {"c": 2, "n": 2}}),
    ok("scan --column c=countries.csv:code:str --where \"c = 'NA'\" --count {device}", out=r"\Acount +1\n(.|\n)*^nulls\n  c +1$"),
    ok("explain point --keys countries.csv:n --nulls NA {device} --format json", json={"nulls.keys": 2}),
    bad(1, "gen probes --keys countries.csv:n --nulls NA --count 3 -o x.npy", "--keys countries.csv:n has NULLs"),
]

NUMBERS = [
    refused("keys.npy", "fraction.csv:x", r"row 1 is 6.5, which is not an integer; the column is u32; it is compared with keys.npy"),
    lookup("fraction.csv:x", "index.csv:x", [0, NO, 0]), lookup("half.npy", "index.csv:x", [0, NO, 0]), lookup("bools.npy", "index.csv:0", [1, 0, NO]),
    lookup("keys.npy", "u4_big.npy", [1, NO]), lookup("index.csv:x", "keys.npy", [0, NO, NO, NO, NO]),
    refused("keys.npy", "large.csv:x", "row 2 is -1, which is out of range for u32"),
    refused("index.csv:x:u8", "large.csv:x", "row 1 is 300, which is out of range for u8: expected an integer from 0 to 255"),
    refused("i64.csv:x", "probes.npy", "i64.csv:2: column 'x': 9223372036854775808 does not fit in i64; add ':u64'"),
    refused("large.csv:x:i8", "probes.npy", "large.csv:3: column 'x': '300' is out of range for i8"),
    refused("complex.npy", "probes.npy", r"dtype '<c8'; i1 .* can be read: convert it with numpy's astype"),
    refused("i8.npy:u8", "probes.npy", r"i8.npy:u8: row 0 is \d+, which is out of range for u8"),
    refused("i8.npy:date32", "probes.npy", "i8.npy is i64, which cannot be read as date32", 2),
]

LAYOUTS = [
    lookup("times.csv:v", "index.csv:x", [4, NO, 4]), lookup("times.csv:name:str", "times.csv:name:str", [0, 1, 2, 2, 4]),
    lookup("tabs.tsv:a,b", "tabs.csv:a", [0, 1]), lookup("tabs.tsv:1", "tabs.csv:#1", [0, 1]), lookup("index.csv:0", "index.csv:#0:u8", [0, 1, 2]),
    lookup("numbers.csv:0", "numbers.csv:#1", [0]), lookup("numbers.csv:2020", "numbers.csv:#0", [0]), lookup("bom.csv:x", "index.csv:x", [0, NO, 0]), lookup("bom.tbl:0", "bom.tsv:x", [0]), lookup("header.csv:y", "index.csv:x", [NO] * 3),
    lookup("returns.csv:x", "index.csv:x", [0, NO, 0]), lookup("trailing.tbl:0", "index.csv:x", [0, 1, 0]), ok("lookup --keys header.csv:0 --probes header.csv:1 {device}", out="^keys +0$"),
    refused("index.csv:2", "probes.npy", "index.csv has no column '2'; it has columns 0 to 1, and its header has: , x"),
    refused("index.csv:y", "probes.npy", "index.csv has no column 'y'; its header has: , x"),
    refused("index.csv:", "probes.npy", "needs a column after it: .* or FILE.csv:0 for the first one", 2),
    refused("twice.csv:x", "probes.npy", "column 'x' occurs 2 times in the header; give its position instead, as in #0"),
    refused("noheader.csv:0", "probes.npy", "noheader.csv:1: the first row must be the header, but it looks like data: 5, 2024-01-01; add a row of names"),
    refused("blank.csv:x", "probes.npy", "blank.csv:3: the row has 1 fields, the header has 2"),
    refused("utf16.csv:x", "probes.npy", "utf16.csv is UTF-16; save it as UTF-8"), refused("utf16.tbl:0", "probes.npy", "utf16.tbl is UTF-16; save it as UTF-8"), refused("nul.csv:x:i64", "probes.npy", r"nul.csv:2: column 'x': '5\?'"),
    refused("comma.csv:a:f64", "probes.npy", "comma.csv:2: column 'a': '1,5' is not"),
]

PACKED = [
    months("months.csv.gz:first", "months.csv.gz:last", [3, 0]), lookup("keys.npy", "probes.npy.gz", [1, NO, 2, 0]),
    lookup("trailing.tbl.gz:0", "tabs.tsv.gz:0", [0, 1]), lookup("keys.npy", "raw.bin.gz:u32", [1, 2]), lookup("dates.csv:d", "two.csv.gz:first", [0, NO, NO]),
    refused("cut.csv.gz:first", "probes.npy", "cut.csv.gz ends within its gzip data: it was cut off; copy it again"),
    refused("cut_end.csv.gz:first", "probes.npy", "cut_end.csv.gz ends within its gzip data"), refused("nothing.csv.gz:x", "probes.npy", "ends within its gzip data"),
    refused("damaged.csv.gz:first", "probes.npy", r"damaged.csv.gz is damaged after \d+ unpacked bytes \(.*\); pack or copy it again"),
    refused("garbage.csv.gz:first", "probes.npy", "garbage.csv.gz is damaged"), refused("plain.csv.gz:x", "probes.npy", "plain.csv.gz is not a gzip file"),
    refused("lying.npy.gz", "probes.npy", "header says 500 elements, which are 2000 bytes, but fewer follow"),
    refused("truncated.npy.gz", "probes.npy", "header says 5 elements, which are 20 bytes, but fewer follow"),
    refused("odd.bin.gz:u32", "probes.npy", "odd.bin.gz has 7 bytes, which is not a multiple of the 4 of a u32"),
    refused("missing.csv.gz:x", "probes.npy", "cannot open missing.csv.gz"),
]

NO_ZLIB = "is packed, and this build has no zlib; unpack it with gunzip, or build keyray with"
CASES = TIMES + NULLS + NUMBERS + LAYOUTS + [{**case, "without": NO_ZLIB} for case in PACKED]


def ask(keyray, folder, line, **more):
    done = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, check=False, **more)
    return done.returncode, done.stderr.decode(), done.stdout.decode()


def standard_input(keyray, device, folder):
    """Columns of standard input: a pipe, a file, packed, several columns of one, none"""
    line = f"range --keys times.csv:t --lower LOWER --upper UPPER --result count --device {device} -o x.npy --quiet"

    def counts(lower, upper, **more):
        code, err, _ = ask(keyray, folder, line.replace("LOWER", lower).replace("UPPER", upper), **more)
        assert code == 0, err
        return npy.read(folder / "x.npy")[2]

    text = (folder / "months.csv").read_bytes()
    assert counts("-:first", "-:last", input=text) == [3, 0]
    assert counts("-.csv:0", "months.csv:last", input=text) == [3, 0]
    zlib = NO_ZLIB not in ask(keyray, folder, "explain point --keys months.csv.gz:first --device cpu")[1]
    assert not zlib or counts("-.csv.gz:first", "-.csv.gz:1", input=gzip.compress(text)) == [3, 0]
    with open(folder / "months.csv", "rb") as file:
        assert counts("-:first", "-:last", stdin=file) == [3, 0]
    line = f"lookup --keys keys.npy --probes PROBES --device {device} -o x.npy --quiet"

    def rows(probes, name):
        code, err, _ = ask(keyray, folder, line.replace("PROBES", probes), input=(folder / name).read_bytes())
        assert code == 0, err
        return npy.read(folder / "x.npy")[2]

    assert rows("-.npy", "probes.npy") == [1, NO, 2, 0] and (not zlib or rows("-.npy.gz", "probes.npy.gz") == [1, NO, 2, 0])
    assert rows("-.bin:u32", "raw.bin") == [1, 2] and rows("-.tbl:0", "trailing.tbl") == [0, NO] and rows("-.tsv:0", "tabs.tsv") == [0, NO]

    def fails(probes, data, code, wanted):
        got, err, out = ask(keyray, folder, line.replace("PROBES", probes), input=data)
        assert got == code and wanted in err and not out, (probes, got, err)

    fails("-", text, 2, "standard input needs a column after it")
    fails("-:first", b"", 1, "standard input is empty: it has no header row with column 'first'")
    fails("-:x", text, 1, "standard input has no column 'x'; its header has: first, last")
    fails("-:first", text, 1, "--probes -:first is date32, which does not compare with keys.npy, which is u32")
    fails("-:x", b"x\n5\nfive\n", 1, "standard input:3: column 'x': 'five' is not a number")
    fails("-.bin:u32", b"12345", 1, "standard input has 5 bytes")
    fails("-.npy", (folder / "lying.npy").read_bytes(), 1, "header says 500 elements")
    fails("-.npy", (folder / "lying.npy").read_bytes()[:70], 1, "ends within its .npy header")
    fails("-.csv.gz:first", text, 1, "standard input is not a gzip file" if zlib else "standard input " + NO_ZLIB)
    (folder / "-.csv").write_bytes(b"x\n9\n")
    code, err, _ = ask(keyray, folder, line.replace("PROBES", "./-.csv:x"), input=b"")
    assert code == 0 and npy.read(folder / "x.npy")[2] == [2], err
    closed = subprocess.run(["sh", "-c", '"$0" "$@" <&-', keyray, *line.replace("PROBES", "-:x").split()], cwd=folder, capture_output=True, check=False)
    assert closed.returncode == 1 and b"standard input" in closed.stderr, closed.stderr


SCRIPTS = [standard_input]
