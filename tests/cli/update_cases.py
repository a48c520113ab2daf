"""The table of keyray update: errors, and the answers of the kind that best:updates=on stands for and of cgrx."""
from cases import NO, REPORT, bad, ok

UPDATES = "cgrx:updates=on"
CGRX = f"--index {UPDATES} "
UPDATE = "update --keys keys.npy --probes probes.npy {device} "
GONE = UPDATE + "--delete right.npy "  # leaves row 0, which is 5, and row 2, which is 9


def can(run, **wanted):
    return ok(run, needs=UPDATES, **wanted)


def cannot(code, run, err):
    return {**bad(code, run, err), "needs": UPDATES}


WRONG = [
    bad(2, "update", "--keys COL is missing"), bad(2, "update --keys keys.npy --insert keys.npy", "--probes COL is missing"),
    bad(2, UPDATE, "give --insert COL, --delete COL or both"), bad(2, UPDATE + "--delete", "--delete needs a value"),
    bad(2, UPDATE + "--delete keys.npy --insert-rows lower.npy", "--insert-rows needs --insert"),
    bad(2, UPDATE + "--delete keys.npy --delete keys.npy", "--delete is given twice"),
    bad(2, UPDATE + "--delete keys.npy --result sum", "need --values"),
    bad(2, UPDATE + "--delete keys.npy -o x.txt", r"ending in \.npy"),
    bad(2, UPDATE + "--delete keys.npy --index frob", "unknown kind"), bad(2, "lookup --insert keys.npy", "unknown option --insert of lookup;"),
    bad(1, UPDATE + "--delete missing.npy", "cannot open missing.npy"),
    ok(UPDATE + "--insert wide.npy", out="^rows after +10$"), ok(UPDATE + "--delete wide.npy", out="^rows after +0$"),
    bad(1, UPDATE + "--insert days.npy", "--insert days.npy is date32, which does not"), bad(1, UPDATE + "--delete large.csv:x", "row 2 is -1, which is out of range for u32"),
    bad(1, UPDATE + "--insert lower.npy --insert-rows wide.npy", "--insert-rows wide.npy is u64, but row ids are u32; 'wide.npy:u32' reads"),
    bad(1, UPDATE + "--insert lower.npy --insert-rows probes.npy", "--insert-rows probes.npy has 4; give one row id per key"),
    bad(1, UPDATE + "--insert nulls.csv:x:u32 --insert-rows nulls.csv:k:u32", "has NULLs"),
    bad(1, "update --keys a.csv:name:str --probes b.csv:name:str --insert b.csv:name:str {device}", "--insert b.csv:name:str is text"),
    bad(1, UPDATE + "--delete keys.npy --index rx", "kind 'rx' cannot insert and delete rows; .*array, .*cgrx:updates=on"),
]

RIGHT = [
    ok(GONE + "-o x.npy --format json", json={**REPORT, "keys": 2, "rows_before": 5, "rows_after": 2, "next_row": 5, "found": 2,
        "seconds.update": float, "seconds.write": float, "build_phases": dict, "update_phases": dict},
        files={"x.npy": ("<u4", [NO, NO, 2, 0])}),
    ok(GONE, out=r"^rows before +5$(.|\n)*^rows after +2$(.|\n)*^  update +[0-9.]+ s$"),
    can(GONE + CGRX + "-o x.npy --format json", json={**REPORT, "rays": int, "hits": int, "keys": 2, "found": 2, "rows_before": 5, "rows_after": 2,
        "spec": lambda s: s.startswith(UPDATES.partition(":")[0]) and "updates=on" in s, "counters.lists": int,
        "counters.nodes": int, "counters.node_room": int, "counters.node_entries": 32, "counters.longest_list": 1,
        "counters.node_fill": (int, float), "counters.nodes_per_list": (int, float)},
        files={"x.npy": ("<u4", [NO, NO, 2, 0])}),
    can(GONE + CGRX, out=r"^rows before +5$(.|\n)*^rows after +2$(.|\n)*^counters$(.|\n)*^  longest list 1$(.|\n)*^  update +[0-9.]+ s$"),
    ok(GONE + "--insert lower.npy -o x.npy", files={"x.npy": ("<u4", [5, NO, 2, 0])}),
    ok(GONE + "--insert upper.npy --insert-rows lower.npy -o x.npy --format json", json={"next_row": 11, "rows_after": 5},
        files={"x.npy": ("<u4", [NO, 10, 2, 0])}),
    ok(GONE + "--insert upper.npy --insert-rows lower.npy --result rows -o x.npy",
        files={"x.offsets.npy": ("<u8", [0, 0, 1, 3, 5]), "x.rows.npy": ("<u4", [10, 2, 8, 0, 3])}),
    ok(UPDATE + "--insert equal.npy --result count -o x.npy", files={"x.npy": ("<u8", [8, 0, 1, 1])}),
    ok(UPDATE + "--insert empty.npy --delete empty.npy -o x.npy --format json", json={"rows_after": 5, "next_row": 5},
        files={"x.npy": ("<u4", [1, NO, 2, 0])}),
    # A key that is deleted and inserted ends with what was inserted; NULLs take a row id and delete nothing.
    ok(UPDATE + "--insert keys.npy --delete keys.npy -o x.npy", files={"x.npy": ("<u4", [6, NO, 7, 5])}),
    ok(UPDATE + "--insert nulls.csv:k:u32 --delete nulls.csv:k:u32 -o x.npy --format json", json={"rows_after": 5, "next_row": 7},
        files={"x.npy": ("<u4", [1, NO, 2, 0])}),
    ok("update --keys empty.npy --insert keys.npy --probes probes.npy {device} -o x.npy", files={"x.npy": ("<u4", [1, NO, 2, 0])}),
    ok("update --keys a.csv:name:str --delete b.csv:name:str --probes a.csv:name:str {device} -o x.npy",
        files={"x.npy": ("<u4", [NO, 1, NO, NO])}),
    # Values are one per row id: 5 do not reach the inserted rows, the 6 of equal.npy do for one of them.
    ok(UPDATE + "--insert one.npy --result sum --values equal.npy -o x.npy", files={"x.npy": ("<u8", [9, 0, 3, 3])}),
    # A row id that two rows have: given twice, or that of a row which stays.
    bad(1, UPDATE + "--insert equal.npy --insert-rows equal.npy", "; give each row id once"),
    bad(1, UPDATE + "--insert upper.npy --insert-rows lower.npy", "row ids are not distinct: .*; give each row id once"),
    bad(1, UPDATE + "--insert lower.npy --result sum --values values.npy", "5 values, but row ids reach 7"),
    cannot(1, UPDATE + CGRX + "--insert equal.npy --insert-rows equal.npy",
           "row ids do not ascend within a key .*; give each row id once"),
    can("lookup --keys keys.npy --probes probes.npy {device} --index cgrx:updates=on --format json", json={"counters.lists": int}),
]

CASES = WRONG + RIGHT
