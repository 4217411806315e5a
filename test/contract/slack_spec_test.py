#!/usr/bin/env python3
"""Holds Slack calls and answers against Slack's published OpenAPI description.

  slack_spec_test.py --emulator PROGRAM [--specs DIR]   starts the emulator and checks all that it takes and answers
  slack_spec_test.py --log FILE [--specs DIR]           checks recorded requests: a file of GET /_emulator/log

The description is slack-web-openapi-v2.json in DIR, in $KRUXOS_SPECS_DIR or in ../shared/specs beside the source tree.
Without it the test is skipped (exit status 77). Standard library only.
"""
import json
import re
import sys
import urllib.parse
import urllib.request

from published import EmulatorProcess, fits_type, run

SPEC_FILE = "slack-web-openapi-v2.json"

# The description was last changed in 2021. What the service takes or answers beyond it, and where that is documented.
LATER_PARAMETERS = {
    "chat.postMessage": {"metadata": "docs.slack.dev/reference/methods/chat.postMessage"},
    "chat.update": {"metadata": "docs.slack.dev/reference/methods/chat.update"},
    "conversations.history": {"include_all_metadata": "docs.slack.dev/reference/methods/conversations.history"},
    "conversations.replies": {"include_all_metadata": "docs.slack.dev/reference/methods/conversations.replies"},
}
LATER_MESSAGE_FIELDS = {
    "app_id": "message samples of slackapi/java-slack-sdk",
    "edited": "docs.slack.dev/reference/events/message",
    "hidden": "docs.slack.dev/reference/events/message",
    "is_locked": "message samples of slackapi/java-slack-sdk",
    "metadata": "docs.slack.dev/messaging/message-metadata",
    "root": "docs.slack.dev/reference/events/message/thread_broadcast",
}
LATER_SCOPES = {"metadata.message:read": "docs.slack.dev/reference/scopes/metadata.message.read"}
# Fields of any answer: warnings and the cursor.
COMMON_FIELDS = {"response_metadata", "warning"}
# Errors the description names for no method, or not for this one; each stands on the method's page of docs.slack.dev.
LATER_ERRORS = {"unknown_method", "missing_scope", "invalid_arguments", "invalid_cursor", "invalid_limit",
                "invalid_types", "not_in_channel", "channel_not_found", "is_archived", "thread_not_found",
                "cannot_reply_to_message", "invalid_metadata_format", "token_revoked", "account_inactive"}
# conversations.history requires it there; the service does not send it.
NOT_SENT = {"pin_count"}


class Description:
    def __init__(self, document):
        self.document = document

    def operations(self, method):
        return self.document["paths"].get("/" + method, {})

    def operation(self, method):
        return next(iter(self.operations(method).values()))

    def parameters(self, method):
        return {p["name"]: p for p in self.operation(method).get("parameters", [])}

    def scopes(self):
        return set(self.document["securityDefinitions"]["slackAuth"]["scopes"])

    def resolve(self, schema):
        while "$ref" in schema:
            schema = self.document["definitions"][schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def mismatches(self, schema, value, where):
        """What keeps a value from fitting a schema, as sentences."""
        schema = self.resolve(schema)
        if isinstance(schema.get("items"), list):  # the description writes "one of" this way
            tried = [self.mismatches(s, value, where) for s in schema["items"]]
            return [] if any(not t for t in tried) else min(tried, key=len)
        found = self.scalar_mismatches(schema, value, where)
        if isinstance(value, dict):
            found += self.object_mismatches(schema, value, where)
        elif isinstance(value, list) and isinstance(schema.get("items"), dict):
            for index, item in enumerate(value):
                found += self.mismatches(schema["items"], item, f"{where}[{index}]")
        return found

    def object_mismatches(self, schema, value, where):
        found = []
        properties = schema.get("properties", {})
        later = LATER_MESSAGE_FIELDS if schema.get("title") == "Message object" else {}
        for name in schema.get("required", []):
            if name not in value and name not in NOT_SENT:
                found.append(f"{where} lacks {name}")
        for name, item in value.items():
            if name in properties:
                found += self.mismatches(properties[name], item, f"{where}.{name}")
            elif schema.get("additionalProperties") is False and name not in later and name not in COMMON_FIELDS:
                found.append(f"{where} has {name}, which the description does not know")
        return found

    @staticmethod
    def scalar_mismatches(schema, value, where):
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        found = []
        if types and not any(fits_type(t, value) for t in types):
            found.append(f"{where} is {value!r}, not {' or '.join(types)}")
        if "enum" in schema and value not in schema["enum"]:
            found.append(f"{where} is {value!r}, not one of {schema['enum']}")
        if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
            found.append(f"{where} is {value!r}, which does not match {schema['pattern']}")
        return found

    def answer_mismatches(self, method, answer):
        operation = self.operation(method)
        if answer.get("ok") is not True:
            return self.error_mismatches(method, answer)
        schema = operation["responses"]["200"]["schema"]
        if method != "conversations.replies":
            return self.mismatches(schema, answer, method)
        # The description of replies knows no bots, edits or reactions; its messages are held against the message object.
        found = [f"{method} lacks {name}" for name in ("ok", "messages") if name not in answer]
        for index, message in enumerate(answer.get("messages", [])):
            found += self.mismatches({"$ref": "#/definitions/objs_message"}, message, f"{method}.messages[{index}]")
        return found

    def error_mismatches(self, method, answer):
        error = answer.get("error")
        known = set(self.operation(method)["responses"]["default"]["schema"]["properties"]["error"].get("enum", []))
        if not isinstance(error, str):
            return [f"{method} failed without an error"]
        return [] if not known or error in known | LATER_ERRORS else [f"{method} failed with {error}, unknown there"]

    def request_mismatches(self, request):
        """What is wrong with one request of the emulator's log."""
        method = request["method"]
        if not self.operations(method):
            return [f"{method} is no method of the Web API"]
        found = []
        if request["verb"] not in ("GET", "POST"):  # read methods are listed as GET alone; the service takes POST forms
            found.append(f"{method} was called by {request['verb']}")
        if request["verb"] == "GET" and "get" not in self.operations(method):
            found.append(f"{method} was called by GET, but it changes something")
        if request["token_from"] not in ("header", "form") and "token" in self.parameters(method):
            found.append(f"{method} was called without a token in its header or form")
        known = self.parameters(method)
        for name, value in request["params"].items():
            if name in known:
                found += self.parameter_mismatches(method, known[name], value)
            elif name not in LATER_PARAMETERS.get(method, {}):
                found.append(f"{method} was called with {name}, which it does not know")
        for name, parameter in known.items():
            if parameter.get("required") and name != "token" and name not in request["params"]:
                found.append(f"{method} was called without {name}")
        return found

    @staticmethod
    def parameter_mismatches(method, parameter, value):
        pattern = {"integer": r"-?\d+", "number": r"-?\d+(\.\d+)?", "boolean": r"true|false|0|1"}.get(parameter.get("type"))
        if pattern is None or re.fullmatch(pattern, value):
            return []
        return [f"{method} was called with {parameter['name']}={value!r}, which is no {parameter['type']}"]


class Emulator(EmulatorProcess):
    TOKEN = "xoxb-contract"

    def __init__(self, program):
        super().__init__(program, [self.TOKEN, "xoxb-few:chat:write"])

    def call(self, method, parameters, verb="POST", token=TOKEN):
        encoded = urllib.parse.urlencode(parameters)
        url = f"{self.base}/api/{method}" + (f"?{encoded}" if verb == "GET" and encoded else "")
        request = urllib.request.Request(url, encoded.encode() if verb == "POST" else None, method=verb)
        if token:
            request.add_header("Authorization", "Bearer " + token)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


def check_methods(description, emulator):
    found = []
    for method, offered in emulator.control("methods")["methods"].items():
        if not description.operations(method):
            found.append(f"the emulator offers {method}, which the description does not know")
            continue
        known = set(description.parameters(method)) | set(LATER_PARAMETERS.get(method, {}))
        found += [f"{method} takes {p}, which the description does not know" for p in offered["parameters"]
                  if p not in known]
        found += [f"{method} ignores {p}" for p in description.parameters(method)
                  if p != "token" and p not in offered["parameters"]]
        found += [f"{method} asks for the scope {s}, which does not exist" for s in offered["scopes"]
                  if s not in description.scopes() and s not in LATER_SCOPES]
    return found


def post_all_kinds(emulator, channel):
    """Messages of every kind that people and integrations write."""
    for message in ({"bot_id": "B0GITHUB1", "username": "GitHub", "subtype": "bot_message", "text": "opened",
                     "attachments": [{"id": 1, "fallback": "PR 1"}]},
                    {"subtype": "channel_join", "user": "U0GEN00000"}, {"subtype": "me_message", "text": "waves"},
                    {"files": [{"id": "F0000PLAN", "name": "plan.pdf", "mimetype": "application/pdf", "size": 7}]},
                    {"bot_id": "B0PAGER01", "app_id": "A0PAGER01", "bot_name": "Pager",
                     "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "Alarm"}}]}):
        emulator.control("act", {"action": "post", "channel": channel, **message})


def check_answers(description, emulator):
    """Calls every method so that each kind of its answer is seen once, and checks the answers and the requests."""
    emulator.control("seed", {"channels": 2, "users": 3, "messages_per_channel": 5, "threads_per_channel": 1,
                              "reactions": True})
    channel, found, seen = "C0GEN00000", [], set()

    def call(method, parameters=None, verb="POST", **others):
        answer = emulator.call(method, parameters or {}, verb, **others)
        found.extend(description.answer_mismatches(method, answer))
        if answer["ok"]:
            seen.add(method)
        return answer

    call("api.test", {"foo": "bar"}, "GET")
    call("api.test", {"error": "my_error"})
    call("auth.test")
    call("conversations.list", {"limit": "1"}, "GET")
    call("conversations.list", {"cursor": "nonsense"})
    call("conversations.info", {"channel": channel, "include_num_members": "true"})
    call("conversations.info", {"channel": "C0NOWHERE"})
    call("users.list", {"limit": "2"})
    call("users.list", {"cursor": "nonsense"})
    call("users.info", {"user": "U0GEN00000"})
    call("users.info", {"user": "U0NOBODY00"})
    post_all_kinds(emulator, channel)
    call("conversations.history", {"channel": channel, "limit": "999"})
    call("conversations.history", {"channel": channel, "limit": "1000"})
    history = call("conversations.history", {"channel": channel, "limit": "3"}, "GET")
    call("conversations.history", {"channel": channel, "oldest": "1", "inclusive": "true",
                                   "cursor": history["response_metadata"]["next_cursor"]})
    call("conversations.history", {"channel": channel, "oldest": "yesterday"})
    call("conversations.history", {"channel": channel}, token=None)
    call("conversations.history", {"channel": channel}, token="xoxb-few")
    metadata = json.dumps({"event_type": "krux_write", "event_payload": {"write_id": "w_1"}})
    posted = call("chat.postMessage", {"channel": channel, "text": "Hello", "metadata": metadata})
    call("chat.postMessage", {"channel": channel, "text": "A reply", "thread_ts": posted["ts"], "reply_broadcast": "true"})
    call("chat.postMessage", {"channel": channel, "text": ""})
    call("chat.postMessage", {"channel": channel, "text": "x" * 40001})
    call("chat.update", {"channel": channel, "ts": posted["ts"], "text": "Hello again"})
    call("chat.update", {"channel": channel, "ts": "1.000000", "text": "Hello again"})
    item = {"channel": channel, "timestamp": posted["ts"], "name": "tada"}
    call("reactions.add", {**item, "name": "no_such_emoji"})
    for method in ("reactions.add", "reactions.add", "reactions.get"):
        call(method, item if method != "reactions.get" else {"channel": channel, "timestamp": posted["ts"]})
    call("conversations.replies", {"channel": channel, "ts": posted["ts"], "include_all_metadata": "true"})
    call("conversations.history", {"channel": channel, "include_all_metadata": "true"})
    for _ in range(2):
        call("reactions.remove", item)
        call("chat.delete", {"channel": channel, "ts": posted["ts"]})
    call("auth.revoke", {"test": "true"})
    call("auth.revoke")
    call("auth.test")
    for method in emulator.control("methods")["methods"]:
        if method not in seen:
            found.append(f"{method} was never called with success")
    return found


def check_this_check(description):
    """A check that finds nothing wrong anywhere is worth nothing: these must be found."""
    wrong = [
        {"method": "chat.shout", "verb": "POST", "token_from": "header", "params": {}},
        {"method": "conversations.history", "verb": "POST", "token_from": "header", "params": {"chanel": "C1"}},
        {"method": "conversations.history", "verb": "POST", "token_from": "header", "params": {"limit": "many"}},
        {"method": "chat.postMessage", "verb": "GET", "token_from": "header", "params": {"channel": "C1"}},
        {"method": "chat.postMessage", "verb": "POST", "token_from": "none", "params": {"channel": "C1"}},
        {"method": "chat.postMessage", "verb": "POST", "token_from": "header", "params": {"text": "hi"}},
    ]
    found = [f"not noticed: {request}" for request in wrong if not description.request_mismatches(request)]
    answers = [("auth.test", {"ok": True}), ("auth.test", {"ok": False, "error": "nonsense"}),
               ("users.list", {"ok": True, "members": [{"id": "u"}], "cache_ts": 1}),
               ("chat.delete", {"ok": True, "channel": "C0GEN00000", "ts": 5})]
    return found + [f"not noticed: {a}" for m, a in answers if not description.answer_mismatches(m, a)]


def check_emulator(description, program):
    with Emulator(program) as emulator:
        return check_methods(description, emulator) + check_answers(description, emulator)


if __name__ == "__main__":
    sys.exit(run(__doc__, SPEC_FILE, Description, check_this_check, check_emulator))
