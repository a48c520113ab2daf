"""Tests that need more than a table: signals, closed streams, full disks, terminals, the man page."""
import json
import os
import pathlib
import pty
import re
import resource
import select
import signal
import shutil
import subprocess
import time

COMMANDS = ("info", "kinds", "explain", "advise", "gen", "lookup", "range", "update", "join", "scan", "index", "bench", "report")


class Skip(Exception):
    """With the reason."""


def stop_while_writing(process, folder, seconds=60):
    """Stops the process while a file is under construction."""
    def writing():
        return any(name.endswith(".tmp") for name in os.listdir(folder))

    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        if writing():
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.05)
            if writing():
                return
            break
    process.kill()
    process.wait()
    raise Skip("the write was over before it could be stopped")


def interrupted_write(keyray, _, folder):
    """Ctrl-C while a file is written removes it"""
    def no_core():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    before = set(os.listdir(folder))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        process = subprocess.Popen([keyray, "gen", "keys", "--count", "2^25", "-o", "big.npy"], cwd=folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=no_core)
        stop_while_writing(process, folder)
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        errors = process.communicate()[1]
        assert process.returncode == -number, f"exit {process.returncode}: {errors}"
        assert errors == "keyray gen: interrupted; nothing was written\n", errors
        assert set(os.listdir(folder)) == before, f"left {set(os.listdir(folder)) - before}"


def interrupted_twice(keyray, _, folder):
    """A second signal while a file is written does not keep it from being removed, nor does timeout"""
    before = set(os.listdir(folder))
    line = ["gen", "keys", "--count", "2^25", "-o", "big.npy"]
    for first, second in ((signal.SIGTERM, signal.SIGHUP), (signal.SIGINT, signal.SIGINT), (signal.SIGHUP, signal.SIGQUIT)) * 2:
        process = subprocess.Popen([keyray, *line], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        stop_while_writing(process, folder)
        process.send_signal(first)  # both wait for the process to go on
        process.send_signal(second)
        process.send_signal(signal.SIGCONT)
        assert process.wait(60) in (-first, -second), process.returncode
        assert set(os.listdir(folder)) == before, f"{first}, {second} left {set(os.listdir(folder)) - before}"
    for tenths in range(1, 7):
        subprocess.run(["timeout", f"0.{tenths}", keyray, *line], cwd=folder, capture_output=True, check=False)
        left = set(os.listdir(folder)) - before - {"big.npy"}
        assert not left, f"timeout left {left}"


def ignored_signal(keyray, _, folder):
    """A signal that was ignored from outside, as by nohup, stays ignored"""
    process = subprocess.Popen([keyray, "gen", "keys", "--count", "2^25", "-o", "big.npy"], cwd=folder,
                               stdout=subprocess.DEVNULL,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    stop_while_writing(process, folder)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGCONT)
    assert process.wait() == 0 and (folder / "big.npy").exists()


def interrupted_work(keyray, _, folder):
    """Ctrl-C before anything is written ends at once"""
    before = set(os.listdir(folder))
    process = subprocess.Popen([keyray, "gen", "keys", "--count", "2^27", "-o", "big.npy"], cwd=folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert process.wait(30) == -signal.SIGINT, process.returncode
    assert time.monotonic() - begin < 5, "it went on working"
    assert set(os.listdir(folder)) == before, f"left {set(os.listdir(folder)) - before}"


def full_output(keyray, _, folder):
    """Standard output that cannot be written is an error"""
    lookup = "lookup --keys many.npy --probes many.npy --device cpu"
    for command in ("info", "--version", "kinds", "--help", lookup, lookup + " -o -", lookup + " -o -.csv"):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([keyray, *command.split()], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True,
                                  check=False)
        assert done.returncode == 1, f"{command}: exit {done.returncode}"
        assert re.fullmatch(r"keyray[ a-z]*: cannot write to standard output: No space left on device\n", done.stderr), done.stderr


def closed_pipe(keyray, _, folder):
    """A reader that went away ends the command as SIGPIPE does: quietly"""
    for command in ("kinds", "lookup --keys many.npy --probes many.npy --device cpu -o -.csv"):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([keyray, *command.split()], cwd=folder, stdout=writing, stderr=subprocess.PIPE, text=True,
                              check=False)
        os.close(writing)
        assert done.returncode == -signal.SIGPIPE and not done.stderr, (done.returncode, done.stderr)


def json_of_any_name(keyray, _, folder):
    """JSON is valid where the name of a file is not UTF-8"""
    names = {b"\xff\xc3\xa4\xe2\x82.npy": "\ufffd\u00e4\ufffd\ufffd.npy", b"\xed\xa0\x80\xf0\x9f\x98\x80\xc0\xaf.npy": "\ufffd" * 3 + "\U0001f600" + "\ufffd" * 2 + ".npy"}
    for name, shown in names.items():
        done = subprocess.run([keyray.encode(), b"gen", b"keys", b"--count", b"3", b"--format", b"json", b"-o", name], cwd=folder,
                              capture_output=True, check=True)
        assert json.loads(done.stdout.decode())["output"] == shown, done.stdout
        (folder / os.fsdecode(name)).unlink()


def closed_streams(keyray, device, folder):
    """Closed standard streams: an error, and never a result in their place"""
    line = f'"{keyray}" lookup --keys keys.npy --probes probes.npy --device {device} -o x.npy '
    done = subprocess.run(["sh", "-c", line + ">&-"], cwd=folder, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "cannot write to standard output" in done.stderr, done
    whole = (folder / "x.npy").read_bytes()
    done = subprocess.run(["sh", "-c", line + "--quiet <&- >&- 2>&-"], cwd=folder, check=False)
    assert done.returncode == 0, done
    assert (folder / "x.npy").read_bytes() == whole


def full_disk(keyray, device, folder):
    """A write that fails halfway leaves nothing, also of a result in two files"""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (170000, 170000))

    before = set(os.listdir(folder))
    lines = ["gen keys --count 100000 -o x.npy",
             # Offsets of 160 kB fit, the rows of 6 * 20000 * 4 bytes do not.
             f"range --keys many.npy --lower many.npy --upper many2.npy --result rows -o x.npy --device {device}"]
    many = (folder / "many.npy").read_bytes()
    (folder / "many2.npy").write_bytes(many[:-80000] + b"".join((i + 5).to_bytes(4, "little") for i in range(20000)))
    before.add("many2.npy")
    for line in lines:
        done = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=False,
                              preexec_fn=limit)
        assert done.returncode == 1 and "File too large" in done.stderr, (line, done.returncode, done.stderr)
        assert set(os.listdir(folder)) == before, f"left {set(os.listdir(folder)) - before}"


def keeps_old_result(keyray, device, folder):
    """A failure leaves an older result as it was"""
    (folder / "x.npy").write_bytes(b"older")
    done = subprocess.run([keyray, "lookup", "--keys", "lying.npy", "--probes", "probes.npy", "-o", "x.npy", "--device",
                           device], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 1 and (folder / "x.npy").read_bytes() == b"older"


def progress(keyray, _, folder):
    """Work over a second shows progress on a terminal, gone before the report; --quiet shows neither"""
    for quiet in ([], ["--quiet"]):
        terminal, its_end = pty.openpty()
        process = subprocess.Popen([keyray, "gen", "keys", "--count", "2^25", "-o", "big.npy", *quiet], cwd=folder,
                                   stdout=its_end, stderr=its_end)
        stop_while_writing(process, folder)
        time.sleep(1.1)
        process.send_signal(signal.SIGCONT)
        os.close(its_end)
        shown = b""
        while select.select([terminal], [], [], 60)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:
                break
        os.close(terminal)
        assert process.wait() == 0
        (folder / "big.npy").unlink()
        assert (b"%" in shown) == (b"\r\x1b[Koutput" in shown) == (not quiet), shown


def interrupted_progress(keyray, _, folder):
    """Ctrl-C while progress is shown leaves none of it on the terminal"""
    terminal, its_end = pty.openpty()
    columns = folder / "many.csv"
    with columns.open("w") as file:
        file.write("x\n" + "".join(f"{i * 0.37}\n" for i in range(1 << 20)) * 8)
    process = subprocess.Popen([keyray, "lookup", "--keys", "many.csv:x", "--probes", "many.csv:x", "--device", "cpu"],
                               cwd=folder, stdout=its_end, stderr=its_end)
    os.close(its_end)
    shown, end = b"", time.monotonic() + 60
    while b"%" not in shown and time.monotonic() < end and select.select([terminal], [], [], 5)[0]:
        try:
            shown += os.read(terminal, 4096)
        except OSError:
            break
    process.send_signal(signal.SIGINT)
    process.wait()
    while select.select([terminal], [], [], 1)[0]:
        try:
            shown += os.read(terminal, 4096)
        except OSError:
            break
    os.close(terminal)
    columns.unlink()
    if b"%" not in shown:
        raise Skip("the file was read before progress was due")
    assert shown.endswith(b"\r\x1b[K"), shown[-40:]


def named_like_a_type(keyray, device, folder):
    """A CSV column whose name is a type's: numbers stay numbers"""
    for name in ("str", "u32", "f64", "date32"):
        (folder / "t.csv").write_text(f"{name}\n5\n6\n7\n")
        (folder / "p.csv").write_text("x\n6\n7\n9\n")
        line = f"lookup --keys t.csv:{name} --probes p.csv:x --device {device} -o rows.npy --format json"
        done = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (name, done.returncode, done.stderr)
        assert json.loads(done.stdout)["found"] == 2, (name, done.stdout)
        rows = (folder / "rows.npy").read_bytes()[-12:]
        assert rows == b"\x01\0\0\0\x02\0\0\0\xff\xff\xff\xff", (name, rows)
        line = f"range --keys t.csv:{name} --lower p.csv:x --upper p.csv:x --values t.csv:{name} --result sum --device {device} -o s.npy"
        done = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (name, done.returncode, done.stderr)
    for left in ("t.csv", "p.csv", "rows.npy", "s.npy"):
        (folder / left).unlink()


def json_to_device(keyray, device, folder):
    """bench --json refuses what is not a regular file, and follows links"""
    line = f"bench point --count 500 --probes 50 --repeat 1 --quiet --device {device} --json "
    os.mkfifo(folder / "pipe.json")
    os.symlink("/dev/null", folder / "null.json")
    os.symlink("real.json", folder / "link.json")
    for name in ("pipe.json", "null.json"):
        done = subprocess.run([keyray, *line.split(), name], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "not a regular file" in done.stderr, (name, done)
    assert (folder / "pipe.json").is_fifo() and (folder / "null.json").is_symlink()
    subprocess.run([keyray, *line.split(), "link.json"], cwd=folder, capture_output=True, check=True)
    assert (folder / "link.json").is_symlink() and json.loads((folder / "real.json").read_text())["runs"]
    for left in ("pipe.json", "null.json", "link.json", "real.json"):
        (folder / left).unlink()


def two_files_or_none(keyray, device, folder):
    """A result of two files: if the second cannot be written, the first stays as it was"""
    (folder / "r.offsets.npy").write_text("old")
    (folder / "r.rows.npy").mkdir()
    line = f"lookup --keys keys.npy --probes probes.npy --result rows --device {device} -o r.npy"
    done = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "a directory" in done.stderr, done
    assert (folder / "r.offsets.npy").read_text() == "old"
    (folder / "r.rows.npy").rmdir()
    subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, check=True)
    for left in ("r.offsets.npy", "r.rows.npy"):
        (folder / left).unlink()


def output_is_an_input(keyray, device, folder):
    """An output never replaces an input: not under another name, a link, standard input or a companion's name"""
    (folder / "q.csv").write_text("t,p\n1,5\n2,6\n")
    os.symlink("q.csv", folder / "soft.csv")
    os.link(folder / "q.csv", folder / "hard.csv")
    shutil.copy(folder / "keys.npy", folder / "o.rows.npy")
    shutil.copy(folder / "keys.npy", folder / "o.lower.npy")
    shutil.copy(folder / "keys.npy", folder / "o.valid.npy")
    shutil.copy(folder / "keys.npy", folder / "x=y.npy")
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    rows = "lookup --keys o.rows.npy --probes probes.npy"
    valid = "lookup --keys keys.npy --probes probes.npy --values o.valid.npy"
    refused = {
        "lookup --keys q.csv:t --probe 1 -o q.csv": "q.csv, which --keys q.csv:t", "lookup --keys q.csv:t --probe 1 -o soft.csv": "soft.csv, which --keys",
        "lookup --keys q.csv:t --probe 1 -o hard.csv": "hard.csv, which --keys", "lookup --keys soft.csv:t --probe 1 -o ./q.csv": "./q.csv, which --keys soft.csv:t",
        "lookup --keys keys.npy --probes ./probes.npy -o probes.npy": "probes.npy, which --probes ./probes.npy",
        "lookup --keys keys.npy --probes -:t -o q.csv": "q.csv, which --probes -:t", "lookup --keys keys.npy --probe 1 --show q.csv:p -o q.csv": "which --show q.csv:p",
        rows + " --result rows -o o.npy": "o.rows.npy, which --keys o.rows.npy", valid + " --result min -o o.npy": "o.valid.npy, which --values o.valid.npy",
        "range --keys keys.npy --lower q.csv:t --upper hard.csv:p -o q.csv": "which --lower", "range --keys keys.npy --lower 1 --upper hard.csv:p -o q.csv": "which --upper",
        "update --keys keys.npy --insert q.csv:t --probe 1 -o q.csv": "which --insert", "update --keys keys.npy --delete q.csv:t --probe 1 -o q.csv": "which --delete",
        "join --left keys.npy --right q.csv:t -o q.csv": "which --right", "join --left keys.npy --right keys.npy --show-right q.csv:p -o q.csv": "which --show-right",
        "join --left keys.npy --right-lower q.csv:t --right-upper q.csv:p -o q.csv": "which --right-lower",
        "join --left q.csv:t --right q.csv:t --asof backward --left-by p --right-by hard.csv:p -o soft.csv": "soft.csv, which --left q.csv:t",
        "scan --column t=q.csv:t -o q.csv": "which --column q.csv:t", "scan --column t=x=y.npy -o x=y.npy": "which --column x=y.npy",
        "gen probes --keys keys.npy --count 3 -o keys.npy": "which --keys", "gen ranges --keys o.lower.npy --count 3 -o o.npy": "o.lower.npy, which --keys"}
    for line, text in refused.items():
        with open(folder / "q.csv", "rb") as standard_input:
            where = [] if line.startswith("gen") else ["--device", device]
            done = subprocess.run([keyray, *line.split(), *where], cwd=folder, stdin=standard_input, capture_output=True, text=True, check=False)
        wanted = text if text.startswith("which") else "would replace " + text
        assert done.returncode == 2 and wanted in done.stderr and not done.stdout, (line, done)
        after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        assert after == before, (line, [name for name in after if after[name] != before.get(name)])
    # Files that are not written may be inputs, texts in quotes may look like files, and a copy is another file.
    for line in (rows + " -o o.npy", valid + " --result sum -o o.npy", "range --keys keys.npy --lower 1 --upper 9 --result count -o new.csv"):
        done = subprocess.run([keyray, *line.split(), "--device", device], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr)


def examples_keep_their_inputs(keyray, _, __):
    """No example of --help writes to a file that it reads"""
    n = 0
    for command in COMMANDS:
        helps = subprocess.run([keyray, command, "--help"], capture_output=True, text=True, check=True).stdout
        for example in helps.partition("\nExample:\n")[2].splitlines():
            output = re.search(r" -o (\S+)", example)
            if output:
                n += 1
                assert output[1] not in re.sub(r" -o \S+", "", example), example
    assert n > 5, n


def json_file(keyray, device, folder):
    """bench --json writes what --format json prints"""
    line = f"bench point --count 500 --probes 50 --repeat 1 --format json --json b.json --device {device}"
    done = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == json.loads((folder / "b.json").read_text())


def baseline(keyray, _, folder):
    """bench --baseline prints ratios to std::lower_bound and to the maps of this build"""
    def rivals(line):
        done = subprocess.run([keyray, *line.split(), "--repeat", "1", "--baseline", "--device", "cpu", "--threads", "1",
                               "--format", "json"], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr)
        return {rival["name"].partition(",")[0]: rival for rival in json.loads(done.stdout)["runs"][0]["baselines"]}

    for keys in ("", " --bits 64 --uniformity 100 --hit-rate 50", " --multiplicity 5", " --uniformity 50 --stride 2 --outside --hit-rate 0"):
        found = rivals("bench point --count 5000 --probes 500" + keys)
        maps = set(found) - {"std::lower_bound", "a plain gather"}
        assert ("a plain gather" in found) == ("uniformity" not in keys), (keys, set(found))
        assert maps in ({"std::unordered_map"}, {"std::unordered_map", "absl::flat_hash_map", "absl::btree_map"}), maps
        assert all(found[name]["build_seconds"] > 0 for name in maps) and "build_seconds" not in found["std::lower_bound"], found
        assert all(rival["ratio"] > 0 and rival["footprint"] >= 4000 for rival in found.values()), found
    built = rivals("bench build --count 5000 --bits 64")
    assert set(built) == maps | {"a plain gather"} and all(rival["per_second"] > 0 for rival in built.values()), built
    line = "bench point --count 5000 --probes 500 --repeat 1 --baseline --device cpu --threads 1"
    done = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=False)
    assert re.search(r"[0-9.]+ times std::unordered_map, one thread \([0-9.]+ M/s, .*, built in [0-9.]+ ms\)", done.stdout), done.stdout


def generated_rows(keyray, device, folder):
    """Generated probes are found at their hit rate, through files"""
    def run(line):
        return subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=True).stdout

    for bits in (32, 64):
        run(f"gen keys --count 5000 --bits {bits} --uniformity 50 --order random -o k.npy")
        run("gen probes --keys k.npy --count 1000 --hit-rate 75 --order descending -o p.npy")
        report = json.loads(run(f"lookup --keys k.npy --probes p.npy --device {device} --format json"))
        assert (report["keys"], report["probes"], report["found"]) == (5000, 1000, 750), report


def plain(page):
    """The text of a man page, as groff reads it."""
    lines = [line for line in page.splitlines() if not line.startswith(".\\\"")]
    assert not [line for line in lines if line.startswith("'") or re.match(r"\.(?!TH|SH|SS|TP|PP|B |BR |nf|fi)", line)], "an unknown request"
    text = re.sub(r"\\f[IPB]|\\&", "", "\n".join(lines).replace("\\-", "-").replace("\\(aq", "'").replace("\\(dq", '"').replace("\\e", "\x00"))
    assert "\\" not in text, "an unknown escape"
    return text.replace("\x00", "\\")


def words(text):
    return " ".join(text.split())


def manual(keyray, _, __):
    """The man page of each command says what --help says; keyray(1) lists the commands"""
    def run(*arguments):
        return subprocess.run([keyray, *arguments], capture_output=True, text=True, check=True).stdout

    listed = dict(re.findall(r"^  ([a-z]+) +(.+)$", run("--help").partition("Commands:")[2].partition("Options:")[0], re.M))
    assert tuple(listed) == COMMANDS, listed
    overview = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "keyray.1").read_text()
    section = overview.partition(".SH COMMANDS")[2].partition("\n.SH")[0]
    assert dict(re.findall(r"^\.TP\n\.B ([a-z]+)\n(.+)$", section, re.M)) == listed, "keyray(1) has other commands or summaries than --help"
    for command in COMMANDS:
        helps, page = run(command, "--help"), plain(run(command, "--man"))
        assert page.startswith(f".TH KEYRAY-{command.upper()} 1 ") and f"keyray-{command} - {listed[command]}\n" in page, page[:200]
        sections = re.findall(r"^\.SH (.*)", page, re.M)
        assert sections[:4] == ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] and sections[-2:] == ["EXAMPLES", "SEE ALSO"], sections
        about = helps.split("\n\n")[0].partition("\n")[2]
        assert about.endswith(".") and words(about) in words(page.partition(".SH DESCRIPTION\n")[2].partition("\n.")[0]), f"{command}: {about!r}"
        options = re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)(.*(?:\n {26}.*)*)", helps, re.M)
        assert options and f"keyray-{command}(1)" in overview.replace("\\-", "-").replace(" (1)", "(1)"), command
        for name, rest in options:
            argument_and_help = words(rest)
            entry = re.findall(rf"^\.TP\n\.B (?:-\w, )?{name}((?: [^\n]*)?\n.*)$", page, re.M)
            found = [words(text) for text in entry]
            assert name in ("--help", "--man") or argument_and_help in found, f"{command} {name}: {argument_and_help!r} is not in {found}"
        shown = words(page.replace("\n.PP\n", "\n"))
        for paragraph in helps.partition("for man -l\n")[2].partition("\nExample:\n")[0].split("\n\n"):
            assert words(paragraph) in shown, f"{command}: the page lacks {words(paragraph)!r}"
        for example in helps.partition("\nExample:\n")[2].splitlines():
            assert words(example) in shown, f"{command}: the page lacks {example!r}"
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=run(command, "--man"), capture_output=True, text=True, check=True)
            assert not re.search("warning(?!.*can't (break|set))", done.stderr), done.stderr
    for line in (["gen", "keys", "--man"], ["bench", "point", "--man"]):
        assert run(*line).startswith(".\\\""), line


def topics(keyray, _, __):
    """keyray help: topics that several commands share are explained once, and each help leads there"""
    def run(line):
        return subprocess.run([keyray, *line.split()], capture_output=True, text=True, check=True).stdout

    columns, answers = run("help columns"), run("help answers")
    for text in ("FILE.csv:NAME", "FILE.tbl:POSITION", "timestamp64[s|ms|us|ns]", "as in \"'a, b',c\"", "its midnight in UTC", "--nulls"):
        assert text in words(columns), f"no {text!r} in {columns}"
    assert "4294967295" in answers and "OUT.valid.npy" in answers and max(len(line) for line in (columns + answers).splitlines()) <= 100
    for command in COMMANDS:
        helps = run(f"{command} --help")
        assert helps == run(f"help {command}") and "FILE.tbl:POSITION" not in helps and "midnight in UTC" not in words(helps), helps
        takes_columns = command in ("explain", "advise", "gen", "lookup", "range", "update", "join", "scan", "index", "bench")
        assert ("keyray help columns" in helps) == takes_columns, helps
        assert ("keyray help answers" in helps) == (command in ("lookup", "range", "update")), helps
    assert "columns" in run("--help") and "answers" in run("--help") and run("help") == run("--help")
    kinds = run("kinds")
    for option in ("pin=none|steps|full", "probes=as-is|sorted|partitioned|auto", "bvh=fast|balanced|trace"):
        assert kinds.count(option) == 1, f"{option} {kinds.count(option)} times"
    assert "pin=none|steps|full" in run("kinds eytzinger") and "probes=as-is" in run("kinds hash")
    listed = {kind["name"]: {option["name"] for option in kind["options"]} for kind in json.loads(run("kinds --format json"))["kinds"]}
    parts = re.split(r"^(\w+): ", kinds.partition("\nOptions that several")[0], flags=re.M)[1:]
    for name, part in zip(parts[::2], parts[1::2]):
        shared = part.partition("listed at the end:")[2].replace(",", " ").split()
        assert set(re.findall(r"^      (\w+)=", part, re.M)) | set(shared) == listed[name], (name, part)


SCRIPTS = [interrupted_write, interrupted_twice, ignored_signal, interrupted_work, full_output, closed_pipe, json_of_any_name, closed_streams, full_disk, keeps_old_result,
           progress, interrupted_progress, named_like_a_type, json_file, json_to_device, two_files_or_none, output_is_an_input, examples_keep_their_inputs,
           baseline, generated_rows, manual, topics]
