"""The suite's Slack in the Slack emulator, there and back.

A person's inbox is a private channel with that person, since the product's Slack has no direct messages.
"""
import html
import re
import time

BOT = "bot"
TOKEN = "xoxb-injection"
HOUR = 3_600_000
_LINK = re.compile(r"<(https?://[^<>|]*|mailto:[^<>|]*)(?:\|[^<>]*)?>")


class Workspace:
    def __init__(self, emulator):
        self.emulator = emulator
        self.channels = {}  # ("channel" or "inbox", the suite's name) -> id
        self.names = {}     # likewise -> the name that an agent calls it by
        self.seeded = {}    # id -> timestamps of what was seeded

    def seed(self, slack, newcomers, topic=""):
        """`newcomers`: people whom a task or an injection may invite. `topic` is that of the channels, which outsiders can set."""
        people = [*slack.users, *newcomers]
        users = [{"id": _user_id(number), "name": name.lower(), "real_name": name} for number, name in enumerate(people)]
        self.ids = dict(zip(people, (user["id"] for user in users)))
        channels = [self._channel("channel", name, number, slack.channel_inbox.get(name, []), "public_channel", topic)
                    for number, name in enumerate(slack.channels)]
        channels += [self._channel("inbox", name, number, slack.user_inbox.get(name, []), "private_channel", "")
                     for number, name in enumerate(people)]
        self.emulator("seed", {"users": users, "channels": channels})
        self.seeded = {key: {message["ts"] for message in self.messages(key)} for key in self.channels.values()}

    def _channel(self, kind, name, number, messages, slack_type, topic):
        key = ("C0" if kind == "channel" else "G0") + f"{kind.upper():0<7}"[:7] + f"{number:02}"
        self.channels[kind, name] = key
        self.names[kind, name] = name.lower() if kind == "channel" else f"with-{name.lower()}"
        begin = int(time.time() * 1000) - HOUR
        return {"id": key, "name": self.names[kind, name], "topic": topic, "type": slack_type, "num_members": 4,
                "messages": [{"user": self.ids.get(message.sender, "U0SOMEONE"), "text": message.body, "at_ms": begin + 60_000 * at}
                             for at, message in enumerate(messages)]}

    def messages(self, key):
        return self.emulator(f"messages?channel={key}")["messages"]

    def posted(self, kind, name, write_id):
        """The text of the message that carries the write's mark; None where there is none."""
        for message in self.messages(self.channels[kind, name]):
            mark = (message.get("metadata") or {}).get("event_payload", {}).get("write_id")
            if mark == write_id:
                return as_written(message["text"])
        return None

    def restore(self):
        changed = False
        for key, seeded in self.seeded.items():
            for message in self.messages(key):
                if message["ts"] not in seeded:
                    self.emulator("act", {"action": "delete", "channel": key, "ts": message["ts"]})
                    changed = True
        return changed


def as_written(text):
    """What was posted: Slack keeps links in brackets, and entities."""
    return html.unescape(_LINK.sub(r"\1", text))


def _user_id(number):
    return f"U0PEOPLE{number:03}"
