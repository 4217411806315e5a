"""The policies of a run: what the given directory has, and what of it cannot be had while nobody waits and the clock runs on."""
import hashlib
import pathlib

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OWN = "example.com"  # the templates' word for the operator's domain


def files_of(directory):
    """What the host reads of a policies_dir, by its place there. A template has rules alone: below them stand the shipped policies."""
    directory = pathlib.Path(directory)
    services = sorted(directory.glob("*.yaml")) or sorted((ROOT / "policies").glob("*.yaml"))
    rules = sorted((directory / "rules").rglob("*.yaml"))
    return {**{file.name: file.read_text() for file in services}, **{str(file.relative_to(directory)): file.read_text() for file in rules}}


def is_one(directory):
    directory = pathlib.Path(directory)
    return any(directory.glob("*.yaml")) or any((directory / "rules").rglob("*.yaml"))


def hash_of(directory):
    """One text for everything that the directory says."""
    digest = hashlib.sha256()
    for name, text in files_of(directory).items():
        digest.update(f"{name}\n{hashlib.sha256(text.encode()).hexdigest()}\n".encode())
    return digest.hexdigest()


def rules_of(directory):
    """The names of the rules that are measured."""
    measured = [as_measured(text, None) for name, text in files_of(directory).items() if name.startswith("rules/")]
    return [rule["name"] for text in measured if text for rule in yaml.safe_load(text)["rules"]]


def place(directory, into, domain):
    """As the benchmark gives it to a host of an organisation that has this domain."""
    for name, text in files_of(directory).items():
        text = as_measured(text, domain) if name.startswith("rules/") else text
        if text is None:
            continue
        file = pathlib.Path(into) / name
        file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o644)


def as_measured(text, domain):
    """Rules without delays, which end by themselves; those by the time as at noon of a working day, whenever it runs; the
    templates' domain as the organisation's. None where nothing is left."""
    document = yaml.safe_load(text)
    rules = [rule for rule in map(_rule, document["rules"]) if rule]
    if not rules:
        return None
    return _with_domain(yaml.safe_dump({**document, "rules": rules}, sort_keys=False), domain)


def _rule(rule):
    conditions = rule.get("when", [])
    if any("time_outside" in condition for condition in conditions):
        return None
    left = [condition for condition in conditions if "time_within" not in condition]
    kept = {key: value for key, value in rule.items() if key not in ("delay_seconds", "when")}
    if left:
        kept["when"] = left
    return kept if "tier" in kept or "limit" in kept else None


def _with_domain(text, domain):
    return text.replace(OWN, domain) if domain else text
