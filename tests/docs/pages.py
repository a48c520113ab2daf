#!/usr/bin/env python3
"""The pages match the tree: code shown is the code tested, tables list what the header and the command list, links
and names lead somewhere.

Usage: pages.py KEYRAY
"""
import ast
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted(page for page in ROOT.rglob("*.md")
               if not {".git", "build", ".venv", "shared"} & set(page.relative_to(ROOT).parts))


def text(name):
    return (ROOT / name).read_text()


def readme_example():
    if f"```c\n{text('examples/five_lines.c')}```" not in text("README.md"):
        yield "README.md: the example is not the text of examples/five_lines.c"


def forms():
    """Each program that src/program/README.md shows is one that a test runs."""
    tests = text("tests/unit/program/forms.c") + text("tests/unit/tracers/rays.c")
    shown = re.findall(r"^```c\n(.*?)^```$", text("src/program/README.md"), re.M | re.S)
    if len(shown) != 5:
        yield f"src/program/README.md: shows {len(shown)} programs, not one of each of the five forms"
    for code in shown:
        if code not in tests:
            yield f"src/program/README.md: no test has the program that begins {code.splitlines()[0]!r}"


def statuses():
    header = re.findall(r"^    (KR_(?:OK|ERR_\w+)) = (\d+)", text("include/keyray/common.h"), re.MULTILINE)
    page = re.findall(r"^\| `(KR_\w+)` \| (\d+) \|", text("docs/errors.md"), re.MULTILINE)
    if not header or header != page:
        yield f"docs/errors.md: lists {page}, the header {header}"


def kinds():
    report = subprocess.run([sys.argv[1], "kinds", "--format", "json"], check=True, stdout=subprocess.PIPE)
    names = [kind["name"] for kind in json.loads(report.stdout)["kinds"]]
    table = text("README.md").partition("## Kinds of index")[2].partition("\n## ")[0]
    page = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    if not names or names != page:
        yield f"README.md: its table of kinds has {page}, the command {names}"


def include_rules():
    """The table of docs/architecture.md against that of ci/check-includes; "itself" is a folder or "."."""
    rules = ast.literal_eval(re.search(r"^MAY_INCLUDE = (\{.*?^\})", text("ci/check-includes"), re.M | re.S)[1])
    page = {}
    for folder, cell in re.findall(r"^\| `([\w/]+)` \| [^|]+ \| ([^|]+) \|$", text("docs/architecture.md"), re.M):
        page[folder] = set(re.findall(r"`([\w/.]+)`", cell)) | ({"itself"} if "itself" in cell else set())
    for folder in sorted(rules.keys() | page.keys()):
        rule = {"itself" if word in (".", folder + "/") and folder != "include/keyray" else word
                for word in rules.get(folder, ["no rule"])}
        if rule != page.get(folder):
            yield f"docs/architecture.md: {folder} may include {page.get(folder)}, ci/check-includes has {rule}"


def sections():
    """Sources that name a section of a page name one that is there."""
    for path in (ROOT / "src").rglob("*.[ch]"):
        for page, section in re.findall(r"(docs/[\w-]+\.md), \"([^\"]+)\"", path.read_text()):
            if not re.search(f"^#+ {re.escape(section)}$", text(page), re.M):
                yield f"{path.relative_to(ROOT)}: {page} has no section {section!r}"


def threads():
    """docs/threads.md says of every exported function which threads may call it; `name*` is all that begin so."""
    table = re.findall(r"^\| (`kr_.*) \| .+ \|$", text("docs/threads.md"), re.M)
    shown = [word for row in table for word in re.findall(r"`(kr_\w+\*?)`", row)]
    exported = re.findall(r"^kr_\w+$", text("cmake/keyray.exports"), re.M)
    for name in exported:
        if not any(name.startswith(word[:-1]) if word.endswith("*") else name == word for word in shown):
            yield f"docs/threads.md: its table lacks {name}"


def links():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                yield f"{page.relative_to(ROOT)}: {target} is not there"


def names():
    """Names of functions, types and constants are those of the sources; a trailing * or _ leaves the rest open."""
    sources = "\n".join(path.read_text() for folder in ("include", "src") for path in (ROOT / folder).rglob("*.[chu]*"))
    known = set(re.findall(r"\b(?:kr|KR)_\w+", sources))
    for page in PAGES:
        words = re.findall(r"\b(?:kr|KR)_\w+", page.read_text()) if page.name != "adding-an-index.md" else []
        for word in sorted(set(words) - known):
            if not (word.endswith("_") and any(name.startswith(word) for name in known)):
                yield f"{page.relative_to(ROOT)}: {word} is no name of the sources"


def main():
    found = [problem for check in (readme_example, forms, statuses, kinds, include_rules, sections, threads, links, names) for problem in check()]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(PAGES)} pages, {len(found)} problems")
    return bool(found)


sys.exit(main())
