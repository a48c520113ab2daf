"""The claims of a work, with their verdicts: from bench/claims/NAME.toml where it is there, else from the tables of docs/NAME-claims.md."""
import collections
import pathlib
import re
import sys

import papers

ROOT = papers.ROOT
CONFIRMED, REFUTED, OPEN = WORDS = ("confirmed", "refuted", "not measured")

# `why`: what decided, or why nothing did; `figures`: ours, in words; `best`: keyray at its best, which decides nothing
Claim = collections.namedtuple("Claim", "work section where claim paper method size figures best command word why run")

NAMES = {"rtindex": "rx", "rtscan": "rtscan"}  # of a file of claims, where it is not the script's


def of_work(work, folder=ROOT):
    data = folder / "bench" / "claims" / f"{NAMES.get(work.name, work.name)}.toml"
    return list(of_data(work, data) if data.is_file() else of_page(work, folder / "docs" / f"{work.claims}-claims.md"))


# ---- Data

def of_data(work, path):
    sys.path.insert(0, str(path.parent))
    import claims  # pylint: disable=import-outside-toplevel,import-error
    paper = claims.load(path)
    for section in paper.sections:
        for claim in section.get("claim", []):
            if claim.get("beyond"):
                continue
            verdict = claims.judge(claim)
            yield Claim(work.name, section["title"], claim["where"], claim["claim"], text_of(claim.get("paper", "")), claim["method"],
                        sizes_of(claim), figures_of(claim, "ours"), figures_of(claim, "best"), claim.get("command", ""), verdict.word,
                        "; ".join(each for each in (verdict.why, verdict.here, claim.get("note", "")) if each), runs_of(claim, paper))


def text_of(value):
    return ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in (value if isinstance(value, list) else [value]))


def sizes_of(claim):
    there, here = claim.get("size_paper", ""), claim.get("size_here", "")
    return "" if claim["size"] == "any" else f"{there} there, {here} here" if here else there


def figures_of(claim, field):
    unit = claim.get("unit", "")
    points = claim.get("points", [])
    head = [f"at {text_of(points)}"] if points and claim.get(field) else []
    return "; ".join(head + [f"{name}: {text_of(value)} {unit}".strip() for name, value in claim.get(field, {}).items()])


def runs_of(claim, paper):
    run = claim.get("run", [])
    named = [run] if isinstance(run, str) else list(run)
    return "; ".join(f"{paper.runs[name]['gpu']}, commit {paper.runs[name]['commit']}" for name in named if name in paper.runs)


# ---- A page

COLUMNS = {"where": "where", "figure": "where", "claim": "claim", "the thesis says": "claim", "command": "command", "here": "figures",
           "verdict": "verdict"}


def cells_of(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def of_page(work, path):
    section, head = "", None
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("#"):
            section, head = line.lstrip("# "), None
        elif not line.startswith("|"):
            head = None
        elif head is None:
            head = [COLUMNS.get(re.sub(r"^ours.*", "here", name), "") for name in cells_of(line)]
        elif {"where", "claim", "verdict"} <= set(head) and not set(line) <= set("|-: "):
            row = dict(zip(head, cells_of(line)))
            word = next((word for word in WORDS if row["verdict"].startswith(word)), None)
            if word:
                why = row["verdict"][len(word):].lstrip(":; ")
                yield Claim(work.name, section, row["where"], row["claim"], "", "", "", row.get("figures", ""), "", row.get("command", row["where"]),
                            word, why, "")


# ---- What belongs together

def counts(claims):
    found = collections.Counter(claim.word for claim in claims)
    return {word: found[word] for word in WORDS}


def experiments_of(claim, names):
    """The experiments that the claim's command names; of its figure, where the command names none."""
    words = re.findall(r"[A-Za-z0-9-]+", claim.command)
    return [name for name in names if name in words]


def awaits_rt_cores(claim):
    return claim.word == OPEN and "no RT cores" in claim.why


def of_quarrel(quarrel, claims):
    """`claims`: by work."""
    return [claim for work, pattern in quarrel.claims for claim in claims[work] if re.search(pattern, claim.claim, re.I)]
