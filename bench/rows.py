"""Rows of the benchmarks in their one form, as bench/report.hpp has it: the median of pairs, with its interval."""

from __future__ import annotations

import math
import statistics
import sys
from typing import NoReturn


def wrong(what: str) -> NoReturn:
    """No figure of wrong answers is printed."""
    sys.exit(f"wrong: {what}")


def interval_of(values: list[float]) -> tuple[float, float]:
    """In which their distribution's median lies with 95 %: of 11 values the second and the tenth."""
    n = len(values)
    k = max((k for k in range(n // 2 + 1) if 2 * sum(math.comb(n, i) for i in range(k)) <= 0.05 * 2**n), default=0)
    k = max(k, 1)
    return sorted(values)[k - 1], sorted(values)[n - k]


def figure(value: float, unit: str) -> str:
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def row(what: str, ours: str, baseline: str = "", ratio: str = "", target: str = "", verdict: str = "") -> None:
    print(f"{what:<64} {ours:>13} {baseline:>13}  {ratio:<26} {target:<15} {verdict}".rstrip(), flush=True)


def header() -> None:
    row("", "ours", "baseline", "ratio", "target")


def ratio_of(ours: list[float], baseline: list[float], times: float, digits: int, unit: str) -> tuple[float, str]:
    ratios = [one / other for one, other in zip(ours, baseline, strict=True)]
    low, high = (times * one for one in interval_of(ratios))
    found = statistics.median(ratios)
    few = "" if len(ratios) == 11 else f", {len(ratios)} pairs"
    return found, f"{times * found:.{digits}f} {unit} [{low:.{digits}f}, {high:.{digits}f}]{few}"


def rates(what: str, ours: list[float], baseline: list[float], target: float) -> None:
    """Calls a second, in pairs: ours are to reach `target` of the baseline's."""
    found, said = ratio_of(ours, baseline, 100, 0, "%")
    both = figure(statistics.median(ours), "/s"), figure(statistics.median(baseline), "/s")
    row(what, *both, said, f"at least {100 * target:.0f} %", "ok" if found >= target else "below")


def times(what: str, ours: list[float], baseline: list[float], unit: str, target: float) -> None:
    """In pairs: ours may be at most `target` times the baseline's."""
    found, said = ratio_of(ours, baseline, 1, 2, "x")
    both = figure(statistics.median(ours), unit), figure(statistics.median(baseline), unit)
    row(what, *both, said, f"at most {target:g} x", "ok" if found <= target else "above")


def bound(what: str, values: list[float], unit: str, most: float) -> None:
    """At most `most`, by the median."""
    found = statistics.median(values)
    low, high = interval_of(values)
    said = f"[{low:.1f}, {high:.1f}]" if len(values) > 1 else ""
    row(what, figure(found, unit), "", said, f"at most {most:g} {unit}", "ok" if found <= most else "above")
