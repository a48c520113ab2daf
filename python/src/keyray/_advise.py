"""advise: which kind of index suits a column, measured here."""
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from . import _progress
from . import _structs as c
from ._columns import as_column
from ._convert import convert
from ._devices import Device, device_of
from ._errors import ArgumentError, KeyrayError
from ._library import call, lib
from ._types import Column

_STATES = {c.KR_ADVICE_MEASURED: "measured", c.KR_ADVICE_SLOWER: "slower", c.KR_ADVICE_LATE: "late",
           c.KR_ADVICE_OVER_CAP: "over the cap", c.KR_ADVICE_FAILED: "failed"}
_NEVER = (1 << 64) - 1
# The library's names of options, as they are here.
_NAMES = (("leave kr_advise_options.miss_percent 0", "give hit_rate=100"), ("kr_advise_options.memory_cap_nbytes", "memory_cap"),
          ("kr_advise_options.update_percent", "updates"), ("kr_advise_options.", ""))


class AdviceKind(NamedTuple):
    """What was measured of one kind; numbers that were not measured are 0."""

    spec: str
    state: str
    note: str
    rows: int
    lookups_per_second: float
    points_per_second: float
    ranges_per_second: float
    build_seconds: float
    update_seconds: float
    footprint_nbytes: int
    peak_nbytes: int


class Advice(NamedTuple):
    """The spec to use, and the kinds, the best first. `paid_lookups` is None where the build never pays."""

    spec: str
    reason: str
    sample: str
    device: str
    rows: int
    measured_rows: int
    hit_rate: float
    range_hits: float
    paid_lookups: int | None
    paid_against: str
    seconds: float
    kinds: list[AdviceKind]


def advise(keys: Any, *, probes: Any = None, lower: Any = None, upper: Any = None, hit_rate: float | None = None,
           range_hits: int = 0, batch: int = 0, updates: float = 0, memory_cap: int = 0, seconds: float = 10,
           device: str | Device = "auto") -> Advice:
    """Builds the kinds of index that can do what is asked on the column, compares their answers, and times them.

    probes        lookups like those to come; without them they are made of the keys: `hit_rate` percent of them match
    lower, upper  ranges like those to come; or `range_hits`: ranges of about so many rows, made of the keys
    batch         lookups of a call
    updates       of 100 rows that are handed to the index, how many are inserted or deleted
    memory_cap    the most bytes that an index may keep
    seconds       about how long the call may take
    """
    column = as_column(keys)
    given = [_like(values, column, name) for name, values in (("probes", probes), ("lower", lower), ("upper", upper))]
    made_on = device_of("cuda" if device == "auto" and column.on_device else device)
    there = [column, *(each for each in given if each is not None)]
    made_on.settle(*there)
    if hit_rate is not None and probes is not None:
        raise ArgumentError("hit_rate is of probes that are made, and probes gives them: leave one out")
    for name, number in (("updates", updates), ("seconds", seconds)):
        if not isinstance(number, (int, float)):
            raise ArgumentError(f"{name} is {number!r}: give a number")
    if hit_rate is not None and not (isinstance(hit_rate, (int, float)) and 0 <= hit_rate <= 100):
        raise ArgumentError(f"hit_rate is {hit_rate!r}: give 0 to 100")
    for name, number in (("range_hits", range_hits), ("batch", batch), ("memory_cap", memory_cap)):
        if not isinstance(number, int) or number < 0:
            raise ArgumentError(f"{name} is {number!r}: give a whole number, 0 for the default")
    ranges = lower is not None or upper is not None or range_hits > 0
    points = not ranges or probes is not None or hit_rate is not None
    options = c.kr_advise_options(
        struct_size=ctypes.sizeof(c.kr_advise_options),
        operations=(c.KR_CAN_POINT if points else 0) | (c.KR_CAN_RANGE if ranges else 0), batch=batch, range_hits=range_hits,
        miss_percent=0 if hit_rate is None else 100 - hit_rate, update_percent=updates, memory_cap_nbytes=memory_cap,
        seconds=seconds, progress=_progress.STRUCT)
    for name, each in zip(("probes", "lower", "upper"), given):
        if each is not None:
            setattr(options, name, ctypes.pointer(each.struct))
    try:
        advice = _progress.create(lib.kr_advise, lib.kr_advice_destroy, made_on.usable(), column.reference, ctypes.byref(options))
    except KeyrayError as error:
        error.args = (_renamed(str(error)),)
        raise
    try:
        return _read(advice)
    finally:
        lib.kr_advice_destroy(advice)


def _like(values: Any, keys: Column, name: str) -> Column | None:
    return None if values is None else convert(as_column(values), keys.type, keys.unit, keys.zone, name)


def _renamed(text: str) -> str:
    for name, here in _NAMES:
        text = text.replace(name, here)
    return text


def _read(advice: int) -> Advice:
    info = c.kr_advice_info(struct_size=ctypes.sizeof(c.kr_advice_info))
    call(lib.kr_advice_query, advice, ctypes.byref(info))
    kinds = []
    for ordinal in range(info.candidates):
        kind = c.kr_advice_candidate(struct_size=ctypes.sizeof(c.kr_advice_candidate))
        call(lib.kr_advice_candidate_query, advice, ordinal, ctypes.byref(kind))
        kinds.append(AdviceKind(kind.spec.decode(), _STATES[kind.state], kind.note.decode(), kind.rows,
                                1 / kind.lookup_seconds if kind.lookup_seconds > 0 else 0.0, kind.points_per_second,
                                kind.ranges_per_second, kind.build_seconds, kind.update_seconds, kind.footprint_nbytes,
                                kind.peak_nbytes))
    paid = None if info.paid_lookups == _NEVER else info.paid_lookups
    return Advice(info.spec.decode(), info.reason.decode(), info.sample.decode(), info.device.decode(), info.rows,
                  info.measured_rows, info.hit_percent, info.range_hits, paid, info.paid_against.decode(), info.seconds, kinds)
