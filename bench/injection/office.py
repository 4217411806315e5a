"""What is neither mail nor chat: a mock in the host's place for each such service, and the suite's own tools behind the mocks."""
import functools
import json
import pathlib

import yaml

from suite import twin

HERE = pathlib.Path(__file__).resolve().parent
# Services of each suite that are mocks, and of each the definition beside this file.
SERVICES = {"workspace": ("office",), "slack": ("office",), "banking": ("bank", "files"), "travel": ("travel", "calendar")}
# Those that a rule may name in a run of the suite: of the suites that are measured together.
KNOWN = {"workspace": ("office",), "slack": ("office",), **dict.fromkeys(("banking", "travel"), ("bank", "files", "travel", "calendar"))}
# The suite's tool, where the capability is called otherwise: a capability's name has 32 characters.
NAMES = {"add_calendar_event_participants": "add_event_participants",
         "get_cuisine_type_for_restaurants": "get_restaurant_cuisines",
         "get_rating_reviews_for_restaurants": "get_restaurant_reviews",
         "get_dietary_restrictions_for_all_restaurants": "get_restaurant_diets",
         "get_contact_information_for_restaurants": "get_restaurant_contacts",
         "get_all_car_rental_companies_in_city": "get_car_rental_companies",
         "get_rating_reviews_for_car_rental": "get_car_rental_reviews"}
CENTS = ("amount",)  # the suite's amounts have fractions, a definition's numbers have none
MOST = 60_000  # characters of an answer: the host cuts it further for a model


def definition(service):
    return HERE / f"{service}.yaml"


@functools.lru_cache(maxsize=None)
def capabilities(service):
    return {one["name"].split(".")[1]: one for one in yaml.safe_load(definition(service).read_text())["capabilities"]}


class Tool:
    """One of the suite's tools, as the mock offers it."""

    def __init__(self, suite, function):
        name = NAMES.get(function, function)
        self.service = next(service for service in SERVICES[suite.name] if name in capabilities(service))
        self.capability = capabilities(self.service)[name]
        self.name = f"{self.service}__{name}"
        self.reads = self.capability["kind"] == "read"

    def arguments(self, args):
        """As the mock is given them: a value that is not there is left out."""
        types = {one["name"]: one["type"] for one in self.capability.get("inputs", [])}
        return {name: _as(types[name], name, value) for name, value in args.items() if value is not None}


def _as(wanted, name, value):
    if name in CENTS:
        return round(value * 100)
    return str(value) if wanted in ("String", "DateTime") else value


def tool(suite, function):
    """None where no mock has it."""
    try:
        return Tool(suite, function)
    except StopIteration:
        return None


def delays(services):
    """Of each write that waits: not at all."""
    return {one["name"]: 0 for service in services for one in capabilities(service).values()
            if one["kind"] == "write" and one["delay"] != "immediate"}


def script(suite, service, environment, calls):
    """The mock's, for all reads among the `calls`."""
    rules, seen = [], set()
    for call in calls:
        made, key = tool(suite, call.function), (call.function, json.dumps(call.args, sort_keys=True))
        if not made or made.service != service or not made.reads or key in seen:
            continue
        seen.add(key)
        rules.append({"call": "read", "operation": made.capability["name"], "when": made.arguments(call.args),
                      "answer": {"result": _answer(suite, environment, call)}})
    # What depends on the environment of another case finds nothing.
    rules.append({"call": "read", "answer": {"result": ""}})
    return idle(service, rules)


def idle(service, rules=()):
    return json.dumps({"service": service, "account": {"account_id": service, "display_name": service.capitalize()}, "rules": list(rules)})


def _answer(suite, environment, call):
    try:
        result = suite.call(twin(environment), call.function, call.args)
    except Exception as refusal:  # the suite's tools refuse by whatever exception fits
        return str(refusal)
    parts = result if isinstance(result, list) else [result]
    return json.dumps([part.model_dump(mode="json") if hasattr(part, "model_dump") else part for part in parts], ensure_ascii=False)[:MOST]


class Journal:
    """What the mock was asked to write."""

    def __init__(self, file):
        self.file = file

    def carried_out(self, write_id):
        """The parameters with which this write was carried out."""
        with open(self.file, encoding="utf-8") as lines:
            for line in lines:
                entry = json.loads(line)
                if entry["id"] == write_id and entry["effect"] and entry["call"] == "execute_write":
                    return entry["params"]
        return None
