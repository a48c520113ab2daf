"""Cases of `keyray advise`: few probes and a short time, as only the forms of answers are asked for here."""
import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree

from cases import bad, ok

ADVISE = "advise --keys keys.npy --seconds 0.2 {device} "
TABLE = "advise --column a=keys.npy,v=values.npy --seconds 0.2 {device} "
KINDS = ("measured", "slower", "late", "over the cap", "failed")


def ranked(kinds):
    """The best first, those that are left out behind them; each with a reason."""
    measured = [kind for kind in kinds if kind["state"] == "measured"]
    rates = [kind.get("lookups_per_second", kind.get("scans_per_second")) for kind in measured]
    return (measured and kinds[:len(measured)] == measured and rates == sorted(rates, reverse=True) and
            all(kind["state"] in KINDS and (kind["note"] == "") == (kind["state"] == "measured") for kind in kinds))


CASES = [
    ok(ADVISE + "--probes probes.npy", out=r"\Ause +\S+\nreason +.+\ndevice +\S+\nrows +5\nmeasured +all rows\nhit percent +75\nbatch +4\npaid after +.+\ntime +.+ s\n\n"
       r"  kind +lookups +build +memory\n  \S+ +[0-9.]+( [kMGT])?/s  #{24} +[0-9.]+ [a-z]+ +[0-9.]+ [a-zA-Z]+\n"),
    ok(ADVISE + "--probes probes.npy --quiet", out=r"\A[a-z]+(:[a-z0-9=.,-]+)?\n\Z"),
    ok(ADVISE + "--hit-rate 50 --format json", json={
        "use": str, "reason": str, "device": str, "rows": 5, "measured_rows": 5, "sample": "", "hit_percent": lambda x: 48 < x < 52, "batch": int,
        "paid_against": str, "scan_seconds": float, "seconds": float, "kinds": ranked, "kinds.0.spec": str, "kinds.0.footprint": int, "kinds.0.build_seconds": float}),
    ok(ADVISE + "--lower lower.npy --upper upper.npy --probes probes.npy --updates 12.5 --format json", json={
        "range_hits": lambda x: abs(x - 4 / 3) < 0.01, "hit_percent": 75, "updated_rows": 2, "kinds": lambda k: ranked(k) and all("hash" not in x["spec"] for x in k),
        "kinds.0.points_per_second": lambda x: x > 0, "kinds.0.ranges_per_second": lambda x: x > 0, "kinds.0.update_seconds": float}),
    ok(ADVISE + "--range-hits 2 --batch 8 --svg plot.svg", out=r"^range hits +2(\.\d+)?\nbatch +8$", files={"plot.svg": None}),
    ok(ADVISE + "--updates 50 --batch 4", out=r"^  kind +lookups +build +memory +update$"),
    ok("advise --keys equal.npy --seconds 0.2 {device}", out=r"^rows +6$"), ok("advise --keys one.npy --seconds 0.2 {device}", out=r"^rows +1$"),
    ok("advise --keys a.csv:name:str --probes b.csv:name:str --seconds 0.2 {device}", out=r"^hit percent +66.6667$"),
    ok("advise --keys a.csv:day --seconds 0.2 {device}", out=r"^rows +4$"), ok("advise --keys a.csv:k --seconds 0.2 {device}", out=r"^rows +3$"),
    ok(TABLE + "--where 'a < 6' --where 'v > 0 and a = 3'", out=r"^rows found +2$(.|\n)*^  kind +scans +build +memory$"),
    ok(TABLE + "--where 'a < 6' --format json", json={"rows_found": 3, "kinds": ranked, "kinds.0.scans_per_second": lambda x: x > 0}),
    ok("advise --column a.csv:name,day --where \"name like 'p%' or day > '2020-01-01'\" --seconds 0.2 --quiet {device}", out=r"\A\S+\n\Z"),
    bad(2, "advise", "--keys COL is missing; give it, or --column"), bad(2, "advise --keys --seconds 3", "--keys needs a value, but --seconds follows"), bad(2, ADVISE + "--lower lower.npy", "--upper COL is missing"),
    bad(2, ADVISE + "--upper lower.npy", "--lower COL is missing"), bad(2, ADVISE + "--probes probes.npy --hit-rate 5", "leave one out"),
    bad(2, ADVISE + "--lower lower.npy --upper upper.npy --range-hits 5", "leave one out"), bad(2, ADVISE + "--where 'a < 5'", "--where is for a table"),
    bad(2, TABLE, "--where CONDITION is missing"), bad(2, TABLE + "--where 'a < 5' --keys keys.npy", "--keys is for an index, and --column for a table"),
    bad(2, TABLE + "--where 'a < 5' --batch 4", "--batch is for an index"), bad(2, ADVISE + "--svg plot.png", "give a name that ends in .svg"),
    bad(2, TABLE + "--where 'a <'", "--where: "), bad(1, TABLE + "--where 'b < 5'", "no column 'b'"), bad(1, TABLE + "--where 'a < v'", "only columns of one type"),
    bad(2, ADVISE + "--hit-rate 101", "--hit-rate"), bad(2, ADVISE + "--updates 100", "--updates"), bad(2, ADVISE + "--seconds 0", "--seconds"),
    bad(1, "advise --keys empty.npy {device}", "0 rows and no key"), bad(1, ADVISE + "--probes empty.npy", "--probes has no rows: leave it out"), bad(1, "advise --keys nulls.csv:k:u32 {device}", "no key, as all are NULL"),
    bad(1, ADVISE + "--memory-cap 8", r"no kind keeps at most 8 bytes: '\S+' keeps the least, \d+ bytes; raise --memory-cap"),
    bad(1, ADVISE + "--lower lower.npy --upper probes.npy", "a range takes one of each"), bad(1, "advise --keys keys.npy --probes nothere.npy {device}", "nothere.npy"),
    bad(1, "advise --column empty.npy --where 'empty < 3' {device}", "the table has no rows"),
]


def plot(keyray, device, folder):
    """advise --svg writes a picture with a bar for each kind that was measured, and replaces no input"""
    line = f"advise --keys keys.npy --probes probes.npy --format json --svg plot.svg --device {device}"
    done = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=True)
    measured = [kind["spec"] for kind in json.loads(done.stdout)["kinds"] if kind["state"] == "measured"]
    root = xml.etree.ElementTree.parse(folder / "plot.svg").getroot()
    bars = [rect for rect in root.iter("{http://www.w3.org/2000/svg}rect") if rect.get("height") == "20"]
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert len(bars) == len(measured) and set(measured) <= set(texts), (measured, texts)
    assert float(bars[0].get("width")) >= float(bars[-1].get("width")) > 0
    (folder / "keys.svg").symlink_to("keys.npy")
    done = subprocess.run([keyray, *line.replace("plot.svg", "keys.svg").split()], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--svg keys.svg would replace" in done.stderr, done
    done = subprocess.run([keyray, *line.replace("plot.svg", "nowhere/plot.svg").split()], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "--svg nowhere/plot.svg: there is no folder nowhere; make it" in done.stderr and not done.stdout, done


def interrupted_advice(keyray, device, folder):
    """Ctrl-C ends keyray advise at once, and leaves no file"""
    before = set(os.listdir(folder))
    line = f"advise --keys many.npy --batch 1 --seconds 60 --svg plot.svg --device {device}"
    process = subprocess.Popen([keyray, *line.split()], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert process.wait(30) == -signal.SIGINT, process.returncode
    assert time.monotonic() - begin < 5 and set(os.listdir(folder)) == before


def advice_is_used(keyray, device, folder):
    """The spec that advise --quiet prints makes an index"""
    run = lambda line: subprocess.run([keyray, *line.split(), "--device", device], cwd=folder, capture_output=True, text=True, check=True).stdout
    spec = run("advise --keys keys.npy --probes probes.npy --quiet").strip()
    assert re.search(r"^found +3$", run(f"lookup --keys keys.npy --probes probes.npy --index {spec}"), re.M)


SCRIPTS = [plot, interrupted_advice, advice_is_used]
