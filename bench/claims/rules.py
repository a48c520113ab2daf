"""The forms of rules: what a value must be, for a claim to hold. README.md explains them."""
import statistics

NONE = 1.05      # a difference below this is none
NEAR = 1.25      # a number of the paper, up and down
SAME = 1.10      # "the same", "alike"
GAIN = 0.8       # of a gain of the paper's


class Missing(Exception):
    """A figure that a rule needs is not there."""


class Zero(Missing):
    """A figure is 0, so that nothing can be said in times of it."""


class Wrong(Exception):
    """A rule that nobody can read."""


def shown(value):
    """Four digits are enough to judge by."""
    text = f"{value:.4g}"
    return f"{value:,.0f}" if "e" in text and abs(value) >= 1 else text


def span(values):
    least, most = shown(min(values)), shown(max(values))
    return least if least == most else f"{least} to {most}"


def gained(paper):
    """What is enough of a gain: the difference is to be one, too."""
    return max(GAIN * paper, NONE) if paper >= NONE else GAIN * paper


# form: whether a value fits, and what was needed, in words. `p` is the paper's number, `w` what `within` says.
VALUES = {
    "gain": (lambda v, p, w: v >= gained(p), lambda p, w: f"at least {shown(gained(p))}"),
    "cost": (lambda v, p, w: v <= NEAR * p, lambda p, w: f"at most {shown(NEAR * p)}"),
    "near": (lambda v, p, w: p / (w or NEAR) <= v <= p * (w or NEAR), lambda p, w: f"{shown(p / (w or NEAR))} to {shown(p * (w or NEAR))}"),
    "same": (lambda v, p, w: 1 / SAME <= v <= SAME, lambda p, w: "within 10%"),
    "points": (lambda v, p, w: abs(v - p) <= w, lambda p, w: f"{shown(p - w)} to {shown(p + w)}"),
    "more": (lambda v, p, w: v >= NONE, lambda p, w: "at least 5% more"),
    "less": (lambda v, p, w: v <= 1 / NONE, lambda p, w: "at least 5% less"),
    "no-difference": (lambda v, p, w: 1 / NONE < v < NONE, lambda p, w: "a difference below 5%"),
    "at-least": (lambda v, p, w: v >= p, lambda p, w: f"at least {shown(p)}"),
    "at-most": (lambda v, p, w: v <= p, lambda p, w: f"at most {shown(p)}"),
    "equal": (lambda v, p, w: v == p, lambda p, w: f"{shown(p)}"),
}
WITH_PAPER = {"gain", "cost", "near", "points", "equal"}
SERIES = {"rises", "falls"}
AGAINST = {"lowest", "highest"}
FORMS = set(VALUES) | SERIES | AGAINST
FIELDS = {"form", "of", "paper", "bound", "within", "use", "at", "against"}
USES = {"all", "one", "mean", "median", "most", "least"}


def check(rule):
    """A rule that has what its form needs, and nothing else."""
    form = rule.get("form")
    if form not in FORMS or "of" not in rule:
        raise Wrong(f"form {form!r} is none of {', '.join(sorted(FORMS))}, or `of` is missing")
    needs = {"paper"} if form in WITH_PAPER else {"bound"} if form in ("at-least", "at-most") else {"against"} if form in AGAINST else set()
    needs |= {"within"} if form == "points" else set()
    may = needs | {"form", "of", "use", "at"} | ({"within"} if form == "near" else set())
    if set(rule) - may or needs - set(rule):
        raise Wrong(f"form {form} takes {', '.join(sorted(may))}; needed: {', '.join(sorted(needs)) or 'nothing more'}")
    if rule.get("use", "all") not in USES:
        raise Wrong(f"use {rule['use']!r} is none of {', '.join(sorted(USES))}")


def figure(claim, name, at):
    """The numbers of a figure, at the points that count."""
    value = claim["ours"].get(name)
    if value is None or value == []:
        raise Missing(name)
    if not isinstance(value, list):
        return value
    points = claim.get("points", [])
    if at is None:
        return value
    if len(points) != len(value) or set(at) - set(points):
        raise Wrong(f"`at` names points that {name!r} does not have")
    return [value[points.index(point)] for point in at]


def times(value, other):
    if other == 0:
        raise Zero("more than 0")
    return value / other


def values_of(claim, expression, at):
    """`A`, `A / B` or `A - B`, point by point."""
    for sign, act in ((" / ", times), (" - ", lambda a, b: a - b)):
        if sign in expression:
            first, second = (figure(claim, name.strip(), at) for name in expression.split(sign))
            count = max(len(each) if isinstance(each, list) else 1 for each in (first, second))
            first, second = (each if isinstance(each, list) else [each] * count for each in (first, second))
            if len(first) != len(second):
                raise Wrong(f"{expression!r}: not as many numbers on both sides")
            return [act(a, b) for a, b in zip(first, second)]
    value = figure(claim, expression, at)
    return value if isinstance(value, list) else [value]


def reduced(values, use):
    return {"mean": lambda: [statistics.mean(values)], "median": lambda: [statistics.median(values)], "most": lambda: [max(values)], "least": lambda: [min(values)]}.get(use, lambda: values)()


def fits(claim, rule):
    """Whether the rule holds, the values that decide, and what was needed."""
    form, at, use = rule["form"], rule.get("at"), rule.get("use", "all")
    if form in AGAINST:
        return extreme(claim, rule)
    if form in SERIES:
        return moves(values_of(claim, rule["of"], at), form)
    names = rule["of"] if isinstance(rule["of"], list) else [rule["of"]]
    values = reduced([value for name in names for value in values_of(claim, name, at)], use)
    papers = rule.get("paper", rule.get("bound", 1))
    papers = papers if isinstance(papers, list) else [papers] * len(values)
    if len(papers) != len(values):
        raise Wrong(f"{len(papers)} numbers of the paper for {len(values)} of ours")
    holds, needed = VALUES[form]
    truths = [holds(value, paper, rule.get("within")) for value, paper in zip(values, papers)]
    words = needed(papers[0], rule.get("within")) if len(set(papers)) == 1 else "each " + needed_of_many(form, rule)
    # Where one point decides against it, that point is named; where one is enough, the one that comes nearest.
    deciding = values if all(truths) or use == "one" else [value for value, truth in zip(values, truths) if not truth]
    return (any if use == "one" else all)(truths), span(deciding), words + (" at one" if use == "one" else "")


def disagree(claim, rule):
    """Whether settings of which the paper names none decide: some values fit and others do not, or they miss on both sides."""
    if rule["form"] not in VALUES:
        raise Wrong(f"agree is for values, not for {rule['form']}")
    names = rule["of"] if isinstance(rule["of"], list) else [rule["of"]]
    values = [value for name in names for value in values_of(claim, name, rule.get("at"))]
    paper = rule.get("paper", rule.get("bound", 1))
    holds = VALUES[rule["form"]][0]
    return len({0 if holds(value, paper, rule.get("within")) else 1 if value > paper else -1 for value in values}) > 1


def needed_of_many(form, rule):
    within = rule.get("within", NEAR)
    return {"gain": "at least 0.8 of the paper's", "cost": "at most 1.25 times the paper's", "near": f"within {shown(within)} times of the paper's",
            "points": f"within {shown(within)} of the paper's"}.get(form, "as the paper's")


def moves(values, form):
    if len(values) < 2:
        raise Wrong("one number neither rises nor falls")
    steps = [times(b, a) for a, b in zip(values, values[1:])]
    whole = times(values[-1], values[0])
    if form == "rises":
        return min(steps) > 1 / NONE and whole >= NONE, f"{shown(values[0])} to {shown(values[-1])}, steps of {span(steps)} times", "no fall by 5%"
    return max(steps) < NONE and whole <= 1 / NONE, f"{shown(values[0])} to {shown(values[-1])}, steps of {span(steps)} times", "no rise by 5%"


def extreme(claim, rule):
    at, lowest = rule.get("at"), rule["form"] == "lowest"
    ratios = []
    for other in rule["against"]:
        pair = f"{other} / {rule['of']}" if lowest else f"{rule['of']} / {other}"
        ratios += values_of(claim, pair, at)
    use = rule.get("use", "all")
    truths = [ratio >= NONE for ratio in ratios]
    held = any(truths) if use == "one" else all(truths)
    return held, f"{span(ratios)} times", "at least 5% ahead of each rival"
