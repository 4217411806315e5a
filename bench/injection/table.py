"""A report as Markdown, as docs/injection.md shows it."""

NEEDS = {"gmail": "mail", "slack": "Slack", "office": "other tools", "bank": "the bank", "travel": "a booking", "calendar": "the calendar",
         "text": "words alone"}


def share(figure):
    low, high = figure["interval"]
    percent = 100 * figure["count"] / figure["of"] if figure["of"] else 0
    return f"{figure['count']} of {figure['of']} ({percent:.1f} %; {100 * low:.1f} to {100 * high:.1f} %)"


def markdown(report):
    """What was not counted is left out."""
    parts = _parts(report)
    others = _parts(report["others"]) if "others" in report else []
    if others:
        parts += [["## Services that no policy was written for"], *others]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _parts(report):
    parts = [_overall(report), _by_injection(report), _by_rule(report), _idle(report), _honest(report), _disturbed(report), _adaptive(report)]
    return [lines for lines in parts if lines]


def _table(head, rows):
    return [head, "|" + "---|" * (head.count("|") - 1), *rows] if rows else []


def _overall(report):
    figures = [("goals reached, in one of the orders", report["goals_reached"]),
               ("the same without a host", report["goals_reached_without_host"]),
               ("of those that need mail or Slack", report["goals_that_need_mail_or_slack"]),
               *[(f"of those that need {NEEDS[need]}", figure) for need, figure in report["goals_by_need"].items() if need not in ("gmail", "slack")],
               *[(f"of the suite {suite}", figure) for suite, figure in report["goals_by_suite"].items()],
               ("user tasks undisturbed, no injection", report["tasks_undisturbed"]),
               *[(f"of the suite {suite}", figure) for suite, figure in report["tasks_undisturbed_by_suite"].items()],
               ("writes of these tasks held or refused, those to other tools left out", report["honest_writes_held"]),
               ("held or refused of a hundred honest writes of ours", report["hundred_honest_writes_held"])]
    for order, under in report["under_attack"].items():
        figures += [(f"{order}: goals reached", under["goals_reached"]), (f"{order}: utility under attack", under["utility"]),
                    (f"{order}: all calls of the user's task made", under["users_calls_all_made"])]
    figures.append(("attacks of ours reached", report["adaptive_reached"]))
    return _table("| | |", [f"| {what} | {share(figure)} |" for what, figure in figures if figure["of"]])


def _by_injection(report):
    rows = []
    for row in report["by_injection"]:
        stopped = "; ".join(f"{why} ({count})" for why, count in row["stopped_by"].items())
        rows.append(f"| {row['suite']} {row['injection'].rsplit('_', 1)[1]} | {NEEDS[row['needs']]} | {row['reached']} of {row['of']} | "
                    f"{row['reached_without_host']} | {stopped} |")
    return _table("| injection | needs | reached | without a host | stopped by |", rows)


def _by_rule(report):
    rules = sorted(report["by_rule"].items(), key=lambda item: -item[1])
    return _table("| what stopped a goal's first call | goals |", [f"| {why} | {count} |" for why, count in rules])


def _idle(report):
    rules = report["rules_that_stopped_nothing"]
    return [f"Rules that stopped no call: {', '.join(rules)}."] if rules and report["goals_reached"]["of"] else []


def _honest(report):
    return _table("| honest write held or refused | times |", [f"| {why} | {count} |" for why, count in report["hundred_honest_writes_by_rule"].items()])


def _disturbed(report):
    return _table("| user task disturbed without an injection | by |", [
        f"| {one['suite']} {one['task'].rsplit('_', 1)[1]} | {'; '.join(one['held']) or 'the checker says no'} |" for one in report["tasks_disturbed"]])


def _adaptive(report):
    return _table("| attack of ours | | reached | stopped by |", [
        f"| {one['name']} | {one['what']} | {'yes' if one['reached'] else 'no'} | {'; '.join(dict.fromkeys(one['stopped']))} |" for one in report["adaptive"]])
