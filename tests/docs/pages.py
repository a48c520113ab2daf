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
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted(page for page in ROOT.rglob("*.md")
               if not {".git", "build", ".venv", "shared"} & set(page.relative_to(ROOT).parts))


def text(name):
    return (ROOT / name).read_text()


def readme_example():
    if f"```c\n{text('examples/five_lines.c')}```" not in text("README.md"):
        yield "README.md: the example is not the text of examples/five_lines.c"


def readme_scope():
    """The README stays a page to begin with, and says what a reader would otherwise find out too late."""
    page = text("README.md")
    if len(page.splitlines()) > 190:
        yield f"README.md: has {len(page.splitlines())} lines; reference belongs in docs/"
    limits = section(ROOT / "README.md", "what-it-is-not") or ""
    for word in ("2^32 - 2", "memory", "texts", "DuckDB", "cuDF", "RT cores", "Linux"):
        if word not in limits:
            yield f"README.md: What it is not: says nothing of {word}"


def forms():
    """Each program that src/base/program/README.md shows is one that a test runs."""
    tests = text("tests/unit/program/forms.c") + text("tests/unit/tracers/rays.c")
    shown = re.findall(r"^```c\n(.*?)^```$", text("src/base/program/README.md"), re.M | re.S)
    if len(shown) != 5:
        yield f"src/base/program/README.md: shows {len(shown)} programs, not one of each of the five forms"
    for code in shown:
        if code not in tests:
            yield f"src/base/program/README.md: no test has the program that begins {code.splitlines()[0]!r}"


def statuses():
    header = re.findall(r"^    (KR_(?:OK|ERR_\w+)) = (\d+)", text("include/keyray/common.h"), re.MULTILINE)
    page = re.findall(r"^\| `(KR_\w+)` \| (\d+) \|", text("docs/errors.md"), re.MULTILINE)
    if not header or header != page:
        yield f"docs/errors.md: lists {page}, the header {header}"


def kinds():
    report = subprocess.run([sys.argv[1], "kinds", "--format", "json"], check=True, stdout=subprocess.PIPE)
    names = [kind["name"] for kind in json.loads(report.stdout)["kinds"]]
    page = re.findall(r"^\| `(\w+)` \|", text("docs/kinds.md"), re.MULTILINE)
    if not names or names != page:
        yield f"docs/kinds.md: its table of kinds has {page}, the command {names}"
    rows = re.findall(r"^\| [^|`]+ \| ((?:`\w+`(?:, )?)+) \|$", text("README.md"), re.MULTILINE)
    short = re.findall(r"`(\w+)`", " ".join(rows))
    if sorted(names) != sorted(short):
        yield f"README.md: its table of kinds has {short}, the command {names}"


def overview():
    """docs/overview.svg names every kind, and no text reaches the edge of its box, also in a font wider than Helvetica."""
    svg = xml.etree.ElementTree.fromstring(text("docs/overview.svg"))
    places = {tag: [each for each in svg.iter() if each.tag.endswith("}" + tag)] for tag in ("text", "rect")}
    report = subprocess.run([sys.argv[1], "kinds", "--format", "json"], check=True, stdout=subprocess.PIPE)
    words = " ".join(each.text for each in places["text"])
    for kind in json.loads(report.stdout)["kinds"]:
        if not re.search(rf"\b{kind['name']}\b", words):
            yield f"docs/overview.svg: does not name {kind['name']}"
    boxes = [[float(each.get(name, 0)) for name in ("x", "y", "width", "height")] for each in places["rect"]]
    for each in places["text"]:
        x, y, look = float(each.get("x")), float(each.get("y")), each.get("class", "")
        size = {"small": 13, "word": 13}.get(look, 15) * (0.64 if look == "head" else 0.54)
        left, top, width, height = min((box for box in boxes if box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3]),
                                       key=lambda box: box[2] * box[3])
        if look != "word" and x + size * len(each.text) > left + width - 10 or y + 8 > top + height:
            yield f"docs/overview.svg: {each.text!r} reaches the edge of its box"


def include_rules():
    """The table of docs/architecture.md against that of ci/check-includes; "itself" is a folder or ".", `DEVICES` a list of headers."""
    source = ast.parse(text("ci/check-includes")).body
    tables = {node.targets[0].id: ast.unparse(node.value) for node in source if isinstance(node, ast.Assign)}
    devices = ast.literal_eval(tables["DEVICES"])
    rules = ast.literal_eval(tables["MAY_INCLUDE"].replace("*DEVICES", ", ".join(map(repr, devices))).replace("IMAGE", tables["IMAGE"]))
    page = {}
    for folder, cell in re.findall(r"^\| `([\w/]+)` \| [^|]+ \| ([^|]+) \|$", text("docs/architecture.md"), re.M):
        page[folder] = set(re.findall(r"`([\w/.]+)`", cell)) | ({"itself"} if "itself" in cell else set())
        page[folder] = page[folder] - {"DEVICES"} | (set(devices) if "DEVICES" in page[folder] else set())
    listed = re.search(r"`DEVICES` are (.*?)\.\s", text("docs/architecture.md"), re.S)
    if re.findall(r"`([\w/.]+)`", listed[1] if listed else "") != devices:
        yield f"docs/architecture.md: says that `DEVICES` are {listed and listed[1]}, ci/check-includes has {devices}"
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


def section(page, anchor):
    """The text below the heading that has this anchor, up to the next heading of its level; None: there is none."""
    found = re.findall(r"^(#+) (.+)\n((?:(?!^#).*\n)*)", page.read_text(), re.M)
    slugs = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for _, title, _ in found]
    return found[slugs.index(anchor)][2] if anchor in slugs else None


def links():
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page.read_text()):
            path = page.parent / target if target else page
            if "://" in target:
                continue
            if not path.exists():
                yield f"{page.relative_to(ROOT)}: {target} is not there"
            elif anchor and section(path, anchor) is None:
                yield f"{page.relative_to(ROOT)}: {target or 'the page'} has no heading {anchor!r}"


FIGURES = re.compile(r"<!-- figures: .*? -->\n(.*?)<!-- end of figures -->", re.S)
RATE = re.compile(r"\d ?(?:[GMk](?:/s|\b)|billion|million|times\b|[nuµm]s\b|%)")


def figures():
    """The README has the figures of docs/performance.md, byte by byte; those are of the row measured. Its others are of docs/choosing.md."""
    page = ROOT / "docs/performance.md"
    shared, rest = FIGURES.findall(text("README.md")), FIGURES.sub("", text("README.md"))
    if len(shared) != 1 or shared != FIGURES.findall(page.read_text()):
        yield "README.md: its table of figures is not that of docs/performance.md"
        return
    for line in rest.splitlines():
        if RATE.search(line):
            yield f"README.md: has a figure outside of its table: {line}"
    measured = section(page, "gpu-compared-with-other-libraries") or ""
    row = re.findall(r"[\d.]+", re.search(r"^\| 2\^26 u32 \|(.*)$", measured, re.M)[1])
    for rate, memory in re.findall(r"\| ([\d.]+) \| (\d+) \| (?:yes|no) \|$", shared[0], re.M):
        if rate not in row or memory not in row + ["256"]:
            yield f"README.md: {rate} G lookups/s in {memory} MiB is not in the row 2^26 u32 of docs/performance.md"
    commit = re.search(r"commit ([0-9a-f]{7})", shared[0])[1]
    if f"commit {commit}" not in measured:
        yield f"README.md: names commit {commit}, docs/performance.md another for the same figures"
    commit, close = re.search(r"commit (\w+);[^\n]*\n\n<!-- figures of docs/choosing.md -->\n((?:\|.*\n)+)", rest).groups()
    measured = section(ROOT / "docs/choosing.md", "dense-and-clustered-columns")
    for figure in [f"commit {commit}"] + [number for row in re.findall(r"\| ([\d.]+) \| (\d+) \|", close) for number in row]:
        if not re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d.])", measured):
            yield f"README.md: {figure} is not in docs/choosing.md, Dense and clustered columns"


def commits():
    """Each figure has one place and one commit: the list of docs/performance.md, which the pages named link to; and the
    text above a plot names the commits that the plot names."""
    page = ROOT / "docs/performance.md"
    named = re.findall(r"^\| .+ \| \[.+?\]\(([^)#]*)#?([^)]*)\) \| ([0-9a-f]{7}) \|$", section(page, "which-figure-is-current") or "", re.M)
    others = {path.name for path in page.parent.glob("performance-*.md")} | {"choosing.md"}
    for name in sorted(others ^ {target for target, _, _ in named if target}):
        yield f"docs/performance.md: the list of current figures and the pages differ in {name}"
    for target, anchor, commit in named:
        path = page.parent / target if target else page
        if commit not in (path.read_text() if target else section(path, anchor)):
            yield f"{path.name}: does not name {commit}, the commit of its figures"
        if target and "performance.md#which-figure-is-current" not in path.read_text():
            yield f"{path.name}: does not link to the list of current figures"
    for heading, plot in re.findall(r"^## (On a \w+)$.*?\]\(([\w-]+\.svg)\)", text("docs/choosing.md"), re.M | re.S):
        for of_plot in sorted(set(re.findall(r"commit ([0-9a-f]{7})", text(f"docs/{plot}")))):
            if f"commit {of_plot}" not in section(ROOT / "docs/choosing.md", heading.lower().replace(" ", "-")):
                yield f"docs/choosing.md: {heading}: {plot} is of commit {of_plot}, which the text does not name"


def best_kinds():
    """docs/choosing.md has the table of src/index/kinds/choose.c, where 0 is a GPU and 1 a CPU."""
    source = {(name, int(cpu)): spec for name, cpu, spec in
              re.findall(r'\{"(best[\w:=]*)", ([01]),\s*"([^"]+)"', text("src/index/kinds/choose.c"))}
    page = {}
    for device, *specs in re.findall(r"^\| ([GC])PU" + 3 * r" \| `([^`]+)`" + r" \|$", text("docs/choosing.md"), re.M):
        page.update(zip(((best, int(device == "C")) for best in ("best", "best:updates=on", "best:ranges=off")), specs))
    if not source or source != page:
        yield f"docs/choosing.md: its table of best kinds is {page}, src/index/kinds/choose.c has {source}"


# What a comment of a public header says of a call after what the call does, as keyray.h lists it.
HEADINGS = ["Cost", "Memory", "Lifetime", "Stream", "Threads", "Errors", "Source"]


def header_comments():
    """Comments of public headers read well as they stand: no line of a word or two within a paragraph, no declaration that a long
    comment has broken after its type. What a call takes and returns is in one order, each on lines of its own (keyray.h), and a
    comment of several lines begins and ends with a line of signs."""
    for path in sorted((ROOT / "include").rglob("*.h")):
        page = path.read_text()
        found = re.findall(r"^ +\w+\n +\**\w+; /\*\*<.*", page, re.M)
        found += re.findall(rf"\w.* (?:{'|'.join(HEADINGS)}): .*", page)
        for comment in re.findall(r"/\*\*.*?\*/", page, re.S):
            headings = re.findall(rf"^ *\* ({'|'.join(HEADINGS)}): ", comment, re.M)
            if headings != sorted(headings, key=HEADINGS.index) and path.name != "keyray.h":
                found.append(f"{', '.join(headings)} are not in the order of keyray.h")
            if "\n" in comment and not comment.startswith("/**<") and not re.match(r"/\*\*\n.*\n *\*/$", comment, re.S):
                found.append(comment.splitlines()[0])
            lines = [re.sub(r"^[/* ]+|[ */]+$", "", line) for line in comment.splitlines()]
            found += [line for before, line, after in zip(lines, lines[1:], lines[2:])
                      if before and after and not before.endswith(":") and 0 < len(line.split()) < 4 and not re.match(r"[@-]|\w+:", after)]
        for words in found:
            yield f"{path.relative_to(ROOT)}: a comment is badly broken: {words}"


# "Bytes a key", "one a probe": what is counted, and for what. CLAUSE: no such phrase, as in "how many keys a node holds".
COUNTED = re.compile(r"\b(?:bits?|blocks?|bytes?|children|divisions|elements|entries|event|hits?|instructions|intersections|keys?|leaves|lines?|loads?|lookups|"
                     r"matches|memory|ms|nodes?|ns|number|once|one|pairs|pivots|position|probes?|rays?|(?:n\)|one|two) (?:reads?|search)|repaired|"
                     r"rows?|slots?|steps|store|threads?|tiles|time|total|tracers?|traffic|triangles?|two|untraced|us|words?|[\d.]*\d|µs)$")
CLAUSE = ("begins|casts|collects|costs|deletes|does|draws|enqueues|gets|had|has|hit|holds|is|made|makes|matches|may|names|needs|returns|takes|tells|"
          "works")
PER = re.compile(r" an? (?:axis|bit|block|box|bucket|build|call|column|condition|corner|day|device|element|hit|key|launch|leaf|left row|level|line|list|"
                 r"load|lookup|match|multiprocessor|node|pair|part|piece|primitive|probe|query|range|ray|row|scan|scene|second|side|slice|slot|step|thread|"
                 rf"tile|turn|update)\b(?!'|-| of a | (?:{CLAUSE})\b)")
# Other words that readers stumbled over, in small letters: nouns and verbs that are left out, and terms that nothing explains.
# Each begins with a letter or a space, so that the search is quick.
RIDDLES = [re.compile(riddle) for riddle in (
    r"rows? (?:that )?(?:comes?|came)(?: to a table)? and (?:go|goes|went)\b", r"rows that go\b", r"keys go(?: and|,| in\b| \*/)", r"2\^\d+ (?:go|come)\b",
    r" (?:that|which|it) (?:is|are|was) no (?!difference|faster|larger|less|longer|more|slower)\w+", r"is no (?:answer|(?:value|option) of)\b",
    r"names no column file\b", r"no midnight is no date\b", r"stands? in (?:double |single )?quotes\b", r"rows between right\b",
    r"refined rows\b", r"rows (?:that )?(?:are )?refined\b", r"spared (?:rows|share)\b", r"vectors spared?\b", r"asked, goal\b",
    r"asked:? \d", r"goal:? \d", r"touches/probe\b", r"[?]; [a-z]")]


def prose(path):
    """What a file says, in one line: without the code of a page, the quotes between the parts of a text, and the signs that begin the
    lines of a comment."""
    words = path.read_text()
    if path.suffix == ".md":
        words = re.sub(r"^(?: {4}[^\n]*|```.*?^```)$", "", words, flags=re.M | re.S)
    elif path.suffix not in (".1", ".exports"):
        words = re.sub(r'"\s*\n\s*r?f?"|\n\s*(?:\*|//|#) ', lambda found: "" if found[0][0] == '"' else " ", words)
    return re.sub(r"\s+", " ", words)


def riddles():
    """Pages, and the comments and texts of sources, use plain words."""
    sources = [path for folder in ("bench", "cmake", "examples", "include", "src", "tests", "tools") for path in sorted((ROOT / folder).rglob("*"))
               if path.suffix in (".c", ".cpp", ".cu", ".cuh", ".exports", ".h", ".py") and path != pathlib.Path(__file__).resolve()]
    sources += [path for path in sorted((ROOT / "bench/experiments").iterdir()) if path.is_file() and not path.suffix]
    for path in PAGES + [ROOT / "docs/keyray.1"] + sources:
        words = prose(path)
        small = words.lower()
        places = [found.start() for riddle in RIDDLES for found in riddle.finditer(small)]
        places += [found.start() for found in PER.finditer(small) if COUNTED.search(small, max(0, found.start() - 20), found.start())]
        for at in places:
            yield f"{path.relative_to(ROOT)}: say it in plain words: {words[max(0, at - 30):at + 40]}"


def names():
    """Names of functions, types and constants are those of the sources; a trailing * or _ leaves the rest open."""
    sources = "\n".join(path.read_text() for folder in ("include", "src") for path in (ROOT / folder).rglob("*.[chu]*"))
    known = set(re.findall(r"\b(?:kr|KR)_\w+", sources))
    for page in PAGES:
        words = re.findall(r"\b(?:kr|KR)_\w+", page.read_text()) if page.name != "adding-an-index.md" else []
        for word in sorted(set(words) - known):
            if not (word.endswith("_") and any(name.startswith(word) for name in known)):
                yield f"{page.relative_to(ROOT)}: {word} is not a name of the sources"


def options():
    """Commands that pages show have options that the command knows, unless they show that it does not."""
    known = {}
    for page in PAGES:
        code = "\n".join(re.findall(r"^(?: {4}.*|```.*?^```)$", page.read_text(), re.M | re.S)).replace("\\\n", " ")
        for name, rest in re.findall(r"(?:^|[$|(;&/ ])keyray (\w+)([^|;&)\n]*)", code):
            words = [name] + re.findall(r"^ (\w+)", rest) * (name == "bench")
            wanted = re.findall(r"(?<![\w-])--\w[\w-]*", rest)
            if wanted and tuple(words) not in known:
                shown = subprocess.run([sys.argv[1], *words, "--help"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                known[tuple(words)] = set(re.findall(r"--\w[\w-]*", shown.stdout.decode()))
            for option in sorted(set(wanted) - known.get(tuple(words), set())):
                if f"unknown option {option}" in page.read_text():
                    continue
                yield f"{page.relative_to(ROOT)}: keyray {' '.join(words)} has no option {option}"


def main():
    found = [problem for check in (readme_example, readme_scope, forms, statuses, kinds, overview, include_rules, sections, threads, links, figures,
                                   commits, best_kinds, header_comments, riddles, names, options) for problem in check()]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(PAGES)} pages, {len(found)} problems")
    return bool(found)


sys.exit(main())
