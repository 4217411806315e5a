#!/usr/bin/env python3
"""The imaginary service of notes (notes_adapter.hpp), for `kruxos adapter certify`.

Under /_fake/ stands what only the kit asks for: the effects of API calls, and changes as somebody else would make them.
"""
import argparse
import http.server
import json
import threading
import time
import urllib.parse


class Notes:
    """What the service knows. Ids are handed out in order; what is deleted leaves a mark for later syncs."""

    def __init__(self):
        self.lock = threading.Lock()
        self.notes, self.made, self.removed, self.next_id = {}, 0, 0, 1

    def add(self, text, marker=""):
        note = {"id": f"n{self.next_id:06}", "text": text, "marker": marker, "updated_ms": now_ms()}
        self.next_id += 1
        self.notes[note["id"]] = note
        return note

    def living(self):
        return [note for note in self.notes.values() if not note.get("deleted")]

    def find(self, note_id):
        note = self.notes.get(note_id)
        return None if note is None or note.get("deleted") else note

    def edit(self, note, text):
        note.update(text=text, updated_ms=now_ms())

    def delete(self, note):
        note.update(deleted=True, text="", updated_ms=now_ms())

    def page(self, since, after, limit):
        fitting = [n for n in self.notes.values() if n["id"] > after and n["updated_ms"] >= since]
        if since == 0:
            fitting = [n for n in fitting if not n.get("deleted")]
        fitting.sort(key=lambda note: note["id"])
        page = {"notes": fitting[:limit]}
        if len(fitting) > limit:
            page["next"] = fitting[limit - 1]["id"]
        return page


def now_ms():
    return int(time.time() * 1000)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer in one piece: head and body apart would each wait for the other side's acknowledgement.
    wbufsize, disable_nagle_algorithm = 1 << 16, True
    notes, token = Notes(), ""

    def log_message(self, *_):
        pass

    def answer(self, status, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        length = int(self.headers.get("Content-Length") or 0)
        try:
            value = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            return None
        return value if isinstance(value, dict) else None

    def handle_any(self):
        body = self.body()
        parts = urllib.parse.urlsplit(self.path)
        query = {key: values[0] for key, values in urllib.parse.parse_qs(parts.query).items()}
        path = [urllib.parse.unquote(part) for part in parts.path.split("/") if part]
        if body is None:
            return self.answer(400, {"error": "the body is no JSON object"})
        known = self.token is not None and self.headers.get("Authorization") == f"Bearer {self.token}"
        if path[:1] != ["_fake"] and not known:
            return self.answer(401, {"error": "this token is not known"})
        with self.notes.lock:
            status, value = self.route(self.command, path, query, body)
        self.answer(status, value)

    do_GET = do_POST = do_DELETE = handle_any

    def route(self, verb, path, query, body):
        if path == ["me"] and verb == "GET":
            return 200, {"id": "acct-1", "name": "Notes of Ann"}
        if path == ["token"] and verb == "DELETE":
            Handler.token = None
            return 204, None
        if path == ["notes"] and verb == "GET":
            if "marker" in query:
                return 200, {"notes": [n for n in self.notes.living() if n["marker"] == query["marker"]]}
            return 200, self.notes.page(int(query.get("since", 0)), query.get("after", ""), int(query.get("limit", 50)))
        if path == ["notes"] and verb == "POST":
            if not isinstance(body.get("text"), str) or not body["text"]:
                return 400, {"error": "a note has a text"}
            self.notes.made += 1
            return 201, self.notes.add(body["text"], str(body.get("marker", "")))
        if len(path) == 2 and path[0] == "notes":
            return self.one_note(verb, self.notes.find(path[1]))
        if path[:1] == ["_fake"]:
            return self.control(path[1:], body)
        return 404, {"error": "there is no such path"}

    def one_note(self, verb, note):
        if note is None:
            return 404, {"error": "there is no such note"}
        if verb == "DELETE":
            self.notes.removed += 1
            self.notes.delete(note)
            return 204, None
        return 200, note

    def control(self, path, body):
        if path == ["effects"]:
            return 200, {"made": self.notes.made, "removed": self.notes.removed}
        if path == ["notes"]:
            return 200, {"notes": self.notes.living()}
        if path == ["add"]:
            return 200, [self.notes.add(text) for text in body["texts"]][-1]
        note = self.notes.find(body.get("id", ""))
        if note is None:
            return 404, {"error": "there is no such note"}
        if path == ["edit"]:
            self.notes.edit(note, body["text"])
        elif path == ["delete"]:
            self.notes.delete(note)
        else:
            return 404, {"error": "there is no such path"}
        return 200, note


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--token", required=True)
    options = parser.parse_args()
    Handler.token = options.token
    http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
