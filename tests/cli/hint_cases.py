"""Hints: each case runs a command that fails, takes what the error advises, and runs that, which must work.

A case is (command line, what the error must say, the line to run next: a text in which {0}, {1} are what the groups of the
expression matched, or a pair of texts to replace in the first line).
"""
import re
import shlex
import subprocess

import npy

LOOKUP = "lookup --keys orders.csv:order --probe 2 "
MINE = "lookup --keys orders.csv:customer:str --probes mine.csv:customer:str "
JOIN = "join --left orders.csv:customer:str --right mine.csv:customer:str "
SCAN = "scan --column who=orders.csv:customer:str --column amount=orders.csv:amount "

TYPES = [
    ("lookup --keys late.csv:x --probe fig", r"late.csv:3: column 'x': 'fig' is not a number, date or time; add '(:str)' to read text",
     ("late.csv:x", "late.csv:x{0}")),
    ("lookup --keys mixed.csv:x --probes few.npy", "mixes dates and numbers: .*; add '(:str)' to read text", ("mixed.csv:x --probes few.npy", "mixed.csv:x{0} --probe 5")),
    ("lookup --keys orders.csv:order:int64 --probe 2", r"'int64' is not a type \(did you mean '(i64)'\?\); types are u8 i8 .* str", ("int64", "{0}")),
    *[(f"lookup --keys {file}:{wrong} --probe {probe}", rf"'{wrong}'.* \(did you mean '({right})'\?\)", (wrong, "{0}"))
      for file, wrong, right, probe in (("orders.csv:order", "double", "f64", "2"), ("orders.csv:order", "u46", "u16", "2"), ("orders.csv:0", "INT", "i64", "2"),
                                        ("orders.csv:#0", "float32", "f32", "2"), ("orders.csv:customer", "string", "str", "ben"), ("orders.csv:day", "date", "date32", "2024-01-03"),
                                        ("orders.csv:at", "datetime", "timestamp64", "2024-01-31"), ("t.tbl:0", "int64", "i64", "1"), ("raw.bin", "uint32", "u32", "3"),
                                        ("keys.npy", "int64", "i64", "3"), ("orders.csv:at", r"timestamp65", "timestamp64", "2024-01-31"))],
    ("lookup --keys i64.csv:x --probe 9223372036854775808", "does not fit in i64; add '(:u64)'", ("csv:x", "csv:x{0}")),
    ("lookup --keys signed.csv:x --probe -1", "does not fit in i64; add '(:f64)', which rounds large integers, or ':str'", ("csv:x", "csv:x{0}")),
    ("lookup --keys beyond.csv:x --probe 1", "does not fit in i64; add '(:f64)'", ("csv:x", "csv:x{0}")),
    ("lookup --keys signed.csv:x --probe -1", "does not fit in i64; add ':f64', .*, or '(:str)'", ("csv:x", "csv:x{0}")),
    ("lookup --keys mixed.csv:x:timestamp64 --probe 2024-01-01", "mixes integers and times: .*, as in ':(timestamp64\\[s\\])'", ("timestamp64", "{0}")),
    ("lookup --keys seconds.csv:x:timestamp64 --probe 2024-01-01", r"read them as ':(timestamp64\[s\])', \[ms\], \[us\] or \[ns\]", ("timestamp64", "{0}")),
    ("lookup --keys seconds.csv:x:timestamp64 --probes dates.csv:d", r"read it as ':(timestamp64\[s\])', \[ms\], \[us\] or \[ns\]", ("timestamp64", "{0}")),
    ("lookup --keys fine.csv:x --probe 2024-01-01", r"read a finer unit, such as ':(timestamp64\[ns\])'", ("fine.csv:x", "fine.csv:x:{0}")),
    ("lookup --keys t_s.npy --probes odd_ns.npy", r"read a finer unit, such as '(:timestamp64\[ns\])'; it is compared with (t_s.npy)", ("keys t_s.npy", "keys {1}{0}")),
    ("lookup --keys dates.csv:d --probes times.csv:t", "read timestamps on both sides, with '(:timestamp64)', or give dates; it is compared with (dates.csv:d)",
     ("--keys dates.csv:d --probes times.csv:t", "--keys {1}{0} --probes times.csv:t{0}")),
    ("lookup --keys countries.csv:n --probe 1", "; (--nulls 'NA') reads it as NULL; add ':str'", "{line} {0}"),
    ("lookup --keys countries.csv:n:f64 --probe 1", "; (--nulls 'NA') reads it as NULL", "{line} {0}"),
    ("range --keys orders.csv:at --lower 2024-01-01 --upper 2024-02-01 --result sum --values at", "have no sum; (min), max and count take them", ("--result sum", "--result {0}")),
    ("scan --column orders.csv:day --sum day", "have no sum; (min), max and count take them", ("--sum", "--{0}")),
    ("lookup --keys orders.csv:order --probe 2 -o orders.csv", "give -o another (name)", ("-o orders.csv", "-o x.csv")),
    ("lookup --keys huge.csv:k --probe 1 --result sum --values v -o x.npy", "write text, as with (-o OUT.csv)", ("-o x.npy", "{0}")),
    # Numbers with decimals beside integers, and beside shorter ones.
    ("join --left orders.csv:order --right orders.csv:amount", "row 1 is 35.5, which is not an integer; the column is i64; it is compared with orders.csv:order; '(orders.csv:order:f64)' reads it as f64, which rounds large integers\n",
     ("left orders.csv:order", "left {0}")),
    ("lookup --keys orders.csv:order:u8 --probes orders.csv:amount", "'(orders.csv:order:f64)' reads it as f64, which", ("orders.csv:order:u8", "{0}")),
    ("lookup --keys keys.npy --probes values.npy", r"it is compared with keys.npy; '(keys.npy:f64)' reads it as f64\n", ("keys.npy", "{0}")),
    ("lookup --keys t.tbl:0 --probes values.npy", "'(t.tbl:0:f64)' reads it as f64", ("t.tbl:0", "{0}")),
    ("lookup --keys orders.csv:amount:f32 --probes thirds.npy", r"cannot be held exactly by f32; it is compared with orders.csv:amount:f32; '(orders.csv:amount:f64)' reads it as f64\n",
     ("orders.csv:amount:f32", "{0}")),
    ("update --keys keys.npy --insert values.npy --probe 3", "'(keys.npy:f64)' reads it as f64", ("keys.npy", "{0}")),
    # Times beyond the range of a unit, and years of five digits.
    ("scan --column eons.csv:x", r"'\+36536598-01-28 21:54:06.976' is out of range for timestamp64\[us\]: .*; read a coarser unit, such as '(:timestamp64\[ms\])'\n", ("csv:x", "csv:x{0}")),
    ("lookup --keys eons.csv:x:timestamp64[ns] --probe 2024-01-01", r"out of range for timestamp64\[ns\]: .*; read a coarser unit, such as '(:timestamp64\[ms\])'", (":timestamp64[ns]", "{0}")),
    ("lookup --keys times.csv:t --probes eons.csv:x:timestamp64[ms]", r"it is compared with times.csv:t; '(times.csv:t:timestamp64\[ms\])' reads it in a unit that holds both\n", ("times.csv:t", "{0}")),
    ("lookup --keys t_us.npy --probes eons.csv:x:timestamp64[ms]", r"; '(t_us.npy:timestamp64\[ms\])' reads it in a unit", ("t_us.npy", "{0}")),
    ("lookup --keys far_days.csv:d --probe 2024-01-01", r"'10002-06-22' is not a number, date or time; a year above 9999 has a sign, as in '(\+10002-06-22)'; add ':str'", ("far_days.csv:d --probe 2024-01-01", "years.csv:d --probe {0}")),
    ("lookup --keys far_days.csv:d:date32 --probe 2024-01-01", r"is not of type date32: .*; a year above 9999 has a sign, as in '(\+10002-06-22)'\n", ("far_days.csv:d:date32 --probe 2024-01-01", "years.csv:d --probe {0}")),
    ("lookup --keys years.csv:d --probe 10002-06-22", r"a year above 9999 has a sign, as in '(\+10002-06-22)'\n", ("10002-06-22", "{0}")),
    ("range --keys times.csv:t --lower '10002-06-22 10:00:00' --upper 2024-01-01", r"has a sign, as in '(\+10002-06-22 10:00:00)'\n", ("10002-06-22 10:00:00", "{0}")),
    # Columns that do not compare.
    ("lookup --keys dates.csv:d --probes seconds.csv:x", r"seconds.csv:x is i64, which does not compare with dates.csv:d, which is date32; if these integers are times, give their unit: "
     r"'(seconds.csv:x:timestamp64\[s\])', or \[ms\]", ("--keys dates.csv:d --probes seconds.csv:x", "--keys dates.csv:d:timestamp64 --probes {0}")),
    ("lookup --keys times.csv:t --probes i8.npy", r"give their unit: '(i8.npy:timestamp64\[s\])'", ("i8.npy", "{0}")),
    ("lookup --keys seconds.csv:x:i64 --probes times.csv:t", r"give their unit: '(seconds.csv:x:timestamp64\[s\])'", ("seconds.csv:x:i64", "{0}")),
    ("lookup --keys a.csv:name:str --probes b.csv:k", "b.csv:k is i64, which does not compare with a.csv:name:str, which is str; '(b.csv:k:str)' reads it as text", ("b.csv:k", "{0}")),
    ("lookup --keys b.csv:day:date32 --probes a.csv:name:str", "which is date32; '(b.csv:day:str)' reads it as text", ("b.csv:day:date32", "{0}")),
    (JOIN.replace("mine.csv:customer:str", "orders.csv:order"), "'(orders.csv:order:str)' reads it as text", ("orders.csv:order", "{0}")),
    ("scan --column a=keys.npy,b=ints.npy --where 'a < b'", "only columns of one type can be compared; read them as (a=keys.npy:i64) and (b=ints.npy:i64)", ("a=keys.npy,b=ints.npy", "{0},{1}")),
    ("scan --column a=wide.npy,b=ints.npy:i32 --where 'a < b'", "read them as (a=wide.npy:f64) and (b=ints.npy:f64)", ("a=wide.npy,b=ints.npy:i32", "{0},{1}")),
    ("scan --column orders.csv:order,amount --where 'order < amount'", "read them as (order=orders.csv:order:f64) and (amount=orders.csv:amount:f64)", ("orders.csv:order,amount", "{0},{1}")),
    ("scan --column t=t_s.npy --column u=t_ms.npy --where 't < u'", r"read them as (t=t_s.npy:timestamp64\[ms\]) and (u=t_ms.npy:timestamp64\[ms\])", ("t=t_s.npy --column u=t_ms.npy", "{0},{1}")),
    ("scan --column orders.csv:day,at --where 'day < at'", r"read them as (day=orders.csv:day:timestamp64\[us\]) and (at=orders.csv:at:timestamp64\[us\])", ("orders.csv:day,at", "{0},{1}")),
    ("update --keys keys.npy --delete 3 --insert lower.npy --insert-rows wide4.npy --probe 3", "row ids are u32; '(wide4.npy:u32)' reads them so", ("wide4.npy", "{0}")),
]

NAMES = [
    (LOOKUP.replace("order ", "ordre "), r"no column 'ordre' \(did you mean '(order)'\?\)", ("ordre", "{0}")),
    ("lookup --keys orders.csv:numbre --probe 2", "its header has: (order), customer", ("numbre", "{0}")),
    ("lookup --keys twice.csv:x --probe 2", "give its position instead, as in (#0)", ("csv:x", "csv:{0}")),
    ("lokup --keys keys.npy --probe 3", r"unknown command 'lokup' \(did you mean (lookup)\?\)", ("lokup", "{0}")),
    ("frob", "; keyray (--help) lists the commands", "{0}"),
    ("lookup --keys keys.npy --porbe 3", r"did you mean (--probe)\?", ("--porbe", "{0}")),
    ("lookup --frob", "; keyray (lookup --help) lists the options", "{0}"), ("bench point --frob", "; keyray (bench --help) lists the options", "{0}"),
    ("range --keys keys.npy", "see keyray (range --help)", "{0}"), ("lookup --keys", "see keyray (lookup --help)", "{0}"), ("lookup extra", "see keyray (lookup --help)", "{0}"),
    ("join --left keys.npy", "see keyray (join --help)", "{0}"), ("bench", "see keyray (bench --help)", "{0}"),
    (LOOKUP + "--result cuont", r"did you mean (count)\?", ("cuont", "{0}")), ("explain pint --keys keys.npy", r"did you mean (point)\?", ("pint", "{0}")),
    (LOOKUP + "--index aray", r"did you mean (array)\?", ("aray", "{0}")), (LOOKUP + "--index array:layuot=aos", r"did you mean (layout)\?", ("layuot", "{0}")),
    (LOOKUP + "--index array:layout=aso", r"did you mean (aos)\?", ("aso", "{0}")),
    ("kinds array:k=2", "give only the kind, which stands before the '(:)'", ("array:k=2", "array")),
    ("kinds best", "see keyray (kinds pivot)", "{0}"), ("kinds best", "(explain point --keys) COL (--index best)", "{0} keys.npy {1}"),
    ("kinds best", "(explain point --keys) COL .*(--index best:updates=on)", "{0} keys.npy {1}"),
    (LOOKUP + "--index hash --nearest below", "finds no nearest keys; .*: (array), ", ("hash", "{0}")), (LOOKUP + "--device cuda:99999", "use (--device cpu) or auto", ("--device cuda:99999", "{0}")),
    (SCAN + "--where 'amonut > 5'", r"no column 'amonut' at character 1 \(did you mean '(amount)'\?\)", ("amonut", "{0}")),
    (SCAN + "--where 'amount > 5 and who = anna'", r"no column 'anna' at character 22; put texts in single quotes: ('anna')", ("'amount > 5 and who = anna'", '"amount > 5 and who = {0}"')),
    (SCAN + "--where 'who in (anna)'", r"put texts in single quotes: ('anna')", ("'who in (anna)'", '"who in ({0})"')),
    (SCAN + "--where 'who = 5'", "give a text in (single quotes)", ("'who = 5'", '"who = \'5\'"')), (SCAN + "--where \"amount = '5'\"", "give a number (without quotes)", ("'5'", "5")),
    ("scan --column orders.csv:day --where 'day > 2024-01-31'", "put dates and times in single quotes: ('2024-01-31')", ("'day > 2024-01-31'", '"day > {0}"')),
    ("scan --column orders.csv:day --where 'day > 5'", "give a date: ('1998-12-01')", ("'day > 5'", '"day > {0}"')),
    ("scan --column orders.csv:at --where 'at > 5.5'", "give an integer, a date or a time: ('1998-12-01 12:00:00')", ("'at > 5.5'", '"at > {0}"')),
    (SCAN + "--sum amonut", r"no --column is named 'amonut' \(did you mean '(amount)'\?\)", ("amonut", "{0}")),
    ("scan --column orders.csv:day,day", "give each a name of its own, as in (NAME=day)", (",day", ",{0}")),
    ("scan --column day", "as in (orders.csv:day)", ("day", "{0}")), ("scan --column =x", "as in (day=orders.csv:day)", ("=x", "{0}")),
]

OPTIONS = [
    (LOOKUP.replace("--probe 2", "--probes 42"), "--probes 42 is not a supported column file, .*; (--probe 42) looks values up", ("--probes 42", "{0}")),
    ("lookup --keys orders.csv:customer:str --probe mine.csv:customer:str", "; (--probes mine.csv:customer:str) reads the column", ("--probe mine.csv:customer:str", "{0}")),
    ("lookup --keys orders.csv:customer:str --probe mine.csv:customer:str", r"a text: (\"'mine.csv:customer:str'\")", ("--probe mine.csv:customer:str", "--probe {0}")),
    (LOOKUP + "--result sum", "need (--values) COLUMN", "{line} {0} amount"), (LOOKUP + "--values amount", "--values needs (--result sum)", "{line} {0}"),
    (LOOKUP + "--limit 1", "--limit needs (--result rows)", "{line} {0}"), (LOOKUP + "--result row,rows", "leave row (out)", ("row,rows", "rows")),
    (LOOKUP + "--result count --show day", "give (--result row) or rows", ("--result count", "{0}")), (LOOKUP + "--result count --show day", "give --result row or (rows)", ("--result count", "--result {0}")),
    (LOOKUP + "--result row,count -o x.npy", "(-o OUT.csv), not -o x.npy", ("-o x.npy", "{0}")), (LOOKUP + "--show day --quiet", "give (-o OUT.csv), -o - or -o -.csv", "{line} {0}"),
    *[(LOOKUP + f"{option} --quiet", "give -o OUT.csv, -o - or (-o -.csv)", "{line} {0}") for option in ("--show day", "--show day --no-rows")], (JOIN + "--no-rows --quiet", "give -o OUT.csv, (-o -) or", "{line} {0}"),
    (LOOKUP + "-o - --format json", "give -o a (file)", ("-o -", "-o x.csv")), (LOOKUP + "-o x.txt", r"ending in \.npy or (\.csv)", ("x.txt", "x{0}")),
    (LOOKUP + "--strict", "--strict needs (--nearest below), above or either", "{line} {0}"), (LOOKUP + "--nearest below --tolerance 5s", "is not a (whole) number", ("5s", "5")),
    ("lookup --keys orders.csv:at --probe 2024-02-01 --nearest below --tolerance 5sec", "give one in ns, .*, as in (1d) or 36h", ("5sec", "{0}")),
    ("lookup --keys orders.csv:at --probe 2024-02-01 --nearest below --tolerance 5sec", "or a (whole) number of us", ("5sec", "5")),
    ("lookup --keys seconds.csv:x:timestamp64 --probe 5 --nearest below --tolerance 5s", r"read them with a unit, as in ':(timestamp64\[s\])'", ("timestamp64", "{0}")),
    ("lookup --keys seconds.csv:x:timestamp64 --probe 5 --nearest below --tolerance 5s", "give a (whole) number", ("5s", "5")),
    (LOOKUP + "--nearest below --tolerance 99999999999999999999", "leave it (out)", (" --tolerance 99999999999999999999", "")),
    ("join --left orders.csv:at --right orders.csv:at --asof backward --tolerance -5s", "--tolerance -5s: a tolerance is not negative; give (5s)", ("-5s", "{0}")),
    (LOOKUP + "--show day,", "as in (a,b)", ("day,", "day,at")), ("lookup --keys orders.csv:order --probe 1,,2", "write (NULL) for a missing value", (",,", ",{0},")),
    ("lookup --keys orders.csv:order", "--probes COL is missing; give it, or (--probe) VALUES", "{line} {0} 2"), ("update --keys keys.npy --probe 3", "give --insert COL, (--delete) COL or both", "{line} {0} 3"),
    ("update --keys keys.npy --delete 3 --insert-rows lower.npy --probe 3", "--insert-rows needs (--insert) COL", "{line} {0} lower.npy"),
    ("join --left keys.npy --right right.npy --left-by keys.npy --right-by right.npy", "give (--left) and (--right) more than once", ("--left-by keys.npy --right-by right.npy", "{0} keys.npy {1} right.npy")),
    ("join --left lower.npy --right right.npy --left-end upper.npy --right-end right.npy", "needs (--overlap closed) or open", "{line} {0}"),
    ("join --left lower.npy --right right.npy --overlap open", "needs (--left-end) COL and (--right-end) COL", "{line} {0} upper.npy {1} right.npy"),
    ("join --left keys.npy --right right.npy --asof backward --inverse on", "leave (--inverse) at (auto)", ("--inverse on", "{0} {1}")),
    ("join --left lower.npy --left-end upper.npy --right right.npy --right-end lower.npy --overlap open --inverse on", "leave (--inverse) at (auto)", ("--inverse on", "{0} {1}")),
    ("join --left keys.npy --right-lower rlower.npy", "--right-lower and (--right-upper) belong together", "{line} {0} rupper.npy"),
    ("gen probes --keys values.npy --count 5 -o p.npy", "draw from (integer) or date keys", ("values.npy", "keys.npy")), (SCAN + "--count --bitmap", "give (one) of them", (" --bitmap", "")),
    (SCAN + "--limit 1 --count", "leave --count, .* (out)", (" --count", "")), (SCAN + "--no-rows --count -o -", "leave --count, .* (out)", (" --count", "")),
    *[(JOIN + f"--count {option} -o -", "leave --count (out)", ("--count ", "")) for option in ("--limit 1", "--show-left amount", "--show-right city", "--no-rows", "--unordered")], (SCAN + "--index best:updates=on", "keyray (kinds) lists kinds that scan", "{0}"),
    ("join --left same.npy --right same.npy --memory-cap 8M --limit 5", "or use a semi or anti join or (--count)", ("--limit 5", "{0}")),
    ("join --left same.npy --right-lower same.npy --right-upper same.npy --memory-cap 8M -o x.npy", "or use a semi or anti join or (--count)", ("-o x.npy", "{0}")),
    ("join --left same.npy --left-end same.npy --right same.npy --right-end same.npy --overlap closed --memory-cap 8M", "join parts of the sides, or use (--count)", "{line} {0}"),
    # A list of columns where an option takes one, and is given several times.
    ("join --left orders.csv:customer:str,order --right orders.csv:customer:str,order", "'str,order' is not a type; .*; give --left once for each column: (--left orders.csv:customer:str --left orders.csv:order)\n",
     "join {0} --right orders.csv:customer:str --right orders.csv:order"),
    ("join --left orders.csv:order,day --right orders.csv:order,day", "no column 'order,day'; .*; give --left once for each column: (--left orders.csv:order --left orders.csv:day)\n",
     "join {0} --right orders.csv:order --right orders.csv:day"),
    ("join --left orders.csv:order --left orders.csv:day --right orders.csv:order,day --right orders.csv:day", "give --right once for each column: (--right orders.csv:order --right orders.csv:day)\n",
     "join --left orders.csv:order --left orders.csv:day {0}"),
    (LOOKUP + "--no-rows", "leaves nothing but the probes; give (--show) COLUMN, or (--result) with count, too", "{line} {0} day"),
    (LOOKUP + "--result rows --no-rows", "give --show COLUMN, or (--result) with count, too", ("--result rows", "{0} rows,count")),
    ("range --keys orders.csv:order --lower 1 --upper 2 --no-rows -o -", "give --show COLUMN, or (--result) with count", "{line} {0} row,count"),
    ("update --keys orders.csv:order --delete 1 --probe 2 --no-rows", "nothing but the probes; give (--result) with count", "{line} {0} row,count"),
    (LOOKUP + "--threads 99999", "is a number from (0) to 1024", ("99999", "{0}")),
]

TIMED = "--count 99 --probes 9 --repeat 1 --device cpu"
BENCHES = [
    (f"bench point {TIMED} --keys-log2 5", "give (one) of them", (" --keys-log2 5", "")), (f"bench point {TIMED} --prepared --batches 2", "leave (out) --batches", (" --batches 2", "")),
    (f"bench point {TIMED} --multiplicity 3 --result sum --baseline", "give (--result row), or keys that are distinct", ("--result sum", "{0}")),
    (f"bench point {TIMED} --sweep frob=1", "for an option of a kind, name the kind: (--index) KIND", ("--sweep frob=1", "{0} array --sweep k=3,5")),
    (f"bench update {TIMED.replace('--count 99 ', '')} --waves 1 --index array --keys x.npy", "generates its keys: (--count), --bits, .*, --multiplicity and --stride say how", ("--keys x.npy", "{0} 99")),
    *[(f"bench update {TIMED} --waves 1 --index array --keys x.npy", f"({option})", ("--keys x.npy", "{0} " + value)) for option, value in
      (("--bits", "64"), ("--uniformity", "100"), ("--stride", "2"))],
    ("bench update --keys keys.npy", "the report of keyray (update) has the times of a file", "{0} --keys keys.npy --insert 3 --probes keys.npy"),
    ("bench join --left keys.npy", "reads (--keys) COL, right, and (--probes) COL, left", "bench join --device cpu --repeat 1 {0} keys.npy {1} probes.npy"),
    ("bench point --keys keys.npy --device cpu --repeat 1", "(--probes) COL is missing", ("--device", "{0} probes.npy --device")),
    ("bench point --keys keys.npy --probes probes.npy --count 9 --device cpu --repeat 1", "leave (one) of the two out", ("--count 9 ", "")),
    ("bench scan --where a=keys.npy", "(--rows), (--predicates) and (--distribution) say how", "bench scan --device cpu --repeat 1 --queries 2 {0} 99 {1} 2 {2} zipf"),
    ("bench loads --keys keys.npy", "(--entries) says how large", "bench loads --device cpu --repeat 1 --steps 2 {0} 2^20"),
    (f"bench join {TIMED} --groups 5", "--groups needs (--asof backward), forward or nearest", "{line} {0}"), (f"bench join {TIMED} --points", "--points needs (--overlap) N", "{line} {0} 5"),
    ("bench scan --rows 99 --queries 2 --repeat 1 --device cpu --scale 0.01", "give --workload q3, (q6) or q17, too", "bench scan --queries 2 --repeat 1 --device cpu --scale 0.01 --workload {0}"),
    ("bench update --count 99 --probes 9 --repeat 1 --device cpu --index array --changes 3", "give (--waves) N to insert and delete rows", ("--changes 3", "{0} 2")),
    ("bench update --count 99 --probes 9 --repeat 1 --device cpu --growth 1.5", "--growth, .* need (--waves)", "{line} {0} 2"),
]

# Of answers that are not shown: the command works, and says how to see them.
ANSWERS = [
    ("lookup --keys keys.npy --probes more.npy", "(-o OUT.csv) writes them to a file, -o - prints them", "{line} {0}"), ("lookup --keys keys.npy --probes more.npy", "(-o -) prints them", "{line} {0}"),
    ("lookup --keys keys.npy --probes many.npy -o -", "lines are left out; .*, (-o -.csv) prints them", ("-o -", "{0}")),
]

# No hint leads to text where text is of no use.
ENDS = [
    (MINE + "--result sum --values customer", r"--values orders.csv:customer is text: sum, min and max do not take texts\nExample"),
    (MINE + "--result sum --values customer:str", "--values orders.csv:customer:str is text: sum, min and max do not take texts"),
    (SCAN.replace(":str", "") + "--sum who", r"is text: --sum, --min and --max do not take texts\n"), (SCAN + "--max who", "is text: --sum, --min and --max do not take"),
    ("lookup --keys orders.csv:customer --probe ben --nearest either", r"orders.csv:customer is text: --tolerance and --nearest either need distances, which texts have not\n"),
    ("join --left orders.csv:customer --right mine.csv:customer --asof backward", r"orders.csv:customer is text: --asof takes numbers, dates and times\n"), ("join --left orders.csv:order --right mine.csv:customer:str --asof backward", "is text: --asof takes"),
    ("join --left orders.csv:order --right mine.csv:customer --overlap open --left-end orders.csv:order --right-end mine.csv:customer", r"mine.csv:customer is text: --overlap takes numbers, dates and times\n"),
    ("lookup --keys values.npy --probes dates.csv:d", "which is f64; numbers compare with numbers, and dates and times with each other"),
    ("lookup --keys a.csv:name:str --probes few.npy", "which is str; only columns of .csv, .tsv and .tbl files can be texts"),
    ("lookup --keys raw.bin:u32 --probes values.npy", r"which is not an integer; the column is u32; it is compared with raw.bin:u32\n"),
    ("update --keys a.csv:name:str --probe fig --insert b.csv:name:str", r"is text: an index holds the texts of --keys only\n"),
    ("scan --column n=a.csv:name:str,k=a.csv:k --where 'n = k'", r"are text and i64; only columns of one type can be compared\n"),
    ("join --left orders.csv:at,order --right orders.csv:at --asof backward", "no column 'at,order'; its header has: order, customer, day, amount, at\n"),
    ("lookup --keys orders.csv:order,day --probe 1", "no column 'order,day'; its header has: order, customer, day, amount, at\n"),
    ("lookup --keys fine.csv:x:timestamp64[ns] --probes eons.csv:x:timestamp64[ms]", r"out of range for timestamp64\[ns\]: .*; it is compared with fine.csv:x:timestamp64\[ns\]\n"),
    ("lookup --keys thirteen.csv:d --probe 2024-01-01", r"'2024-13-01' is out of range for date32: expected a date such as 1995-03-15\n"),
    ("lookup --keys times.csv:t --probe '2024-13-01 10:00:00'", r"is out of range for timestamp64\[us\]: .* 12:30:00.000001\+02:00\n"),
    ("lookup --keys finest.csv:x:timestamp64[ns] --probe 2024-01-01", r"is finer than timestamp64\[ns\], the finest unit\n"),
]


def write_fixtures(folder):
    (folder / "thirds.npy").write_bytes(npy.dump("<f8", [1 / 3]))
    (folder / "eons.csv").write_text("x\n+36536598-01-28 21:54:06.976\n")
    (folder / "far_days.csv").write_text("d\n2024-01-01\n10002-06-22\n")
    (folder / "thirteen.csv").write_text("d\n2024-13-01\n")
    (folder / "late.csv").write_text("x\n7\nfig\n")
    (folder / "signed.csv").write_text("x\n-5\n9223372036854775808\n")
    (folder / "huge.csv").write_text("k,v\n1,9223372036854775807\n1,9223372036854775807\n")
    (folder / "beyond.csv").write_text("x\n18446744073709551616\n")
    (folder / "finest.csv").write_text("x\n2024-01-01 00:00:00.0000000001\n")
    (folder / "wide4.npy").write_bytes((folder / "wide.npy").read_bytes().replace(b"(5,)", b"(3,)")[:-16])


def run(keyray, device, folder, line):
    takes_device = line.split()[0] in ("lookup", "range", "update", "join", "scan") and "--device" not in line and "--help" not in line
    done = subprocess.run([keyray, *shlex.split(line + (f" --device {device}" if takes_device else ""))], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def next_line(line, match, then):
    groups = [group or "" for group in match.groups()]
    if isinstance(then, tuple):
        assert then[0] in line, f"{line!r} has no {then[0]!r}"
        return line.replace(then[0], then[1].format(*groups))
    return then.format(*groups, line=line)


def hints(keyray, device, folder):
    """What an error advises is tried, and works"""
    write_fixtures(folder)
    wrong = []
    for line, wanted, then in TYPES + NAMES + OPTIONS + BENCHES + ANSWERS:
        code, out, err = run(keyray, device, folder, line)
        match = re.search(wanted, err if code else out)
        if not match or (code == 0) != ((line, wanted, then) in ANSWERS):
            wrong.append(f"{line}: no {wanted!r} in {err or out!r}")
            continue
        advised = next_line(line, match, then)
        code, out, err = run(keyray, device, folder, advised)
        if code:
            wrong.append(f"{line}: the hint leads to: {advised}: {err!r}")
    for line, wanted in ENDS:
        code, out, err = run(keyray, device, folder, line)
        if not code or not re.search(wanted, err):
            wrong.append(f"{line}: no {wanted!r} in {err or out!r}")
    assert not wrong, "\n".join(["", *wrong])


SCRIPTS = [hints]
