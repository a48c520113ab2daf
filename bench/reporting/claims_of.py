"""The claims of a work, with their verdicts, as bench/claims has them."""
import collections
import re
import sys

import papers

CONFIRMED, REFUTED, OPEN = WORDS = ("confirmed", "refuted", "not measured")

# `why`: what decided, or why nothing did; `figures`: ours, in words; `best`: keyray at its best, which decides nothing; `beyond`: not of
# the work; `quarrel`: whether it bears on what works disagree on, "paper" (the paper's way) or "best" (each method at its best)
Claim = collections.namedtuple("Claim", "work section where claim paper method size figures best command word why run beyond quarrel")

sys.path.insert(0, str(papers.ROOT / "bench" / "claims"))
import claims  # noqa: E402


def file_of(work):
    return claims.HERE / f"{work.claims}.toml"


def of_work(work, beyond=False):
    return [claim for claim in of_data(work, file_of(work)) if beyond or not claim.beyond]


def quarrel_of(work):
    """The question, and the claims that bear on it; None where there is none."""
    question = claims.load(file_of(work)).page.get("quarrel")
    return (question, [claim for claim in of_work(work, True) if claim.quarrel]) if question else None


def of_data(work, path):
    paper = claims.load(path)
    for section in paper.sections:
        for claim in section.get("claim", []):
            verdict = claims.judge(claim)
            yield Claim(work.name, section["title"], claim["where"], claim["claim"], text_of(claim.get("paper", "")), claim["method"],
                        sizes_of(claim), figures_of(claim, "ours"), figures_of(claim, "best"), claim.get("command", ""), verdict.word,
                        "; ".join(each for each in (verdict.why, verdict.here, claim.get("note", "")) if each), runs_of(claim, paper),
                        claim.get("beyond", False), claim.get("quarrel", ""))


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

