"""The five works: which figures and tables they have, and what repeats each of them. The numbers below are of the papers. What
repeats a figure, or why nothing does, the scripts say: their experiments and their lists of what no experiment repeats."""
import collections
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "bench" / "experiments"

# `name`: of the script; `claims`: of its file in bench/claims; `figures`, `tables`: their numbers, all of them
Work = collections.namedtuple("Work", "name claims short title authors hardware figures tables")


def to(last, parts=None, prefix=""):
    """1 to `last`; `parts`: {number: letters} of figures that are (a), (b) and so on."""
    for number in range(1, last + 1):
        yield from (f"{prefix}{number}({letter})" for letter in parts[number]) if parts and number in parts else [f"{prefix}{number}"]


WORKS = [
    Work("rtindex", "rx", "RX", "RTIndeX: Exploiting Hardware-Accelerated GPU Raytracing for Database Indexing",
         "Henneberg and Schuhknecht, PVLDB 16, 2023", "an RTX 4090 and three other GPUs with RT cores",
         list(to(18, {3: "ab", 10: "abc"})), list(to(8))),
    Work("cgrx", "cgrx", "cgRX", "cgRX", "Henneberg, Schuhknecht, Kharal and Brown", "an RTX 4090 with 128 RT cores",
         list(to(15, {8: "ab", 10: "ab"})), list(to(1))),
    Work("lightweight", "lightweight", "Lightweight indexes",
         "Is Binary Search Really All You Need? Supercharging Lightweight Database Indexing on GPUs",
         "Henneberg and Schuhknecht", "an RTX 4090; its methods cast no rays",
         list(to(22, {1: "ab", 14: "abc", 17: "ab", 18: "ab"})), []),
    Work("thesis", "thesis", "Joins (thesis)", "Fast Database Join on Ray-tracing Core Equipped GPU",
         "Wu, Master's thesis, University of Victoria, 2025", "an RTX 4060 Laptop GPU with RT cores",
         [*to(3, prefix="1."), *to(5, prefix="2."), *to(4, prefix="3."), *to(5, prefix="4."), *to(25, prefix="5.")],
         ["2.1", *to(5, prefix="5.")]),
    Work("rtscan", "rtscan", "RTScan", "RTScan: Efficient Scan with Ray Tracing Cores", "Lv and others",
         "GPUs with RT cores; BinDex on a CPU", list(to(29)), []),
]

CHOOSING = "choosing"  # the script of what no work has: which kind when
NAMES = [*(work.name for work in WORKS), CHOOSING]  # of scripts

# Where the works disagree, which the claims say: experiments whose figures show how it is here.
SHOWS = {"cgrx": ["fig11"], "lightweight": ["fig20"], "thesis": ["points"], "rtscan": ["random"]}


class Wrong(Exception):
    pass


def script_of(name):
    """The module of a script in bench/experiments, which has EXPERIMENTS and WITHOUT."""
    path = SCRIPTS / name
    if str(SCRIPTS) not in sys.path:
        sys.path.insert(0, str(SCRIPTS))
    loaded = f"keyray_experiments_{name}"
    if loaded not in sys.modules:
        loader = importlib.machinery.SourceFileLoader(loaded, str(path))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loaded, loader))
        sys.modules[loaded] = module
        loader.exec_module(module)
    return sys.modules[loaded]


def work_of(name):
    return next((work for work in WORKS if work.name == name), None)


NUMBER = r"\d+(?:\.\d+)?(?:\([a-z]\))?"
NAMED = re.compile(rf"(Figure|Table)s? ({NUMBER}(?:(?:, | and | to ){NUMBER})*)")


def named_in(source, work):
    """What a text such as "Figures 8(b) and 9, 5.2" names: pairs of sort and number, of those that the work has."""
    found = []
    for sort, numbers in NAMED.findall(source):
        known = work.figures if sort == "Figure" else work.tables
        words = re.split(r"(, | and | to )", numbers)
        for i in range(0, len(words), 2):
            if words[i] not in known or i and known.index(words[i]) <= known.index(words[i - 2]):
                if i and words[i - 1] == ", ":  # the section
                    break
                raise Wrong(f"{work.name}: {sort.lower()} {words[i]} is not in the list of bench/reporting/papers.py, or not after the one before "
                            f"it ({source!r})")
            if i and words[i - 1] == " to ":
                found += [(sort, number) for number in known[known.index(words[i - 2]) + 1:known.index(words[i])]]
            found.append((sort, words[i]))
    return found


def coverage(work, experiments=None, without=None):
    """[(sort, number, names of experiments, why not)], in the paper's order, all that the paper has. `experiments`, `without`: of
    the script."""
    script = script_of(work.name) if experiments is None else None
    names, reasons = collections.defaultdict(list), collections.defaultdict(list)
    for each in script.EXPERIMENTS if script else experiments:
        for place in named_in(each.source, work):
            (names if each.panels else reasons)[place].append(each.name if each.panels else each.note)
    for each in script.WITHOUT if script else without:
        for place in named_in(each.source, work):
            reasons[place].append(each.why)
    places = [("Figure", number) for number in work.figures] + [("Table", number) for number in work.tables]
    return [(*place, names[place], "; ".join(reasons[place])) for place in places]


def missing(work, **lists):
    """What the paper has, and neither an experiment nor a reason is there for."""
    return [f"{work.name}: {sort} {number} has no experiment, and no reason why not"
            for sort, number, names, why in coverage(work, **lists) if not names and not why]
