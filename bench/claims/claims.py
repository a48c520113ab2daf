"""Reads the claims of a paper, checks that they are whole, and judges them. README.md has the format."""
import collections
import pathlib
import tomllib

import figures
import rules

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAPERS = ("lightweight", "rtscan", "cgrx", "thesis", "rx")

FIELDS = {"id", "where", "claim", "paper", "method", "size", "size_paper", "size_here", "rays", "run", "command", "unit", "points", "ours", "from",
          "best", "places", "rule", "agree", "reason", "note", "beyond", "quarrel"}
METHODS = {"built", "approximated", "no"}
SIZES = {"paper", "smaller", "any"}
RAYS = {"none", "counters", "both", "needed"}
QUARREL = {"paper", "best"}
CONFIRMED, REFUTED, OPEN = "confirmed", "refuted", "not measured"

# word: one of the three; why: what decided; here: "so here", "not so here" or "", of what is not measured
Verdict = collections.namedtuple("Verdict", "word why here", defaults=[""])


class Broken(Exception):
    """A file that is not whole: which, where, what."""


class Paper:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        data = tomllib.loads(self.path.read_text())
        self.page, self.runs, self.sections = data["page"], data.get("runs", {}), data["section"]
        self.default_run = data.get("defaults", {}).get("run")
        defaults = {"method": "built", "size": "paper", "rays": "none", **data.get("defaults", {})}
        for claim in self.claims():
            for name, value in defaults.items():
                claim.setdefault(name, value)
            claim.setdefault("ours", {})
            claim["rules"] = claim["rule"] if isinstance(claim.get("rule"), list) else [claim["rule"]] if "rule" in claim else []
            smaller = [self.runs[run]["smaller"] for run in runs_of(claim) if "smaller" in self.runs.get(run, {})]
            if smaller and claim["size"] == "paper":
                claim["size"], claim["size_here"] = "smaller", smaller[0]
            claim["without_rt_cores"] = not any(self.runs[run].get("rt_cores", False) for run in runs_of(claim) if run in self.runs)

    def claims(self, beyond=None):
        """In the order of the file. `beyond`: True or False: only those that are, or are not, beyond the paper."""
        return [claim for part in self.sections for claim in part.get("claim", []) if beyond is None or claim.get("beyond", False) == beyond]


def runs_of(claim):
    run = claim.get("run", [])
    named = list(run) if isinstance(run, list) else [run]
    return named + [each for each in claim.get("from", {}).values() if each not in named]


def problems(paper):
    """What is wrong with a file, one line each."""
    for claim in paper.claims():
        place = f"{paper.path.name}: {claim.get('id', claim.get('claim', '?'))}"
        unknown = set(claim) - FIELDS - {"rules", "without_rt_cores"}
        if unknown:
            yield f"{place}: unknown fields {', '.join(sorted(unknown))}"
        for field in ("id", "where", "claim"):
            if not claim.get(field):
                yield f"{place}: has no {field}"
        for field, known in (("method", METHODS), ("size", SIZES), ("rays", RAYS)):
            if claim[field] not in known:
                yield f"{place}: {field} {claim[field]!r} is none of {', '.join(sorted(known))}"
        if claim.get("quarrel", "paper") not in QUARREL or ("quarrel" in claim and not paper.page.get("quarrel")):
            yield f"{place}: quarrel is none of {', '.join(sorted(QUARREL))}, or [page] has no quarrel"
        for run in runs_of(claim):
            if run not in paper.runs:
                yield f"{place}: no run {run!r}"
        if set(claim.get("places", {})) - set(claim["ours"]) - set(claim.get("best", {})) and not figures.awaited(claim):
            yield f"{place}: `places` names a figure that is not there"
        if set(claim.get("from", {})) - set(claim["ours"]):
            yield f"{place}: `from` names a figure that is not there"
        if claim["size"] == "smaller" and not claim.get("size_here"):
            yield f"{place}: smaller, but no size_here says how small"
        if not claim.get("reason") and not (claim["ours"] and claim["rules"]):
            yield f"{place}: needs figures and a rule, or a reason why it is not measured"
        if claim["ours"] and not (claim.get("run") or claim["size"] == "any"):
            yield f"{place}: figures of no run"
        yield from wrong_rules(place, claim)


def wrong_rules(place, claim):
    count = len(claim.get("points", []))
    for name, value in claim["ours"].items():
        if count and isinstance(value, list) and len(value) != count:
            yield f"{place}: {name} has {len(value)} numbers for {count} points"
    for rule in claim["rules"]:
        try:
            rules.check(rule)
            rules.fits(claim, rule)
            if claim.get("agree"):
                rules.disagree(claim, rule)
        except rules.Wrong as error:
            yield f"{place}: {error}"
        except rules.Missing as error:
            if not claim.get("reason") and not isinstance(error, rules.Zero):
                yield f"{place}: a rule names a figure that is not there, {error}, and no reason says why"


def load(path):
    """The paper, whole."""
    paper = Paper(path)
    found = list(problems(paper))
    if found:
        raise Broken("\n".join(found))
    return paper


def load_all(folder=HERE):
    papers = [load(folder / f"{name}.toml") for name in PAPERS if (folder / f"{name}.toml").exists()]
    ids = collections.Counter(claim["id"] for paper in papers for claim in paper.claims())
    twice = [name for name, count in ids.items() if count > 1]
    if twice:
        raise Broken(f"ids that two claims have: {', '.join(twice)}")
    return papers


# ---- Verdicts

def obstacles(claim):
    """Why the figures do not decide, whatever they are."""
    if claim.get("reason"):
        yield claim["reason"]
    if claim["method"] == "approximated" and not claim.get("reason"):
        yield "the paper's method is approximated"
    if claim["method"] == "no" and not claim.get("reason"):
        yield "the paper's method is not built"
    if claim["rays"] == "needed" and claim["without_rt_cores"] and not claim.get("reason", "").startswith("no RT cores"):
        yield "no RT cores"
    if claim["size"] == "smaller":
        yield f"smaller ({claim['size_here']})"


def of(rule):
    return ", ".join(rule["of"]) if isinstance(rule["of"], list) else rule["of"]


def judge(claim):
    """The verdict: of rules and figures alone."""
    why, held, decided = list(obstacles(claim)), None, ""
    try:
        results = [rules.fits(claim, rule) for rule in claim["rules"]]
        if results and claim["ours"]:
            held = all(truth for truth, _, _ in results)
            decided = "; ".join(f"{of(rule)}: {value} (needed: {needed})" for rule, (truth, value, needed) in zip(claim["rules"], results)
                                if held or not truth)
        if claim.get("agree") and any(rules.disagree(claim, rule) for rule in claim["rules"]):
            why, held = why + ["settings: the paper names none, and those that ran disagree"], None
    except rules.Missing as error:
        why.append(f"no figure of {error}")
    if not why and held is None:
        why.append("no figures")
    if why:
        return Verdict(OPEN, ", ".join(why), "" if held is None else "so here" if held else "not so here")
    return Verdict(CONFIRMED if held else REFUTED, decided)


def counts(claims):
    found = collections.Counter(judge(claim).word for claim in claims)
    return {word: found[word] for word in (CONFIRMED, REFUTED, OPEN)}
