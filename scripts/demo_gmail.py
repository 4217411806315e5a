"""The demo's third part: a mailbox, connected in the browser."""
import time

from demo_support import bold, check

PERSON = "ada@example.com"
CLIENT = ("krux-test.apps.googleusercontent.com", "GOCSPX-krux-test")


def prepare(stage):
    stage.start_gmail(PERSON)
    now, hour = int(time.time() * 1000), 3_600_000

    def mail(sender, subject, body, ago, **more):
        return {"from": sender, "to": PERSON, "subject": subject, "body": body, "at_ms": now - ago, **more}

    seeded = stage.gmail("seed", {
        "generate": {"messages": 60}, "labels": [{"id": "Label_7", "name": "Projects/Bridge"}],
        "messages": [
            mail("Bob Okafor <bob@example.com>", "Invoice 4711", "Please find the invoice for October attached.", 30 * hour,
                 attachments=[{"filename": "invoice-4711.pdf", "type": "application/pdf", "size": 40_000}]),
            mail("Chen Wei <chen@example.com>", "Bridge: next steps", "Shall we meet on Thursday?\n\nChen", 20 * hour,
                 labels=["INBOX", "UNREAD", "Label_7"]),
            mail("News <news@example.net>", "You have won", "Click here.", 10 * hour)]})
    return dict(zip(("invoice", "bridge", "news"), seeded["ids"]))


def connect(stage):
    stage.chapter("A mailbox is connected in the browser",
                  "OAuth with PKCE: the host listens on this machine, a scripted browser agrees on the emulator's page of consent, "
                  "and the tokens go from there into the vault. No agent and no adapter ever sees one.")
    stage.connect_in_browser("gmail", "--client-id", CLIENT[0], secret=CLIENT[1], account=PERSON)
    stage.operator("sync", "gmail", "--wait")
    stage.operator("connect", "status")
    stage.good("the whole mailbox is in the replica, newest mail first; the tokens are refreshed by themselves")


def read(stage, ids):
    stage.chapter("The agent searches and reads mail",
                  "Gmail's own search operators, answered from the local replica. A body is fetched once, when it is first read.")
    before = stage.gmail_calls()
    found = stage.invoke("email.search", query="from:bob has:attachment newer_than:7d")["messages"]
    stage.show("\n".join(f"{m['date'][:10]}  {m['from']:<30} {m['subject']}" for m in found))
    check([m["id"] for m in found] == [ids["invoice"]], f"the search found {found}")
    found = stage.invoke("email.search", query="label:projects-bridge is:unread -subject:invoice")["messages"]
    check([m["id"] for m in found] == [ids["bridge"]], f"the search found {found}")
    begun = time.monotonic()
    for _ in range(100):
        stage.invoke("email.search", quiet=True, query="subject:invoice OR from:chen")
    each = (time.monotonic() - begun) * 10
    mail = stage.invoke("email.read", message_id=ids["invoice"])
    stage.show(mail["body"]["text_plain"] + "\n" + ", ".join(f"{a['filename']} ({a['size']} bytes)" for a in mail["attachments"]))
    stage.invoke("email.read", quiet=True, message_id=ids["invoice"])
    after = stage.gmail_calls()
    gets = after.get("gmail.users.messages.get", 0) - before.get("gmail.users.messages.get", 0)
    check(gets == 1, f"two reads of one body asked Gmail {gets} times")
    stage.good(f"100 more searches, {each:.2f} ms each; Gmail was asked once, for the body")


def write(stage, ids):
    stage.chapter("The agent writes mail",
                  "A draft at once; sending, replying and forwarding through the buffer. Each mail becomes a draft that is then sent, "
                  "so that Gmail itself refuses a second sending.")
    draft = stage.invoke("email.draft", to="bob@example.com", subject="Invoice 4711", body="Thank you, it is being paid.")
    upload = stage.upload("report.txt", "text/plain", b"Everything is fine.\n" * 2000)
    sent = [stage.invoke("email.send", to="Dora Müller <dora@example.org>", subject="Der Bericht für Oktober",
                         body="Grüße!", attachments=[upload]),
            stage.invoke("email.reply", message_id=ids["bridge"], body="Thursday at ten is fine."),
            stage.invoke("email.forward", message_id=ids["invoice"], to="accounts@example.org", body="For your books.")]
    stage.operator("approve", "list", "--service", "gmail")
    for write_id in (s["write_id"] for s in sent):
        stage.follow(write_id, lambda s: s["status"] == "completed")
        check(stage.mails(write_id) == 1, "Gmail does not have exactly one such mail")
    outgoing = {m["subject"]: m for m in stage.gmail("messages")["messages"] if "SENT" in m["labelIds"]}
    stage.show("\n".join(f"{m['to']:<34} {s}" for s, m in outgoing.items() if s in
                         ("Der Bericht für Oktober", "Re: Bridge: next steps", "Fwd: Invoice 4711")))
    check("Re: Bridge: next steps" in outgoing and "Fwd: Invoice 4711" in outgoing, f"sent were {list(outgoing)}")
    stage.good(f"three mails, each sent once, and the draft {bold(draft['draft_id'])} for a person")


def lost_answer(stage):
    stage.chapter("The answer to a sending is lost",
                  "Gmail sends the mail and the connection dies. The draft is gone, so the host looks for the sent mail by its own mark.")
    stage.gmail("fault", {"method": "gmail.users.drafts.send", "kind": "reset_after"})
    sent = stage.invoke("email.send", to="dora@example.org", subject="Once, please", body="Only once.")
    stage.follow(sent["write_id"], lambda s: s["status"] == "completed")
    check(stage.mails(sent["write_id"]) == 1, "Gmail does not have exactly one such mail")
    stage.good("found, and not sent again")


def tidy(stage, ids):
    stage.chapter("Labels, the trash, and back",
                  "A label is added, a mail is moved to the trash; both are undone, each with the labels that it had before.")
    labelled = stage.invoke("email.label", message_id=ids["invoice"], add_labels=["Projects/Bridge"], remove_labels=["UNREAD"])
    deleted = stage.invoke("email.delete", message_id=ids["news"])
    for w in (labelled, deleted):
        stage.follow(w["write_id"], lambda s: s["status"] == "completed")
    labels = {m["id"]: set(m["labelIds"]) for m in stage.gmail("messages")["messages"]}
    check("Label_7" in labels[ids["invoice"]] and "TRASH" in labels[ids["news"]], "Gmail has other labels")
    stage.invoke("proxy.rollback", write_id=deleted["write_id"])
    stage.invoke("proxy.rollback", write_id=labelled["write_id"])
    labels = {m["id"]: set(m["labelIds"]) for m in stage.gmail("messages")["messages"]}
    check("TRASH" not in labels[ids["news"]] and "INBOX" in labels[ids["news"]], f"after the undo: {labels[ids['news']]}")
    check("Label_7" not in labels[ids["invoice"]] and "UNREAD" in labels[ids["invoice"]], "the labels are not as before")
    stage.good("as it was before")


def expiries(stage):
    stage.chapter("A token ends, and Gmail forgets its history",
                  "The access token is refused: the host renews it and goes on. Then Gmail no longer knows the point from which the "
                  "sync would go on: the mailbox is compared, and what is gone goes.")
    stage.gmail("oauth", {"action": "expire_access"})
    gone = stage.gmail("messages")["messages"][-1]["id"]
    stage.gmail("act", {"action": "delete", "id": gone})
    stage.gmail("act", {"action": "deliver", "from": "chen@example.com", "to": PERSON, "subject": "New since then", "body": "Hello."})
    stage.gmail("act", {"action": "expire_history"})
    stage.operator("sync", "gmail", "--wait")
    check(stage.invoke("email.search", query='subject:"new since then"')["total"] == 1, "the new mail is not there")
    error = stage.refused("email.read", message_id=gone)
    check(error["type"] == "MessageNotFound", f"the read ended with {error}")
    refreshed = stage.gmail("oauth")["oauth"]["counters"]["refreshes"]
    check(refreshed >= 1, "the token was not renewed")
    stage.good("renewed once, compared once, complete again")


def disconnect(stage):
    stage.chapter("The mailbox is disconnected")
    stage.operator("disconnect", "gmail", "--yes")
    check(stage.gmail("oauth")["oauth"]["live_grants"] == 0, "Google still honours the grant")
    check(not list((stage.directory / "data" / "replica").glob("gmail/*")), "something of the mailbox is left")
    secrets = stage.gmail("oauth")["oauth"]["secrets"]
    log = (stage.directory / "kruxosd.log").read_text(errors="replace")
    check(not any(s in log for s in secrets), "a token stands in the log")
    stage.good(f"revoked at the provider; none of {len(secrets)} codes and tokens stands in the log")
