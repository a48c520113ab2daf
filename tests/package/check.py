#!/usr/bin/env python3
"""Installs a build, moves the installed tree, and builds and runs client projects against it.

Usage: check.py BUILD_FOLDER CMAKE C_COMPILER
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIP = 77


def run(*command, **more):
    print("+", *command, flush=True)
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, **more)
    if done.returncode:
        sys.exit(f"{done.stdout}failed with {done.returncode}")
    return done.stdout.strip()


def installed_files(prefix):
    return {path.relative_to(prefix).as_posix() for path in prefix.rglob("*") if not path.is_dir()}


def problems_of_pages(prefix, files):
    """Pages and examples that an installed header or example names, and links of installed pages, that lead nowhere."""
    documents = "share/doc/keyray"
    for path in (*prefix.glob("include/keyray/*.h"), *prefix.glob(f"{documents}/examples/*")):
        for named in re.findall(r"\b(?:[\w-]+/)+[\w-]+\.(?:md|c)\b", path.read_text()):
            if f"{documents}/{named}" not in files:
                yield f"{path.name} names {named}, which is not installed"
    for path in (prefix / documents).rglob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)", path.read_text()):
            if "://" not in target and not (path.parent / target).exists():
                yield f"{path.relative_to(prefix)}: {target} is not installed"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    build, cmake, compiler = sys.argv[1:]
    cache = pathlib.Path(build, "CMakeCache.txt").read_text()
    if re.search(r"^KEYRAY_SANITIZE:\w+=.", cache, re.MULTILINE):
        print("skipped: a client cannot link a library built with sanitizers")
        sys.exit(SKIP)
    version = re.search(r"^CMAKE_PROJECT_VERSION:\w+=(.*)$", cache, re.MULTILINE).group(1)
    with tempfile.TemporaryDirectory(prefix="keyray-package-") as scratch:
        check(pathlib.Path(scratch), build, cmake, compiler, version)


def check_report(prefix, scratch, environment):
    """The command finds what `keyray report` runs, and that reads what keyray bench wrote. Pages where Python has matplotlib."""
    keyray, file = prefix / "bin/keyray", scratch / "own.json"
    run(keyray, *"bench point --count 1000 --probes 1000 --repeat 3 --device cpu --index array --json".split(), file, env=environment)
    if "1 within the spread" not in run(keyray, "report", "--compare", file, file, env=environment):
        sys.exit("keyray report --compare of a file with itself finds a change")
    python = ["--python", sys.executable]
    if subprocess.run([sys.executable, "-c", "import matplotlib"], capture_output=True, check=False).returncode:
        done = subprocess.run([keyray, "report", *python, "-o", scratch / "pages"], env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 2 or "plots need matplotlib" not in done.stderr:
            sys.exit(f"keyray report without matplotlib: {done}")
    else:
        run(keyray, "report", *python, file, "-o", scratch / "own", env=environment)
        run(keyray, "report", *python, "-o", scratch / "pages", env=environment)
        for page in ("own/index.html", "pages/rtindex.html"):
            if "<svg" not in (scratch / page).read_text():
                sys.exit(f"{page} has no plot")
    (prefix / "share/keyray").rename(prefix / "share/elsewhere")
    done = subprocess.run([keyray, "report", file], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 2 or "was installed without its folder share/keyray" not in done.stderr:
        sys.exit(f"keyray report without its files: {done}")


def check(scratch, build, cmake, compiler, version):
    run(cmake, "--install", build, "--prefix", scratch / "first")
    prefix = scratch / "moved"
    (scratch / "first").rename(prefix)
    files = installed_files(prefix)
    print("installed:", *sorted(files), sep="\n  ")
    for wanted in ("bin/keyray", "share/man/man1/keyray.1", "share/man/man1/keyray-lookup.1", "share/man/man1/keyray-report.1",
                   "share/keyray/bench/report", "share/keyray/bench/reporting/page.css", "share/keyray/bench/experiments/choosing",
                   "include/keyray/keyray.h", "include/keyray/keyray_cuda.h",
                   *(f"share/doc/keyray/{name}" for name in ("LICENSE", "README.md", "CHANGELOG.md", "docs/errors.md",
                                                            "docs/overview.svg", "examples/five_lines.c"))):
        if wanted not in files:
            sys.exit(f"{wanted} is not installed")
    problems = list(problems_of_pages(prefix, files))
    if problems:
        sys.exit("\n".join(problems))
    pc = next(prefix.rglob("keyray.pc"))
    libraries = pc.parent.parent
    expected = f"{version} {version}"

    # The command finds its library where the tree was moved to.
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    run(prefix / "bin/keyray", "kinds", env=environment)

    check_report(prefix, scratch, environment)

    run(cmake, "-S", HERE / "client-c", "-B", scratch / "client", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={compiler}")
    run(cmake, "--build", scratch / "client")
    for client in ("client", "client-cpp"):
        if run(scratch / "client" / client) != expected:
            sys.exit(f"{client} was compiled with another version than it ran with")

    if not shutil.which("pkg-config"):
        print("pkg-config was not found: its client was not tried")
        return
    environment.update(PKG_CONFIG_PATH=str(pc.parent), LD_LIBRARY_PATH=str(libraries))
    (scratch / "plain").mkdir()
    run("make", "-C", HERE / "client-pkgconfig", f"CC={compiler}", f"OUT={scratch / 'plain'}", env=environment)
    if run(scratch / "plain/client", env=environment) != expected:
        sys.exit("the pkg-config client was compiled with another version than it ran with")


main()
