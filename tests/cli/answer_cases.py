"""Answers as text: CSV files, tables on the terminal, what they show, and every error of these."""
import re

import npy
from cases import bad, ok

ORDERS = """order,customer,day,amount,at
1,anna,2024-01-03,20,2024-01-03 10:00:00
2,ben,2024-01-20,35.5,2024-01-31 23:59:59.5
3,anna,2024-02-11,12.25,2024-02-11 00:00:00
4,"da Silva, Eva",2024-02-12,20,
5,ben,2024-03-01,,2024-03-01 12:00:00
"""
MINE = 'customer,city\nanna,Bern\ncarl,Oslo\n"da Silva, Eva",Porto\n,Rom\n'
MONTHS = "first,last\n2024-01-01,2024-01-31\n2024-02-01,2024-02-29\n2025-01-01,2025-01-31\n"


def write_fixtures(folder):
    (folder / "orders.csv").write_text(ORDERS)
    (folder / "mine.csv").write_text(MINE)
    (folder / "periods.csv").write_text(MONTHS)
    (folder / "odd.csv").write_text('t\n"a ""b"""\n"c;d"\n"NA"\n"e\nf"\ntab\there\n\n' + "x" * 60 + "\n")
    (folder / "years.csv").write_text("d\n+10002-06-22\n-0044-03-15\n")
    (folder / "years.npy").write_bytes(npy.dump("<M8[D]", [2933800, -735525, -(1 << 63)]))
    (folder / "zones.csv").write_text("t\n2024-01-31T12:30:00.487Z\n2024-01-31T12:30+02:00\n2024-01-31 12:30:00.0000010\n")
    (folder / "void.csv").write_text("k,v,w\n1,,1\n1,,2\n2,5,\n3,1.5,0\n3,,\n")
    (folder / "more_void.csv").write_text("v\n\n\n5\n1.5\n\n\n")
    (folder / "same.npy").write_bytes(npy.dump("<u4", [7] * 2000))
    (folder / "forty.npy").write_bytes(npy.dump("<u4", list(range(40))))
    (folder / "few.npy").write_bytes(npy.dump("<u4", [0] * 4))
    (folder / "far.npy").write_bytes(npy.dump("<u4", [99999] * 4))
    (folder / "more.npy").write_bytes(npy.dump("<u4", list(range(41))))


def exactly(text):
    return r"\A" + re.escape(text) + r"\Z"


def first(text):
    """The table is followed by an empty line and the report."""
    return r"\A" + re.escape(text) + r"\nspec "


def says(words):
    """Of --help, whose lines are wrapped."""
    def judge(text):
        assert words in " ".join(text.split()), f"--help does not say {words!r}"
    return judge


LOOKUP = "lookup --keys orders.csv:customer:str --probes mine.csv:customer:str {device} "
RANGE = "range --keys orders.csv:day --lower periods.csv:first --upper periods.csv:last {device} "
SUM = RANGE + "--result sum --values orders.csv:amount "
JOIN = "join --left orders.csv:customer:str --right mine.csv:customer:str {device} "
SCAN = "scan --column who=orders.csv:customer:str --column day=orders.csv:day --column amount=orders.csv:amount {device} "
SCANNED = "row  who                   day  amount\n  0  anna           2024-01-03      20\n  3  da Silva, Eva  2024-02-12      20\n"

FORMS = [
    ok(LOOKUP + "-o x.csv", out="^spec ", files={"x.csv": 'probe,row\nanna,0\ncarl,\n"da Silva, Eva",3\n,\n'}),
    ok(LOOKUP + "-o x.csv --quiet", out=r"\A\Z", files={"x.csv": None}),
    ok(LOOKUP + "-o x.csv --format json", json={"found": 2, "seconds.write": float}, files={"x.csv": None}),
    ok(LOOKUP + "-o -.csv", out=exactly('probe,row\nanna,0\ncarl,\n"da Silva, Eva",3\n,\n')),
    ok(LOOKUP + "-o -", out=exactly("probe          row\nanna             0\ncarl\nda Silva, Eva    3\n\n")),
    ok(LOOKUP, out=first("probe          row\nanna             0\ncarl\nda Silva, Eva    3\n\n")),
    ok(LOOKUP + "--quiet", out=r"\A\Z"),
    ok("lookup --keys keys.npy --probes forty.npy {device}", out=r"\Aprobe  row\n(.*\n){40}\nspec "),
    ok("lookup --keys keys.npy --probes more.npy {device}",
       out=r"\A41 lines of answers are not shown: -o OUT.csv writes them to a file, -o - prints them\n\nspec "),
    ok("lookup --keys keys.npy --probes many.npy {device}", out=r"\A20000 lines .* -o - prints the first 1000\n\nspec "),
    ok("lookup --keys keys.npy --probes many.npy {device} -o -",
       out=r"\Aprobe  row\n(.*\n){1000}\.\.\. 19000 of 20000 lines are left out; -o OUT.csv writes all of them to a file, -o -.csv prints them\n\Z"),
    ok("lookup --keys keys.npy --probes many.npy {device} -o -.csv", out=r"\Aprobe,row\n(.*\n){20000}\Z"),
    ok("lookup --keys many.npy --probes many.npy {device} -o x.csv", files={"x.csv": "probe,row\n" + "".join(f"{i},{i}\n" for i in range(20000))}),
    ok("lookup --keys keys.npy --probes empty.npy {device} -o -", out=exactly("probe  row\n")),
    # A file that is written reads back as the same values.
    ok("lookup --keys odd.csv:t:str --probes odd.csv:t:str {device} -o x.csv",
       files={"x.csv": 'probe,row\n"a ""b""",0\n"c;d",1\n"NA",2\n"e\nf",3\n"tab\there",4\n,\n' + "x" * 60 + ",6\n"}),
    ok("lookup --keys odd.csv:t:str --probes odd.csv:t:str {device} -o -", out=f"^a \"b\" .*\n^c;d .*\n^NA .*\n^e[?]f .*\n^tab[?]here .*\n\n^{'x' * 45}[.]{{3}} +6$"),
    ok("lookup --keys years.npy --probes years.npy {device} -o x.csv", files={"x.csv": "probe,row\n+10002-06-22,0\n-0044-03-15,1\n,\n"}),
    ok("lookup --keys years.npy --probes years.csv:d {device} -o x.npy", files={"x.npy": ("<u4", [0, 1])}),
    ok("lookup --keys years.npy --probe -0044-03-15,+10002-06-22 {device} -o x.npy", files={"x.npy": ("<u4", [1, 0])}),
    ok("scan --column d=years.npy --where \"d > '9999-12-31'\" {device} -o -.csv", out=exactly("row,d\n0,+10002-06-22\n")),
    ok("lookup --keys zones.csv:t --probes zones.csv:t {device} -o -.csv", out=exactly(
        "probe,row\n2024-01-31 12:30:00.487,0\n2024-01-31 10:30:00,1\n2024-01-31 12:30:00.000001,2\n")),
    bad(2, LOOKUP + "-o x.txt", r"-o is a file name ending in \.npy or \.csv, - for a table on the terminal, or -\.csv for CSV there, not 'x.txt'"),
    bad(2, LOOKUP + "-o - --format json", "-o - prints answers, but --format json prints one object; give -o a file"),
    bad(2, JOIN + "-o -.csv --format json", "-o -.csv prints answers"), bad(2, SCAN + "-o - --format json", "-o - prints answers"),
    bad(1, LOOKUP + "-o no/x.csv", "there is no folder no; make it"), bad(1, JOIN + "-o no/x.csv", "there is no folder no; make it"),
    bad(2, "gen keys --count 4 -o x.csv", r"-o is a file name ending in \.npy, not 'x.csv'"),
]

LOOKUPS = [
    ok(LOOKUP + "--result count -o -.csv", out=exactly('probe,count\nanna,2\ncarl,0\n"da Silva, Eva",1\n,0\n')),
    ok(LOOKUP + "--result exists -o -.csv", out=exactly('probe,exists\nanna,1\ncarl,0\n"da Silva, Eva",1\n,0\n')),
    ok(LOOKUP + "--result sum-rows -o -.csv", out=exactly('probe,sum-rows\nanna,2\ncarl,0\n"da Silva, Eva",3\n,0\n')),
    ok(LOOKUP + "--result rows -o -.csv", out=exactly('probe,row\nanna,0\nanna,2\ncarl,\n"da Silva, Eva",3\n,\n')),
    ok(LOOKUP + "--result rows", out=first("probe          row\nanna             0\nanna             2\ncarl\nda Silva, Eva    3\n\n")),
    ok("lookup --keys equal.npy --probes forty.npy {device} --result rows", out=r"\A45 lines of answers are not shown"),
    ok(LOOKUP + "--result min --values orders.csv:at -o -.csv",
       out=exactly('probe,min\nanna,2024-01-03 10:00:00\ncarl,\n"da Silva, Eva",\n,\n')),
    ok(LOOKUP + "--result max --values orders.csv:day -o -.csv", out=exactly('probe,max\nanna,2024-02-11\ncarl,\n"da Silva, Eva",2024-02-12\n,\n')),
    ok(SUM + "-o -.csv", out=exactly("lower,upper,sum\n2024-01-01,2024-01-31,55.5\n2024-02-01,2024-02-29,32.25\n2025-01-01,2025-01-31,\n")),
    ok(SUM, out=first("     lower       upper    sum\n2024-01-01  2024-01-31   55.5\n2024-02-01  2024-02-29  32.25\n2025-01-01  2025-01-31\n")),
    ok(RANGE + "--result rows -o -.csv", out=exactly("lower,upper,row\n2024-01-01,2024-01-31,0\n2024-01-01,2024-01-31,1\n"
       "2024-02-01,2024-02-29,2\n2024-02-01,2024-02-29,3\n2025-01-01,2025-01-31,\n")),
    ok("update --keys keys.npy --delete one.npy --probes probes.npy {device} -o -.csv", out=exactly("probe,row\n3,\n4,\n9,2\n5,0\n")),
    ok("lookup --keys values.npy --probes values.npy {device} -o -.csv", out=exactly("probe,row\n0.5,0\n1.5,1\n2.5,2\n-4,3\n8,4\n")),
]

# Values that are NULL alone have no sum, minimum or maximum, as in SQL.
VOID = " --values v,w --result count,sum,min,max {device} -o -.csv"
NAMES = "count,sum_v,sum_w,min_v,min_w,max_v,max_w\n"
LOOKUPS += [
    ok("lookup --keys void.csv:k --probe 1,2,3,9" + VOID, out=exactly(f"probe,{NAMES}1,2,,3,,1,,2\n2,1,5,,5,,5,\n3,2,1.5,0,1.5,0,1.5,0\n9,0,,,,,,\n")),
    ok("range --keys void.csv:k --lower 1,1 --upper 1,3" + VOID, out=exactly(f"lower,upper,{NAMES}1,1,2,,3,,1,,2\n1,3,5,6.5,3,1.5,0,5,2\n")),
    ok("update --keys void.csv:k --delete 2 --insert 2 --probe 1,2,3 --values more_void.csv:v --result sum {device} -o -.csv", out=exactly("probe,sum\n1,\n2,\n3,1.5\n")),
    ok("lookup --keys void.csv:k --probe 1,2 --values v --result sum {device}", out=first("probe  sum\n    1\n    2    5\n")),
    ok("lookup --keys void.csv:k --probe 1,2 --values v --result sum {device} -o x.npy --quiet", out=exactly(""), files={"x.npy": ("<f8", [0, 5])}),
    ok("lookup --keys void.csv:k --probe 1,2 --values w --result sum {device} -o x.npy --quiet", out=exactly(""), files={"x.npy": ("<i8", [3, 0])}),
    *[ok(f"scan --column void.csv:k,v --where 'k = 1' --{result} v {{device}} --format json", json={result: None}) for result in ("sum", "min", "max")],
    ok("scan --column void.csv:k,w --where 'k = 2' --sum w {device} --format json", json={"sum": None}), ok("scan --column void.csv:k,w --where 'k = 2' --sum w {device}", out=r"\Asum +NULL$"),
    ok("scan --column void.csv:k,w --where 'k = 2' --sum w {device} -o -.csv", out=exactly("sum\n\n")),
    ok("help answers", out=says("A sum, min or max is empty where no value matches that is not NULL, as in SQL.")),
]

# Rows of a join that take too much memory; that --count works is in hint_cases.
TOO_MUCH = " --memory-cap 8M {device}"
LOOKUPS += [
    ok("join --help", out=says("with --unordered any N of them; all rows are made first, which takes memory for them [all]")),
    bad(1, "join --left same.npy --right same.npy --left same.npy --right same.npy" + TOO_MUCH, r"; join a smaller side, or use a semi or anti join or --count with one --left column\n"),
    bad(1, "join --left same.npy --left-end same.npy --right same.npy --right-end same.npy --overlap closed --type left" + TOO_MUCH, r"; join parts of the sides, or use --count with --type inner\n"),
    ok("join --left same.npy --right same.npy --count --quiet" + TOO_MUCH, out=exactly("4000000\n")),
]

# What help says of a probe without a match is what the cases above show.
LOOKUPS += [
    ok("help answers", out=says("a probe without a match has an empty cell, but 0 for count, sum-rows and exists.")),
    *[ok(f"{command} --help", out=says("where nothing matches, the cell is empty, but 0 for count, sum-rows and exists;")) for command in ("lookup", "range", "update")],
]

JOINS = [
    ok(JOIN + "-o -.csv", out=exactly('customer,left_row,right_row\nanna,0,0\nanna,2,0\n"da Silva, Eva",3,2\n')),
    ok(JOIN + "--type left -o -", out=exactly("customer       left_row  right_row\nanna                  0          0\nben                   1\n"
       "anna                  2          0\nda Silva, Eva         3          2\nben                   4\n")),
    ok(JOIN + "--type right -o -.csv", out=exactly('customer,right_customer,left_row,right_row\nanna,anna,0,0\nanna,anna,2,0\n'
       '"da Silva, Eva","da Silva, Eva",3,2\n,carl,,1\n,,,3\n')),
    ok(JOIN + "--type full --show-right city -o -.csv", out=r"ben,,4,,\n(,.*,,\d,.*\n)+\Z"),
    ok(JOIN + "--count", out=r"\Acount +3\ndevice "), ok(JOIN + "--count --type full", out=r"\Acount +7$"),
    ok(JOIN + "--count --quiet", out=exactly("3\n")), ok(JOIN + "--count --type semi --quiet", out=exactly("3\n")),
    ok(JOIN + "--count --type anti", out=r"^count +2$"),
    ok("join --left orders.csv:day --right-lower periods.csv:first --right-upper periods.csv:last {device} --count", out=r"^count +4$"),
    # No heading without lines below it, and no cost of 0.
    ok(JOIN + "--count", out=r"^  join  .*s\n\Z"), ok(JOIN + "--count --format json", json={"join_phases": {}}),
    ok(JOIN + "--inverse off", out=r"^indexed +right\nrule +left indexed [1-9][0-9.]* [mun]s, right indexed [1-9][0-9.]* [mun]s: to compare the sides, not to predict$"),
    ok("explain join --keys orders.csv:order {device}", out=r"^rule +left indexed [1-9]"), ok(JOIN + "--format json", json={"cost_left": float, "cost_right": float}),
    ok("join --left orders.csv:order --right orders.csv:order --device cpu", out=r"^indexed +none\nleft +5$"),
    ok(JOIN + "--count -o -.csv", out=exactly("count\n3\n")), ok(JOIN + "--count -o - --quiet", out=exactly("count\n    3\n")),
    ok(JOIN + "--count -o x.csv", out=r"\Acount +3\ndevice ", files={"x.csv": "count\n3\n"}), ok(JOIN + "--count --quiet -o x.npy", out=exactly(""), files={"x.npy": ("<u8", [3])}),
    ok(JOIN + "--count --format json --quiet -o x.npy", json={"count": 3, "seconds.write": float}, files={"x.npy": None}),
    *[bad(2, JOIN + "--count " + option, f"{option.split()[0]} is about rows; leave --count out") for option in
      ("--limit 2", "--show-left amount", "--show-right city -o -.csv", "--no-rows -o -.csv", "--unordered")],
    ok(JOIN + "--limit 2 -o -.csv", out=exactly("customer,left_row,right_row\nanna,0,0\nanna,2,0\n")),
    ok(JOIN + "--limit 2 --show-right city --no-rows", out=r"\Acustomer  city\nanna      Bern\nanna      Bern\n\nspec (.|\n)*^pairs +3$"),
    ok(JOIN + "--limit 1 -o x.npy --format json", json={"pairs": 3}, files={"x.npy": ("<u4", (1, 2), [0, 0])}),
    ok(JOIN + "--type anti --limit 1 -o x.npy", out="^rows +2$", files={"x.npy": ("<u4", [1])}), bad(2, JOIN + "--limit 0", "--limit is a number from 1"),
    ok("join --left many.npy --right many.npy {device} --limit 2", out=r"\Amany  left_row  right_row\n +0 +0 +0\n +1 +1 +1\n\nspec (.|\n)*^pairs +20000$"),
    # Two pieces, the second of which is cut.
    ok("join --left many.npy --right-lower few.npy --right-upper far.npy {device} --limit 70001 -o -.csv", out=r"\Amany,few,far,left_row,right_row\n(.*\n){70000}17500,0,99999,17500,0\n\Z"),
    ok("join --left many.npy --right-lower few.npy --right-upper far.npy {device} --limit 70001 -o x.npy --format json", json={"pairs": 80000},
       files={"x.npy": ("<u4", (70001, 2), [row for i in range(70001) for row in (i // 4, i % 4)])}),
    ok(JOIN + "--type semi -o -.csv", out=exactly('customer,row\nanna,0\nanna,2\n"da Silva, Eva",3\n')),
    ok(JOIN + "--type anti", out=first("customer  row\nben         1\nben         4\n")),
    ok(JOIN + "--type anti --quiet", out=r"\A\Z"),
    ok("join --left orders.csv:day --right-lower periods.csv:first --right-upper periods.csv:last {device} -o -.csv",
       out=exactly("day,first,last,left_row,right_row\n2024-01-03,2024-01-01,2024-01-31,0,0\n2024-01-20,2024-01-01,2024-01-31,1,0\n"
                   "2024-02-11,2024-02-01,2024-02-29,2,1\n2024-02-12,2024-02-01,2024-02-29,3,1\n")),
    ok("join --left c.csv:x --left c.csv:y --right d.csv:x --right d.csv:y {device} -o -.csv",
       out=exactly("x,y,left_row,right_row\n1,200,1,0\n2,100,2,1\n")),
    ok("join --left many.npy --right many.npy {device}", out=r"\A20000 lines of answers are not shown"),
    ok("join --left forty.npy --right many.npy {device} --type anti -o -.csv", out=exactly("forty,row\n")),
    # More pairs than are read at once.
    ok("join --left many.npy --right-lower few.npy --right-upper far.npy {device} -o -.csv", out=r"\Amany,few,far,left_row,right_row\n(0,0,99999,0,\d\n){4}(.*\n){79992}(19999,0,99999,19999,\d\n){4}\Z"),
    ok("join --left equal.npy --right many.npy {device} -o x.csv", files={"x.csv": "equal,left_row,right_row\n" + "".join(f"3,{i},3\n" for i in range(6))}),
]

SCANS = [
    ok(SCAN + "--where 'amount = 20'", out=first(SCANNED)), ok(SCAN + "--where 'amount = 20' -o -", out=exactly(SCANNED)),
    ok(SCAN + "--where 'amount = 20' -o x.csv", out="^matches +2$",
       files={"x.csv": 'row,who,day,amount\n0,anna,2024-01-03,20\n3,"da Silva, Eva",2024-02-12,20\n'}),
    ok(SCAN + "--where 'amount is null' -o -.csv", out=exactly("row,who,day,amount\n4,ben,2024-03-01,\n")),
    ok(SCAN + "--where 'amount < 0'", out=first("row  who  day  amount\n")),
    ok(SCAN + "--count -o -.csv", out=exactly("count\n5\n")), ok(SCAN + "--count", out=r"\Acount +5\nspec "),
    ok(SCAN + "--count --quiet", out=exactly("5\n")), ok(SCAN + "--where 'amount = 20' --max day --quiet", out=exactly("2024-02-12\n")),
    ok(SCAN + "--min day --quiet --where false", out=exactly("\n")), ok(SCAN + "--count -o - --quiet", out=exactly("count\n    5\n")),
    ok(SCAN + "--count --quiet -o x.npy", out=exactly(""), files={"x.npy": None}), ok(SCAN + "--count --format json --quiet", json={"count": 5}),
    ok(SCAN + "--sum amount -o -.csv", out=exactly("sum\n87.75\n")), ok(SCAN + "--min day -o -", out=exactly("       min\n2024-01-03\n")),
    ok(SCAN + "--max day", out="^max +2024-03-01$"),
    ok(SCAN + "--where false --max amount -o -.csv", out=exactly("max\n\n")),
    ok(SCAN + "--where 'amount = 20' --bitmap -o -.csv", out=exactly("match\n1\n0\n0\n1\n0\n")),
    ok("scan --column a=many.npy {device}", out=r"\A20000 lines of answers are not shown"),
    ok("scan --column a=many.npy {device} --quiet", out=r"\A\Z"),
]

# --quiet, and what --help says of it.
ALONE = "an answer that is one value, such as the number of --count, is then printed alone"
QUIET = [
    *[ok(f"{command} --help", out=says(f"table unless -o asks for it; {ALONE}")) for command in ("join", "scan")],
    *[ok(f"{command} --help", out=says("no answers unless -o asks for them; -o -.csv prints them without the report -h, --help")) for command in ("lookup", "range", "update")],
    *[ok(f"{command} --help", out=says("--quiet print no progress and no report in text form")) for command in ("explain", "gen", "bench")],
    *[ok(f"{command} --help", out=says("--quiet changes nothing, because this command prints its list and nothing else -h")) for command in ("info", "kinds")],
    *[ok(f"{line} --result count {{device}} --quiet", out=exactly("")) for line in
      ("lookup --keys orders.csv:order --probe 1", "range --keys orders.csv:order --lower 1 --upper 1", "update --keys orders.csv:order --delete 2 --probe 1")],
    ok("lookup --keys orders.csv:order --probe 1 --result count {device} --quiet -o -.csv", out=exactly("probe,count\n1,1\n")),
    ok("kinds --quiet", out="^array: "), ok("info --quiet", out="^keyray +[0-9]"), ok("explain point --keys orders.csv:order --quiet {device}", out=exactly("")),
]

ORDER = "lookup --keys orders.csv:order {device} -o -.csv "
BETWEEN = "range --keys orders.csv:day {device} -o -.csv --result count "
VALUES = [
    ok(ORDER + "--probe 2,7,3", out=exactly("probe,row\n2,1\n7,\n3,2\n")), ok(ORDER + "--probe ' 2.0 , NULL '", out=exactly("probe,row\n2,1\n,\n")),
    ok("lookup --keys keys.npy --probe 9 {device} -o x.npy", files={"x.npy": ("<u4", [2])}),
    ok("lookup --keys orders.csv:customer:str {device} -o -.csv --result count --probe \"anna,'da Silva, Eva','NULL'\"",
       out=exactly('probe,count\nanna,2\n"da Silva, Eva",1\n"NULL",0\n')),
    ok("lookup --keys orders.csv:customer:str {device} -o -.csv --probe \"'mine.csv:city'\"", out=exactly("probe,row\nmine.csv:city,\n")),
    ok("lookup --keys orders.csv:at {device} -o -.csv --probe '2024-02-11,2024-01-03T12:00+02:00'",
       out=exactly("probe,row\n2024-02-11 00:00:00,2\n2024-01-03 10:00:00,0\n")),
    ok(BETWEEN + "--lower 2024-01-01 --upper 2024-01-31", out=exactly("lower,upper,count\n2024-01-01,2024-01-31,2\n")),
    ok(BETWEEN + "--lower 2024-01-01,2024-02-01,2025-01-01 --upper periods.csv:last", out=r"31,2\n.*29,2\n.*31,0\n"),
    ok("range --keys orders.csv:at {device} -o -.csv --result count --lower 2024-01-01 --upper 2024-01-31",
       out=exactly("lower,upper,count\n2024-01-01 00:00:00,2024-01-31 00:00:00,1\n")),
    ok("range --keys orders.csv:customer:str {device} -o -.csv --result count --lower b --upper da", out=exactly("lower,upper,count\nb,da,2\n")),
    ok("update --keys keys.npy --delete 3,7 --insert 4 --probe 3,4,5 {device} -o -.csv", out=exactly("probe,row\n3,\n4,5\n5,0\n")),
    ok("join --left orders.csv:day --right-lower 2024-01-01 --right-upper 2024-01-31 --type semi {device} -o -.csv", out=exactly("day,row\n2024-01-03,0\n2024-01-20,1\n")),
    bad(2, ORDER, r"--probes COL is missing; give it, or --probe VALUES\nExample: keyray lookup .*--probe"), bad(2, ORDER + "--probe 1 --probes mine.csv:city", "--probe VALUES, not both"),
    bad(2, ORDER + "--probes 42", r"--probes 42 is not a supported column file, as FILE.csv:NAME is; --probe 42 looks values up"),
    bad(2, ORDER + "--probe mine.csv:city", r"--probe takes values, as in 42,43; --probes mine.csv:city reads the column, and quotes make it a text"),
    bad(2, ORDER + "--probe 1,,2", "--probe 1,,2: value 2 of the list is empty"), bad(2, ORDER + "--probe ''", "value 1 of the list is empty"),
    bad(2, ORDER + "--probe 1,x", "value 2 of the list, 'x', is not of type i64"), bad(2, ORDER + "--probe 1.5", "--probe 1.5: value 1 of the list"),
    bad(2, ORDER + "--probe \"'1\"", "no closing quote"), bad(2, ORDER + "--probe \"'1'2\"", "goes on behind its quotes"),
    bad(2, BETWEEN + "--lower 2024-01-32 --upper 2024-02-01", "--lower 2024-01-32: value 1 of the list, '2024-01-32', is out of range for date32"),
    bad(2, BETWEEN + "--lower 5 --upper 2024-02-01", "--lower 5: value 1 of the list"), bad(2, BETWEEN + "--lower from.cvs:day --upper 2024-02-01", "'from.cvs:day', is not of type date32"),
    bad(1, BETWEEN + "--lower 2024-01-01 --upper 2024-01-31,2024-02-29", "--lower 2024-01-01 has 1 rows but --upper 2024-01-31,2024-02-29 has 2"),
    bad(2, "update --keys keys.npy --delete x --probe 1 {device}", "--delete x: value 1 of the list, 'x', is not of type u32"),
    bad(2, "update --keys keys.npy --insert -1 --probe 1 {device}", "--insert -1: value 1 of the list"),
]

WHO = "--show customer --show amount "
SHOWN = [
    ok(ORDER + "--probe 2,9,4 " + WHO, out=exactly('probe,row,customer,amount\n2,1,ben,35.5\n9,,,\n4,3,"da Silva, Eva",20\n')),
    ok("lookup --keys orders.csv:order --probe 4 {device} " + WHO, out=first("probe  row  customer       amount\n    4    3  da Silva, Eva      20\n")),
    ok("lookup --keys orders.csv:customer:str --probe ben,eva {device} -o x.csv --result rows --show order --show amount:str --show orders.csv:at", out="^spec",
       files={"x.csv": "probe,row,order,amount,at\nben,1,2,35.5,2024-01-31 23:59:59.5\nben,4,5,,2024-03-01 12:00:00\neva,,,,\n"}),
    ok(BETWEEN.replace("count", "rows") + "--lower 2024-01-01 --upper 2024-02-11 --show 3 --show '#0'",
       out=exactly("lower,upper,row,3,#0\n2024-01-01,2024-02-11,0,20,1\n2024-01-01,2024-02-11,1,35.5,2\n2024-01-01,2024-02-11,2,12.25,3\n")),
    ok("lookup --keys keys.npy --probe 9 {device} --show values.npy --show keys.npy --show ints.npy:f64 -o -.csv", out=exactly("probe,row,values,keys,ints\n9,2,2.5,9,30\n")),
    ok("lookup --keys odd.csv:t:str --probe \"'c;d',tab\there\" {device} --show t -o -.csv", out=exactly('probe,row,t\n"c;d",1,"c;d"\n"tab\there",4,"tab\there"\n')),
    # Two columns of one name.
    ok("lookup --keys orders.csv:order --probe 2 {device} --show day --show day --show orders.csv:row -o -", exit=1, err="no column 'row'"),
    ok("lookup --keys orders.csv:order --probe 2 {device} --show day --show day -o -.csv", out=exactly("probe,row,day,day_2\n2,1,2024-01-20,2024-01-20\n")),
    ok(JOIN + "--type left --show-left amount --show-right city --show-right customer -o -.csv",
       out=exactly('customer,left_row,right_row,amount,city,right_customer\nanna,0,0,20,Bern,anna\nben,1,,35.5,,\nanna,2,0,12.25,Bern,anna\n'
                   '"da Silva, Eva",3,2,20,Porto,"da Silva, Eva"\nben,4,,,,\n')),
    ok(JOIN + "--type anti --show-left day -o -.csv", out=exactly("customer,row,day\nben,1,2024-01-20\nben,4,2024-03-01\n")),
    ok(SCAN + "--where 'amount = 20' --show order --show day -o -.csv", out=exactly("row,order,day\n0,1,2024-01-03\n3,4,2024-02-12\n")),
    ok(SCAN + "--where 'amount = 20' --show customer", out=first("row  customer\n  0  anna\n  3  da Silva, Eva\n")),
    # Lists, and no rows.
    ok(ORDER + "--probe 2,9 --show customer,amount --no-rows", out=exactly("probe,customer,amount\n2,ben,35.5\n9,,\n")),
    ok(ORDER + "--probe 2 --show customer,day:str --show amount", out=exactly("probe,row,customer,day,amount\n2,1,ben,2024-01-20,35.5\n")),
    ok(LOOKUP + "--result count,sum --values amount,order -o -.csv --no-rows", out=r"\Aprobe,count,sum_amount,sum_order\nanna,2,32.25,4\n"),
    ok(LOOKUP + "--result rows --show order --no-rows -o -.csv", out=exactly('probe,order\nanna,1\nanna,3\ncarl,\n"da Silva, Eva",4\n,\n')),
    ok("lookup --keys tabs.tsv:1 --probe 1 --show \"'a,b',c\" -o -.csv {device}", out=exactly('probe,row,"a,b",c\n1,0,5,1\n')),
    ok("lookup --keys tabs.tsv:1 --probe 1 --show \"'a,b':f64\" -o -.csv --no-rows {device}", out=exactly('probe,"a,b"\n1,5\n')),
    bad(2, ORDER + "--probe 2 --show customer,,day", "--show has an empty name; names have ',' between them, as in a,b"), bad(2, ORDER + "--probe 2 --show day,", "empty name"),
    bad(2, ORDER + "--probe 2 --show \"'day\"", "--show has a quote that is not closed: 'day"),
    ok(JOIN + "--type left --show-left order,amount --show-right city --no-rows -o -.csv",
       out=exactly('customer,order,amount,city\nanna,1,20,Bern\nben,2,35.5,\nanna,3,12.25,Bern\n"da Silva, Eva",4,20,Porto\nben,5,,\n')),
    ok(JOIN + "--type semi --no-rows -o -.csv", out=exactly('customer\nanna\nanna\n"da Silva, Eva"\n')),
    ok("join --left trades.csv:time --right quotes.csv:time --asof backward --left-by symbol:str --right-by symbol:str --type left --show-left symbol,size --show-right bid,time "
       "--no-rows {device} -o -.csv", out=r"\Atime,symbol,size,bid,right_time\n2024-01-01 10:00:00,a,10,1,2024-01-01 10:00:00\n"),
    ok(SCAN + "--where 'amount = 20' --show order,day --no-rows -o -.csv", out=exactly("order,day\n1,2024-01-03\n4,2024-02-12\n")),
    ok(SCAN + "--where 'amount = 20' --limit 1 -o -.csv", out=exactly("row,who,day,amount\n0,anna,2024-01-03,20\n")), ok(SCAN + "--limit 99 -o -.csv --show day --no-rows", out=r"\A(.*\n){6}\Z"),
    ok(SCAN + "--where 'amount = 20' --limit 1 -o x.npy", out="^matches +2$", files={"x.npy": ("<u4", [0])}),
    ok("scan --column a=many.npy {device} --limit 3", out=r"\Arow  a\n +0 +0\n +1 +1\n +2 +2\n\nspec(.|\n)*^matches +20000$"),
    bad(2, SCAN + "--count --limit 2", "--limit is about rows; leave --count"), bad(2, SCAN + "--limit 0", "--limit is a number from 1"),
    *[bad(2, f"{line} --no-rows {more}", "--no-rows leaves columns of answers as text out; give -o OUT.csv") for more in ("-o x.npy", "--quiet", "--format json")
      for line in ("lookup --keys orders.csv:order --probe 2", JOIN, SCAN)],
    # Columns of one file.
    ok("scan --column orders.csv:day,amount,customer:str --where \"day > '2024-01-05' and customer = 'ben'\" {device} -o -.csv --no-rows", out=exactly("day,amount,customer\n2024-01-20,35.5,ben\n2024-03-01,,ben\n")),
    ok("scan --column d=orders.csv:day --column amount --column who=customer:str --where \"who = 'anna'\" {device} --sum amount --quiet", out=exactly("32.25\n")),
    ok("scan --column orders.csv:order:u32,mine=keys.npy,order2=orders.csv:order --where 'order = order2' {device} --count", exit=1, err="columns 'order' and 'order2' at character 1 are u32 and i64"),
    ok("scan --column keys.npy --where 'keys > 4' {device} --count --quiet", out=exactly("3\n")),
    bad(2, "scan --column day {device}", "--column day: 'day' is not a supported column file, as in orders.csv:day; only after such a column may a name stand alone"),
    bad(2, "scan --column orders.csv:day,day {device}", "two columns are named 'day'; give each a name of its own, as in NAME=day"),
    bad(1, "scan --column orders.csv:day,amonut {device}", r"orders.csv has no column 'amonut' \(did you mean 'amount'\?\)"),
    bad(2, "scan --column =orders.csv:day {device}", "--column is NAME=COL"), bad(2, "scan --column a= {device}", "--column is NAME=COL"),
    bad(1, ORDER + "--probe 2 --show custmer", r"orders.csv has no column 'custmer' \(did you mean 'customer'\?\); its header has: order, customer"),
    bad(1, ORDER + "--probe 2 --show mine.csv:city", "--keys orders.csv:order has 5 rows but --show mine.csv:city has 4; show one value per row"),
    bad(1, ORDER + "--probe 2 --show missing.csv:x", "cannot open missing.csv"), bad(2, ORDER + "--probe 2 --show orders.csv", "--show orders.csv needs a column"),
    bad(2, "lookup --keys keys.npy --probe 3 --show x", "--show keys.npy takes only a type after it"),
    bad(2, ORDER + "--probe 2 --result count --show day", "--show shows the rows found, which --result does not name; give --result row or rows"),
    *[bad(2, line, "--show adds columns to answers as text; give -o OUT.csv, -o - or -o -.csv") for line in
      ("lookup --keys orders.csv:order --probe 2 --show day " + more for more in ("-o x.npy", "--quiet", "--format json"))],
    bad(2, JOIN + "--show-left day -o x.npy", "--show-left adds columns"), bad(2, JOIN + "--show-right day --format json", "--show-right adds columns"),
    bad(2, JOIN + "--type semi --show-right city", "--show-right shows columns of right rows, and --type semi and anti have none"),
    bad(2, SCAN + "--count --show day", "--show is about rows; leave --count, --bitmap, .* out"), bad(2, SCAN + "--bitmap --no-rows -o -", "--no-rows is about rows; leave"), bad(2, SCAN + "--show day --quiet", "--show adds columns"),
    bad(1, SCAN + "--show dya", r"no column 'dya' \(did you mean 'day'\?\)"), bad(1, JOIN + "--show-right cty", r"mine.csv has no column 'cty' \(did you mean 'city'\?\)"),
    bad(2, "update --keys keys.npy --delete 3 --probe 3 --show x", "unknown option --show of update"),
]

NEAREST = [
    ok("lookup --keys orders.csv:day --probe 2024-02-01,2023-12-31 --nearest below --show day --show amount {device} -o -.csv",
       out=exactly("probe,row,day,amount\n2024-02-01,1,2024-01-20,35.5\n2023-12-31,,,\n")),
    ok("join --left periods.csv:last --right orders.csv:day --asof backward --type left --show-right order {device} -o -",
       out=exactly("      last  left_row  right_row  order\n2024-01-31         0          1      2\n2024-02-29         1          3      4\n2025-01-31         2          4      5\n")),
    ok("join --left orders.csv:order --right orders.csv:order --asof forward --strict --left-by customer:str --right-by orders.csv:customer:str "
       "--type left --show-left customer {device} -o -.csv",
       out=exactly('order,left_row,right_row,customer\n1,0,2,anna\n2,1,4,ben\n3,2,,anna\n4,3,,"da Silva, Eva"\n5,4,,ben\n')),
    bad(1, "join --left orders.csv:order --right mine.csv:customer --asof forward --left-by custmer --right-by customer {device}", "mine.csv:customer is text"),
    bad(1, "join --left orders.csv:order --right orders.csv:order --asof forward --left-by custmer --right-by customer {device}", r"did you mean 'customer'\?"),
]

SEVERAL = [
    ok(LOOKUP + "--result row,count,sum --values amount -o -.csv", out=exactly('probe,row,count,sum\nanna,0,2,32.25\ncarl,,0,\n"da Silva, Eva",3,1,20\n,,0,\n')),
    ok(LOOKUP + "--result exists,min,max,sum-rows --values order --values orders.csv:at -o -.csv",
       out=exactly('probe,exists,min_order,min_at,max_order,max_at,sum-rows\nanna,1,1,2024-01-03 10:00:00,3,2024-02-11 00:00:00,2\n'
                   'carl,0,,,,,0\n"da Silva, Eva",1,4,,4,,3\n,0,,,,,0\n')),
    ok(LOOKUP + "--result sum --values amount --values order -o -.csv", out=exactly('probe,sum_amount,sum_order\nanna,32.25,4\ncarl,,\n"da Silva, Eva",20,4\n,,\n')),
    ok(LOOKUP + "--result rows,count --show day -o -.csv", out=exactly('probe,row,count,day\nanna,0,2,2024-01-03\nanna,2,2,2024-02-11\ncarl,,0,\n"da Silva, Eva",3,1,2024-02-12\n,,0,\n')),
    ok(LOOKUP + "--result rows,count --limit 1 --show day -o -.csv", out=exactly('probe,row,count,day\nanna,0,2,2024-01-03\ncarl,,0,\n"da Silva, Eva",3,1,2024-02-12\n,,0,\n')),
    ok(LOOKUP + "--result count,row --show order", out=r"\Aprobe +count +row +order\nanna +2 +0 +1\n(.|\n)*^found +2\nmatches +3$"),
    ok(RANGE + "--result count,sum,min --values amount -o x.csv --format json", json={"found": 2, "matches": 4},
       files={"x.csv": "lower,upper,count,sum,min\n2024-01-01,2024-01-31,2,55.5,20\n2024-02-01,2024-02-29,2,32.25,12.25\n2025-01-01,2025-01-31,0,,\n"}),
    ok("update --keys keys.npy --delete 3 --probe 3,5 --result count,row {device} -o -.csv", out=exactly("probe,count,row\n3,0,\n5,1,0\n")),
    ok("lookup --keys keys.npy --probes probes.npy --result row,count,rows {device}", exit=2, err="--result rows lists every row, the smallest too; leave row out"),
    ok("lookup --keys keys.npy --probes probes.npy --result row,count --format json {device}", json={"found": 3, "matches": 4}),
    # Rays are counted once for each result.
    ok("lookup --keys keys.npy --probes probes.npy --result count,exists --index rx {device} --format json", needs="rx", json={"rays": 4}),
    ok("lookup --keys keys.npy --probes probes.npy --result rows -o x.csv --index rx {device} --format json", needs="rx", json={"rays": 4}, files={"x.csv": None}),
    bad(2, LOOKUP + "--result row,cuont", r"row\|count\|.*, not 'cuont' \(did you mean count\?\)"), bad(2, LOOKUP + "--result row,", "not ''"),
    bad(2, LOOKUP + "--result row,count,row", "--result has row twice"), bad(2, LOOKUP + "--result row,sum", "need --values COLUMN"),
    bad(2, LOOKUP + "--result row,count --values amount", "--values needs --result sum"),
    bad(2, LOOKUP + "--result row,count -o x.npy", r"several results go into one file with names of columns: -o OUT.csv, not -o x.npy"),
    bad(2, LOOKUP + "--result sum --values amount --values order -o x.npy", "several results go into one file"),
    bad(1, LOOKUP + "--result sum --values amonut", r"orders.csv has no column 'amonut' \(did you mean 'amount'\?\)"),
    bad(1, LOOKUP + "--result sum --values customer:str", "--values orders.csv:customer:str is text: sum, min and max do not take texts"),
    bad(1, LOOKUP + "--result sum --values mine.csv:customer", "--values mine.csv:customer is text"),
]

CASES = FORMS + LOOKUPS + JOINS + SCANS + QUIET + VALUES + SHOWN + NEAREST + SEVERAL
