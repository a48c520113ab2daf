"""Pieces of HTML that several pages have."""
import html
import pathlib
import re
import statistics

import claims_of
import plots
import sources

CSS = pathlib.Path(__file__).with_name("page.css")
CLASSES = {claims_of.CONFIRMED: "confirmed", claims_of.REFUTED: "refuted", claims_of.OPEN: "open"}


def text(words):
    return html.escape(str(words))


def marked(words):
    """What Markdown has within a line: code, bold, links. Links lead nowhere from here, so their texts stay."""
    words = text(words)
    words = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", words)
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", words)
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", words)


def page(title, links, body):
    """A whole page. `links`: [(address, words)]."""
    nav = "".join(f'<a href="{address}">{text(words)}</a>' for address, words in links)
    return (f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{text(title)}</title>\n<style>\n{CSS.read_text()}</style>\n</head>\n<body>\n<nav>{nav}</nav>\n<main>\n<h1>{text(title)}</h1>\n"
            + "\n".join(body) + "\n</main>\n</body>\n</html>\n")


def warning(lines, head=""):
    lines = list(lines)
    if not lines:
        return ""
    if len(lines) == 1 and not head:
        return f'<p class="warn">{text(lines[0])}</p>'
    return f'<div class="warn">{f"<p>{text(head)}</p>" if head else ""}<ul>' + "".join(f"<li>{text(line)}</li>" for line in lines) + "</ul></div>"


def troubles(found):
    """What was not shown, and what was shown with a reservation."""
    bad = [f"{each.where}: {each.what}" for each in found if each.bad]
    others = [f"{each.where}: {each.what}" for each in found if not each.bad]
    return warning(bad, "Not shown, since it is broken:" if bad else "") + warning(others, "To know:" if others else "")


# ---- Machines

def cores(head):
    if head["device"] == "cpu":
        return ", a CPU: no RT cores" if head["tracers"] else ", a CPU"
    if any("no RT cores" in tracer for tracer in head["tracers"]) or any(name in head["description"] for name in ("H100", "H200", "A100")):
        return ", no RT cores"
    return ""


def machine(head):
    return f"{head['description']}{cores(head)}; {head['driver']}; commit {head['commit']}; medians of {head['repeat']}"


def machines(results):
    """{machine without its commit: (commits, number of experiments)}"""
    found = {}
    for result in results:
        for name in {f"{head['description']}{cores(head)}; {head['driver']}" for head in result["runs"]}:
            commits, count = found.get(name, ({}, 0))
            commits.update({head["commit"]: True for head in result["runs"]})
            found[name] = (commits, count + 1)
    return found


# ---- Plots

def numbers_table(panel, column):
    """The figures of a plot: medians, with minimum and maximum."""
    found = sources.of_column(panel, column)
    points = [point for point in [*panel["points"], "beside"] if any(point in each for each in found.values())]
    head = "".join(f'<th class="n">{text(point or column)}</th>' for point in points)
    rows = []
    for series, by_point in found.items():
        cells = []
        for point in points:
            values = by_point.get(point)
            around = f" ({min(values):.4g}\u2013{max(values):.4g})" if values and len(values) > 1 else ""
            cells.append(f'<td class="n">{f"{statistics.median(values):.4g}{around}" if values else "-"}</td>')
        rows.append(f"<tr><td>{text(series)}</td>{''.join(cells)}</tr>")
    return (f'<details><summary>figures: {text(column)}, median (minimum\u2013maximum)</summary><div class="scroll"><table><tr><th></th>{head}</tr>'
            + "".join(rows) + "</table></div></details>")


def given_up(panel):
    cells = [cell for cell in panel["cells"] if cell.get("too_long")]
    return [f"not shown: {', '.join(dict.fromkeys(cell['series'] for cell in cells))} took too long at some points and was given up"] if cells else []


def machines_in_words(heads):
    """Each machine and commit once, also where some of its runs cast rays and others do not."""
    found = {}
    for head in heads:
        place = tuple(head[name] for name in ("description", "driver", "commit", "repeat"))
        if place not in found or head["tracers"]:
            found[place] = head
    return "; ".join(map(machine, found.values()))


def figure(result, panel, column, svg, title_first=False):
    words = [panel["title"], column] if title_first else [column, panel["title"]]
    heads = sources.heads_of(result, panel)
    who = machines_in_words(heads)
    return (f'<figure class="plot">{svg}<figcaption><strong>{text(words[0])}.</strong> {text(words[1])}. {text(who)}.</figcaption>'
            f"{warning(sources.differences(heads))}{numbers_table(panel, column)}</figure>")


def commands(result):
    lines = list(dict.fromkeys(head["command"] for head in result["runs"] if head["command"]))
    return f"<details><summary>commands of keyray bench</summary><pre>{text(chr(10).join(lines))}</pre></details>" if lines else ""


def measured(result):
    """When, and in how many calls."""
    began = sorted(head["began"] for head in result["runs"] if head.get("began"))
    if not began:
        return ""
    calls = sources.calls_of(result["runs"])
    times = began[0] if began[0] == began[-1] else f"{began[0]} to {began[-1]}"
    return f"Measured {times}" + (f", in {calls} calls: it was cut off and went on" if calls > 1 else "")


def in_one_grid(result, svgs):
    """All plots of a result side by side, without what the scripts compute of them."""
    shown = [figure(result, panel, column, svgs[id(panel), column], True) for panel in result["panels"] for column in panel["columns"]
             if svgs.get((id(panel), column))]
    return [warning(line for panel in result["panels"] for line in given_up(panel)), f'<div class="plots">{"".join(shown)}</div>']


def panels(result, svgs):
    """All plots of a result, table by table. `svgs`: by panel's number and column."""
    body = []
    for number, panel in enumerate(result["panels"]):
        shown = [(column, svgs[id(panel), column]) for column in panel["columns"] if svgs.get((id(panel), column))]
        body += [f"<h3>{text(panel['title'])}</h3>"] if len(result["panels"]) > 1 else []
        body.append(warning(given_up(panel)))
        body.append('<div class="plots">' + "".join(figure(result, panel, column, svg) for column, svg in shown) + "</div>" if shown
                    else f'<p class="soft">No figure of table {number + 1} is there.</p>')
        if panel["below"]:
            body.append(f"<details><summary>computed of it</summary><pre>{text(chr(10).join(panel['below']))}</pre></details>")
    return body


# ---- Claims

def claim_line(claim, with_command=True):
    kind = CLASSES[claim.word]
    details = [f"Paper: {marked(claim.paper)}." if claim.paper else "", f"Here: {marked(claim.figures)}." if claim.figures else "",
               f"{marked(claim.why)}." if claim.why else "", f"Sizes: {marked(claim.size)}." if claim.size else "",
               f"keyray at its best: {marked(claim.best)}." if claim.best else "", f"{text(claim.run)}." if claim.run else "",
               f"<code>{text(claim.command.replace('`', ''))}</code>" if with_command and claim.command else ""]
    return (f'<li class="{kind}"><b class="{kind}">{claim.word}</b> {marked(claim.where)}: {marked(claim.claim)}'
            f'<span class="detail">{" ".join(each for each in details if each)}</span></li>')


def claim_list(claims, with_command=True):
    order = [claims_of.REFUTED, claims_of.CONFIRMED, claims_of.OPEN]
    ordered = sorted(claims, key=lambda claim: order.index(claim.word))
    return '<ul class="claims">' + "".join(claim_line(claim, with_command) for claim in ordered) + "</ul>" if claims else ""


def bar(counts):
    whole = sum(counts.values()) or 1
    return '<span class="bar" aria-hidden="true">' + "".join(
        f'<i class="{CLASSES[word]}" style="width:{100 * counts[word] / whole:.1f}%"></i>' for word in claims_of.WORDS) + "</span>"
