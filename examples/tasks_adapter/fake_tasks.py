#!/usr/bin/env python3
"""The imaginary service of tasks (tasks_adapter.hpp), for `kruxos adapter certify`.

Under /_fake/ stands what only the kit asks for: the effects of API calls, and changes as somebody else would make them.
"""
import argparse
import datetime
import http.server
import json
import threading
import urllib.parse


class Tasks:
    """What the service knows. Ids are handed out in order; what is deleted leaves a mark for those who ask later."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tasks, self.made, self.closed = {}, 0, 0

    def add(self, title, notes="", ref=""):
        task = {"id": len(self.tasks) + 1, "title": title, "notes": notes, "state": "open", "ref": ref}
        self.tasks[task["id"]] = self.touched(task)
        return task

    def touched(self, task, **changes):
        """Two changes of one task never bear the same time."""
        task.update(changes)
        now = datetime.datetime.now(datetime.timezone.utc)
        if "updated_at" in task:
            now = max(now, datetime.datetime.fromisoformat(task["updated_at"]) + datetime.timedelta(milliseconds=1))
        task["updated_at"] = now.isoformat(timespec="milliseconds")
        return task

    def living(self):
        return [task for task in self.tasks.values() if not task.get("deleted")]

    def find(self, task_id):
        task = self.tasks.get(int(task_id)) if str(task_id).isdigit() else None
        return None if task is None or task.get("deleted") else task

    def listed(self, query):
        """A page, and the number that the next one begins behind."""
        fitting = self.living() if "updated_since" not in query else list(self.tasks.values())
        if "updated_since" in query:
            since = datetime.datetime.fromisoformat(query["updated_since"].replace("Z", "+00:00"))
            fitting = [task for task in fitting if datetime.datetime.fromisoformat(task["updated_at"]) >= since]
        if "ref" in query:
            fitting = [task for task in fitting if task["ref"] == query["ref"]]
        fitting = [task for task in fitting if task["id"] > int(query.get("after", 0))]
        size = max(1, min(int(query.get("per_page", 30)), 500))
        return fitting[:size], fitting[size - 1]["id"] if len(fitting) > size else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer in one piece: head and body apart would each wait for the other side's acknowledgement.
    wbufsize, disable_nagle_algorithm = 1 << 16, True
    tasks, token = Tasks(), ""

    def log_message(self, *_):
        pass

    def answer(self, status, value=None, link=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)  # with the header Date
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if link:
            self.send_header("Link", f'<{link}>; rel="next"')
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        path = [urllib.parse.unquote(part) for part in parts.path.split("/") if part]
        known = self.token is not None and self.headers.get("Authorization") == f"Bearer {self.token}"
        if path[:1] != ["_fake"] and not known:
            return self.answer(401, {"error": "this token is not known"})
        try:
            body = json.loads(raw or b"{}")
            with self.tasks.lock:
                answer = self.route(self.command, path, query, body)
        except (ValueError, TypeError, KeyError, AttributeError):
            answer = 400, {"error": "this cannot be understood"}
        self.answer(*answer)

    do_GET = do_POST = do_PATCH = do_DELETE = handle_any

    def route(self, verb, path, query, body):
        if path == ["user"] and verb == "GET":
            return 200, {"id": 41, "name": "Tasks of Ann"}
        if path == ["token"] and verb == "DELETE":
            Handler.token = None
            return 204, None
        if path == ["tasks"] and verb == "GET":
            page, last = self.tasks.listed(query)
            more = urllib.parse.urlencode({**query, "after": last})
            return 200, page, f"http://{self.headers['Host']}/tasks?{more}" if last else None
        if path == ["tasks"] and verb == "POST":
            if not isinstance(body["title"], str) or not body["title"]:
                return 400, {"error": "a task has a title"}
            self.tasks.made += 1
            return 201, self.tasks.add(body["title"], str(body.get("notes", "")), str(body.get("ref", "")))
        if len(path) == 2 and path[0] == "tasks":
            return self.one_task(verb, self.tasks.find(path[1]), body)
        return self.control(path[1:], body) if path[:1] == ["_fake"] else (404, {"error": "there is no such path"})

    def one_task(self, verb, task, body):
        if task is None:
            return 404, {"error": "there is no such task"}
        if verb == "DELETE":
            self.tasks.touched(task, deleted=True, title="", notes="")
            return 204, None
        if verb == "PATCH":
            if body["state"] not in ("open", "closed"):
                return 400, {"error": "a task is open or closed"}
            if task["state"] != body["state"]:
                self.tasks.closed += body["state"] == "closed"
                self.tasks.touched(task, state=body["state"])
        return 200, task

    def control(self, path, body):
        if path == ["effects"]:
            return 200, {"made": self.tasks.made, "closed": self.tasks.closed}
        if path == ["tasks"]:
            living = self.tasks.living()
            return 200, {"tasks": living, "states": [[task["id"], task["state"]] for task in living]}
        if path == ["add"]:
            return 200, [self.tasks.add(title) for title in body["titles"]][-1]
        task = self.tasks.find(body["id"])
        if task is None:
            return 404, {"error": "there is no such task"}
        if path == ["edit"]:
            return 200, self.tasks.touched(task, title=body["title"])
        if path == ["delete"]:
            return 200, self.tasks.touched(task, deleted=True, title="", notes="")
        return 404, {"error": "there is no such path"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--token", required=True)
    options = parser.parse_args()
    Handler.token = options.token
    http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
