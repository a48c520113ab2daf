"""The table of saved indexes: keyray index, and --index FILE.krx of the other commands. And what needs more than a table: files that
are damaged, a disk that is full, a file that is replaced while it is open."""
import os
import resource
import subprocess

import npy
from cases import NO, bad, ok

KEYS = "index build --keys keys.npy -o k.krx {device}"
WIDE = "index build --keys wide.npy --index array -o k.krx {device}"
NAMES = "index build --keys a.csv:name:str -o n.krx {device}"
TIMES = "index build --keys ends.csv:at -o t.krx {device}"
TABLE = "index build --column a.csv:k,day,name:str,price,t=ends.csv:at -o t.krx {device}"
# Conditions on the texts pear, apple, fig and one that is NULL, and how many rows they hold for.
TEXTS = [("name like 'p%'", 1), ("name like '%p%'", 2), ("name like '_i_'", 1), ("name not like '%p%'", 1), ("name like 'fig'", 1), ("name like 'q%'", 0),
         ("name >= 'b' and name < 'g'", 1), ("name in ('fig', 'kiwi', 'pear')", 2), ("name is null", 1), ("name <> 'kiwi'", 3), ("name between 'a' and 'fih'", 2)]
SHORT = "index build --column a.csv:day,name:str,price -o t.krx {device}"
SCAN = "scan --index t.krx {device} "
LOOKUP = "lookup --index k.krx --probes probes.npy {device} "


def after(before, case):
    return {**case, "before": [before] if isinstance(before, str) else before}


def has(before, run, **wanted):
    return after(before, ok(run, **wanted))


def refuses(before, code, run, err):
    return after(before, bad(code, run, err))


WRONG = [
    bad(2, "index", r"one of build\|info\|check is missing"), bad(2, "index frob", "must come first, not 'frob'"),
    bad(2, "index build", "--keys COL is missing; give it, or --column"), bad(2, "index build --keys keys.npy", "-o FILE.krx is missing"),
    bad(2, "index build --keys keys.npy -o x.npy", r"-o takes a name ending in \.krx, not 'x\.npy'"),
    bad(2, "index build --keys keys.npy -o .krx", r"a name ending in \.krx"),
    bad(2, "index build --keys keys.npy -o x.krx --index frob", "unknown kind"),
    bad(2, "index build --keys keys.npy -o x.krx --index y.krx", r"--index y\.krx is built already; give a SPEC"),
    bad(1, "index build --keys missing.npy -o x.krx", "cannot open missing.npy"),
    bad(1, "index build --keys keys.npy -o no/x.krx {device}", "no/x.krx"), bad(1, "index build --keys keys.npy -o folder.npy/../folder.npy/x/y.krx {device}", "y.krx"),
    bad(2, "index info", r"FILE\.krx is missing: it comes first, as in keyray index info orders\.krx"), bad(2, "index check --quiet", "keyray index check orders"),
    bad(2, "index info x.krx --keys keys.npy", "unknown option --keys of index info"), bad(2, "index info x.krx y.krx", "unexpected 'y.krx'"),
    bad(1, "index info x.krx", "cannot open x.krx"), bad(1, "index info keys.npy", "keys.npy was not saved by keyray"), bad(1, "index check nothing.npy", "nothing.npy"),
    bad(1, "index info folder.npy", "it is not a regular file"), bad(1, LOOKUP, "cannot open k.krx"),
    bad(2, LOOKUP + "--keys keys.npy", "--index k.krx is built already, and has its columns; leave --keys COL out, or give --index SPEC"),
    bad(2, "lookup --probes probes.npy", "--keys COL is missing; give it, or --index FILE.krx"),
    bad(2, "range --lower 1 --upper 2", "--keys COL is missing"), bad(2, "lookup --keys keys.npy --probes probes.npy --verify all", "--verify needs --index FILE.krx"),
    bad(2, "join --left keys.npy --right keys.npy --verify header", "--verify needs --index FILE.krx"), bad(2, LOOKUP + "--verify some", r"--verify is one of all\|header"),
    refuses(KEYS, 2, LOOKUP + "--show a", "--show a is the name of a column, but k.krx has no values to read; give all of COL, as in orders.csv:a"),
    refuses(KEYS, 2, LOOKUP + "--result sum --values a", "--values a is the name of a column, but k.krx has no values"),
    refuses(KEYS, 1, LOOKUP + "--show a.csv:k", "--index k.krx has 5 rows but --show a.csv:k has 4; show one value per row"),
    refuses(KEYS, 1, LOOKUP + "--result sum --values a.csv:k", "--index k.krx has 5 rows but --values a.csv:k has 4; give one value per key"),
    refuses(KEYS, 1, "lookup --index k.krx --probes days.npy {device}", "--probes days.npy is date32, which does not compare with k.krx, which is u32"),
    refuses(KEYS, 1, "lookup --index k.krx --probes a.csv:name:str {device}", "which does not compare with k.krx, which is u32; texts compare with texts"),
    refuses(KEYS, 2, "lookup --index k.krx --probe pear {device}", "'pear', is not of type u32"),
    refuses(NAMES, 1, "lookup --index n.krx --probes keys.npy {device}", "which does not compare with n.krx, which is str"),
    refuses(NAMES, 1, "lookup --index n.krx --probe a --nearest either {device}", "--index n.krx has texts: --tolerance and --nearest either need distances, which texts have not"),
    refuses(TIMES, 1, "lookup --index t.krx --probes keys.npy {device}", "which does not compare with t.krx, which is timestamp64"),
    # Joins: the file is the right side.
    *[refuses(KEYS, 2, "join --left probes.npy --index k.krx {device} " + more, says) for more, says in (
        ("--right keys.npy", "--index k.krx is the right side of a join of one column; give one --left, and leave --right out"),
        ("--right-lower rlower.npy --right-upper rupper.npy", "is the right side"), ("--left lower.npy", "give one --left"),
        ("--asof backward", "--asof takes columns and not --index k.krx; give --right, or use keyray lookup --nearest"),
        ("--overlap open --left-end upper.npy", "--overlap takes columns and not --index k.krx; give --right"),
        ("--type right", "--type right reads the values of the right side, which --index k.krx does not have; give --right"),
        ("--type full", "--type full reads the values"), ("--inverse on", "--inverse on reads the values"), ("--show-right a", "--show-right a is the name of a column"))],
    # Tables.
    bad(2, "index build -o x.krx", "--keys COL is missing; give it, or --column COL,... for a table"),
    bad(2, "index build --keys keys.npy --column keys.npy -o x.krx", "give --keys COL for an index or --column COL,... for a table, not both"),
    bad(1, "index build --column keys.npy --index array -o x.krx {device}", "kind 'array' makes an index of one column, not a table"), bad(2, "index build --column keys.npy --index frob -o x.krx", "unknown kind"),
    bad(1, TABLE, "the columns of a table must have equally many rows"), bad(2, "scan --count", r"--column \[NAME=\]COL,\.\.\. is missing; give it, or --index FILE.krx"),
    bad(2, "scan --column keys.npy --index t.krx", "--index t.krx is built already, and has its columns; leave --column"),
    bad(2, "scan --column keys.npy --verify all", "--verify needs --index FILE.krx"), bad(1, SCAN, "cannot open t.krx"),
    refuses(SHORT, 1, "lookup --index t.krx --probe 3 {device}", "--index t.krx holds a table, which keyray scan searches, and not an index"),
    refuses(SHORT, 1, "join --left keys.npy --index t.krx {device}", "holds a table"),
    refuses(KEYS, 1, "scan --index k.krx --count {device}", "--index k.krx holds an index, which keyray lookup searches, and not a table"),
    refuses(SHORT, 2, SCAN + "--show price", "--show price is the name of a column, but t.krx has no values to read; give all of COL, as in orders.csv:price"),
    refuses(SHORT, 1, SCAN + "--show keys.npy", "--index t.krx has 4 rows but --show keys.npy has 5; show one value per row"),
    refuses(SHORT, 2, SCAN + "--no-rows", "--no-rows leaves nothing, as --index t.krx has no values to show; give --show COL"),
    refuses(SHORT, 2, SCAN + "--sum cost", "no --column is named 'cost'"), refuses(SHORT, 1, SCAN + "--max name", "--sum, --min and --max do not take texts"),
    refuses(SHORT, 1, SCAN + "--sum day", "--sum"), refuses(SHORT, 1, SCAN + "--where \"cost > 1\"", "cost"),
    refuses(SHORT, 1, SCAN + "--where \"day = price\"", "only columns of one type can be compared\n"),
    refuses(SHORT, 1, SCAN + "--alive keys.npy", "is not a bitmap of 4 rows"),
    # Changes.
    refuses(KEYS, 2, "update --index k.krx --delete 3 {device}", "--probes COL is missing"),
    refuses(KEYS, 2, "update --index k.krx --save k.krx {device}", "give --insert COL, --delete COL or both"),
    *[refuses(KEYS, 2, "update --index k.krx --delete 3 --save l.krx {device} " + more, says + " is about answers; give --probes COL or --probe VALUES, too")
      for more, says in (("-o x.csv", "-o"), ("--result count", "--result"), ("--result row,count", "--result"), ("--no-rows", "--no-rows"))],
    refuses(KEYS, 2, "update --index k.krx --delete 3 --save x.npy {device}", r"--save takes a name ending in \.krx"),
    refuses(NAMES, 1, "update --index n.krx --insert plum --save n.krx {device}", "--insert plum is text: an index holds the texts of --keys only"),
]

RIGHT = [
    ok(KEYS + " --format json", json={"file": "k.krx", "spec": str, "device": str, "tracer": str, "type": "u32", "rows": 5, "next_row": 5, "nulls.keys": 0,
        "footprint": int, "peak": int, "file_size": lambda n: n > 4096, "seconds.load": float, "seconds.build": float, "seconds.save": float, "build_phases": dict},
        files={"k.krx": None}),
    ok(KEYS + " --quiet", out=r"\A\Z", files={"k.krx": None}), ok(NAMES, out=r"^rows +3\nnext row +4\nnulls\n  keys +1$", files={"n.krx": None}),
    has(KEYS, KEYS, out="^rows +5$"),  # over a file that is there
    has(WIDE, "index info k.krx", out=r"\Afile +k\.krx\nwhat +index\nspec +array\nformat +1\nlibrary +0\.1\.0\nrows +5\nnext row +5\nfile size .* KiB\ncolumns\n  keys +u64\n\Z"),
    has(WIDE, "index info k.krx --format json", json={"file": "k.krx", "what": "index", "spec": lambda s: s.startswith("array:"), "format": 1, "library": "0.1.0",
        "rows": 5, "next_row": 5, "file_size": int, "columns": [{"name": "", "type": "u64"}], "texts": 0, "attachments": {}}),
    has(NAMES, "index info n.krx --quiet", out=r"^columns\n  keys +str\ntexts +3\nattachments\n  keyray\.texts \d+$"),
    has(TIMES, "index info t.krx --format json", json={"columns": [{"name": "", "type": "timestamp64[us]"}], "attachments": {"keyray.unit": 2}, "rows": 1, "next_row": 5}),
    has(WIDE, "index check k.krx {device}", out=r"^checked\n  checksums +good, of all bytes\n  structure +valid, loaded on the device\nseconds\n  checksums .*\n  open .*\n  validate .*\nopen phases\n  read "),
    has(WIDE, "index check k.krx {device} --quiet", out=r"\A\Z"),
    has(NAMES, "index check n.krx {device} --format json", json={"what": "index", "checked.checksums": str, "device": str, "seconds.checksums": float, "open_phases.read": float}),
    # Answers are those of the keys.
    has(KEYS, LOOKUP + "-o x.npy", files={"x.npy": ("<u4", [1, NO, 2, 0])}), has(KEYS, LOOKUP + "--verify header -o x.npy", files={"x.npy": ("<u4", [1, NO, 2, 0])}),
    has(WIDE, "lookup --index k.krx --probes probes.npy {device} -o x.npy", files={"x.npy": ("<u4", [1, NO, 2, 0])}),  # u32 becomes u64
    has(KEYS, LOOKUP + "--format json", json={"index": "k.krx", "keys": 5, "probes": 4, "found": 3, "seconds.open": float, "open_phases.read": float, "open_phases.verify": float,
        "nulls": {"probes": 0}}),
    has(KEYS, LOOKUP, out=r"^index +k\.krx$(.|\n)*^  open .*$(.|\n)*^open phases$"), has(KEYS, LOOKUP + "--quiet", out=r"\A\Z"),
    has(KEYS, LOOKUP + "--result sum --values values.npy --show values.npy -o -.csv", out=None, exit=2, err="--show shows the rows found"),
    has(KEYS, LOOKUP + "--result row,sum --values values.npy --show ints.npy -o -.csv", out=r"\Aprobe,row,sum,ints\n3,1,-2\.5,-20\n4,,,\n9,2,2\.5,30\n5,0,0\.5,10\n\Z"),
    has(KEYS, "lookup --index k.krx --probe 4,8 --nearest below {device} -o -.csv", out=r"\Aprobe,row\n4,3\n8,4\n\Z"),
    has(KEYS, "range --index k.krx --lower lower.npy --upper upper.npy --result count {device} -o x.npy", files={"x.npy": ("<u8", [3, 0, 1])}),
    has(NAMES, "lookup --index n.krx --probes b.csv:name:str --show a.csv:day {device} -o -.csv", out=r"\Aname,row,day\nfig,2,2020-01-02\ngrape,,\npear,0,2020-01-01\n\Z|\Aprobe,row,day\nfig,2,2020-01-02\ngrape,,\npear,0,2020-01-01\n\Z"),
    has(NAMES, "lookup --index n.krx --probe \"pear,'',NULL\" {device} -o -.csv", out=r"\Aprobe,row\npear,0\n"),
    has(NAMES, "range --index n.krx --lower b --upper g --result count {device} -o -.csv", out=r"\Alower,upper,count\nb,g,1\n\Z"),
    has(TIMES, "lookup --index t.krx --probe '2024-01-01 10:00,2024-01-01' {device} -o -.csv", out=r"\Aprobe,row\n2024-01-01 10:00:00,0\n2024-01-01 00:00:00,\n\Z"),
    has(TIMES, "lookup --index t.krx --probes ends.csv:day --nearest above --tolerance 11h {device} -o -.csv", out="^2024-01-01.*,0$"),
    # Joins.
    has(KEYS, "join --left right.npy --index k.krx {device} -o x.npy", files={"x.npy": ("<u4", (5, 2), [0, 1, 0, 3, 1, 4, 2, 1, 2, 3])}),
    has(KEYS, "join --left probes.npy --index k.krx --type anti {device} -o x.npy", files={"x.npy": ("<u4", [1])}),
    has(KEYS, "join --left probes.npy --index k.krx --type left --show-right ints.npy {device} -o -.csv",
        out=r"\Aprobes,left_row,right_row,ints\n3,0,1,-20\n3,0,3,40\n4,1,,\n9,2,2,30\n5,3,0,10\n\Z"),
    has(KEYS, "join --left probes.npy --index k.krx --count --quiet {device}", out=r"\A4\n\Z"),
    has(KEYS, "join --left probes.npy --index k.krx --format json {device}", json={"index": "k.krx", "indexed": "right", "left": 4, "right": 5, "pairs": 4, "seconds.open": float,
        "open_phases": dict}),
    has(NAMES, "join --left b.csv:name:str --index n.krx --type semi {device} -o -.csv", out=r"\Aname,row\nfig,0\npear,2\n\Z"),
    # Changes. The file may be the one that is open.
    has(KEYS, "update --index k.krx --delete 3 --insert 4,4 --save k.krx --quiet {device}", out=r"\A\Z"),
    has([KEYS, "update --index k.krx --delete 3 --insert 4,4 --save k.krx {device}"], LOOKUP + "--result row,count -o -.csv", out=r"\Aprobe,row,count\n3,,0\n4,5,2\n9,2,1\n5,0,1\n\Z"),
    has([KEYS, "update --index k.krx --delete 3 --insert 4,4 --save k.krx {device}"], "index info k.krx", out="^rows +5\nnext row +7$"),
    has(KEYS, "update --index k.krx --delete 3 --probes probes.npy -o x.npy --save l.krx --format json {device}", json={"rows_before": 5, "rows_after": 3, "seconds.save": float,
        "seconds.open": float, "open_phases": dict, "found": 2}, files={"x.npy": ("<u4", [NO, NO, 2, 0]), "l.krx": None}),
    has(KEYS, "update --index k.krx --delete 3 --save l.krx --format json {device}", json={"rows_after": 3, "seconds.save": float, "keys": 3}, files={"l.krx": None}),
    has(KEYS, "update --index k.krx --delete 3 --probes probes.npy {device}", out=r"^index +k\.krx$"),
    has([KEYS, "update --index k.krx --delete 3 {device} --probe 1"], LOOKUP + "-o x.npy", files={"x.npy": ("<u4", [1, NO, 2, 0])}),  # not saved
    has("update --keys keys.npy --delete 3 --save k.krx {device}", LOOKUP + "-o x.npy", files={"x.npy": ("<u4", [NO, NO, 2, 0])}),
    has([NAMES, "update --index n.krx --delete pear --save n.krx {device}"], "lookup --index n.krx --probe pear,fig {device} -o -.csv", out=r"\Aprobe,row\npear,\nfig,2\n\Z"),
    has([TIMES, "update --index t.krx --insert 2024-01-02 --save t.krx {device}"], "lookup --index t.krx --probe 2024-01-02 {device} -o -.csv", out=r"2024-01-02 00:00:00,5"),
    # Tables.
    *[has(SHORT, f"scan --index t.krx --where \"{where}\" --count {{device}} --quiet", out=rf"\A{count}\n\Z") for where, count in TEXTS],
    ok(SHORT + " --format json", json={"file": "t.krx", "columns": 3, "rows": 4, "next_row": 4, "nulls.price": 1, "nulls.name": 1, "file_size": int, "seconds.save": float,
        "build_phases": dict}, files={"t.krx": None}),
    has(SHORT, "index info t.krx", out=r"^what +table$(.|\n)*^columns\n  day +date32\n  name +str\n  price +f64\n\Z"),
    has(SHORT, "index info t.krx --format json", json={"what": "table", "rows": 4, "columns": [{"name": "day", "type": "date32"}, {"name": "name", "type": "str"},
        {"name": "price", "type": "f64"}]}),
    has("index build --column t=ends.csv:at -o t.krx {device}", "index info t.krx", out=r"^columns\n  t +timestamp64\[us\]\n\Z"),
    has(SHORT, "index check t.krx {device}", out=r"^what +table$(.|\n)*^  structure +valid, loaded on the device$(.|\n)*^open phases\n  read "),
    has(SHORT, SCAN + "--where \"name >= 'f' and price > 1\" -o x.npy", files={"x.npy": ("<u4", [0, 2])}),
    has(SHORT, SCAN + "--verify header --where \"name = 'fig' or name = 'plum'\" -o -.csv", out=r"\Arow\n2\n\Z"),
    has(SHORT, SCAN + "--where \"day = '2020-01-01'\" --show a.csv:price,a.csv:name -o -.csv", out=r"\Arow,price,name\n0,1\.5,pear\n3,4,\n\Z"),
    has(SHORT, SCAN + "--where \"price < 2\" --show a.csv:name --no-rows -o -.csv", out=r"\Aname\npear\n\Z"),
    has(SHORT, SCAN + "--sum price --quiet", out=r"\A8\n\Z"), has(SHORT, SCAN + "--max day --quiet", out=r"\A2020-01-03\n\Z"),
    has(SHORT, SCAN + "--where \"name is null\" --count --quiet", out=r"\A1\n\Z"),
    has(SHORT, SCAN + "--where \"day > '2020-01-01'\" --format json", json={"index": "t.krx", "rows": 4, "columns": 3, "matches": 2, "seconds.open": float, "open_phases.read": float,
        "spec": str}),
    has(SHORT, SCAN + "--where \"day > '2020-01-01'\"", out=r"^index +t\.krx$(.|\n)*^open phases$"),
    has([SHORT, SCAN + "--where \"day > '2020-01-01'\" --bitmap -o b.npy"], SCAN + "--alive b.npy --where \"price > 0\" -o -.csv", out=r"\Arow\n2\n\Z"),
    has("index build --column t=ends.csv:at --index full -o t.krx {device}", SCAN + "--where \"t < '2024-01-01 11:00'\" --count --quiet", out=r"\A1\n\Z"),
    has("index build --column a.csv:name:str,b=a.csv:name:str -o t.krx {device}", SCAN + "--where \"name = b and b > 'fig'\" -o -.csv", out=r"\Arow\n0\n\Z"),
    # Nothing in it.
    has("index build --column empty.npy -o t.krx {device}", SCAN + "--count --quiet", out=r"\A0\n\Z"),
    has("index build --keys empty.npy -o k.krx {device}", LOOKUP + "-o x.npy", files={"x.npy": ("<u4", [NO] * 4)}),
    has("index build --keys nulls.csv:k:str -o k.krx {device}", "lookup --index k.krx --probe a {device} -o -.csv", out=r"\Aprobe,row\na,\n\Z"),
]

CASES = WRONG + RIGHT


# ---- Scripts -------------------------------------------------------------------------------------

def call(keyray, folder, line, **more):
    return subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=False, timeout=120, **more)


def must(keyray, folder, line, **more):
    done = call(keyray, folder, line, **more)
    assert done.returncode == 0 and not done.stderr, (line, done.returncode, done.stderr)
    return done.stdout


def damaged_file(keyray, device, folder):
    """A saved index with any byte changed is an error of the file; with verify=header only what is read is missed"""
    must(keyray, folder, f"index build --keys a.csv:name:str --index array -o n.krx --device {device}")
    whole = (folder / "n.krx").read_bytes()
    for at in [*range(0, 72, 5), 4096, 4100, len(whole) // 2, *range(len(whole) - 60, len(whole), 7)]:
        changed = bytearray(whole)
        changed[at] ^= 0x41
        (folder / "n.krx").write_bytes(changed)
        for line in (f"index check n.krx --device {device}", f"lookup --index n.krx --probe fig --device {device}"):
            done = call(keyray, folder, line)
            assert done.returncode == 1 and "n.krx" in done.stderr, (at, line, done)
    for end in (0, 63, 64, 4096, len(whole) - 1):
        (folder / "n.krx").write_bytes(whole[:end])
        for line in ("index info n.krx", f"index check n.krx --device {device}", f"lookup --index n.krx --verify header --probe fig --device {device}"):
            done = call(keyray, folder, line)
            assert done.returncode == 1 and "n.krx" in done.stderr, (end, line, done)


def full_disk(keyray, device, folder):
    """A disk that is full while an index is saved leaves the old file, and nothing else"""
    must(keyray, folder, f"index build --keys keys.npy --index array -o k.krx --device {device}")
    before, old = set(os.listdir(folder)), (folder / "k.krx").read_bytes()
    for line in ("index build --keys many.npy --index array -o k.krx", "update --index k.krx --insert many.npy --save k.krx"):
        done = call(keyray, folder, f"{line} --device {device}", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000)))
        assert done.returncode == 1 and "File too large" in done.stderr, (line, done)
        assert set(os.listdir(folder)) == before and (folder / "k.krx").read_bytes() == old, line


def other_names(keyray, device, folder):
    """--save replaces no column of the call, whatever its name; answers do not replace the index either"""
    must(keyray, folder, f"index build --keys keys.npy -o k.krx --device {device}")
    os.link(folder / "keys.npy", folder / "keys.krx")
    os.link(folder / "k.krx", folder / "x.csv")
    os.symlink("k.krx", folder / "s.krx")
    for line, says in ((f"update --index k.krx --insert keys.npy --save keys.krx", "--save keys.krx would replace keys.krx, which --insert keys.npy reads"),
                       ("index build --keys keys.npy -o keys.krx", "-o keys.krx would replace keys.krx, which --keys keys.npy reads"),
                       ("lookup --index k.krx --probe 3 -o x.csv", "-o x.csv would replace x.csv, which --index k.krx reads")):
        done = call(keyray, folder, f"{line} --device {device}")
        assert done.returncode == 2 and says in done.stderr, (line, done)
    must(keyray, folder, f"update --index s.krx --delete 3 --save s.krx --device {device}")  # a link stays a link
    assert os.path.islink(folder / "s.krx") and "rows           3" in must(keyray, folder, "index info k.krx")


def replaced_while_open(keyray, device, folder):
    """Processes that open an index while others replace it find the old or the new one"""
    (folder / "more.npy").write_bytes(npy.dump("<u4", list(range(3, 5000))))
    lines = [f"index build --keys {keys} -o k.krx --quiet --device {device}" for keys in ("keys.npy", "more.npy")]
    must(keyray, folder, lines[0])
    look = [keyray, *f"lookup --index k.krx --probe 3 --result count -o -.csv --device {device}".split()]
    for turn in range(6):
        readers = [subprocess.Popen(look, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(8)]
        must(keyray, folder, lines[(turn + 1) % 2])
        for reader in readers:
            out, errors = reader.communicate(timeout=120)
            assert reader.returncode == 0 and out in ("probe,count\n3,2\n", "probe,count\n3,1\n"), (reader.returncode, out, errors)


SCRIPTS = [damaged_file, full_disk, other_names, replaced_while_open]
