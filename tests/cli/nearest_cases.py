"""Cases of lookups of nearest keys."""
from cases import LOOKUP, NO, bad, ok

NEAREST = [
    ok(LOOKUP + "--nearest below --format json -o x.npy", json={"found": 4}, files={"x.npy": ("<u4", [3, 3, 2, 0])}),
    ok(LOOKUP + "--nearest below --strict --format json -o x.npy", json={"found": 3}, files={"x.npy": ("<u4", [NO, 3, 4, 3])}),
    ok(LOOKUP + "--nearest above --strict --tolerance 1 --format json -o x.npy", json={"found": 1},
       files={"x.npy": ("<u4", [NO, 0, NO, NO])}),
    ok(LOOKUP + "--nearest either --result sum --values values.npy --index btree --format json -o x.npy",
       json={"found": 4}, files={"x.npy": ("<f8", [-4.0, -4.0, 2.5, 0.5])}),
    ok("lookup --keys days.npy --probes days.npy --nearest below --strict --tolerance 1 {device} -o x.npy",
       files={"x.npy": ("<u4", [NO, NO, 1])}),
    bad(2, LOOKUP + "--nearest most", r"--nearest is one of no\|below\|above\|either"),
    bad(2, LOOKUP + "--strict", "--strict needs --nearest"), bad(2, LOOKUP + "--tolerance 3", "--tolerance needs --nearest"),
    bad(2, LOOKUP + "--nearest below --tolerance 1.5", "--tolerance 1.5 is no whole number, and keys.npy is u32"),
    bad(2, LOOKUP + "--nearest below --tolerance 9223372036854775808", "is more than 9223372036854775807"),
    bad(1, LOOKUP + "--nearest below --tolerance=-1", "--tolerance is -1: a distance is 0 or more"),
    bad(1, LOOKUP + "--nearest below --tolerance 4294967296", "no two values of type u32 are more than 4294967295 apart"),
    bad(1, LOOKUP + "--nearest below --index hash", "kind 'hash' finds no nearest keys; .*: array, "),
    bad(1, "lookup --keys a.csv:name:str --probes b.csv:name:str --nearest below {device}", "is text: --nearest"),
]

CASES = NEAREST
