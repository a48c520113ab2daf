"""The Markdown of the claims: one page for each paper, and one for what is beyond the papers."""
import textwrap

import claims
import rules

HOW = """A program computes every verdict from the figures beside it and a rule (`bench/claims`, which has the rules of each claim). **Confirmed**: the
rules hold. **Refuted**: one does not, with the paper's method as published and at its sizes. **Not measured**: the method is not built, the
size is smaller, RT cores are needed, or there is no run; "so here" and "not so here" say what the figures show all the same. A gain is confirmed from 0.8 of the paper's factor on. Closeness and other numbers have two sides: within a quarter of the
paper's, up and down. "The same" is within 10%. A difference below 5% is none. A claim about several sizes must hold at all that were measured,
if it does not say otherwise. What keyray does best stands in a column of its own and decides nothing."""

RAYS = {"counters": "counters carry it", "both": "rays on both sides, in software"}


def fill(text):
    return "\n\n".join(part if part.startswith(("|", "-", "    ", "#")) else textwrap.fill(part, 120, break_on_hyphens=False)
                       for part in text.strip().split("\n\n"))


def number(value):
    return ", ".join(map(rules.shown, value)) if isinstance(value, list) else rules.shown(value)


def series(figures):
    return "; ".join(f"{name} {number(value)}" for name, value in figures.items())


def labels(paper, claim):
    return " and ".join(paper.runs[run].get("label", run) for run in claims.runs_of(claim))


def here(paper, claim):
    """Where, at which points, in which unit, and the figures."""
    head = ", ".join(filter(None, (labels(paper, claim), claim.get("unit") if claim["ours"] else "")))
    if claim.get("points") and claim["ours"]:
        sign = "; " if any("," in point for point in claim["points"]) else ", "
        head += f", at {sign.join(point.strip() for point in claim['points'])}"
    text = ": ".join(filter(None, (head, series(claim["ours"]))))
    return ". ".join(filter(None, (text, claim.get("note", ""))))


def sizes(claim):
    if claim["size"] == "any":
        return "any"
    return claim.get("size_here", "") if claim["size"] == "smaller" else "the paper's"


def said(claim):
    verdict = claims.judge(claim)
    text = f"**{verdict.word}**: {verdict.why}"
    if verdict.here:
        text += f"; {verdict.here}"
    if verdict.word != claims.OPEN and claim["rays"] in RAYS:
        text += f"; {RAYS[claim['rays']]}"
    return text


def row(paper, claim):
    command = f"`{claim['command']}`" if claim.get("command") else ""
    cells = [claim["where"], claim["claim"], claim.get("paper", ""), claim["method"], sizes(claim), command, here(paper, claim),
             series(claim.get("best", {})), said(claim)]
    return "| " + " | ".join(cells) + " |"


HEADS = ["where", "claim", "the paper's number", "method here", "size here", "command", "our figures", "keyray's best", "verdict"]


def table(paper, rows):
    yield "| " + " | ".join(HEADS) + " |"
    yield "| " + " | ".join(["---"] * len(HEADS)) + " |"
    for claim in rows:
        yield row(paper, claim)


def summary(paper):
    all_claims = paper.claims(beyond=False)
    found = claims.counts(all_claims)
    yield f"Of {len(all_claims)} claims {found['confirmed']} are confirmed, {found['refuted']} refuted, {found['not measured']} not measured."
    refuted = [claim for claim in all_claims if claims.judge(claim).word == claims.REFUTED]
    yield "\n## What is refuted\n"
    for claim in refuted:
        yield f"- {claim['where']}: {claim['claim']}: {claims.judge(claim).why}; `{claim['command']}`"
    if not refuted:
        yield "Nothing."
    awaiting = [claim for claim in all_claims if "no RT cores" in claims.judge(claim).why]
    yield "\n## What awaits a GPU with RT cores\n"
    yield "\n".join(f"- {claim['where']}: {claim['claim']}" for claim in awaiting) or "Nothing."


def quarrel(paper):
    """The question that a paper answers otherwise than others do: the paper's way, and with each method at its best, apart."""
    yield f"\n## The quarrel: {paper.page['quarrel']}"
    for way, title in (("paper", "The paper's way"), ("best", "Each method at its best, which decides nothing about the paper")):
        yield f"\n{title}:\n"
        for claim in paper.claims():
            if claim.get("quarrel") == way:
                yield f"- {claim['claim']}: {said(claim)}"


def machines(paper):
    yield "\n## Where the figures are from\n"
    for name, run in paper.runs.items():
        repeats = f", medians of {run['repeats']}" if run.get("repeats") else ""
        cores = "" if "rt_cores" not in run else ", with RT cores" if run["rt_cores"] else ", no RT cores"
        words = f"- **{run.get('label', name)}**: {run['gpu']}{cores}, {run['driver']}, commit {run['commit']}, {run['date']}{repeats}{'. ' + run['note'] if run.get('note') else ''}"
        yield textwrap.fill(words, 120, subsequent_indent="  ", break_on_hyphens=False)


def paper_size(paper):
    named = {claim["size_paper"] for claim in paper.claims() if claim.get("size_paper")}
    return f" The paper's sizes are {' or '.join(sorted(named))}, where a row says nothing else."


def page(paper):
    """The whole text of a paper's page."""
    lines = [f"# {paper.page['title']}", "", f"<!-- bench/claims/make writes this page from bench/claims/{paper.path.name}: change that file. -->", "",
             fill(paper.page["about"]), "", *summary(paper), *(quarrel(paper) if paper.page.get("quarrel") else ()), *machines(paper), "", "## How verdicts are made", "", fill(HOW + paper_size(paper))]
    if paper.page.get("how"):
        lines += ["", fill(paper.page["how"])]
    for part in paper.sections:
        rows = [claim for claim in part.get("claim", []) if not claim.get("beyond")]
        if rows:
            lines += ["", f"## {part['title']}", "", *table(paper, rows)]
    if paper.page.get("after"):
        lines += ["", paper.page["after"].strip()]
    return "\n".join(lines) + "\n"


BEYOND = """Statements about keyray that no paper makes, and tables of its own kinds. They decide no verdict on a paper. The pages of the papers say
where the figures are from."""


def beyond(papers):
    lines = ["# Beyond the papers", "", "<!-- bench/claims/make writes this page from bench/claims/*.toml. -->", "", fill(BEYOND)]
    for paper in papers:
        rows = paper.claims(beyond=True)
        text = paper.page.get("beyond", "").strip()
        if rows or text:
            output = paper.page["output"]
            lines += ["", f"## {paper.page['short']}", "", f"Beside [{output}]({output})."]
        if rows:
            lines += ["", *table(paper, rows)]
        if text:
            lines += ["", text]
    return "\n".join(lines) + "\n"
