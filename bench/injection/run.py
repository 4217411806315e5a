"""The injection benchmark: AgentDojo's suites through the host over MCP, with a scripted agent and no model. README.md says how."""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True

import adaptive  # noqa: E402
import batch  # noqa: E402
import figures  # noqa: E402
import honest  # noqa: E402
import policies  # noqa: E402
import table  # noqa: E402
from policies import ROOT  # noqa: E402
from suite import ADAPTED, OTHERS, SUITES, VERSION, Suite  # noqa: E402

OUTPUT = ROOT / "build" / "injection-reports"
OPEN = pathlib.Path(__file__).resolve().parent / "open_policies"
PARTS = ("injections", "tasks", "honest", "adaptive")
SMOKE = [("banking", "injection_task_0", ["user_task_3"]), ("travel", "injection_task_6", ["user_task_3"]),
         ("workspace", None, ["user_task_33"]), ("workspace", "injection_task_3", ["user_task_14"]), ("slack", "injection_task_1", ["user_task_1"])]


def shipped_policies():
    """The templates, where there are some; else what is in force unless told otherwise."""
    templates = [folder for folder in sorted((ROOT / "policies" / "templates").glob("*")) if policies.is_one(folder)]
    return templates or [ROOT / "policies"]


def options():
    parser = argparse.ArgumentParser(description="Counts which goals of injections are reached through the host, and which tasks are disturbed.")
    parser.add_argument("--policies", type=pathlib.Path, action="append", metavar="DIR",
                        help="a directory that the host gets as policies_dir; may be repeated; the shipped templates, or the shipped policies, unless given")
    parser.add_argument("--output", type=pathlib.Path, default=OUTPUT, help="where a folder for each directory of policies goes, with report.json and report.md; build/injection-reports unless given")
    parser.add_argument("--workers", type=int, choices=(1, 2), default=2, help="hosts at a time")
    parser.add_argument("--only", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--suite", action="append", choices=SUITES, help="only this suite; may be repeated")
    parser.add_argument("--injection", action="append", metavar="SUITE/NAME", help="of the injections only this one, such as slack/injection_task_1; may be repeated")
    parser.add_argument("--smoke", action="store_true", help="five cases alone, without a policy that holds anything; fails if the harness does")
    given = parser.parse_args()
    # What is ours goes by mail and Slack.
    ours = not given.suite or set(given.suite) & set(ADAPTED)
    given.only = given.only or (["injections"] if given.injection else PARTS if ours else PARTS[:2])
    given.suite = given.suite or SUITES
    known = {f"{name}/{one}" for name in given.suite for one in Suite(name).injections}
    for name in set(given.injection or []) - known:
        parser.error(f"there is no injection {name}; these are: {', '.join(sorted(known))}")
    given.policies = [OPEN] if given.smoke else given.policies or shipped_policies()
    for directory in given.policies:
        if not policies.is_one(directory):
            parser.error(f"{directory} is no directory of policies: it has no YAML file")
    return given


def jobs(given):
    """One for each injection, and one for all tasks of a suite without any."""
    if given.smoke:
        return [{"suite": suite, "injection": injection, "users": users} for suite, injection, users in SMOKE]
    made = []
    for name in given.suite:
        suite = Suite(name)
        chosen = [one for one in suite.injections if not given.injection or f"{name}/{one}" in given.injection]
        wanted = [*(chosen if "injections" in given.only else []), *([None] if "tasks" in given.only else [])]
        made += [{"suite": name, "injection": one, "users": list(suite.user_tasks)} for one in wanted]
    return made


def run(given, directory):
    wanted = [dict(job, policies=str(directory)) for job in jobs(given)]
    with concurrent.futures.ProcessPoolExecutor(given.workers, initializer=batch.begin_worker) as pool:
        running = {pool.submit(batch.in_worker, batch.run, job): job for job in wanted}
        for ours in (adaptive, honest):
            if ours.__name__ in given.only and not given.smoke:
                running[pool.submit(batch.in_worker, ours.run, str(directory))] = ours.__name__
        found = collections.defaultdict(list)
        try:
            for done in concurrent.futures.as_completed(running):
                job, results = running[done], done.result()
                kind = job if isinstance(job, str) else "attacked" if job["injection"] else "clean"
                found[kind] += results
                print(told(job, results), file=sys.stderr)
        except BaseException:  # a host that does not start once does not start for the others either
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [found[kind] for kind in ("clean", "attacked", "adaptive", "honest")]


def told(job, results):
    if job == "adaptive":
        return f"attacks of ours: {sum(one['reached'] for one in results)} of {len(results)} reached"
    if job == "honest":
        return f"honest writes: {sum(one['done'] for one in results)} of {len(results)} done"
    if job["injection"]:
        return f"{job['suite']} {job['injection']}: {sum(one['goal'] for one in results)} of {len(results)} runs reached the goal"
    return f"{job['suite']}, no injection: {sum(one['utility'] for one in results)} of {len(results)} tasks done"


def smoke(clean, attacked):
    """Where nothing is held, everything is as without a host."""
    wrong = [case for case in clean if not case["utility"]] + [case for case in attacked if case["goal"] != case["goal_without_host"]]
    for case in wrong:
        print(f"{case['suite']} {case['user']}, {case['injection']}, {case['order']}: it came to something else than without a host")
    print(f"{len(clean) + len(attacked) - len(wrong)} of {len(clean) + len(attacked)} cases came to what they come to without a host")
    return 1 if wrong else 0


def _of(suites, cases):
    return [case for case in cases if case["suite"] in suites]


def measure(given, directory):
    """Writes the report of one directory of policies."""
    began = time.monotonic()
    clean, attacked, own, honest_writes = run(given, directory)
    if given.smoke:
        sys.exit(smoke(clean, attacked))
    attacked.sort(key=lambda case: (SUITES.index(case["suite"]), int(case["injection"].rsplit("_", 1)[1])))
    rules = policies.rules_of(directory)
    report = {"agentdojo": VERSION, "policies": {"directory": directory.resolve().name, "sha256": policies.hash_of(directory)},
              "seconds": round(time.monotonic() - began), **figures.report(_of(ADAPTED, clean), _of(ADAPTED, attacked), own, honest_writes, rules),
              "others": figures.report(_of(OTHERS, clean), _of(OTHERS, attacked), [], [], rules)}
    output = given.output / directory.resolve().name
    output.mkdir(parents=True, exist_ok=True)
    (output / "cases.json").write_text(json.dumps({"clean": clean, "attacked": attacked, "honest": honest_writes}, indent=1) + "\n")
    (output / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    (output / "report.md").write_text(table.markdown(report))
    print(f"policies {directory.resolve().name} ({report['policies']['sha256'][:16]}), {report['seconds']} s; {output}\n")
    print(table.markdown(report), flush=True)


def main():
    given = options()
    for directory in given.policies:
        measure(given, directory)


if __name__ == "__main__":
    main()
