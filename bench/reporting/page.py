"""The pages of the report: the first screen, a page for each work, one for kinds to choose from, one for reports of one's own."""
import multiprocessing
import pathlib
import statistics

import choices
import claims_of
import papers
import parts
import plots
import sources
from parts import marked, text

NO_DATA = "No data of a GPU yet."
TITLE = "keyray: what five papers claim, and what was measured"


# ---- Plots, by all cores

def job(work):
    panel, column, name = work
    return plots.draw(panel, column, name)


def draw_all(results):
    """{(id of a panel, column): SVG}"""
    jobs, places = [], []
    for result in results:
        for panel in result["panels"]:
            for column in panel["columns"]:
                jobs.append((panel, column, f"p{len(jobs)}"))
                places.append((id(panel), column))
    if len(jobs) < 4:
        return dict(zip(places, map(job, jobs)))
    with multiprocessing.Pool() as pool:
        return dict(zip(places, pool.map(job, jobs, chunksize=4)))


# ---- A work

def on_gpu(result):
    return any(head["device"] != "cpu" for head in result["runs"])


def command_of(work, name, result=None):
    device = "cpu" if result and not on_gpu(result) else "cuda"
    return f"bench/experiments/{work.name} {name} --device {device}"


def experiment_part(work, experiment, results, claims, svgs):
    body = [f'<h2 id="{experiment.name}">{text(experiment.source)}: {text(experiment.title)}</h2>',
            f'<p><code>{text(command_of(work, experiment.name, results[0] if results else None))}</code></p>',
            f"<p>{marked(experiment.note)}</p>" if experiment.note else ""]
    if experiment.panels and not any(map(on_gpu, results)):
        body.append(f'<p class="soft">{NO_DATA}</p>')
    for result in results:
        body.append(parts.warning(result["notes"]))
        body.append(f'<p class="soft small">{text(parts.measured(result))}</p>')
        body += parts.panels(result, svgs)
        body.append(parts.commands(result))
    if claims:
        body += ["<h3>What the work claims of it</h3>", parts.claim_list(claims)]
    return body


def figures_list(work, names):
    rows = []
    for sort, number, experiments, why in papers.coverage(work):
        links = ", ".join(f'<a href="#{name}">{name}</a>' if name in names else text(name) for name in experiments)
        rows.append(f"<tr><td>{sort} {number}</td><td>{links}{'; ' if links and why else ''}{marked(why)}</td></tr>")
    return ["<h2 id=\"all\">All figures and tables</h2>", f'<div class="scroll"><table><tr><th>of the work</th><th>experiment, or why none</th></tr>'
            f"{''.join(rows)}</table></div>"]


def work_page(work, results, claims, svgs, links):
    experiments = papers.script_of(work.name).EXPERIMENTS
    names = [each.name for each in experiments]
    counts = claims_of.counts(claims)
    body = [f"<p>{text(work.title)}. {text(work.authors)}. It measured on {text(work.hardware)}.</p>",
            f"<p>{counted(counts)} {rt_words(claims)}</p>", parts.bar(counts), "<p>" + " ".join(f'<a href="#{name}">{name}</a>' for name in names) + "</p>"]
    placed = set()
    for experiment in experiments:
        here = [claim for claim in claims if experiment.name in claims_of.experiments_of(claim, names)]
        placed.update(here)
        body += experiment_part(work, experiment, [each for each in results if each["experiment"] == experiment.name], here, svgs)
    others = [claim for claim in claims if claim not in placed]
    if others:
        body += ['<h2 id="others">Claims that other commands judge</h2>', parts.claim_list(others)]
    body += figures_list(work, names)
    return parts.page(f"{work.short}: claims and figures", links, body)


# ---- The first screen

def counted(counts):
    return (f'<b class="confirmed">{counts[claims_of.CONFIRMED]} confirmed</b>, <b class="refuted">{counts[claims_of.REFUTED]} refuted</b>, '
            f'<b class="open">{counts[claims_of.OPEN]} not measured</b>.')


def rt_words(claims):
    waiting = sum(map(claims_of.awaits_rt_cores, claims))
    return f"Of those not measured, {waiting} await a GPU with RT cores." if waiting else ""


def hardware(results):
    found = parts.machines(results)
    lines = [f"<li>{text(name)}: {count} {'experiment' if count == 1 else 'experiments'}; {'commit' if len(commits) == 1 else 'commits'} "
             f"{text(', '.join(commits))}</li>" for name, (commits, count) in found.items()]
    return ['<h2 id="hardware">Hardware</h2>',
            "<p><strong>An H200 and an H100 have no RT cores: OptiX traverses rays in software there, and Embree does so on a CPU.</strong> So no time of "
            "a method that casts rays says how fast RT cores are. Claims about rays rest on counters (rays, hits, intersections), which hardware does "
            "not change; claims about their speed are not judged.</p>",
            "<p>The plots are of:</p><ul>" + "".join(lines) + "</ul>" if lines else "<p>There is no data.</p>"]


def works_table(claims, results):
    rows = []
    for work in papers.WORKS:
        counts = claims_of.counts(claims[work.name])
        all_of_it = [each for each in papers.script_of(work.name).EXPERIMENTS if each.panels]
        there = {each["experiment"] for each in results if each["work"] == work.name and on_gpu(each) and each["panels"]}
        rows.append(f'<tr><td><a href="{work.name}.html">{text(work.short)}</a>{parts.bar(counts)}</td><td class="n">{counts[claims_of.CONFIRMED]}</td>'
                    f'<td class="n"><a href="#refuted-{work.name}">{counts[claims_of.REFUTED]}</a></td><td class="n">{counts[claims_of.OPEN]}</td>'
                    f'<td class="n">{len(there)} of {len(all_of_it)}</td></tr>')
    return ('<div class="scroll"><table class="works"><tr><th>work</th><th class="n">confirmed</th><th class="n">refuted</th><th class="n">not measured</th>'
            f'<th class="n">plots of a GPU</th></tr>{"".join(rows)}</table></div>')


def refuted(claims):
    body = ['<h2 id="refuted">What was refuted</h2>', "<p>Each with our figures and the command that shows it; a name such as <code>fig12</code> is an "
            "experiment of the work's script, <code>bench/experiments/WORK fig12</code>.</p>"]
    for work in papers.WORKS:
        here = [claim for claim in claims[work.name] if claim.word == claims_of.REFUTED]
        body.append(f'<h3 id="refuted-{work.name}">{text(work.short)}: {len(here)} refuted</h3>')
        body.append(parts.claim_list(here) or "<p>None.</p>")
    return body


def quarrels(results):
    body = ['<h2 id="quarrels">Where they disagree</h2>']
    for work in papers.WORKS:
        found = claims_of.quarrel_of(work)
        if not found:
            continue
        question, here = found
        body.append(f"<h3>{text(work.short)}: {text(question)}</h3>")
        for way, words in (("paper", "The paper's way"), ("best", "Each method at its best, which decides nothing about the paper")):
            those = [claim for claim in here if claim.quarrel == way]
            if those:
                body.append(f"<p>{words}: {counted(claims_of.counts(those))}</p><ul>" + "".join(map(one_line, those)) + "</ul>")
        body += [f"<p>{line}</p>" for line in measured_of(work, results)]
    return body


def one_line(claim):
    kind = parts.CLASSES[claim.word]
    return f'<li>{marked(claim.claim)}: <b class="{kind}">{claim.word}</b> <span class="soft small">{marked(claim.why)}</span></li>'


def measured_of(work, results):
    """What the plotted figures of a GPU say on it, from the least time on."""
    for result in results:
        if result["work"] == work.name and result["experiment"] in papers.SHOWS[work.name] and result["panels"] and on_gpu(result):
            yield ranking(result["panels"][0], result["runs"][0], f"{work.name}.html#{result['experiment']}")


def ranking(panel, head, address):
    """The series of a table's last point, from the least time on."""
    column, point = panel["columns"][0], panel["points"][-1]
    found = {series: statistics.median(by_point[point]) for series, by_point in sources.of_column(panel, column).items() if point in by_point}
    if not found:
        return ""
    order = sorted(found, key=found.get, reverse=column.startswith(("M/s", "/s")))
    return (f'<a href="{address}">Measured</a> on {text(head["description"])}{text(parts.cores(head))}, {text(point or panel["title"])}: '
            + ", ".join(f"{text(series)} {found[series]:.3g}" for series in order) + f" {text(column)}.")


def first_page(claims, results, troubles, links):
    everything = [claim for each in claims.values() for claim in each]
    body = ["<p>Five works on indexes for GPUs, each figure of their evaluations repeated with keyray, each claim beside what was measured. "
            f"Of {len(everything)} claims: {counted(claims_of.counts(everything))} {rt_words(everything)}</p>",
            '<p>Our figures are of NVIDIA H200s and H100s, <strong>which have no RT cores</strong>: <a href="#hardware">what that means</a>. '
            '<a href="#refuted">What was refuted</a>, with the command that shows it.'
            + (' <a href="choosing.html">Which kind of index when</a>: all kinds compared.' if choices.of_choosing(results) else "") + "</p>",
            works_table(claims, results), parts.troubles(troubles), *quarrels(results), *hardware(results), *refuted(claims),
            '<h2 id="again">To repeat it</h2>',
            "<p><code>make report</code> builds these pages from the figures in the tree; <code>make report SCALE=paper</code> measures on this machine's "
            "GPU, goes on where it was cut off, and builds them of that. <code>docs/report.md</code> has the rest.</p>"]
    return parts.page(TITLE, links, body)


# ---- Which kind when

def decisions(results):
    """What was best where, by width of keys."""
    there = [(bits, [(wanted, choices.medians(results, wanted, bits)) for wanted in choices.WANTED]) for bits in choices.WIDTHS]
    head = "".join(f"<th>u{bits} keys</th>" for bits, _ in there)
    rows = []
    for number, wanted in enumerate(choices.WANTED):
        cells = "".join(f"<td>{marked(choices.decision_in_words(wanted, found[number][1]))}</td>" for _, found in there)
        rows.append(f"<tr><td>{text(wanted.title)}</td>{cells}</tr>")
    return f'<div class="scroll"><table><tr><th>what is wanted</th>{head}</tr>{"".join(rows)}</table></div>'


def at_most_keys(results):
    """Figures of all kinds at the largest size."""
    for bits in choices.WIDTHS:
        keys = choices.most_keys(results, bits)
        kinds, rows = choices.rows_at(results, bits, keys)
        if not rows:
            continue
        head = "".join(f'<th class="n">{text(kind)}</th>' for kind in kinds)
        lines = "".join(f"<tr><td>{text(title)}</td>" + "".join(f'<td class="n">{marked(cells.get(kind, "-"))}</td>' for kind in kinds) + "</tr>"
                        for title, cells in rows)
        yield (f'<h3>2^{keys} u{bits} keys</h3><div class="scroll"><table><tr><th></th>{head}</tr>{lines}</table></div>')


def rivals_of(result):
    """Names and versions of the other libraries."""
    found = {name: True for panel in result["panels"] for name in panel.get("rivals", {}).values()}
    return f'<p class="soft small">Other libraries: {text("; ".join(found))}.</p>' if found else ""


def choosing_page(results, svgs, links):
    machines, experiments = choices.machines(results), papers.script_of(papers.CHOOSING).EXPERIMENTS
    body = ["<p>Every kind of index and of scans in the same runs. The best kind is in bold, and so are kinds within 5% of it, since another run may put them "
            "first. Plots have the median, and a bar from minimum to maximum. <code>docs/choosing.md</code> says what to take.</p>",
            "<p>" + " ".join(f'<a href="#{each.name}">{each.name}</a>' for each in experiments) + "</p>"]
    for (description, _), here in machines.items():
        if not any(choices.medians(here, wanted, bits) for wanted in choices.WANTED for bits in choices.WIDTHS):
            continue
        who = parts.machines_in_words(head for result in here for head in result["runs"])
        body += [f"<h2>What was best: {text(description)}</h2>", f'<p class="soft small">{text(who)}.</p>', decisions(here), *at_most_keys(here)]
    for experiment in experiments:
        body += [f'<h2 id="{experiment.name}">{text(experiment.title)}</h2>', f"<p>{marked(choices.WORDS[experiment.name])}</p>"]
        there = [result for here in machines.values() for result in here if result["experiment"] == experiment.name]
        if not any(map(on_gpu, there)):
            body.append(f'<p class="soft">{NO_DATA}</p>')
        for result in there:
            body += [f"<h3>{text(result['runs'][0]['description'])}</h3>", parts.warning(result["notes"]), f'<p class="soft small">{text(parts.measured(result))}</p>',
                     *parts.in_one_grid(result, svgs), rivals_of(result), parts.commands(result)]
        device = "cuda" if not there or any(map(on_gpu, there)) else "cpu"
        body.append(f"<p><code>bench/experiments/choosing {experiment.name} --device {device}</code></p>")
    return parts.page("Which kind of index when", links, body)


# ---- Reports of one's own

def own_page(results, troubles, svgs, links):
    body = [parts.troubles(troubles)]
    for result in results:
        body += [f"<h2>{text(result['experiment'])}</h2>", parts.warning(result["notes"]), *parts.panels(result, svgs), parts.commands(result)]
    return parts.page("Reports of keyray bench", links, body)


# ---- All of it

def write(folder, results, troubles):
    """The pages of results, into a folder. Returns the first of them."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    choices.with_looks(results)
    svgs = draw_all(results)
    own = [result for result in results if not result["work"]]
    if own and len(own) == len(results):
        (folder / "index.html").write_text(own_page(own, troubles, svgs, []))
        return folder / "index.html"
    claims = {work.name: claims_of.of_work(work) for work in papers.WORKS}
    links = [("index.html", "All works"), *((f"{work.name}.html", work.short) for work in papers.WORKS)]
    choosing = choices.of_choosing(results)
    links += [("choosing.html", "Choosing")] if choosing else []
    links += [("own.html", "Own reports")] if own else []
    for work in papers.WORKS:
        here = [each for each in results if each["work"] == work.name]
        (folder / f"{work.name}.html").write_text(work_page(work, here, claims[work.name], svgs, links))
    if choosing:
        (folder / "choosing.html").write_text(choosing_page(results, svgs, links))
    if own:
        (folder / "own.html").write_text(own_page(own, [], svgs, links))
    (folder / "index.html").write_text(first_page(claims, results, troubles, links))
    return folder / "index.html"
