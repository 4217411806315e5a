"""What the demo compares with: a client of Slack's API as many are written. It tries again where no answer came."""
import http.client
import json
import urllib.error
import urllib.request

from demo_support import DemoFailed

TOKEN = "xoxb-test-token"  # the emulator's own


def post_until_answered(stage, text):
    for attempt in (1, 2, 3):
        print(f"  client ▸ POST chat.postMessage  (attempt {attempt})")
        body = json.dumps({"channel": "C0GENERAL01", "text": text}).encode()
        request = urllib.request.Request(stage.emulator + "/api/chat.postMessage", body,
                                         {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                if json.load(answer)["ok"]:
                    return
        except (urllib.error.URLError, ConnectionError, http.client.HTTPException):
            print("  no answer: the connection was lost")
    raise DemoFailed("the plain client was never answered")
