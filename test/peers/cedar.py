"""The host's rules and Cedar decide the same, over the part that both have: calls are blocked, or held for a person, by
agent and by what stands in their parameters."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build" / "peers" / "python" / "bin" / "python"
BUILD = pathlib.Path(os.environ.get("KRUXOS_DEMO_BUILD", ROOT / "build" / "dev"))
PROGRAM = BUILD / "bin" / "rule-decisions"
SETS = 50
REQUESTS = 2000

DEFINITION = """schema: 1
service: mail
display_name: Mail
description: Mail.
version: 1.0.0
adapter: {min_version: 0.1.0}
api_base_url: https://mail.example/
capabilities:
  - {name: mail.find, kind: read, tier: autonomous, purpose: Find., when_to_use: Often.,
     inputs: [{name: folder, type: String, description: F.}, {name: count, type: Integer, description: C.}]}
  - {name: mail.send, kind: write, tier: notify, purpose: Send., when_to_use: Often.,
     inputs: [{name: body, type: String, description: B.}, {name: subject, type: String, description: S.},
              {name: urgent, type: Boolean, description: U.}, {name: labels, type: Array, description: L., items: {type: String}},
              {name: files, type: Array, description: F., uploads: true, items: {type: String}}]}
"""
WORDS = ["", "a", "ab", "abc", "b*", "a*c", "bc", "x\"y", "é", "abab"]
AGENTS = ["bot", "sales-amy", "sales-bot", "helper-bot"]
LABELS = ["trash", "a", "ab", "zz"]


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def like(text):
    return quoted(text).replace("*", "\\*")[1:-1]


def text_condition(chance, name):
    """One condition of an input, as ours and as Cedar's expression."""
    has = f"context has {name}"
    kind = chance.choice(["present", "absent", "equals", "one_of", "none_of", "prefix", "suffix"])
    some = chance.sample(WORDS, 2)
    listed = "[" + ", ".join(quoted(word) for word in some) + "]"
    word = chance.choice([word for word in WORDS if word])
    return {
        "present": ({"present": True}, has),
        "absent": ({"present": False}, f"!({has})"),
        "equals": ({"equals": some[0]}, f"{has} && context.{name} == {quoted(some[0])}"),
        "one_of": ({"one_of": some}, f"{has} && {listed}.contains(context.{name})"),
        "none_of": ({"none_of": some}, f"!({has}) || !({listed}.contains(context.{name}))"),
        "prefix": ({"prefix": word}, f'{has} && context.{name} like "{like(word)}*"'),
        "suffix": ({"suffix": word}, f'{has} && context.{name} like "*{like(word)}"'),
    }[kind]


def condition(chance, capability):
    if capability == "mail.find" and chance.random() < 0.5:
        number = chance.randint(0, 10)
        test, sign = chance.choice([("minimum", ">="), ("maximum", "<=")])
        return {"input": "count", test: number}, f"context has count && context.count {sign} {number}"
    if capability == "mail.find":
        ours, theirs = text_condition(chance, "folder")
        return {"input": "folder", **ours}, theirs
    kind = chance.randrange(5)
    if kind == 0:
        return {"input": "urgent", "is": True}, "context has urgent && context.urgent"
    if kind == 1:
        return {"input": "urgent", "is": False}, "!(context has urgent) || !context.urgent"
    if kind == 2:
        some = chance.sample(LABELS, 2)
        listed = json.dumps(some)
        if chance.random() < 0.5:
            return {"input": "labels", "one_of": some}, f"context has labels && context.labels.containsAny({listed})"
        return {"input": "labels", "none_of": some}, f"!(context has labels) || !({listed}.containsAll(context.labels))"
    if kind == 3:
        carries = chance.random() < 0.5
        has = "context has files && !(context.files.isEmpty())"
        return {"uploads": carries}, has if carries else f"!({has})"
    name = chance.choice(["body", "subject"])
    ours, theirs = text_condition(chance, name)
    return {"input": name, **ours}, theirs


def rule(chance, number):
    capability = chance.choice(["mail.find", "mail.send", "mail.send"])
    tier = chance.choice(["approval_required", "blocked"])
    ours = {"name": f"r{number}", "capabilities": [capability], "tier": tier}
    pairs = [condition(chance, capability) for _ in range(chance.randint(0, 3))]
    if pairs:
        ours["when"] = [pair[0] for pair in pairs]
    expressions = [f"({pair[1]})" for pair in pairs]
    who = chance.choice([None, None, "bot", "sales-*", "*-bot"])
    if who:
        ours["agents"] = [who]
        expressions.append(f'context.agent like "{who}"')
    theirs = f'forbid(principal, action == Action::"{capability}", resource)'
    return ours, tier, theirs + (" when { " + " && ".join(expressions) + " };" if expressions else ";")


def is_accepted(definition, directory, ours):
    """Contradictions are refused by the host, and are nothing to compare."""
    file = directory / "one.yaml"
    file.write_text(json.dumps({"policy": 1, "rules": [ours]}, ensure_ascii=False))
    return subprocess.run([PROGRAM, definition, file], input="", capture_output=True, text=True).returncode == 0


def request(chance):
    capability = chance.choice(["mail.find", "mail.send", "mail.send"])
    params = {}

    def add(name, value):
        if chance.random() < 0.7:
            params[name] = value

    if capability == "mail.find":
        add("folder", chance.choice(WORDS))
        add("count", chance.randint(0, 10))
    else:
        add("body", chance.choice(WORDS))
        add("subject", chance.choice(WORDS))
        add("urgent", chance.random() < 0.5)
        add("labels", [chance.choice(LABELS) for _ in range(chance.randint(0, 3))])
        add("files", ["up_1"] * chance.randint(0, 2))
    return {"agent": chance.choice(AGENTS), "capability": capability, "params": params}


def denials(cedarpy, policies, requests):
    text = "permit(principal, action, resource);\n" + "\n".join(policies)
    asked = [{"principal": 'Agent::"a"', "action": f'Action::"{one["capability"]}"', "resource": 'Host::"h"',
              "context": {**one["params"], "agent": one["agent"]}} for one in requests]
    answers = cedarpy.is_authorized_batch(asked, text, [])
    for answer in answers:
        if answer.diagnostics.errors:
            raise RuntimeError(f"Cedar: {answer.diagnostics.errors} of {text}")
    return [not answer.allowed for answer in answers]


def compare_one(cedarpy, seed, directory):
    """How many were held, and the first difference."""
    chance = random.Random(seed)
    definition = directory / "mail.yaml"
    definition.write_text(DEFINITION)
    rules = [one for one in (rule(chance, number) for number in range(8)) if is_accepted(definition, directory, one[0])]
    file = directory / "rules.yaml"
    file.write_text(json.dumps({"policy": 1, "rules": [one[0] for one in rules]}, ensure_ascii=False))
    requests = [request(chance) for _ in range(REQUESTS)]
    lines = "".join(json.dumps(one) + "\n" for one in requests)
    done = subprocess.run([PROGRAM, definition, file], input=lines, capture_output=True, text=True, check=True)
    ours = [json.loads(line)["tier"] for line in done.stdout.splitlines()]
    blocked = denials(cedarpy, [one[2] for one in rules if one[1] == "blocked"], requests)
    held = denials(cedarpy, [one[2] for one in rules], requests)
    for asked, tier, is_blocked, is_held in zip(requests, ours, blocked, held, strict=True):
        if (tier == "blocked") != is_blocked or (tier != "autonomous") != is_held:
            return sum(held), f"seed {seed}: {json.dumps(asked)} is {tier}, Cedar: blocked {is_blocked}, held {is_held}; {file.read_text()}"
    return sum(held), None


def main():
    import cedarpy
    held = 0
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(SETS):
            more, difference = compare_one(cedarpy, seed, pathlib.Path(directory))
            held += more
            if difference:
                sys.exit(difference)
    total = SETS * REQUESTS
    if not total / 10 < held < total * 9 / 10:
        sys.exit(f"{held} of {total} requests were held: that compares little")
    print(f"{total} requests, {held} of them held")


def run(report):
    """With the Python that the peers are installed for."""
    report.group("Cedar: decisions of rules")
    done = subprocess.run([PYTHON, "-B", __file__], capture_output=True, text=True)
    report.result(f"cedar: {done.stdout.strip() or 'the same decisions'}", done.stderr.strip()[-2000:] or "failed" if done.returncode else None)


if __name__ == "__main__":
    main()
