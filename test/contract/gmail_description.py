"""Gmail's discovery document, and what keeps requests and answers from fitting it. Every check answers sentences."""
import json
import re

from published import fits_type

NUMBERS = {"int32": (-2**31, 2**31 - 1), "uint32": (0, 2**32 - 1), "int64": (-2**63, 2**63 - 1),
           "uint64": (0, 2**64 - 1)}
BASE64URL = re.compile(r"[A-Za-z0-9_-]*={0,2}")
# google.rpc.Code of the errors that Gmail tells by HTTP statuses (cloud.google.com/apis/design/errors).
CODES = {400: {"INVALID_ARGUMENT", "FAILED_PRECONDITION"}, 401: {"UNAUTHENTICATED"}, 403: {"PERMISSION_DENIED"},
         404: {"NOT_FOUND"}, 409: {"ABORTED", "ALREADY_EXISTS"}, 429: {"RESOURCE_EXHAUSTED"}, 500: {"INTERNAL"},
         503: {"UNAVAILABLE"}}


class Description:
    def __init__(self, document):
        self.document = document
        self.methods = {}
        self.shown = set()  # "Message.snippet": what answers were seen to have
        self.collect(document)

    def collect(self, resource):
        for method in resource.get("methods", {}).values():
            self.methods[method["id"]] = method
        for below in resource.get("resources", {}).values():
            self.collect(below)

    def parameters(self, method, location):
        return {n: p for n, p in self.methods[method].get("parameters", {}).items() if p["location"] == location}

    def scopes(self, method):
        return set(self.methods[method]["scopes"])

    def all_scopes(self):
        return set(self.document["auth"]["oauth2"]["scopes"])

    def properties(self, method):
        """Of the method's body; none where it takes none."""
        reference = self.methods[method].get("request")
        return self.document["schemas"][reference["$ref"]]["properties"] if reference else {}

    def upload_size(self, method):
        return int(self.methods[method].get("mediaUpload", {}).get("maxSize", 0))

    def never_shown(self):
        """Properties of the schemas of which something was seen."""
        schemas = {name.split(".")[0] for name in self.shown}
        return {f"{s}.{p}" for s in schemas for p in self.document["schemas"][s]["properties"]} - self.shown

    def mismatches(self, schema, value, where):
        if "$ref" in schema:
            name = schema["$ref"]
            if not isinstance(value, dict):
                return [f"{where} is {value!r}, not a {name}"]
            known, found = self.document["schemas"][name]["properties"], []
            for key, item in value.items():
                self.shown.add(f"{name}.{key}")
                found += (self.mismatches(known[key], item, f"{where}.{key}") if key in known
                          else [f"{where} has {key}, which {name} does not know"])
            return found
        if not fits_type(schema["type"], value):
            return [f"{where} is {value!r}, not {schema['type']}"]
        if schema["type"] == "array":
            return [m for i, item in enumerate(value) for m in self.mismatches(schema["items"], item, f"{where}[{i}]")]
        return self.format_mismatches(schema, value, where)

    @staticmethod
    def format_mismatches(schema, value, where):
        kind = schema.get("format")
        if kind in NUMBERS:
            if isinstance(value, str) and not re.fullmatch(r"0|-?[1-9]\d*", value):
                return [f"{where} is {value!r}, no decimal number"]
            low, high = NUMBERS[kind]
            return [] if low <= int(value) <= high else [f"{where} is {value!r}, beyond {kind}"]
        if kind == "byte" and not BASE64URL.fullmatch(value):
            return [f"{where} is no base64url: {value[:40]!r}"]
        if "enum" in schema and value not in schema["enum"]:
            return [f"{where} is {value!r}, not one of {schema['enum']}"]
        return []

    def answer_mismatches(self, method, status, content_type, body):
        """`body`: the answer's bytes."""
        if status >= 400:
            return [f"{method}: {m}" for m in error_mismatches(status, content_type, body)]
        if "response" not in self.methods[method]:
            return [] if status == 204 and not body else [f"{method} answered {status} with {body[:40]!r}, not nothing"]
        if status != 200 or content_type != "application/json; charset=UTF-8":
            return [f"{method} answered {status} {content_type}"]
        return self.mismatches(self.methods[method]["response"], json.loads(body), method)

    def request_mismatches(self, request):
        """What is wrong with one request of the emulator's log."""
        method, params = request["method"], request["params"]
        if method.startswith("oauth2."):  # the provider's, which the document does not describe
            return []
        if method not in self.methods:
            return [f"{request['verb']} with {sorted(params)} is no method of the API ({method})"]
        found = []
        if request["token_from"] != "header":
            found.append(f"{method} was called without a token in its header")
        if request["encoding"] in ("media", "multipart") and not self.upload_size(method):
            found.append(f"{method} takes no upload")
        known = {**self.document["parameters"], **self.methods[method].get("parameters", {})}
        for name, value in params.items():
            if name in known:
                found += self.parameter_mismatches(known[name], value, f"{method}: {name}")
            elif name in self.properties(method):
                found += self.field_mismatches(self.properties(method)[name], value, f"{method}: {name}")
            else:
                found.append(f"{method} was called with {name}, which it does not know")
        return found + [f"{method} was called without {n}" for n, p in known.items() if p.get("required") and n not in params]

    def parameter_mismatches(self, parameter, value, where):
        """The log has the values of a repeated parameter with commas between them."""
        values, found = (value.split(",") if parameter.get("repeated") else [value]), []
        for each in values:
            if parameter["type"] == "boolean":
                found += [] if each in ("true", "false") else [f"{where} is {each!r}, not boolean"]
            else:
                found += self.format_mismatches(parameter, each, where)
        return found

    def field_mismatches(self, schema, value, where):
        """The log has a body's fields as texts: what is no text as JSON."""
        if schema.get("type") == "string":
            return self.mismatches(schema, value, where)
        try:
            return self.mismatches(schema, json.loads(value), where)
        except ValueError:
            return [f"{where} is {value!r}, not {schema.get('type', 'object')}"]


def error_mismatches(status, content_type, body):
    """Google's errors as its API front end says them; the discovery document is silent about them."""
    try:
        error = json.loads(body)["error"]
        first = error["errors"][0]
        texts = [error["message"], error["status"], first["message"], first["domain"], first["reason"]]
    except (ValueError, KeyError, IndexError, TypeError) as problem:
        return [f"an error {status} without its shape ({problem!r}): {body[:80]!r}"]
    found = [] if content_type == "application/json; charset=UTF-8" else [f"an error as {content_type}"]
    found += [f"an error with {text!r}" for text in texts if not isinstance(text, str) or not text]
    if error["code"] != status or error["status"] not in CODES.get(status, set()):
        found.append(f"an error {status} that says {error['code']} {error['status']}")
    found += [f"a detail without @type: {d}" for d in error.get("details", []) if not str(d.get("@type", "")).startswith("type.")]
    unknown = (set(error) - {"code", "message", "errors", "status", "details"}) | (
        set(first) - {"message", "domain", "reason", "location", "locationType"})
    return found + [f"an error with {name}" for name in sorted(unknown)]
