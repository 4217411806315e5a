"""The demo's second part: what a person and an agent can still do about a write, before and after it."""
from demo_support import check

NOTES = """
{"service": "notes", "account": {"account_id": "acct-1", "display_name": "Ann's notes"},
 "rules": [{"call": "execute_write", "when": {"text": "Write this and crash."}, "crash": "segv"}]}
"""


def edit(stage):
    stage.chapter("A message is changed while it waits",
                  "The agent mends its own text, then a person changes it again. The write keeps its id; what goes out is what "
                  "was seen last.")
    write = stage.invoke("slack.send", channel="general", text="Teh numbers are in.")
    stage.invoke("proxy.edit_write", write_id=write["write_id"], content_hash=write["content_hash"],
                 arguments={"text": "The numbers are in."})
    stage.operator("approve", "edit", write["write_id"], "text=The numbers are in: see the report.", "--yes")
    stage.operator("approve", "show", write["write_id"])
    stage.follow(write["write_id"], lambda s: s["status"] == "completed")
    texts = [m["text"] for m in stage.slack("messages?channel=C0GENERAL01")["messages"] if "numbers" in m["text"]]
    check(texts == ["The numbers are in: see the report."], f"Slack has {texts}")
    stage.good("sent once, with the last text; who changed what is kept")
    return write["write_id"]


def undo(stage, write_id):
    stage.chapter("A message is undone",
                  "An undo is a write of its own: durable, never lost, never done twice.")
    stage.invoke("proxy.rollback", write_id=write_id)
    check(stage.status_of(write_id)["status"] == "rolled_back", "the message was not undone")
    check(stage.live(write_id) == 0, "the message still stands in Slack")
    stage.good("gone from Slack")


def undo_refused(stage):
    stage.chapter("An undo that is refused",
                  "Between sending and undoing, somebody changes the message in Slack. The host compares before it undoes, and "
                  "leaves a person's change alone.")
    write = stage.invoke("slack.send", channel="engineering", text="Rollout at 15:00.")
    status = stage.follow(write["write_id"], lambda s: s["status"] == "completed")
    channel, ts = status["result"]["message_id"].split("/")
    stage.slack("act", {"action": "edit", "channel": channel, "ts": ts, "text": "Rollout at 16:00, says Alice."})
    error = stage.refused("proxy.rollback", write_id=write["write_id"])
    check(error["type"] == "RollbackConflict", f"the undo ended with {error}")
    check(stage.live(write["write_id"]) == 1, "the changed message is gone")
    stage.good("refused with RollbackConflict; only a person could still force it (kruxos approve rollback --force)")


def batch(stage):
    stage.chapter("A batch that is stopped",
                  "An agent gone wild posts and posts. Ten messages an hour and channel are its limit; what exceeds it waits "
                  "for a person.")
    wild = stage.operator_json("agent", "create", "newsletter")["key"]
    ids, stopped = [], []
    for i in range(12):
        answer = stage.invoke_as(wild, "slack.send", channel="random", text=f"Subscribe now, number {i + 1}!")
        if answer["success"]:
            ids.append(answer["data"]["write_id"])
        else:
            check(answer["error"]["type"] == "ApprovalRequired", f"the send ended with {answer['error']}")
            stopped.append(answer["error"]["context"]["write_id"])
    check((len(ids), len(stopped)) == (10, 2), f"{len(ids)} were accepted and {len(stopped)} stopped")
    stage.show("after 10 messages: " + answer["error"]["message"])
    stage.operator("approve", "reject", "--all", "--reason", "No newsletters.", "--yes")
    stage.operator("agent", "revoke", "newsletter", "--yes")
    left = [stage.live(i) for i in ids + stopped]
    check(sum(left) <= 3, f"{sum(left)} of them reached Slack")
    stage.good("two waited for a person and were rejected; revoking the agent took back what had not gone out")
    return sum(left)


def dead_letter(stage):
    stage.chapter("A dead letter is retried",
                  "Slack refuses three times in a row, and the schedule is used up. The write certainly did not happen; it "
                  "waits in the dead letter queue, and an alert says so.")
    stage.slack("fault", {"method": "chat.postMessage", "kind": "rate_limited", "retry_after": 1, "count": 3})
    write = stage.invoke("slack.send", channel="engineering", text="Third time lucky.")
    stage.follow(write["write_id"], lambda s: s.get("needs_operator"))
    stage.operator("dlq", "list")
    stage.operator("dlq", "retry", write["write_id"], "--yes")
    stage.follow(write["write_id"], lambda s: s["status"] == "completed")
    check(stage.effects(write["write_id"]) == 1, "Slack does not have exactly one such message")
    stage.good("sent once, when a person said so")


def crash(stage):
    stage.chapter("An adapter crashes",
                  "The notes adapter runs in a process of its own. One write makes it crash; the host starts it again, and the "
                  "next write goes through.")
    stage.operator("connect", "notes", stdin="note-demo1234\n")
    broken = stage.invoke("notes.create", text="Write this and crash.")
    stage.follow(broken["write_id"], lambda s: s["status"] in ("unknown", "dead_letter"))
    whole = stage.patiently("notes.create", text="Still here.")
    stage.follow(whole["write_id"], lambda s: s["status"] == "completed")
    stage.follow(broken["write_id"], lambda s: s.get("needs_operator"))
    stage.operator("plugin", "list")
    stage.operator("approve", "resolve", broken["write_id"], "--discard", "--yes")
    stage.good("the crash cost one call; nobody can know whether that write happened, so a person was asked")


def disconnect(stage):
    stage.chapter("An account is disconnected",
                  "Sync stopped, waiting writes cancelled, the token revoked at Slack and removed, the local copy deleted: each "
                  "step is verified and stands in a receipt.")
    stage.invoke("slack.send", channel="general", text="Never to be sent.")
    before = stage.slack("state")["methods"].get("auth.revoke", {}).get("calls", 0)
    stage.operator("disconnect", "slack", "--yes")
    replicas = list((stage.directory / "data" / "replica").glob("slack/*"))
    check(not replicas, f"of the local copy there is still {replicas}")
    check(stage.slack("state")["methods"]["auth.revoke"]["calls"] == before + 1, "Slack was not asked to forget the token")
    error = stage.refused("slack.search", query="release")
    check(error["type"] == "NotConnected", f"a search ended with {error}")
    stage.good("nothing of the workspace is left on this machine but the ledger and the receipt")
