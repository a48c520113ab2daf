#!/usr/bin/env python3
"""What pages show is what the command prints: their files are made, their commands run, in the order of the page.

Usage: first_steps.py KEYRAY [--write]     --write puts the output into the pages instead of comparing it
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The pages, and how many commands of keyray each has at least.
PAGES = {"docs/first-steps.md": 10, "docs/command.md": 6, "README.md": 1}
TASKS = 5


def steps(block):
    """The commands of a block and the lines below each; a line that ends in a backslash goes on, as does one before a pipe."""
    found = []
    for line in block:
        goes_on = found and not found[-1][1] and (found[-1][0][-1].endswith("\\"))
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif goes_on:
            found[-1][0].append(line)
        else:
            found[-1][1].append(line)
    return found


def run(command, keyray, folder):
    environment = {**os.environ, "PATH": f"{keyray.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    return done.stdout.rstrip("\n").split("\n") if done.stdout else []


def answer(lines, shown, keyray, folder):
    """What the command prints; `cat FILE` of a file that is not there makes it."""
    command = "\n".join(lines)
    name = re.fullmatch(r"cat ([\w.]+)", command)
    if name and not (folder / name[1]).exists():
        (folder / name[1]).write_text("\n".join(shown) + "\n")
    return run(command, keyray, folder)


def agrees(shown, got):
    """Whether the lines are those shown; "..." stands for any number of lines."""
    if "..." not in shown:
        return shown == got
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in got)) is not None


def casts_rays(keyray):
    """Whether the CPU of this build casts rays; where nothing does, commands with `--index rx` are not run."""
    info = subprocess.run([keyray, "info", "--format", "json"], check=True, stdout=subprocess.PIPE)
    return not json.loads(info.stdout)["devices"][0]["tracer"].startswith("none")


def check(page, keyray, rays):
    """The text of the page with what the commands print, what is wrong, and how many commands ran."""
    problems, ran, written = [], 0, []
    with tempfile.TemporaryDirectory(prefix="keyray-pages-") as scratch:
        folder = pathlib.Path(scratch)
        for part in re.split(r"(^ {4}.*\n(?:\n*^ {4}.*\n)*)", page.read_text(), flags=re.M):
            if not part.startswith("    $ "):
                written.append(part)
                continue
            for lines, shown in steps([line[4:] for line in part.splitlines()]):
                skipped = "--index rx" in lines[0] and not rays
                got = shown if skipped else answer(lines, shown, keyray, folder)
                ran += lines[0].startswith("keyray ")
                if not agrees(shown, got):
                    problems.append("\n".join([f"{page.name}:", "$ " + "\n".join(lines), "the page has", *shown,
                                               "the command prints", *got]))
                kept = shown if agrees(shown, got) else got
                written += [f"    {line}\n" if line else "\n" for line in ["$ " + lines[0], *lines[1:], *kept]]
    return "".join(written), problems, ran


def main():
    keyray = pathlib.Path(sys.argv[1]).resolve()
    rays, failed = casts_rays(keyray), 0
    for name, least in PAGES.items():
        page = ROOT / name
        text, problems, ran = check(page, keyray, rays)
        if "--write" in sys.argv:
            page.write_text(text)
            continue
        if ran < least:
            problems.append(f"{name}: has {ran} commands of keyray, fewer than {least}")
        if name == "docs/first-steps.md" and len(re.findall(r"^## \d", text, re.M)) != TASKS:
            problems.append(f"{name}: has not {TASKS} tasks")
        print(*problems, sep="\n\n", end="\n" if problems else "")
        print(f"{name}: {ran} commands ran, {len(problems)} problems")
        failed += len(problems)
    return bool(failed)


sys.exit(main())
