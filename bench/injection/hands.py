"""The hijacked agent's hands: each call of a suite becomes calls of the host's tools, and what the services have of it afterwards
becomes the suite's environment again."""
import copy
import re

import office
from agent import Refused
from case import Outcome
from suite import files_of, twin
from workspace import as_written
from world import check

WAITS = "It waits for a person's approval and has not been sent. "
LONGEST_WAIT = 20  # seconds for a write that is due at once


class NotDone(Exception):
    """A write that the host has not carried out."""

    def __init__(self, why, held):
        super().__init__(why)
        self.why, self.held = why, held


def rule_of(error):
    """What stopped a call, in words that are the same for every case."""
    message = str(error).removeprefix(WAITS)
    for rest in (" Do not send it again", ";"):  # what differs from case to case
        message = message.split(rest)[0]
    named = error.context.get("rule") or next(iter(re.findall(r'by the rule "([^"]*)"', str(error))), None)
    return f"rule {named}" if named else f"{error.type}: {message}"


class HostHands:
    """`environment` is the suite's, as the services have it by now."""

    def __init__(self, suite, world, agent, environment, injected):
        self.suite, self.world, self.agent = suite, world, agent
        self.environment = twin(environment)
        self.injected = injected  # calls that read where the injections stand
        self.mails = dict(world.mail.ids) if world.mail else {}  # the suite's id -> Gmail's
        self.trash = []  # Gmail's ids. The suite gives the id of a mail in the trash to another one
        self.stale = False  # the mailbox has mails that the replica does not have yet

    def read_injections(self):
        for call in self.injected:
            check(self.do(call).done, f"what {call.function} {call.args} reads could not be read")

    def do(self, call):
        handler = getattr(self, "_" + call.function, None)
        outcome = Outcome(False)
        try:
            if handler:
                handler(outcome, **copy.deepcopy(dict(call.args)))
            else:
                self._office(outcome, call)
            outcome.done = True
        except Refused as error:
            outcome.why, outcome.held = rule_of(error), error.type == "ApprovalRequired"
        except NotDone as not_done:
            outcome.why, outcome.held = not_done.why, not_done.held
        return outcome

    def write(self, tool, **arguments):
        """Carried out by the host, or NotDone; returns write_id and result."""
        accepted = self.agent.tool(tool, **arguments)
        if accepted["status"] == "ok":
            return accepted["write_id"], accepted
        write_id = accepted["write_id"]
        write = self.agent.tool("proxy__write_status", write_id=write_id, wait_seconds=LONGEST_WAIT)
        if write["status"] == "completed":
            return write_id, write.get("result") or {}
        # A delay ends by itself, so that a write which waits for no person is no write that was stopped.
        check(write["status"] != "buffered", f"{tool} still waits after {LONGEST_WAIT} s: take delays out of the policies that the run is given")
        raise NotDone((write.get("error") or {}).get("message") or f"it is {write['status']}", write["status"] == "pending_approval")

    def check_services(self):
        """The services have what the environment has, and nothing that no call has put there."""
        if self.world.mail:
            self._check_mail()
        if self.world.chat:
            for (kind, name), key in self.world.chat.channels.items():
                wanted = (self.environment.slack.channel_inbox if kind == "channel" else self.environment.slack.user_inbox).get(name)
                texts = [as_written(message["text"]) for message in self.world.chat.messages(key)]
                # Whoever was removed from the workspace has no inbox any more.
                check(wanted is None or texts == [message.body for message in wanted], f"the channel {name} has {texts}")

    def _check_mail(self):
        inbox = self.environment.inbox
        there = {message["id"]: set(message["labelIds"]) for message in self.world.mail.messages()}
        odd = set(there) ^ {*self.mails.values(), *self.trash}
        check(not odd, f"mailbox and environment differ in the mails {sorted(odd)}")
        trash = {key for key, labels in there.items() if "TRASH" in labels}
        check(trash == set(self.trash) and len(trash) == len(inbox.trash), "other mails are in the trash than in the environment's")
        unread = {self.mails[mail.id_] for mail in inbox.emails.values() if not mail.read}
        seeded = set(self.world.mail.labels) - trash  # a mail to oneself is unread in Gmail
        check({key for key in seeded if "UNREAD" in there[key]} == unread & seeded, "other mails are unread than in the environment")

    # --- mail -----------------------------------------------------------------------------------------------------------

    def _search(self, query, **more):
        self._refresh()
        found, offset = [], 0
        while True:
            page = self.agent.tool("email__search", query=query, limit=100, offset=offset, **more)
            found += [message["id"] for message in page["messages"]]
            offset += len(page["messages"])
            if not page["messages"] or offset >= page["total"]:
                return found

    def _refresh(self):
        if self.stale:
            self.world.sync("gmail")
        self.stale = False

    def _read(self, gmail_ids):
        self._refresh()
        for key in gmail_ids:
            offset = 0
            while offset is not None:
                body = self.agent.tool("email__read", message_id=key, offset=offset, max_chars=16000)["body"]
                offset = body.get("next_offset")

    def _search_emails(self, outcome, query, sender=None):
        outcome.service = "gmail"
        words = ([f'"{query}"'] if query else []) + ([f"from:{sender}"] if sender else [])
        found = self._search(" ".join(words))
        wanted = [self.mails[mail.id_] for mail in self.environment.inbox.search_emails(query, sender)]
        if not set(wanted) <= set(found):
            found += self._search("in:anywhere")
        self._read([key for key in wanted if key in found])
        check(set(wanted) <= set(found), f"the host's search for {words} does not find what the suite's finds")

    def _mails_of(self, outcome, query, mails):
        outcome.service = "gmail"
        found = self._search(query)
        wanted = [self.mails[mail.id_] for mail in mails]
        check(set(wanted) <= set(found), f"the host's search for {query} does not find what the suite's tool lists")
        self._read(wanted)

    def _get_sent_emails(self, outcome):
        self._mails_of(outcome, "in:sent", self.environment.inbox.sent)

    def _get_received_emails(self, outcome):
        self._mails_of(outcome, "in:inbox", self.environment.inbox.received)

    def _get_draft_emails(self, outcome):
        self._mails_of(outcome, "in:drafts", self.environment.inbox.drafts)

    def _get_unread_emails(self, outcome):
        unread = [mail for mail in self.environment.inbox.emails.values() if not mail.read]
        self._mails_of(outcome, "is:unread", unread)
        outcome.kind = "write"
        for mail in unread:
            key = self.mails[mail.id_]
            self.write("email__label", message_id=key, remove_labels=["UNREAD"])
            mail.read = "UNREAD" not in self.world.mail.labels_of(key)

    def _read_email(self, outcome, email_id):
        outcome.service = "gmail"
        self._read([self.mails[email_id]])

    def _search_contacts_by_name(self, outcome, query):
        outcome.service = "gmail"
        self._search(f'"{query}"')

    _search_contacts_by_email = _search_contacts_by_name

    def _send_email(self, outcome, recipients, subject, body, attachments=None, cc=None, bcc=None):
        outcome.kind, outcome.service = "write", "gmail"
        files = files_of(self.environment)
        attached = [files[one["file_id"]] for one in attachments or []]
        more = {name: ", ".join(people) for name, people in (("cc", cc), ("bcc", bcc)) if people}
        if attached:
            more["attachments"] = [self.agent.upload(file.filename, file.content.encode()) for file in attached]
        _, result = self.write("email__send", to=", ".join(recipients), subject=subject, body=body, **more)
        mail = self.world.mail.sent(result["message_id"])
        ids = {file.filename: file.id_ for file in files.values()}
        made = self.environment.inbox.send_email(mail.to, mail.subject, mail.body, [ids[name] for name in mail.attachments],
                                                 mail.cc, mail.bcc)
        self.mails[made.id_] = result["message_id"]
        self.stale = True
        outcome.mail_id = made.id_

    def _delete_email(self, outcome, email_id):
        outcome.kind, outcome.service = "write", "gmail"
        key = self.mails[email_id]
        self.write("email__delete", message_id=key)
        check("TRASH" in self.world.mail.labels_of(key), "a mail that was deleted is not in the trash")
        self.environment.inbox.delete_email(email_id)
        self.trash.append(self.mails.pop(email_id))

    # --- Slack ------------------------------------------------------------------------------------------------------------

    def _get_channels(self, outcome):
        outcome.service = "slack"
        self.agent.tool("slack__channels")

    def _messages(self, outcome, kind, name):
        outcome.service = "slack"
        self.agent.tool("slack__search", channel=self.world.chat.channels[kind, name], limit=100)

    def _read_channel_messages(self, outcome, channel):
        self._messages(outcome, "channel", channel)

    def _read_inbox(self, outcome, user):
        self._messages(outcome, "inbox", user)

    def _post(self, outcome, kind, name, body):
        outcome.kind, outcome.service = "write", "slack"
        write_id, _ = self.write("slack__send", channel=self.world.chat.channels[kind, name], text=body)
        text = self.world.chat.posted(kind, name, write_id)
        check(text is not None, "a message that was sent is not in Slack")
        return text

    def _send_channel_message(self, outcome, channel, body):
        text = self._post(outcome, "channel", channel, body)
        self.suite.call(self.environment, "send_channel_message", {"channel": channel, "body": text})

    def _send_direct_message(self, outcome, recipient, body):
        if recipient not in self.environment.slack.users:
            outcome.kind, outcome.service = "write", "slack"
            raise NotDone("nobody of that name is in the workspace", False)
        text = self._post(outcome, "inbox", recipient, body)
        self.suite.call(self.environment, "send_direct_message", {"recipient": recipient, "body": text})

    # --- what the mock stands for -----------------------------------------------------------------------------------------

    def _office(self, outcome, call):
        tool = office.tool(self.suite, call.function)
        outcome.service, arguments = tool.service, tool.arguments(call.args)
        if tool.reads:
            self.agent.tool(tool.name, **arguments)
            if call.function == "get_webpage":  # a visit is something that happens
                self.suite.call(self.environment, call.function, call.args)
            return
        outcome.kind = "write"
        write_id, _ = self.write(tool.name, **arguments)
        check(self.world.journals[tool.service].carried_out(write_id) == arguments, f"the mock was not asked for {call.function} as it was called")
        try:
            self.suite.call(self.environment, call.function, call.args)
        except ValueError as refusal:
            raise NotDone(f"the suite's tool: {refusal}", False) from refusal
        self._take_invitations()

    def _take_invitations(self):
        """What the calendar has sent by itself is in the mailbox too."""
        if not self.world.mail:
            return
        for mail in self.environment.inbox.emails.values():
            if mail.id_ not in self.mails:
                self.mails[mail.id_] = self.world.mail.deliver(mail)
                self.stale = True
