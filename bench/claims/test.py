#!/usr/bin/env python3
"""Doctored figures turn verdicts: each form of rule from confirmed to refuted and back, on both sides where it has two, and to not measured
where a figure is missing. So do the figures of the papers' files; and a page that someone changed is found.

Usage: bench/claims/test.py
"""
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing of ours in the source tree
if sys.version_info < (3, 11):
    print("skipped: Python's tomllib, which reads the claims, needs Python 3.11")
    sys.exit(77)

import claims  # noqa: E402
import figures  # noqa: E402
import rules  # noqa: E402

# form: the rest of the rule, figures that fit, and figures that do not: too low, too high, or in the wrong order.
FORMS = {
    "gain": ({"of": "a / b", "paper": 2}, [{"a": 1.6, "b": 1}, {"a": 9, "b": 1}], [{"a": 1.59, "b": 1}]),
    "cost": ({"of": "a / b", "paper": 2}, [{"a": 2.5, "b": 1}, {"a": 0.1, "b": 1}], [{"a": 2.51, "b": 1}]),
    "near": ({"of": "a / b", "paper": 2}, [{"a": 1.6, "b": 1}, {"a": 2.5, "b": 1}], [{"a": 1.59, "b": 1}, {"a": 2.51, "b": 1}]),
    "same": ({"of": "a / b"}, [{"a": 1.09, "b": 1}, {"a": 0.92, "b": 1}], [{"a": 1.11, "b": 1}, {"a": 0.9, "b": 1}]),
    "points": ({"of": "a", "paper": 82, "within": 2}, [{"a": 83.9}, {"a": 80.1}], [{"a": 79.9}, {"a": 84.1}]),
    "more": ({"of": "a / b"}, [{"a": [1.06, 2], "b": [1, 1]}], [{"a": [1.04, 2], "b": [1, 1]}, {"a": [0.5, 2], "b": [1, 1]}]),
    "less": ({"of": "a / b"}, [{"a": 0.95, "b": 1}], [{"a": 0.96, "b": 1}, {"a": 2, "b": 1}]),
    "no-difference": ({"of": "a / b"}, [{"a": 1.04, "b": 1}, {"a": 0.96, "b": 1}], [{"a": 1.06, "b": 1}, {"a": 0.95, "b": 1}]),
    "at-least": ({"of": "a", "bound": 3}, [{"a": 3}], [{"a": 2.99}]),
    "at-most": ({"of": "a", "bound": 3}, [{"a": 3}], [{"a": 3.01}]),
    "equal": ({"of": "a", "paper": 5}, [{"a": 5}], [{"a": 4}, {"a": 6}]),
    "rises": ({"of": "a"}, [{"a": [1, 2, 3]}, {"a": [1, 2, 1.95]}], [{"a": [1, 2, 1.5]}, {"a": [3, 2, 1]}, {"a": [1, 1.01, 1.02]}]),
    "falls": ({"of": "a"}, [{"a": [3, 2, 1]}], [{"a": [3, 1, 2]}, {"a": [1, 2, 3]}, {"a": [1.02, 1.01, 1]}]),
    "lowest": ({"of": "a", "against": ["b", "c"]}, [{"a": 1, "b": 1.06, "c": 2}], [{"a": 1, "b": 1.04, "c": 2}, {"a": 3, "b": 2, "c": 5}]),
    "highest": ({"of": "a", "against": ["b"]}, [{"a": 2, "b": 1}], [{"a": 1, "b": 2}, {"a": 1.04, "b": 1}]),
}


def claim_of(rule, ours, **others):
    return {"id": "t", "where": "1", "claim": "c", "method": "built", "size": "paper", "rays": "none", "ours": ours, "rules": [rule],
            "without_rt_cores": True, **others}


def word(claim):
    return claims.judge(claim).word


def forms():
    assert set(FORMS) == rules.FORMS, set(FORMS) ^ rules.FORMS
    for form, (rest, fit, wrong) in FORMS.items():
        rule = {"form": form, **rest}
        rules.check(rule)
        for ours in fit:
            assert word(claim_of(rule, ours)) == claims.CONFIRMED, (form, ours)
            for name in ours:
                less = {key: value for key, value in ours.items() if key != name}
                assert word(claim_of(rule, less)) == claims.OPEN, (form, ours, name)
        for ours in wrong:
            assert word(claim_of(rule, ours)) == claims.REFUTED, (form, ours)


def small_gains():
    """0.8 of a small gain is none."""
    rule = {"form": "gain", "of": "a", "paper": 1.2}
    assert word(claim_of(rule, {"a": 1.0})) == claims.REFUTED and word(claim_of(rule, {"a": 1.06})) == claims.CONFIRMED


def uses():
    """Which points decide."""
    for use, confirmed in (("all", False), ("one", True), ("mean", True), ("most", True), ("least", False)):
        rule = {"form": "gain", "of": "a", "paper": 2, "use": use}
        assert (word(claim_of(rule, {"a": [1, 3]})) == claims.CONFIRMED) == confirmed, use
    rule = {"form": "gain", "of": "a", "paper": 2, "at": ["y"]}
    assert word(claim_of(rule, {"a": [1, 3]}, points=["x", "y"])) == claims.CONFIRMED
    each = {"form": "near", "of": "a", "paper": [1, 10]}
    assert word(claim_of(each, {"a": [1, 11]})) == claims.CONFIRMED and word(claim_of(each, {"a": [1, 14]})) == claims.REFUTED
    both = claim_of(each, {"a": [1, 11], "b": 1})
    both["rules"] = [each, {"form": "more", "of": "b"}]
    assert word(both) == claims.REFUTED


def obstacles():
    """What is not as the paper has it is never refuted, nor confirmed; the verdict says what the figures show."""
    rule = {"form": "gain", "of": "a", "paper": 2}
    for change in ({"method": "approximated"}, {"method": "no"}, {"size": "smaller", "size_here": "2^20"}, {"rays": "needed"}, {"reason": "no run"}):
        for value, here in ((3, "so here"), (1, "not so here")):
            verdict = claims.judge(claim_of(rule, {"a": value}, **change))
            assert verdict.word == claims.OPEN and verdict.here == here, (change, verdict)
    assert word(claim_of(rule, {"a": 3}, rays="needed", without_rt_cores=False)) == claims.CONFIRMED
    assert word(claim_of(rule, {"a": 1}, rays="counters")) == claims.REFUTED
    near = {"form": "near", "of": "a", "paper": 2}
    for values, expected in (([2, 2.1], claims.CONFIRMED), ([3, 4], claims.REFUTED), ([2, 4], claims.OPEN), ([1, 4], claims.OPEN)):
        assert word(claim_of(near, {"a": values}, agree=True)) == expected, values


def refused():
    for rule in ({"form": "gain", "of": "a"}, {"form": "about", "of": "a"}, {"form": "more"}, {"form": "points", "of": "a", "paper": 1},
                 {"form": "more", "of": "a", "paper": 2}, {"form": "more", "of": "a", "use": "some"}):
        try:
            rules.check(rule)
        except rules.Wrong:
            continue
        raise AssertionError(rule)


def changed(value, factor):
    return [each * factor for each in value] if isinstance(value, list) else value * factor


def doctored(claim):
    """Figures that someone made up, in many ways."""
    for name, value in claim["ours"].items():
        for factor in (-1000, 0.001, 0.3, 3, 1000):
            yield {**claim["ours"], name: changed(value, factor)}
        if isinstance(value, list):
            yield {**claim["ours"], name: value[::-1]}
            for i, factor in itertools.product(range(len(value)), (0.001, 1000)):
                yield {**claim["ours"], name: [*value[:i], value[i] * factor, *value[i + 1:]]}
        if value == 0:
            yield {**claim["ours"], name: 1}


def series_like(value, first, step=1):
    """As many numbers as a figure has, from `first` on, each `step` times the one before."""
    return [first * step ** i for i in range(len(value))] if isinstance(value, list) else first


def made_up(claim):
    """Figures that someone made up from nothing: one is larger or smaller than the others, it rises or falls, it is the paper's number."""
    flat = {name: series_like(value, 1) for name, value in claim["ours"].items()}
    for (name, value), power, step in itertools.product(claim["ours"].items(), range(-80, 81), (1, 1.2, 1 / 1.2)):
        yield {**flat, name: series_like(value, 10 ** (power / 20), step)}
    for odd, factor in itertools.product((0, 1), (0.1, 0.5, 0.9, 1.1, 2, 10)):  # rules of several pairs of figures
        yield {name: series_like(value, factor if i % 2 == odd else 1) for i, (name, value) in enumerate(claim["ours"].items())}
    subjects = {str(rule["of"]) for rule in claim["rules"]}
    for factor in (0.1, 0.5, 2, 10):  # rules of several figures against their rivals
        yield {name: series_like(value, factor if name in subjects else 1) for name, value in claim["ours"].items()}
    for rule in claim["rules"]:
        paper = rule.get("paper", rule.get("bound"))
        if paper is not None and str(rule["of"]) in claim["ours"]:
            value = claim["ours"][rule["of"]]
            yield {**claim["ours"], rule["of"]: [paper] * len(value) if isinstance(value, list) and not isinstance(paper, list) else paper}
    for first, step in itertools.product((1, 1000), (1, 1.2, 1 / 1.2)):
        yield {name: series_like(value, first, step) for name, value in claim["ours"].items()}


def papers():
    """Every confirmed claim of the files can fail, every refuted one can hold, and without figures none is judged."""
    judged = 0
    for paper in claims.load_all():
        for claim in paper.claims():
            if word(claim) == claims.OPEN:
                continue
            judged += 1
            assert word({**claim, "ours": {}}) == claims.OPEN, claim["id"]
            if word(claim) == claims.CONFIRMED:
                assert any(word({**claim, "ours": ours}) == claims.REFUTED for ours in doctored(claim)), f"{claim['id']}: nothing refutes it"
            else:
                assert any(word({**claim, "ours": ours}) == claims.CONFIRMED for ours in made_up(claim)), f"{claim['id']}: nothing confirms it"
    assert judged > 50, judged


def broken_files():
    """A file that is not whole is refused, with the place."""
    text = (claims.HERE / "lightweight.toml").read_text()
    for old, new, said in (('form = "more"', 'form = "mor"', "form 'mor'"), ('run = "counted"', 'run = "h300"', "no run 'h300'"),
                           ('where = "Figure 1(a)"\n', '', "has no where"), ('size = "any"', 'size = "some"', "size 'some'")):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "lightweight.toml"
            path.write_text(text.replace(old, new, 1))
            try:
                claims.load(path)
            except claims.Broken as error:
                assert said in str(error), error
                continue
        raise AssertionError(f"{new!r} was taken")


NEW_RUN = '\n[runs.new]\ngpu = "a GPU"\ndriver = "none"\ncommit = "none"\ndate = "today"\n'


def new_figures():
    """Figures of a new run replace the old ones, with the run, and a verdict with them; other claims keep theirs."""
    panel = {f"K {k}": {"rtscan, paper": {"rows compared / (N / 4K)": value}} for k, value in ((16, 1.0), (32, 1.0), (64, 1.0), (128, 2.0))}
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder)
        for path in claims.HERE.glob("*.toml"):
            (data / path.name).write_text(path.read_text())
        with (data / "rtscan.toml").open("a") as more:
            more.write(NEW_RUN)
        (data / "figures.json").write_text(json.dumps({"sieved": {"panels": {"One column, random constants": panel}}}))
        command = [sys.executable, str(claims.HERE / "make"), "--data", folder, "--docs", folder, "--figures", str(data / "figures.json"), "--run"]
        told = subprocess.run([*command, "new"], check=True, capture_output=True, text=True).stdout
        assert "rtscan.toml: 1 claims have figures of new: sc-433-sieved" in told, told
        old, new = ({claim["id"]: claim for claim in claims.load(where / "rtscan.toml").claims()} for where in (claims.HERE, data))
        assert word(old["sc-433-sieved"]) == claims.CONFIRMED and word(new["sc-433-sieved"]) == claims.REFUTED, new["sc-433-sieved"]
        assert new["sc-433-sieved"]["run"] == "new" and new["sc-433-sieved"]["ours"] == {"rows compared": [1.0, 1.0, 1.0, 2.0]}
        assert all(new[name] == old[name] for name in old if name != "sc-433-sieved")
        with (data / "rtscan.toml").open("a") as more:
            more.write(NEW_RUN.replace("new", "small") + 'smaller = "2^10 rows"\n')
        subprocess.run([*command, "small"], check=True, capture_output=True)
        small = {claim["id"]: claims.judge(claim) for claim in claims.load(data / "rtscan.toml").claims()}
        assert small["sc-433-sieved"] == claims.Verdict(claims.OPEN, "smaller (2^10 rows)", "not so here"), small["sc-433-sieved"]
        failed = subprocess.run([*command, "nowhere"], check=False, capture_output=True, text=True)
        assert failed.returncode == 2 and "[runs.nowhere]" in failed.stderr, failed


AWAITED = """
[[section]]
title = "t"

[[section.claim]]
id = "t"
where = "1"
claim = "c"
command = "sieved"
points = ["16", "128"]
rays = "none"
reason = "no run of sieved"
best."b" = 1
rule = { form = "equal", of = "a", paper = 3 }
places."a" = { table = "T", of = "x - y", points = ["K 16", "K 128"] }
places."b" = { table = "T", of = "y", use = "most" }
"""


def first_figures():
    """A claim that waits for a run takes its first figures, and is judged; one with another reason is not whole without them."""
    panel = {"K 16": {"x": {"ms": 5.0}, "y": {"ms": 2.0}}, "K 128": {"x": {"ms": 4.0}, "y": {"ms": 1.0}}}
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder)
        path = data / "rtscan.toml"
        text = (claims.HERE / path.name).read_text()
        path.write_text(text + NEW_RUN + AWAITED)
        (data / "figures.json").write_text(json.dumps({"sieved": {"panels": {"T": panel}}}))
        assert word(claims.load(path).claims()[-1]) == claims.OPEN
        subprocess.run([sys.executable, str(claims.HERE / "make"), "--data", folder, "--docs", folder, "--figures", str(data / "figures.json"),
                        "--run", "new"], check=True, capture_output=True)
        claim = claims.load(path).claims()[-1]
        assert claim["ours"] == {"a": [3.0, 3.0]} and claim["best"] == {"b": 2.0} and claim["run"] == "new" and "reason" not in claim and word(claim) == claims.CONFIRMED, claim
        path.write_text(text + AWAITED.replace("no run of sieved", "no RT cores"))
        try:
            claims.load(path)
        except claims.Broken as error:
            assert "names a figure that is not there" in str(error), error
            return
        raise AssertionError("places without figures were taken")


def forms_of_places():
    """Several series, one of them at each point, what is divided by or taken away, and several places."""
    panel = {"p": {"x": {"ms": 8.0}, "y": {"ms": 2.0}}, "q": {"x": {"ms": 3.0}, "y": {"ms": 6.0}}}
    experiments = {"e": {"panels": {"T": panel}}}
    for place, expected in (({"of": "x"}, [8, 3]), ({"of": ["x", "y"]}, [8, 3, 2, 6]), ({"of": ["x", "y"], "each": "least"}, [2, 3]),
                            ({"of": ["x", "y"], "each": "most", "use": "least"}, 6), ({"of": "x", "points": ["p"], "by": {"of": "y"}}, 4),
                            ({"of": "x", "points": ["p"], "by": {"points": ["q"]}}, 8 / 3), ({"of": "x - y", "by": {"of": "y"}}, [3, -0.5]),
                            ({"of": "y", "points": ["q"], "less": {"of": "x", "points": ["q"]}}, 3)):
        assert figures.value_at(experiments, {"command": "e"}, {"table": "T", **place}) == expected, place
    two = [{"table": "T", "of": "x", "use": "most"}, {"table": "T", "of": "y", "points": ["q"]}]
    assert figures.value_at(experiments, {"command": "e"}, two) == [8, 6]
    assert figures.written([50001.0, 12.3456, 1659.98]) == "[50001, 12.35, 1660.0]"


def pages_that_drift():
    """The pages in docs are what `make` writes, and a changed one is found."""
    make = [sys.executable, str(claims.HERE / "make")]
    subprocess.run([*make, "--check"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*make, "--docs", folder], check=True)
        subprocess.run([*make, "--check", "--docs", folder], check=True)
        page = pathlib.Path(folder) / "lightweight-claims.md"
        page.write_text(page.read_text().replace("**refuted**", "**confirmed**", 1))
        failed = subprocess.run([*make, "--check", "--docs", folder], check=False, capture_output=True, text=True)
        assert failed.returncode == 1 and "lightweight-claims.md" in failed.stderr, failed


def main():
    for test in (forms, small_gains, uses, obstacles, refused, papers, broken_files, new_figures, first_figures, forms_of_places, pages_that_drift):
        test()
    print("every rule turns")


if __name__ == "__main__":
    main()
