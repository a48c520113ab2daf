"""Takes the figures of a new run into a file of claims, by the places that its claims name. Only the lines of figures change."""
import json
import operator
import pathlib
import re

import rules


SIGNS = {" / ": operator.truediv, " - ": operator.sub}
AWAITED = "no run"  # with which the reason of a claim begins that has places and no figures yet


class Absent(Exception):
    """The file has no such table, point or series."""


def column(panel, series, name, points):
    values = []
    for point in points or panel:
        value = panel.get(point, {}).get(series, {}).get(name)
        if value is None:
            raise Absent
        values.append(value)
    if not values:  # no point was measured
        raise Absent
    return values


def series_at(panel, name, place):
    """The numbers of a series, or of two by a sign, point by point."""
    sign = next((sign for sign in SIGNS if sign in name), None)
    sides = [column(panel, each, place.get("column", "ms"), place.get("points")) for each in (name.split(sign) if sign else [name])]
    return [SIGNS[sign](a, b) for a, b in zip(*sides)] if sign else sides[0]


def numbers_at(experiments, claim, place):
    """All numbers of a place, or of several, in their order."""
    if isinstance(place, list):
        return [value for each in place for value in numbers_at(experiments, claim, each)]
    panel = experiments.get(place.get("in", claim.get("command", "")), {}).get("panels", {}).get(place["table"])
    if panel is None:
        raise Absent
    names = place["of"] if isinstance(place["of"], list) else [place["of"]]
    lines = [series_at(panel, name, place) for name in names]
    values = [rules.reduced(each, place["each"])[0] for each in zip(*lines)] if "each" in place else [value for line in lines for value in line]
    for field, sign in (("less", operator.sub), ("by", operator.truediv)):
        if field in place:
            kept = {name: value for name, value in place.items() if name not in ("less", "by", "use")}
            others = numbers_at(experiments, claim, {**kept, **place[field]})
            if len(others) != len(values):
                raise ValueError(f"{claim['id']}: `{field}` has {len(others)} numbers for {len(values)}")
            values = [sign(a, b) for a, b in zip(values, others)]
    return rules.reduced(values, place.get("use"))


def value_at(experiments, claim, place):
    """One number, or one for each point."""
    values = numbers_at(experiments, claim, place)
    return values[0] if len(values) == 1 else values


def written(value):
    """As a person writes it: four digits, whole numbers whole."""
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return str(int(value)) if value == int(value) else repr(float(f"{value:.4g}"))


def awaited(claim):
    """It waits for its first run."""
    return claim.get("reason", "").startswith(AWAITED)


def replaced(block, field, name, value):
    """The line of a figure, which may be the first."""
    text = f"{field}.{json.dumps(name)} = {written(value)}"
    line = re.compile(rf'^{field}\.{re.escape(json.dumps(name))} = .*$', re.M)
    return line.sub(lambda found: text, block) if line.search(block) else re.sub(r"^places\.", lambda found: f"{text}\n{found[0]}", block, count=1, flags=re.M)


def with_run(block, run, default):
    """The block names the run: in its own line, or in a new one below the claim; the file's default needs none."""
    line = f'run = "{run}"'
    if run == default:
        return re.sub(r"^run = .*\n", "", block, flags=re.M)
    if re.search(r"^run = .*$", block, re.M):
        return re.sub(r"^run = .*$", line, block, flags=re.M)
    return re.sub(r"^(claim = .*)$", rf"\1\n{line}", block, count=1, flags=re.M)


def take(paper, path, run):
    """The new text of the paper's file, and the claims that changed: those of which the figures file has all that the claim counts."""
    experiments = json.loads(pathlib.Path(path).read_text())
    blocks = re.split(r"(?=^\[\[section)", paper.path.read_text(), flags=re.M)
    by_id = {claim["id"]: claim for claim in paper.claims() if claim.get("places")}
    taken = []
    for i, block in enumerate(blocks):
        found = re.search(r'^id = "(.*)"$', block, re.M)
        claim = by_id.get(found[1]) if found else None
        if claim is None:
            continue
        try:
            values = {name: value_at(experiments, claim, place) for name, place in claim["places"].items()}
        except Absent:
            continue
        for name, value in values.items():
            block = replaced(block, "best" if name in claim.get("best", {}) else "ours", name, value)
            block = re.sub(rf"^from\.{re.escape(json.dumps(name))} = .*\n", "", block, flags=re.M)
        if awaited(claim):
            block = re.sub(r"^reason = .*\n", "", block, flags=re.M)
        blocks[i] = with_run(block, run, paper.default_run)
        taken.append(claim["id"])
    return "".join(blocks), taken
