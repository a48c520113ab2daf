"""Plots of panels as SVG that stands in the page: its colours are the page's, so that it follows dark mode, and its text is text.
matplotlib makes them."""
import math
import pathlib
import re
import statistics

import matplotlib

matplotlib.use("svg")
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

import sources  # noqa: E402

COLOURS = 8
PLACEHOLDERS = [f"#0102{i:02x}" for i in range(COLOURS)]  # what matplotlib writes; the page's variables take their place
INK, FAINT = "#010301", "#010302"
LINES = ["-", "--", ":", "-."]
MARKS = "osD^vPX*<>"
CSS = pathlib.Path(__file__).with_name("page.css")
ACROSS = 2  # plots of a file
WIDTH = 4.9  # inches: a phone is as wide, so that text keeps its size there

AXES = {"append": "rows appended", "wave-rows": "rows deleted, and rows inserted", "count": "keys", "probes": "lookups", "hits": "matches of a probe", "hit-rate": "lookups that hit, %", "zipf": "Zipf coefficient",
        "multiplicity": "rows of a key", "batches": "batches", "bits": "bits of a key", "uniformity": "uniform keys, %",
        "selectivity": "rows that each comparison selects, %", "changes": "pairs exchanged", "stride": "distance of keys",
        "conditions": "conditions in a call", "predicates": "predicates", "keys": "keys"}

matplotlib.rcParams.update({
    "svg.fonttype": "none", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9, "axes.edgecolor": FAINT,
    "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "text.color": INK, "axes.spines.top": False, "axes.spines.right": False,
    "grid.color": FAINT, "grid.alpha": 0.35, "grid.linewidth": 0.6, "axes.axisbelow": True})


# ---- What is on the axes

def number_of(word):
    """2^16, 0.5 or 25 as a number; None of other words."""
    match = re.fullmatch(r"2\^(\d+)", word)
    if match:
        return float(2 ** int(match[1]))
    return float(word) if re.fullmatch(r"-?\d+(\.\d+)?", word) else None


def axis_of(points):
    """(title, numbers) of points such as "count 2^16"; numbers are None where the points are words."""
    words = [point.rpartition(" ") for point in points]
    names, numbers = {name for name, _, _ in words}, [number_of(last) for _, _, last in words]
    if len(points) > 1 and len(names) == 1 and None not in numbers and len(set(numbers)) == len(numbers):
        name = names.pop()
        return AXES.get(name, name), numbers
    return "", None


def is_wide(values):
    return min(values) > 0 and max(values) / min(values) > 8


def shown(value):
    if value == 0:
        return "0"
    if abs(value) >= 1e4:
        exponent = math.log2(abs(value))
        return f"2^{exponent:.0f}" if exponent == int(exponent) else f"{value:.3g}" if abs(value) >= 1e6 else f"{value:.0f}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def as_power(value, _=None):
    exponent = math.log2(value) if value > 0 else 0.5
    return f"2^{exponent:.0f}" if abs(exponent - round(exponent)) < 1e-9 else ""


# ---- Drawing

class Look:
    """How a series is drawn: colours repeat after eight, with other lines and marks. Dashes lie over solid lines, so that both are seen
    where they coincide."""

    def __init__(self, i):
        dashes = i // COLOURS % len(LINES)
        self.colour, self.line, self.mark, self.over = PLACEHOLDERS[i % COLOURS], LINES[dashes], MARKS[i % len(MARKS)], 2 + dashes / 10


def spread(values):
    """Median, and how far minimum and maximum are from it."""
    median = statistics.median(values)
    return median, median - min(values), max(values) - median


def bars(figure, axes, found, column):
    """Of one point: a bar for each series, from the top down."""
    names = list(found)
    for i, name in enumerate(names):
        median, below, above = spread(next(iter(found[name].values())))
        axes.barh(i, median, color=PLACEHOLDERS[0], height=0.62)
        if below or above:
            axes.errorbar(median, i, xerr=[[below], [above]], color=INK, capsize=3, linewidth=1)
        axes.annotate(shown(median), (median + above, i), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(names)), [short(name, 30) for name in names])
    axes.invert_yaxis()
    axes.set_xlabel(column)
    axes.set_xmargin(0.18)
    if is_wide([spread(next(iter(each.values())))[0] for each in found.values()]):
        axes.set_xscale("log")
        plain_numbers(axes.xaxis, axes.get_xlim())
    axes.grid(axis="x")
    figure.set_size_inches(WIDTH, 0.8 + 0.27 * len(names))


def lines(axes, found, column, points, looks, caps=2.5):
    """`looks`: {series: number of its look}, of series that look the same in every plot; `caps`: of the bars from minimum to maximum."""
    title, numbers = axis_of(points)
    places = dict(zip(points, numbers or range(len(points))))
    for i, (name, by_point) in enumerate(found.items()):
        look = Look(looks.get(name, i))
        there = [point for point in points if point in by_point]
        if "beside" in by_point and not there:
            axes.axhline(spread(by_point["beside"])[0], color=look.colour, linestyle=look.line, linewidth=1.2, label=short(name, 28))
            continue
        medians, below, above = zip(*(spread(by_point[point]) for point in there))
        axes.errorbar([places[point] for point in there], medians, yerr=[below, above], color=look.colour, linestyle=look.line,
                      marker=look.mark, markersize=4.5, linewidth=1.4, capsize=caps, elinewidth=1, label=short(name, 28), zorder=look.over)
    axes.set_ylabel(column)
    values = [spread(values)[0] for by_point in found.values() for values in by_point.values()]
    if is_wide(values):
        axes.set_yscale("log")
        plain_numbers(axes.yaxis, axes.get_ylim())
    elif min(values) >= 0:
        axes.set_ylim(bottom=0)
    across(axes, title, numbers, points)
    axes.grid()


def plain_numbers(axis, ends):
    """Of a logarithmic axis: 1, 2 and 5 of each power of ten where these are few."""
    decades = math.log10(ends[1] / ends[0])
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,), numticks=12 if decades < 2 else 7))
    axis.set_major_formatter(FuncFormatter(lambda value, _: shown(value)))
    axis.set_minor_formatter(NullFormatter())


def across(axes, title, numbers, points):
    """The x axis."""
    axes.set_xlabel(title)
    if numbers is None:
        long = max(map(len, points)) * len(points) > 52
        axes.set_xticks(range(len(points)), [short(point, 26) for point in points], rotation=30 if long else 0, ha="right" if long else "center")
        axes.set_xmargin(0.08)
    elif is_wide(numbers) and all(as_power(number) for number in numbers):
        axes.set_xscale("log", base=2)
        axes.set_xticks(numbers[::-(-len(numbers) // 7)][::-1] if len(numbers) > 7 else numbers)
        axes.xaxis.set_major_formatter(FuncFormatter(as_power))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xticks(numbers[::-(-len(numbers) // 9)] if len(numbers) > 9 else numbers)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value)))


def keys(figure, axes, count):
    """The legend, below, and a figure that is high enough for it."""
    handles, labels = axes.get_legend_handles_labels()
    columns = 3 if max(map(len, labels)) <= 16 else 2
    rows = -(-count // columns)
    figure.set_size_inches(WIDTH, 3.0 + 0.19 * rows)
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8, handlelength=2.6, columnspacing=1.2)


def short(text, most):
    return text if len(text) <= most else text[:most - 1] + "\u2026"


def draw(panel, column, name):
    """SVG of one column of a panel; `name`: unlike that of any other plot of its page."""
    found = sources.of_column(panel, column)
    if not found:
        return ""
    figure = Figure(layout="constrained")
    axes = figure.add_subplot()
    if len(panel["points"]) == 1 and all(len(each) == 1 for each in found.values()):
        bars(figure, axes, found, column)
    else:
        lines(axes, found, column, panel["points"], panel.get("looks", {}))
        keys(figure, axes, len(found))
    return to_page(figure, name, told(panel, column, found))


def told(panel, column, found):
    """The plot in words, for those who do not see it."""
    parts = []
    for series, by_point in found.items():
        medians = [spread(values)[0] for values in by_point.values()]
        parts.append(f"{series} {shown(min(medians))}" + (f" to {shown(max(medians))}" if len(medians) > 1 else ""))
    return f"{column}. {panel['title']}. {'; '.join(parts)}"


# ---- SVG for the page

def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def one_style(group):
    """Marks of one style have it once, in their group."""
    styles = set(re.findall(r' style="([^"]*)"', group[2]))
    if len(styles) != 1 or group[2].count("<use ") != group[2].count(" style="):
        return group[0]
    marks = re.sub(r' style="[^"]*"', "", group[2])
    return f'<g{group[1] or ""} style="{styles.pop()}">\n{marks}</g>'


def plain(figure, name):
    """The figure's SVG, without what no page needs and with names that no other plot has: (its attributes' text, the rest)."""
    import io  # pylint: disable=import-outside-toplevel
    matplotlib.rcParams["svg.hashsalt"] = name
    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*|<style.*?</style>\s*", "", svg, flags=re.S)
    used = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    short_names = {old: f"{name}-{i}" for i, old in enumerate(used)}
    svg = re.sub(r' id="([^"]+)"', lambda match: f' id="{short_names[match[1]]}"' if match[1] in used else "", svg)
    svg = re.sub(r'(href="#|url\(#)([^")]+)', lambda match: match[1] + short_names[match[2]], svg)
    svg = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana")
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    svg = re.sub(r' (x|y)="(-?\d+\.\d\d)\d+"', r' \1="\2"', svg)
    svg = re.sub(r' d="[^"]+"', lambda path: re.sub(r"\.(\d\d)\d+", r".\1", path[0]), svg)  # of lines, not of texts
    svg = re.sub(r"\n\s*", "\n", svg)
    svg = re.sub(r"<g( clip-path=[^>]*)?>\n((?:<use [^>]*/>\n)+)</g>", one_style, svg)
    head = re.match(r"<svg[^>]*>", svg)[0]
    return re.search(r'viewBox="([^"]+)"', head)[1], svg[len(head):]


def coloured(svg, colour_of):
    """`colour_of`: by the name of a variable of page.css."""
    for i, colour in enumerate(PLACEHOLDERS):
        svg = svg.replace(colour, colour_of(f"c{i}"))
    return svg.replace(INK, colour_of("ink")).replace(FAINT, colour_of("faint"))


NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def to_page(figure, name, words):
    """SVG with the page's colours."""
    box, svg = plain(figure, name)
    wide = float(box.split()[2])
    return (f'<svg viewBox="{box}" role="img" aria-label="{escaped(words)}" style="max-width:{wide * 1.45:.0f}px" {NAMES}>'
            f'{coloured(svg, lambda name: f"var(--{name})")}')


# ---- Many plots in a file of their own

def light_colours():
    """Those of page.css."""
    root = re.search(r":root \{(.*?)\}", CSS.read_text(), re.S)[1]
    return dict(re.findall(r"--(\w+): (#\w+)", root))


def many(items, shared, title, words):
    """An SVG file of plots side by side, on paper: `items` are (title, panel, column), `words` the description. Plots of no other
    series than those `shared` have one legend, below."""
    rows = -(-len(items) // ACROSS)
    figure = Figure(layout="constrained", figsize=(WIDTH * ACROSS, 0.9 + 2.9 * rows))
    figure.suptitle(title, fontsize=8)
    known = {}
    for place, (name, panel, column) in enumerate(items):
        axes = figure.add_subplot(rows, ACROSS, place + 1)
        lines(axes, sources.of_column(panel, column), column, panel["points"], panel.get("looks", {}), caps=0)
        axes.set_title(name, fontsize=9, fontweight="bold")
        handles, labels = axes.get_legend_handles_labels()
        if set(labels) <= set(shared):
            known.update(zip(labels, handles))
        else:
            axes.legend(frameon=False, fontsize=6.5, handlelength=2.4, labelspacing=0.25)
    figure.legend(known.values(), known, loc="outside lower center", ncols=5, frameon=False, fontsize=8, handlelength=2.6, columnspacing=1.2)
    colours = light_colours()
    box, svg = plain(figure, "many")
    wide, high = box.split()[2:]
    return (f'<svg viewBox="{box}" {NAMES}>\n<title>{escaped(words)}</title>\n<rect width="{wide}" height="{high}" fill="{colours["paper"]}"/>'
            f'{coloured(svg, colours.get)}')
