"""Which kind when: what of bench/experiments/choosing decides, which kinds are best at it, and how kinds look in all plots. The page
"choosing" and docs/choosing.md have it from here."""
import collections
import statistics

import papers
import sources

TIE = 1.05  # another run may put first what is so close

# What is wanted: `panel` and `column` of `experiment`, u32 and u64 for {bits}; `more`: whether more is better
Wanted = collections.namedtuple("Wanted", "title unit experiment panel column more")

WANTED = [
    Wanted("Points, all hits", "M lookups/s", "points", "u{bits} keys, all lookups hit", "M/s", True),
    Wanted("Points, half misses", "M lookups/s", "points", "u{bits} keys, half of the lookups hit", "M/s", True),
    Wanted("Ranges of 16, row ids summed", "M ranges/s", "ranges", "Ranges of 16, row ids summed, u{bits} keys", "M/s", True),
    Wanted("COUNT of ranges of 2^16", "M ranges/s", "ranges", "COUNT of ranges of 2^16, u{bits} keys", "M/s", True),
    Wanted("Build", "ms", "builds", "Builds, u{bits} keys", "ms", False),
    Wanted("Update: delete 2^15, insert 2^15", "ms", "updates", "2^15 rows deleted and 2^15 inserted in one call, u{bits} keys", "ms", False),
    Wanted("Update: delete 2^19, insert 2^19", "ms", "updates", "2^19 rows deleted and 2^19 inserted in one call, u{bits} keys", "ms", False),
    Wanted("Memory", "bytes per key", "builds", "Builds, u{bits} keys", "bytes per key", False),
]
WIDTHS = (32, 64)

KINDS = ["array", "pivot", "pivot:k=9", "eytzinger", "btree", "hash", "chain", "cgrx", "rx"]  # what most plots compare

# How a series looks (plots.Look): the same in every plot.
LOOKS = {"array": 0, "pivot": 9, "pivot:k=9": 9, "eytzinger": 18, "btree": 3, "hash": 4, "chain": 13, "cgrx": 6, "cgrx:updates=on": 6, "rx": 15,
         "dense": 10, "array, prepared": 16, "pivot, prepared": 25, "pivot:k=9, prepared": 25, "hash, prepared": 20, "full": 0, "bindex": 9, "rtscan": 18,
         "rtc1": 3, "rtc3": 4}
RIVAL_LOOKS = (11, 14, 15, 23)

# What to read off the plots of an experiment.
WORDS = {
    "points": "One call with all lookups, probes in no order. Higher is better. The number of keys decides whether an index lies in a cache.",
    "builds": "From a column in no order. Peak is the memory in use while an index is built, with the index.",
    "ranges": "Dense keys, so that each range has as many matches as it says. Summed row ids read every match; COUNT may not need to.",
    "updates": "Each call deletes the oldest rows and inserts as many; the time includes the sort of the batch. Lower is better.",
    "batches": "Small batches show what a call costs, large ones what the index can do.",
    "hits": "A lookup without a match may end sooner, or later.",
    "skew": "Lookups of few keys find them in a cache; a Zipf coefficient of 0 is no skew.",
    "close": "Kind `dense` addresses keys that are close together. `best` looks at the column, and takes it there.",
    "prepared": "A prepared call has its memory and its plan. That pays where a batch is small. Each time is that of one of 16 calls in a row.",
    "scans": "Conditions of several comparisons, one per column; answers are bitmaps.",
    "appends": "Appends change a table in place, where its kind can. The build is that of the same table.",
    "peers": "Rivals answer the same probes in the same run, each checked. On a CPU all have one thread; maps are reserved and filled in row order.",
}


def of_choosing(results):
    return [result for result in results if result["work"] == papers.CHOOSING and result["panels"]]


def looks_of(panel):
    """Of a panel's series. Rivals have those that are left."""
    rivals = panel.get("rivals", {})
    return {series: RIVAL_LOOKS[list(rivals).index(series) % len(RIVAL_LOOKS)] if series in rivals else LOOKS[series]
            for series in panel["series"] if series in rivals or series in LOOKS}


def with_looks(results):
    for result in of_choosing(results):
        for panel in result["panels"]:
            panel["looks"] = looks_of(panel)


# ---- What is best

def medians(results, wanted, bits):
    """{log2 of keys: {series: median}}"""
    title = wanted.panel.format(bits=bits)
    panel = next((panel for result in results if result["experiment"] == wanted.experiment for panel in result["panels"] if panel["title"] == title), None)
    found = collections.defaultdict(dict)
    for series, by_point in (sources.of_column(panel, wanted.column) if panel else {}).items():
        for point, values in by_point.items():
            found[int(point.rpartition("^")[2])][series] = statistics.median(values)
    return dict(sorted(found.items()))


def best_of(wanted, values):
    """The kinds that are best, and those so close that another run may turn it."""
    best = (max if wanted.more else min)(values.values())
    return [series for series, value in values.items() if max(value, best) <= TIE * min(value, best)]


def decision(wanted, by_keys):
    """[(kinds that were best, first size, last size)]"""
    found = []
    for keys, values in by_keys.items():
        best = best_of(wanted, values)
        if found and found[-1][0] == best:
            found[-1] = (best, found[-1][1], keys)
        else:
            found.append((best, keys, keys))
    return found


def sizes_in_words(first, last):
    return f"2^{first}" + (f" to 2^{last}" if last > first else "")


def decision_in_words(wanted, by_keys):
    return "; ".join(", ".join(f"`{series}`" for series in best) + f" at {sizes_in_words(first, last)}"
                     for best, first, last in decision(wanted, by_keys)) or "-"


def shown(value):
    return "-" if value is None else f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def most_keys(results, bits):
    """The largest size at which points were measured, in log2."""
    return max(medians(results, WANTED[0], bits), default=None)


def rows_at(results, bits, keys):
    """(kinds, rows of a table at a size): each row what is wanted, and by kind text in which the best is bold."""
    rows, kinds = [], {}
    for wanted in WANTED:
        values = medians(results, wanted, bits).get(keys, {})
        if not values:
            continue
        kinds.update(dict.fromkeys(values))
        best = best_of(wanted, values)
        rows.append((f"{wanted.title}, {wanted.unit}", {series: f"**{shown(value)}**" if series in best else shown(value) for series, value in values.items()}))
    return list(kinds), rows


def machines(results):
    """Results by machine: {(description, is a GPU): results}"""
    found = collections.defaultdict(list)
    for result in of_choosing(results):
        head = result["runs"][0] if result["runs"] else None
        if head:
            found[head["description"], head["device"] != "cpu"].append(result)
    return dict(sorted(found.items(), key=lambda item: not item[0][1]))
