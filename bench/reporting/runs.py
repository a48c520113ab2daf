"""Runs every experiment on this machine at a scale, keeps the reports, and goes on where it was cut off."""
import subprocess
import sys
import time

import papers

# Of each script: options. tiny: sizes at which all experiments take under three minutes on two cores, and only show that everything runs.
SCALES = {
    "tiny": {"device": "cpu", "keys": ["--keys-log2", "8", "--probes-log2", "8", "--repeat", "2", "--limit", "1"],
             "rows": ["--rows", "1000", "--quick", "--repeat", "2", "--limit", "1"]},
    "paper": {"device": "cuda", "keys": [], "rows": []},
}
CUT = 3  # the status of a script that was cut off


def command_of(work, scale, build, reports, seconds):
    options = SCALES[scale]
    words = [sys.executable, str(papers.SCRIPTS / work), "all", "--build", str(build), "--device", options["device"],
             *options["rows" if work == "rtscan" else "keys"], "--reports", str(reports / work)]
    return words + (["--seconds", f"{seconds:.0f}"] if seconds else [])


def run_all(scale, build, reports, seconds=None):
    """0: all is there; 1: some experiments failed; 3: cut off, and the same call goes on. Every script's output is kept."""
    began, failed = time.monotonic(), 0
    reports.mkdir(parents=True, exist_ok=True)
    for work in papers.NAMES:
        left = seconds - (time.monotonic() - began) if seconds else None
        if left is not None and left < 1:
            print(f"{work}: not begun after {seconds:g} s; the same command goes on", file=sys.stderr)
            return CUT
        with open(reports / f"{work}.txt", "w", encoding="utf-8") as out:
            status = subprocess.run(command_of(work, scale, build, reports, left), stdout=out, check=False).returncode
        print(f"{work}: {'cut off' if status == CUT else 'failed' if status else 'whole'} after {time.monotonic() - began:.0f} s", flush=True)
        if status == CUT:
            return CUT
        failed |= status != 0
    return int(failed)
