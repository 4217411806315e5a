"""The suite's inbox in the Gmail emulator, there and back."""
import base64
import email
import email.policy
import email.utils
import json
import time
import urllib.parse
import urllib.request

TOKEN = "ya29.injection-harness"  # the harness' own, by which it looks at the mailbox past the host
HOUR = 3_600_000


class Mailbox:
    """Knows which message of the emulator is which mail of the suite."""

    def __init__(self, emulator, address):
        self.emulator, self.address = emulator, address
        self.ids = {}      # suite's id -> Gmail's
        self.labels = {}   # Gmail's id -> labels, as they were seeded

    def seed(self, inbox, files=None):
        """The newest mail came an hour ago, and the others as long before it as the suite says."""
        mails = list(inbox.emails.values())
        newest, now = max(mail.timestamp for mail in mails), int(time.time() * 1000)
        seeds = [dict(self._mail(mail, files or {}), at_ms=now - HOUR - int((newest - mail.timestamp).total_seconds() * 1000)) for mail in mails]
        made = self.emulator("seed", {"messages": seeds})["ids"]
        self.ids = dict(zip((mail.id_ for mail in mails), made))
        self.labels = {message["id"]: set(message["labelIds"]) for message in self.messages()}

    def deliver(self, mail):
        """One more, past the host; its id."""
        return self.emulator("act", {"action": "deliver", **self._mail(mail, {})})["id"]

    def _mail(self, mail, files):
        labels = {"sent": ["SENT"], "received": ["INBOX"], "draft": ["DRAFT"]}[str(mail.status)]
        if not mail.read:
            labels.append("UNREAD")
        made = {"from": mail.sender, "to": ", ".join(mail.recipients), "subject": mail.subject, "body": mail.body,
                "labels": labels}
        for name in ("cc", "bcc"):
            if getattr(mail, name):
                made[name] = ", ".join(getattr(mail, name))
        attached = [_attachment(one, files) for one in mail.attachments]
        return dict(made, attachments=attached) if attached else made

    def messages(self):
        """All that it holds; one without labels says so by leaving them out."""
        return [{"labelIds": [], **message} for message in self.emulator("messages")["messages"]]

    def labels_of(self, gmail_id):
        found = self._api(f"messages/{gmail_id}?format=minimal")
        return set(found.get("labelIds", []))

    def sent(self, gmail_id):
        """The mail as it went out: what its recipients read."""
        raw = self._api(f"messages/{gmail_id}?format=raw")["raw"]
        return OutgoingMail(email.message_from_bytes(_decoded(raw), policy=email.policy.default))

    def _api(self, path):
        request = urllib.request.Request(f"{self.emulator.address}/gmail/v1/users/{urllib.parse.quote(self.address)}/{path}",
                                         headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def restore(self):
        """Everything as it was seeded; whether something had to be changed."""
        changed = False
        for message in self.messages():
            key, labels = message["id"], set(message["labelIds"])
            if "draftId" in message:
                self.emulator("act", {"action": "delete_draft", "draft": message["draftId"]})
            elif key not in self.labels:
                self.emulator("act", {"action": "delete", "id": key})
            elif labels != self.labels[key]:
                self._set_labels(key, labels)
            else:
                continue
            changed = True
        self.ids = {suite_id: key for suite_id, key in self.ids.items() if key in self.labels}
        return changed

    def _set_labels(self, key, labels):
        wanted = self.labels[key]
        if "TRASH" in labels - wanted:
            self.emulator("act", {"action": "untrash", "id": key})
            labels = self.labels_of(key)
        add, remove = sorted(wanted - labels), sorted(labels - wanted)
        if add or remove:
            self.emulator("act", {"action": "label", "id": key, "add": add, "remove": remove})


class OutgoingMail:
    def __init__(self, message):
        self.to, self.cc, self.bcc = (_addresses(message, name) for name in ("to", "cc", "bcc"))
        self.subject = str(message["subject"] or "")
        body = message.get_body(("plain",))
        self.body = body.get_content().replace("\r\n", "\n") if body else ""
        self.body = self.body[:-1] if self.body.endswith("\n") else self.body  # a mail's text ends with a line's end
        self.attachments = [part.get_filename() for part in message.iter_attachments()]


def _addresses(message, name):
    return [address for _, address in email.utils.getaddresses([str(value) for value in message.get_all(name, [])])]


def _decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _attachment(one, files):
    if isinstance(one, str):
        return {"filename": files[one].filename, "type": "text/plain", "text": files[one].content}
    return {"filename": "event.json", "type": "application/json", "text": one.model_dump_json()}
