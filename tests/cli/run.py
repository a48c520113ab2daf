#!/usr/bin/env python3
"""Tests of the command: tables of command lines with what they must answer, and a few scripts.

Usage: run.py KEYRAY [--device cpu] [WORD ...]     only cases whose name or command line has one of the words
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing of ours in the source tree

import advise_cases  # noqa: E402
import answer_cases  # noqa: E402
import bench_cases  # noqa: E402
import bench_file_cases  # noqa: E402
import cases  # noqa: E402
import hint_cases  # noqa: E402
import input_cases  # noqa: E402
import nearest_cases  # noqa: E402
import npy  # noqa: E402
import saved_cases  # noqa: E402
import scan_cases  # noqa: E402
import scripts  # noqa: E402
import update_cases  # noqa: E402


def check_text(what, wanted, got):
    """A string is a regular expression that must be found, a callable judges by itself."""
    if callable(wanted):
        wanted(got)
    elif wanted is not None and not re.search(wanted, got, re.MULTILINE):
        raise AssertionError(f"{what} has no {wanted!r}: {got!r}")


def check_json(wanted, text):
    """`wanted` maps "seconds.load" to a value, a type or a callable."""
    report = json.loads(text)
    assert isinstance(report, dict), "no JSON object"
    for path, value in wanted.items():
        got = report
        for key in path.split("."):
            got = got[int(key) if isinstance(got, list) else key]
        if isinstance(value, (type, tuple)):
            assert isinstance(got, value), f"{path} is {got!r}"
        elif callable(value):
            assert value(got), f"{path} is {got!r}"
        else:
            assert got == value, f"{path} is {got!r}, not {value!r}"


def check_errors(code, errors):
    """Success says nothing on standard error, failure one line that names the command, and an example of it."""
    if code == 0:
        assert errors == "", f"on standard error: {errors!r}"
    else:
        line = re.fullmatch(r"keyray( [a-z]+)?: [^\n]+\n(Example: keyray( [a-z]+)?[^\n]*\n)?", errors)
        assert line or errors.startswith("Usage: "), f"not one line and an example: {errors!r}"
        assert not line or not line[2] or line[1] in (line[3], None), f"an example of another command: {errors!r}"


def check_file(folder, name, wanted):
    if isinstance(wanted, str):
        text = (folder / name).read_text()
        assert text == wanted, f"{name} is {text!r}, not {wanted!r}"
        return
    dtype, shape, values = npy.read(folder / name)
    if len(wanted) == 2:
        wanted = (wanted[0], (len(wanted[1]),), wanted[1])
    assert (dtype, shape, values) == wanted, f"{name} is {dtype} {shape} {values}, not {wanted}"


def skip_without(spec, keyray, device, folder):
    line = f"lookup --keys one.npy --probes one.npy --index {spec} --device {device} --quiet"
    done = subprocess.run([keyray, *line.split()], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise scripts.Skip(done.stderr.strip())


def write_fixtures(folder):
    cases.write_fixtures(folder)
    input_cases.write_fixtures(folder)
    answer_cases.write_fixtures(folder)


def link_fixtures(written, folder):
    """The same by links, in a third of the time: the command replaces files and writes into none."""
    for entry in os.scandir(written):
        if entry.is_dir():
            os.mkdir(folder / entry.name)
        else:
            os.link(entry.path, folder / entry.name)


def run_case(keyray, device, written, case):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        link_fixtures(written, folder)
        if "needs" in case:
            skip_without(case["needs"], keyray, device, folder)
        for line in case.get("before", []):
            done = subprocess.run([keyray, *shlex.split(line.replace("{device}", f"--device {device}"))], cwd=folder,
                                  capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, f"before: {line}: {done.stderr}"
        before = set(os.listdir(folder))
        line = case["run"].replace("{device}", f"--device {device}")
        done = subprocess.run([keyray, *shlex.split(line)], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)
        if "without" in case and case["without"] in done.stderr:
            check_errors(done.returncode, done.stderr)
            raise scripts.Skip(done.stderr.strip())
        assert done.returncode == case.get("exit", 0), f"exit {done.returncode}: {done.stdout}{done.stderr}"
        check_errors(done.returncode, done.stderr)
        check_text("standard error", case.get("err"), done.stderr)
        if done.returncode:
            assert done.stdout == "", f"failed, but printed {done.stdout!r}"
        check_text("standard output", case.get("out"), done.stdout)
        if "json" in case:
            check_json(case["json"], done.stdout)
        made = set(os.listdir(folder)) - before
        assert made == set(case.get("files", {})), f"left {sorted(made)}"
        for file, wanted in case.get("files", {}).items():
            if wanted is not None:
                check_file(folder, file, wanted)


def run_script(keyray, device, written, script):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_fixtures(folder)  # which scripts change
        script(keyray, device, folder)


def main(arguments):
    parser = argparse.ArgumentParser(description="Tests of the keyray command.")
    parser.add_argument("keyray")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--no-experiments", action="store_true", help="leave out bench/experiments, for slow tools")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args(arguments)
    keyray = str(pathlib.Path(options.keyray).resolve())
    parts = (cases, input_cases, nearest_cases, answer_cases, update_cases, saved_cases, scan_cases, bench_cases, bench_file_cases, advise_cases)
    scripted = scripts.SCRIPTS + hint_cases.SCRIPTS + nearest_cases.SCRIPTS + input_cases.SCRIPTS + saved_cases.SCRIPTS + bench_cases.SCRIPTS + bench_file_cases.SCRIPTS + advise_cases.SCRIPTS
    if not options.no_experiments:
        scripted = scripted + bench_cases.EXPERIMENTS_SCRIPTS
    jobs = [(case["run"], run_case, case) for part in parts for case in part.CASES]
    jobs += [(script.__doc__, run_script, script) for script in scripted]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory() as name:
        written = pathlib.Path(name)
        write_fixtures(written)
        for title, runner, job in jobs:
            if options.words and not any(word in title for word in options.words):
                continue
            try:
                runner(keyray, options.device, written, job)
                counts["passed"] += 1
            except scripts.Skip as reason:
                print(f"SKIP {title}: {reason}")
                counts["skipped"] += 1
            except (AssertionError, KeyError, ValueError, OSError, subprocess.TimeoutExpired) as problem:
                print(f"FAIL {title}: {problem}")
                counts["failed"] += 1
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
