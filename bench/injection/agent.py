"""An agent's calls over MCP (2026-07-28, Streamable HTTP), and the operator's over the control socket."""
import http.client
import json
import urllib.parse

VERSION = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "injection-benchmark", "version": "1"}}


class Refused(Exception):
    """A tool's answer that is an error, as the agent is told it."""

    def __init__(self, error):
        super().__init__(error.get("message", ""))
        self.type = error.get("type", "")
        self.context = error.get("context") or {}


class Agent:
    """One agent of the host: a name, a key, one connection."""

    def __init__(self, address, key):
        self.place = urllib.parse.urlsplit(address)
        self.key = key
        self.number = 0
        self.connection = None

    def tool(self, name, **arguments):
        """The tool's structured content."""
        self.number += 1
        body = {"jsonrpc": "2.0", "id": self.number, "method": "tools/call",
                "params": {"name": name, "arguments": arguments, "_meta": META}}
        answer = self._post("/mcp", json.dumps(body).encode(), {
            "Content-Type": "application/json", "Accept": "application/json", "MCP-Protocol-Version": VERSION,
            "Mcp-Method": "tools/call", "Mcp-Name": name})
        if "error" in answer:
            raise Refused(dict(answer["error"].get("data") or {}, message=f"{name}: {answer['error']['message']}"))
        result = answer["result"]
        if result.get("isError"):
            raise Refused(json.loads(result["content"][0]["text"]))
        return result["structuredContent"]

    def upload(self, filename, data):
        path = "/uploads?filename=" + urllib.parse.quote(filename)
        return self._post(path, data, {"Content-Type": "text/plain"})["upload_id"]

    def close(self):
        if self.connection:
            self.connection.close()

    def _post(self, path, body, headers):
        if not self.connection:
            self.connection = http.client.HTTPConnection(self.place.hostname, self.place.port, timeout=60)
        self.connection.request("POST", path, body, {**headers, "Authorization": f"Bearer {self.key}"})
        answer = self.connection.getresponse()
        read = json.loads(answer.read())
        if answer.status >= 400 and "error" not in read:
            raise Refused({"type": f"HTTP {answer.status}", "message": json.dumps(read)})
        if path.startswith("/uploads") and "error" in read:
            raise Refused(read["error"])
        return read
