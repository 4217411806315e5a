#!/usr/bin/env python3
"""Holds Gmail calls and answers against Gmail's published discovery document.

  gmail_spec_test.py --emulator PROGRAM [--specs DIR]   starts the emulator and checks all that it takes and answers
  gmail_spec_test.py --log FILE [--specs DIR]           checks recorded requests: a file of GET /_emulator/log

The description is gmail-v1-discovery.json in DIR, in $KRUXOS_SPECS_DIR or in ../shared/specs beside the source tree.
Without it the test is skipped (exit status 77). Standard library only.
"""
import base64
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

from gmail_description import Description, error_mismatches
from published import EmulatorProcess, run

SPEC_FILE = "gmail-v1-discovery.json"
ROOT = "gmail/v1/users/{userId}/"
NONE = "0123456789abcdef"  # an id that nothing has
# Of features that the emulator does not have: Workspace's classification, colours of labels.
NOT_SHOWN = {"Message.classificationLabelValues", "Label.color"}
REASONS = ("backendError", "internalError", "authError", "insufficientPermissions", "forbidden", "domainPolicy",
           "dailyLimitExceeded", "rateLimitExceeded", "userRateLimitExceeded", "failedPrecondition", "invalidArgument",
           "notFound")


def mail(subject, more="", body="Hello & good-bye"):
    text = f"From: Ada <ada@example.com>\r\nTo: agent@example.com\r\nSubject: {subject}\r\n{more}\r\n{body}"
    return base64.urlsafe_b64encode(text.encode()).decode()


PARTS = mail("Parts", 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n', "\r\n".join([
    "--b", "Content-Type: text/plain; charset=utf-8", "", "Some text", "--b", "Content-Type: application/pdf",
    'Content-Disposition: attachment; filename="plan.pdf"', "Content-Transfer-Encoding: base64", "", "JVBERi0xLjQ=",
    "--b--", ""]))


class Emulator(EmulatorProcess):
    TOKEN = "ya29.contract"

    def __init__(self, program, scopes=()):
        super().__init__(program, [self.TOKEN] + [f"{self.of_scope(s)}:{s}" for s in scopes])

    @staticmethod
    def of_scope(scope):
        return "ya29." + scope.strip("/").rsplit("/", 1)[1]

    def send(self, verb, target, data=None, content_type="application/json", token=TOKEN):
        request = urllib.request.Request(f"{self.base}/{target}", data, method=verb)
        if data is not None:
            request.add_header("Content-Type", content_type)
        if token:
            request.add_header("Authorization", "Bearer " + token)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.headers.get("Content-Type"), answer.read()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.headers.get("Content-Type"), refused.read()


class Caller:
    """Calls methods by their names, and checks every answer."""

    def __init__(self, description, emulator):
        self.description, self.emulator, self.found, self.succeeded = description, emulator, [], set()

    def target(self, method, path, query):
        target = self.description.methods[method]["path"]
        for name in self.description.parameters(method, "path"):
            target = target.replace("{" + name + "}", urllib.parse.quote(path.get(name, "me" if name == "userId" else NONE)))
        return target + ("?" + urllib.parse.urlencode(query, doseq=True) if query else "")

    def raw(self, name, query=None, body=None, path=None, token=Emulator.TOKEN):
        """The status, and the document or nothing. `name` without "gmail.users."."""
        method = "gmail.users." + name
        data = None if body is None else json.dumps(body).encode()
        status, kind, bytes_ = self.emulator.send(self.description.methods[method]["httpMethod"],
                                                  self.target(method, path or {}, query), data, token=token)
        self.found += self.description.answer_mismatches(method, status, kind, bytes_)
        if status < 400:
            self.succeeded.add(method)
        return status, json.loads(bytes_) if bytes_ else None

    def done(self, name, query=None, body=None, **path):
        status, document = self.raw(name, query, body, path)
        if status >= 400:
            self.found.append(f"{name} failed: {document['error']['message']}")
        return document

    def refused(self, name, wanted, query=None, body=None, why="", token=Emulator.TOKEN, **path):
        status, document = self.raw(name, query, body, path, token)
        text = document["error"]["message"] if status >= 400 else "success"
        if status != wanted or why not in text:
            self.found.append(f"{name} with {query or body or path} was answered {status} ({text}), not {wanted} ({why})")


def check_table(description, emulator):
    found, offered = [], emulator.control("methods")["methods"]
    for method, told in offered.items():
        if method not in description.methods:
            found.append(f"the emulator offers {method}, which the description does not know")
            continue
        known = description.methods[method]
        pairs = {"verb": (told["verb"], known["httpMethod"]), "path": (ROOT + told["path"], known["path"]),
                 "parameters": (sorted(told["parameters"]), sorted(description.parameters(method, "query"))),
                 "scopes": (sorted(told["scopes"]), sorted(description.scopes(method))),
                 "max_upload": (told["max_upload"], description.upload_size(method))}
        found += [f"{method}: {what} is {ours}, in the description {theirs}" for what, (ours, theirs) in pairs.items()
                  if ours != theirs]
    return found


def check_access(description, emulator, methods):
    """Each method with each scope alone; nothing is found by the ids, and the bodies are empty."""
    caller = Caller(description, emulator)
    for method in methods:
        for scope in sorted(description.all_scopes()):
            status, document = caller.raw(method[len("gmail.users."):], token=emulator.of_scope(scope))
            missing = status == 403 and document["error"]["errors"][0]["reason"] == "insufficientPermissions"
            if missing == (scope in description.scopes(method)):
                caller.found.append(f"{method} with the scope {scope} was {'refused' if missing else 'allowed'}")
        caller.refused(method[len("gmail.users."):], 401, token=None)
        caller.refused(method[len("gmail.users."):], 401, token="ya29.nobody")
    return caller.found


def wrong_parameter(parameter):
    if "enum" in parameter:
        return "nonsense"
    return "many" if parameter["type"] in ("boolean", "integer") or "format" in parameter else None


def wrong_field(schema):
    if schema.get("type") == "integer" or schema.get("format") in ("int64", "uint64"):
        return "many"
    return "nonsense" if "enum" in schema else 5


def check_requests(description, emulator, methods):
    """What each method does not take."""
    caller = Caller(description, emulator)
    for method in methods:
        name = method[len("gmail.users."):]
        needed = {"startHistoryId": "1"} if name == "history.list" else {}
        caller.refused(name, 400, {**needed, "unheardOf": "1"}, why="unheardOf")
        for parameter, about in description.parameters(method, "query").items():
            wrong = wrong_parameter(about)
            if wrong:
                caller.refused(name, 400, {**needed, parameter: wrong}, why=wrong)
        properties = description.properties(method)
        if properties:
            caller.refused(name, 400, body={"unheardOf": "1"}, why="unheardOf")
        for field, schema in properties.items():
            caller.refused(name, 400, body={field: wrong_field(schema)}, why=field)
            _, document = caller.raw(name, body={field: None})
            if "Unknown name" in json.dumps(document):
                caller.found.append(f"{method} does not know {field}")
        target = "upload/" + caller.target(method, {}, {"uploadType": "media"})
        status, _, _ = emulator.send(description.methods[method]["httpMethod"], target, b"no mail", "text/plain")
        if (status == 404) == bool(description.upload_size(method)):
            caller.found.append(f"an upload to {method} was answered {status}")
    for parameter, about in description.document["parameters"].items():
        if parameter not in ("access_token", "callback"):
            caller.done("getProfile", {parameter: about.get("default") or about.get("enum", ["1"])[0]}
                        if parameter != "fields" else {"fields": "emailAddress"})
    return caller.found


def check_reading(caller):
    listed = caller.done("messages.list", {"maxResults": 2, "includeSpamTrash": "true"})
    caller.done("messages.list", {"pageToken": listed["nextPageToken"], "q": "from:ada", "labelIds": ["INBOX", "UNREAD"]})
    caller.done("messages.list", {"q": "rfc822msgid:none@example.com"})
    caller.refused("messages.list", 400, {"pageToken": "nonsense"})
    parts = caller.done("messages.import", {"internalDateSource": "dateHeader", "neverMarkSpam": "true"}, {"raw": PARTS})
    for form in ("minimal", "full", "raw", "metadata"):
        caller.done("messages.get", {"format": form, "metadataHeaders": ["From", "Subject"]}, id=parts["id"])
        caller.done("threads.get", {"format": form if form != "raw" else "full"}, id=parts["threadId"])
    attachment = caller.done("messages.get", id=parts["id"])["payload"]["parts"][1]["body"]["attachmentId"]
    caller.done("messages.attachments.get", messageId=parts["id"], id=attachment)
    caller.refused("messages.attachments.get", 400, messageId=parts["id"], id="nonsense")
    caller.refused("messages.get", 404, id=NONE)
    caller.refused("messages.get", 400, id="nonsense")
    page = caller.done("threads.list", {"maxResults": 1})
    caller.done("threads.list", {"pageToken": page["nextPageToken"]})
    caller.refused("threads.get", 404, id=NONE)


def check_changing(caller):
    start = caller.done("getProfile")["historyId"]
    kept = caller.done("messages.insert", {"deleted": "false"}, {"raw": mail("Kept"), "labelIds": ["INBOX"]})["id"]
    gone = [caller.done("messages.insert", body={"raw": mail(f"Gone {n}")})["id"] for n in range(3)]
    label = caller.done("labels.create", body={"name": "Plans", "labelListVisibility": "labelShow",
                                               "messageListVisibility": "show"})["id"]
    caller.refused("labels.create", 409, body={"name": "Plans"})
    caller.done("labels.patch", body={"labelListVisibility": "labelHide"}, id=label)
    caller.done("labels.update", body={"name": "Plans/2024"}, id=label)
    caller.done("labels.list")
    caller.done("labels.get", id=label)
    caller.refused("labels.get", 404, id="Label_99")
    change = {"addLabelIds": [label], "removeLabelIds": ["INBOX"]}
    caller.done("messages.modify", body=change, id=kept)
    caller.refused("messages.modify", 400, body={"addLabelIds": ["Label_99"]}, id=kept)
    caller.done("messages.batchModify", body={"ids": gone, "addLabelIds": ["STARRED"]})
    thread = caller.done("messages.get", id=kept)["threadId"]
    caller.done("threads.modify", body=change, id=thread)
    for kind, id_ in (("messages", kept), ("threads", thread)):
        caller.done(f"{kind}.trash", id=id_)
        caller.done(f"{kind}.untrash", id=id_)
    caller.done("messages.delete", id=gone[0])
    caller.refused("messages.delete", 404, id=gone[0])
    caller.done("messages.batchDelete", body={"ids": gone[1:]})
    caller.done("threads.delete", id=thread)
    caller.done("labels.delete", id=label)
    page = caller.done("history.list", {"startHistoryId": start, "maxResults": 1})
    caller.done("history.list", {"startHistoryId": start, "pageToken": page["nextPageToken"]})
    caller.done("history.list", {"startHistoryId": start, "historyTypes": ["messageAdded", "labelAdded"], "labelId": "INBOX"})
    caller.done("history.list", {"startHistoryId": caller.done("getProfile")["historyId"]})
    caller.emulator.control("act", {"action": "expire_history"})
    caller.refused("history.list", 404, {"startHistoryId": start})


def check_sending(caller):
    draft = caller.done("drafts.create", body={"message": {"raw": mail("Draft")}})["id"]
    for form in ("minimal", "full", "raw", "metadata"):
        caller.done("drafts.get", {"format": form}, id=draft)
    caller.done("drafts.update", body={"id": draft, "message": {"raw": mail("Draft, again")}}, id=draft)
    other = caller.done("drafts.create", body={"message": {"raw": mail("Another")}})["id"]
    page = caller.done("drafts.list", {"maxResults": 1})
    caller.done("drafts.list", {"pageToken": page["nextPageToken"], "q": "subject:draft"})
    caller.done("drafts.send", body={"id": draft})
    caller.refused("drafts.send", 404, body={"id": draft})
    caller.refused("drafts.send", 400, body={})
    caller.done("drafts.delete", id=other)
    caller.refused("drafts.get", 404, id=other)
    caller.done("messages.send", body={"raw": mail("Sent")})
    caller.refused("messages.send", 400, body={"raw": "%%%"})
    check_uploads(caller)


def check_uploads(caller):
    raw = base64.urlsafe_b64decode(mail("Uploaded"))
    related = (b"--b\r\nContent-Type: application/json\r\n\r\n{}\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n" + raw +
               b"\r\n--b--\r\n")
    for name in ("drafts.create", "messages.send", "messages.insert", "messages.import"):
        for how, data, kind in (("media", raw, "message/rfc822"), ("multipart", related, "multipart/related; boundary=b")):
            target = "upload/" + caller.target("gmail.users." + name, {}, {"uploadType": how})
            status, content_type, body = caller.emulator.send("POST", target, data, kind)
            caller.found += caller.description.answer_mismatches("gmail.users." + name, status, content_type, body)
            if status != 200:
                caller.found.append(f"{name}, uploaded as {how}, was answered {status}: {body[:200]!r}")


def check_faults(caller):
    """Errors that tests order from the emulator look like Google's too."""
    for reason in REASONS:
        caller.emulator.control("fault", {"method": "gmail.users.getProfile", "kind": "error", "error": reason})
        if caller.raw("getProfile")[0] < 400:
            caller.found.append(f"the error {reason} was no error")
    caller.emulator.control("fault", {"method": "gmail.users.getProfile", "kind": "rate_limited"})
    caller.refused("getProfile", 429)
    for answer, status in (("403_user", 403), ("403_rate", 403), ("429", 429)):
        caller.emulator.control("behaviour", {"quota_answer": answer})
        caller.emulator.control("quota", {"units_per_minute": 1})
        caller.raw("getProfile")
        caller.refused("getProfile", status)
    caller.emulator.control("quota", {"units_per_minute": 0})


def check_answers(description, emulator, methods):
    """Calls every method so that each kind of its answer is seen once, and checks the answers and the requests."""
    emulator.control("seed", {"generate": {"messages": 12, "thread_length": 3}})
    caller = Caller(description, emulator)
    for check in (check_reading, check_changing, check_sending, check_faults):
        check(caller)
    caller.found += [f"{m} was never called with success" for m in methods if m not in caller.succeeded]
    return caller.found + [f"no answer had {name}" for name in sorted(description.never_shown() - NOT_SHOWN)]


def check_this_check(description):
    """A check that finds nothing wrong anywhere is worth nothing: these must be found."""
    good = {"method": "gmail.users.messages.get", "verb": "GET", "token_from": "header", "encoding": "none",
            "params": {"userId": "me", "id": "1", "format": "raw"}}
    wrong = [{"method": "unknown"}, {"token_from": "query"}, {"encoding": "media"}, {"params": {"userId": "me"}},
             {"params": {**good["params"], "format": "all"}}, {"params": {**good["params"], "q": "x"}},
             {"method": "gmail.users.messages.modify", "params": {"userId": "me", "id": "1", "addLabelIds": "INBOX"}},
             {"method": "gmail.users.messages.list", "params": {"userId": "me", "maxResults": "many"}},
             {"method": "gmail.users.messages.list", "params": {"userId": "me", "includeSpamTrash": "yes"}}]
    found = [f"not noticed: {change}" for change in wrong if not description.request_mismatches({**good, **change})]
    found += [f"wrongly noticed: {m}" for m in description.request_mismatches(good)]
    answers = [{"historyId": 5}, {"historyId": "-5"}, {"historyId": "1.5"}, {"internalDate": "9" * 19 + "9"}, {"raw": "a+b/"},
               {"labelIds": "INBOX"}, {"sizeEstimate": "5"}, {"sizeEstimate": 2**31}, {"payload": {"parts": [{"size": 1}]}}]
    for answer in answers:
        text = json.dumps(answer).encode()
        if not description.answer_mismatches(good["method"], 200, "application/json; charset=UTF-8", text):
            found.append(f"not noticed: {answer}")
    if not description.answer_mismatches("gmail.users.messages.delete", 200, None, b"{}"):
        found.append("not noticed: an answer where there is none")
    if not error_mismatches(404, "application/json; charset=UTF-8", b'{"error":{"code":400,"message":"No"}}'):
        found.append("not noticed: a misshapen error")
    description.shown.clear()
    return found


def check_emulator(description, program):
    with Emulator(program, sorted(description.all_scopes())) as emulator:
        methods = [m for m in emulator.control("methods")["methods"] if m in description.methods]
        return (check_table(description, emulator) + check_access(description, emulator, methods) +
                check_requests(description, emulator, methods) + check_answers(description, emulator, methods))


if __name__ == "__main__":
    sys.exit(run(__doc__, SPEC_FILE, Description, check_this_check, check_emulator))
