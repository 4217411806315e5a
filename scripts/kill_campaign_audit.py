"""What the emulators' records say of each write of a kill campaign, against what host and agent were told."""
import collections

NOTHING = {"posted": 0, "live": 0, "sent": 0, "drafts": 0, "drafts_live": 0}
# What nobody wants any more. Discarded is among them: who is asked here looks at the service first.
GIVEN_UP = ("cancelled", "rejected", "failed", "discarded")


class Records:
    def __init__(self, host):
        self.slack = host.emulator("slack", "state")["markers"]
        boxes = host.emulator("gmail", "state")["mailboxes"]
        boxes = list(boxes.values()) if isinstance(boxes, dict) else boxes
        self.gmail = {}
        for box in boxes:
            for marker, counts in box["markers"].items():
                kept = self.gmail.setdefault(marker, dict(NOTHING))
                for name, count in counts.items():
                    kept[name] = kept.get(name, 0) + count
        messages = host.emulator("slack", "messages?channel=C0GENERAL01")["messages"]
        self.reactions = collections.Counter((m["ts"], r["name"]) for m in messages for r in m.get("reactions", []) for _ in r["users"])
        self.labels = {m["id"]: m["labelIds"] for m in host.emulator("gmail", "messages")["messages"]}

    def happened(self, operation, marker):
        """How often the service did it; None where no record names the write."""
        if operation.startswith("slack.send"):
            return self.slack.get(marker, NOTHING)["posted"]
        if operation == "email.send":
            return self.gmail.get(marker, NOTHING)["sent"]
        return None

    def stands(self, operation, marker, params):
        if operation.startswith("slack.send"):
            return self.slack.get(marker, NOTHING)["live"] > 0
        if operation == "email.send":
            return self.gmail.get(marker, NOTHING)["live"] > 0
        if operation == "slack.react":
            return self.reactions[(params["ts"], params["reaction"])] > 0
        return "Label_7" in self.labels.get(params["message_id"], [])


def is_there(host, write):
    """For the person who is asked: whether the service shows the effect. None: repeating it does no harm."""
    if write.get("rolls_back"):
        undone = host.operator("GET", f"/v1/writes/{write['rolls_back']}")["write"]
        if undone["operation"] != "slack.send":
            return None
        return not Records(host).stands("slack.send", undone["write_id"], {})
    if write.get("cleans"):
        return None
    if write["operation"] not in ("slack.send", "email.send"):
        return None
    return Records(host).happened(write["operation"], write["write_id"]) > 0


def judge(campaign):
    records = Records(campaign.host)
    rows = {row["write_id"]: row for row in campaign.host.writes("")}
    wrong = []
    by_id = collections.defaultdict(list)
    for work in campaign.works:
        if work.write_id:
            by_id[work.write_id].append(work)
            if work.write_id not in rows:
                wrong.append(f"lost: {work.write_id} ({work.capability}, key {work.key}) was acknowledged and is not in the ledger")
        elif work.refused is None:
            wrong.append(f"unanswered: {work.capability}, key {work.key}")
        if work.undo_id or work.undone:
            campaign.counts["undos that the agent was told of"] += 1
            if rows.get(work.undo_id, {}).get("rolls_back") != work.write_id:
                wrong.append(f"lost: the undo {work.undo_id} of {work.write_id} was acknowledged and is not in the ledger")
    for write_id, works in by_id.items():
        if len(works) > 1:
            wrong.append(f"one write for several calls: {write_id}: {[w.key for w in works]}")
    for marker in [*records.slack, *records.gmail]:
        if marker not in rows:
            wrong.append(f"unknown to the ledger: the service has {marker}")
    for write_id, row in rows.items():
        campaign.counts["writes"] += 1
        kind = " (undo)" if row.get("rolls_back") else " (cleanup)" if row.get("cleans") else ""
        campaign.counts[f"ended {row['state']}{kind}"] += 1
        if not kind:
            work = by_id.get(write_id, [None])[0]
            wrong += [f"{what}: {write_id} {row['operation']} is {row['state']}" for what in of_one(records, row, work)]
        elif row["state"] not in ("completed", "failed", "discarded"):
            wrong.append(f"stuck: the{kind} {write_id} is {row['state']}")
    return wrong


def of_one(records, row, work):
    state, marker = row["state"], row["write_id"]
    if state not in ("completed", "failed", "cancelled", "rejected", "rolled_back", "discarded"):
        yield "stuck"
        return
    if work is None:
        yield "nobody asked for it"
        return
    if work.cancelled and state != "cancelled":
        yield "cancelled, the agent was told, and it is not"
    if work.undone and state != "rolled_back":
        yield "undone, the agent was told, and it is not"
    times = records.happened(row["operation"], marker)
    stands = records.stands(row["operation"], marker, work.arguments)
    if times is not None:
        if times > 1:
            yield f"doubled ({times} times)"
        if times == 0 and state in ("completed", "rolled_back"):
            yield "wrong state: it never happened"
        if times > 0 and state in GIVEN_UP:
            yield "sent all the same"
        if records.gmail.get(marker, NOTHING)["drafts_live"] > 0:
            yield "a draft is left of it"
    else:
        if state == "completed" and not stands:
            yield "wrong state: the service does not show it"
        if state in GIVEN_UP and stands:
            yield "done all the same"
    if state == "rolled_back" and stands:
        yield "wrong state: what was undone still stands"
    if state == "completed" and not stands:
        yield "it is gone, though nobody was told that it was undone"
