"""The campaign of scripts/kill-campaign: agents that work, services that fail, a host that is killed."""
import collections
import random
import shutil
import signal
import threading
import time

import kill_campaign_audit as audit
from demo_support import ROOT
from kill_campaign_host import Gone, Host

SLACK_FAULTS = (("chat.postMessage", ("reset", "reset_after", "http_status", "error_after", "rate_limited", "hang_after")),
                ("chat.delete", ("reset_after", "http_status")), ("reactions.add", ("reset_after", "http_status")),
                ("conversations.history", ("reset", "http_status")))
GMAIL_FAULTS = (("gmail.users.drafts.create", ("reset", "reset_after", "http_status")),
                ("gmail.users.drafts.send", ("reset", "reset_after", "http_status", "rate_limited", "hang_after")),
                ("gmail.users.messages.modify", ("reset_after", "http_status")))
EMOJI = ("eyes", "tada", "rocket", "wave", "fire", "100", "heart", "+1", "pray", "ok_hand")
CALLS_UNDER_WAY = 4
MOST_OPEN = 60  # writes at a time: more only wait for each other
REST_SECONDS = 60  # in which at least one more write comes to its end


class Work:
    """What the agent asked for, and what it was told."""

    def __init__(self, key, capability, arguments):
        self.key, self.capability, self.arguments = key, capability, arguments
        self.write_id = None
        self.refused = None
        self.cancelled = False  # the agent was told so
        self.undo_id = None  # of the undo that the agent asked for and was told of
        self.undone = False  # the agent was told so


class Campaign:
    def __init__(self, host, options):
        self.host = host
        self.options = options
        self.random = random.Random(options.seed)
        self.lock = threading.Lock()
        self.works = []
        self.number = 0
        self.over = threading.Event()
        self.counts = collections.Counter()
        self.broken = []  # what ended a thread of the campaign's own

    # --- the agent's side ---------------------------------------------------------------------------------------------

    def next_work(self):
        with self.lock:
            n = self.number
            self.number += 1
            kind = self.random.choice(("slack.send", "slack.send", "slack.react", "email.send", "email.send", "email.label"))
            if kind == "slack.react" and n >= len(EMOJI) * len(self.host.slack_messages):
                kind = "slack.send"
            if kind == "email.label" and not self.host.mails:
                kind = "email.send"
            if kind == "slack.send":
                arguments = {"channel": self.random.choice(("general", "random")), "text": f"Campaign message number {n}."}
            elif kind == "slack.react":
                channel, ts = self.host.slack_messages[n // len(EMOJI) % len(self.host.slack_messages)]
                arguments = {"channel": channel, "ts": ts, "reaction": EMOJI[n % len(EMOJI)]}
            elif kind == "email.send":
                arguments = {"to": f"person{n}@example.org", "subject": f"Campaign mail {n}", "body": "Only once."}
            else:
                arguments = {"message_id": self.host.mails.pop(), "add_labels": ["Projects/Bridge"]}
            work = Work(f"campaign-{n}", kind, arguments)
            self.works.append(work)
            return work, self.random.random(), self.random.uniform(0, 1.5)

    def patiently(self, call):
        """Until the host has answered, over its deaths: what was asked is asked again, under the same key."""
        while True:
            try:
                return call()
            except Gone:
                if self.over.wait(0.05):
                    raise

    def agent(self):
        while not self.over.is_set():
            if len(self.host.open_writes()) > MOST_OPEN:
                self.over.wait(0.3)
                continue
            work, dice, pause = self.next_work()
            try:
                self.do(work, dice, pause)
            except Gone:
                return

    def do(self, work, dice, pause):
        answer = self.patiently(lambda: self.host.invoke(work.capability, work.arguments, work.key))
        if answer["success"]:
            work.write_id = answer["data"]["write_id"]
        else:
            work.write_id = (answer["error"].get("context") or {}).get("write_id")
            if work.write_id is None:
                work.refused = answer["error"]["type"]
                return
        if dice < 0.25 and not self.over.wait(pause):
            taken_back = self.patiently(lambda: self.host.invoke("proxy.cancel_write", {"write_id": work.write_id}))
            work.cancelled = taken_back["success"]
        elif dice > 0.9:
            self.undo(work)
        else:
            self.over.wait(pause / 10)

    def undo(self, work):
        """Once it is completed, which may take a while: it is refused until then."""
        for _ in range(6):
            if self.over.wait(1):
                return
            answer = self.patiently(lambda: self.host.invoke("proxy.rollback", {"write_id": work.write_id}))
            told = answer["data"] if answer["success"] else answer["error"].get("context") or {}
            if told.get("write_id", "").startswith("rb_"):
                work.undo_id = told["write_id"]
                work.undone = answer["success"] and told["status"] == "ok"
                return
            if not answer["success"] and answer["error"]["type"] == "InvalidInput":
                return  # not to be undone at all

    # --- what happens to it -------------------------------------------------------------------------------------------

    def disturb(self):
        while not self.over.wait(self.random.uniform(0.1, 0.6)):
            service = self.random.choice(("slack", "gmail"))
            method, kinds = self.random.choice(SLACK_FAULTS if service == "slack" else GMAIL_FAULTS)
            fault = {"method": method, "kind": self.random.choice(kinds), "count": 1}
            if fault["kind"] == "rate_limited":
                fault["retry_after"] = 1
            self.host.emulator(service, "fault", fault)
            if self.random.random() < 0.2:
                self.host.emulator(service, "release", {"answer": self.random.random() < 0.5})
            self.counts["faults"] += 1

    def kept(self, work):
        try:
            work()
        except Exception as error:  # what is not noticed would make the rest of the campaign easy
            self.broken.append(f"the campaign's own {work.__name__}: {error!r}")

    def kill(self):
        for number in range(1, self.options.kills + 1):
            early = self.random.random() < 0.15
            time.sleep(self.random.uniform(0, 0.15) if early else self.random.uniform(0.2, 1.4))
            self.host.kill(signal.SIGKILL)
            self.counts["kills"] += 1
            # Some of the kills come while the host starts.
            self.host.start(wait=not (number < self.options.kills and self.random.random() < 0.15))
            if number % 25 == 0:
                print(f"  {number} kills, {len(self.works)} calls", flush=True)

    # --- the end ------------------------------------------------------------------------------------------------------

    def run(self):
        threads = [threading.Thread(target=self.kept, args=(self.agent,)) for _ in range(CALLS_UNDER_WAY)]
        threads.append(threading.Thread(target=self.kept, args=(self.disturb,)))
        for thread in threads:
            thread.start()
        try:
            self.kill()
        finally:
            self.over.set()
            for thread in threads:
                thread.join()
        for service in ("slack", "gmail"):
            self.host.emulator(service, "faults", method="DELETE")
            self.host.emulator(service, "release", {"answer": True})
        self.host.ready()
        self.settle()
        if not self.counts["faults"]:
            self.broken.append("the campaign made no fault")
        return self.broken + audit.judge(self)

    def settle(self):
        """Everything comes to its end: by itself, and where a person is asked, by one who looks at the service first."""
        for work in self.works:
            if work.write_id is None and work.refused is None:
                self.do(work, 0.5, 0)
        fewest, since = None, time.monotonic()
        while time.monotonic() < since + REST_SECONDS:
            open_writes = self.host.open_writes()
            if not open_writes:
                return
            if fewest is None or len(open_writes) < fewest:
                fewest, since = len(open_writes), time.monotonic()
            for write in open_writes:
                decision = self.decision(write)
                if decision:
                    self.counts["decided by a person: " + decision] += 1
                    self.host.decide(write, decision)
            time.sleep(0.5)

    def decision(self, write):
        if write["state"] not in ("unknown", "dead_letter") or not write["needs_operator"]:
            return None
        if write["state"] == "dead_letter":
            return "resend"
        there = audit.is_there(self.host, write)
        if there is None:
            return "resend"  # to be repeated without harm
        return "happened" if there else self.random.choice(("resend", "discard"))


def run(options):
    host = Host(ROOT, options)
    print(f"seed {options.seed}: {options.kills} kills, programs of build/{options.preset}", flush=True)
    begun = time.monotonic()
    try:
        host.prepare()
        campaign = Campaign(host, options)
        wrong = campaign.run()
        for name, count in sorted(campaign.counts.items()):
            print(f"  {count:6}  {name}")
        for line in wrong:
            print("WRONG " + line)
        if wrong:
            print(f"the host's data and log: {host.directory}")
        seconds = time.monotonic() - begun
        print(f"{campaign.counts['kills']} kills, {campaign.counts['writes']} writes, {len(wrong)} wrong "
              f"(seed {options.seed}, {seconds:.0f} s)")
        if not wrong and not options.keep:
            shutil.rmtree(host.directory, ignore_errors=True)
        return 1 if wrong else 0
    finally:
        host.end()
