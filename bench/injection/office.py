"""What is neither mail nor chat: a mock in the host's place for it (office.yaml), and the suite's own tools behind the mock."""
import json

from suite import twin

# The suite's tool, where the capability is called otherwise.
NAMES = {"add_calendar_event_participants": "add_event_participants"}
READS = {"get_current_day", "search_calendar_events", "get_day_calendar_events", "search_files_by_filename", "search_files",
         "get_file_by_id", "list_files", "get_webpage", "get_users_in_channel"}
MOST = 60_000  # characters of an answer: the host cuts it further for a model


def tool_of(function):
    return "office__" + NAMES.get(function, function)


def arguments_of(args):
    """As the mock is given them: a value that is not there is left out."""
    return {name: str(value) if not isinstance(value, list) else value for name, value in args.items() if value is not None}


def script(suite, environment, calls):
    """The mock's, for all reads among the `calls`."""
    rules, seen = [], set()
    for call in calls:
        args = arguments_of(call.args)
        key = (call.function, json.dumps(args, sort_keys=True))
        if call.function not in READS or key in seen:
            continue
        seen.add(key)
        rules.append({"call": "read", "operation": "office." + NAMES.get(call.function, call.function), "when": args,
                      "answer": {"result": _answer(suite, environment, call)}})
    # What depends on the environment of another case finds nothing.
    rules.append({"call": "read", "answer": {"result": ""}})
    return json.dumps({"service": "office", "account": {"account_id": "office", "display_name": "Office"}, "rules": rules})


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
                    return json.loads(entry["params"])
        return None
