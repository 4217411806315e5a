"""The emulated services, as the demo sees them."""
import json
import urllib.request


class Services:
    """What a Stage knows of them: their addresses are its `emulator` and `gmail_emulator`."""

    @staticmethod
    def emulated(address, what, document):
        data = json.dumps(document).encode() if document is not None else None
        with urllib.request.urlopen(urllib.request.Request(f"{address}/_emulator/{what}", data), timeout=30) as answer:
            return json.load(answer)

    def slack(self, what, document=None):
        return self.emulated(self.emulator, what, document)

    def gmail(self, what, document=None):
        return self.emulated(self.gmail_emulator, what, document)

    def gmail_calls(self):
        return {name: entry["calls"] for name, entry in self.gmail("state")["methods"].items()}

    def mails(self, write_id):
        """How many mails were ever sent that carry this write's mark."""
        boxes = self.gmail("state")["mailboxes"]
        boxes = boxes.values() if isinstance(boxes, dict) else boxes
        return sum(box["markers"].get(write_id, {}).get("sent", 0) for box in boxes)

    def effects(self, write_id):
        """How many messages Slack holds, or ever held, that carry this write's marker."""
        return self.slack("state")["markers"].get(write_id, {}).get("posted", 0)

    def live(self, write_id):
        """How many of them still stand."""
        return self.slack("state")["markers"].get(write_id, {}).get("live", 0)
