#!/usr/bin/env python3
"""What docs/first-steps.md shows is what the command prints: its files are made, its commands run, in its order.

Usage: first_steps.py KEYRAY [--write]     --write puts the output into the page instead of comparing it
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/first-steps.md"
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


def main():
    keyray = pathlib.Path(sys.argv[1]).resolve()
    problems, ran, written = [], 0, []
    with tempfile.TemporaryDirectory(prefix="keyray-first-steps-") as scratch:
        folder = pathlib.Path(scratch)
        for part in re.split(r"((?:^(?: {4}.*)\n)+)", PAGE.read_text(), flags=re.M):
            if not part.startswith("    $ "):
                written.append(part)
                continue
            for lines, shown in steps([line[4:] for line in part.splitlines()]):
                got = answer(lines, shown, keyray, folder)
                ran += lines[0].startswith("keyray ")
                if got != shown:
                    problems.append("\n".join(["$ " + "\n".join(lines), "the page has", *shown, "the command prints", *got]))
                written += [f"    {line}\n" for line in ["$ " + lines[0], *lines[1:], *got]]
    text = "".join(written)
    if "--write" in sys.argv:
        PAGE.write_text(text)
        return 0
    if len(re.findall(r"^## \d", text, re.M)) != TASKS or ran < 2 * TASKS:
        problems.append(f"{PAGE.name}: has not {TASKS} tasks, or too few commands: {ran}")
    print(*problems, sep="\n\n", end="\n" if problems else "")
    print(f"{ran} commands ran, {len(problems)} problems")
    return bool(problems)


sys.exit(main())
