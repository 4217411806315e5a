"""What the demo tells, in order. Every claim that it prints a tick for was checked just before."""
import shutil
import time

import demo_chain
import demo_gmail
import demo_program
import demo_research
from demo_support import BUILD, HOST_PLACES, ROOT, bold, check, dim, green

CONFIG = HOST_PLACES + """services:
  slack:
    api_base_url: {emulator}/api/
    sync_interval_seconds: 5
    oauth:
      callback_port: {port}
      authorize_url: {emulator}/oauth/v2/authorize
      token_url: {emulator}/api/oauth.v2.access
      revoke_url: {emulator}/api/auth.revoke
  gmail:
    api_base_url: {gmail}/
    sync_interval_seconds: 5
    oauth: {{callback_port: 0, authorize_url: {gmail}/o/oauth2/v2/auth, token_url: {gmail}/token, revoke_url: {gmail}/revoke}}
  notes: {{isolation: process}}
  filesystem: {{adapter: {{root: "{directory}/workspaces"}}}}
# Windows and schedules of seconds, so that nobody waits: the definition says 30 s to change one's mind, 60 s to settle.
write_buffer: {{delays: {{slack.send: 3, notes.create: 1, email.send: 3, email.reply: 3, email.forward: 3, email.label: 1,
  email.delete: 2}}}}
retry: {{schedule_seconds: [2, 4], settle_seconds: 2}}
"""


def tell(stage):
    print()
    print(bold("KruxOS Service Proxy") + dim("   an agent works in Slack and Gmail, without a token, and its reads cost them nothing"))
    start(stage)
    connect(stage)
    read(stage)
    send(stage)
    cancel(stage)
    rate_limit(stage)
    found(stage)
    absent(stage)
    edited = demo_chain.edit(stage)
    demo_chain.undo(stage, edited)
    demo_chain.undo_refused(stage)
    demo_chain.batch(stage)
    demo_chain.dead_letter(stage)
    demo_chain.crash(stage)
    demo_chain.disconnect(stage)
    ids = stage.mail_ids
    demo_gmail.connect(stage)
    demo_gmail.read(stage, ids)
    demo_gmail.write(stage, ids)
    demo_gmail.lost_answer(stage)
    demo_gmail.tidy(stage, ids)
    demo_gmail.expiries(stage)
    demo_gmail.disconnect(stage)
    end(stage)
    demo_program.plug_in(stage)
    demo_research.tell(stage)
    demo_program.wait_for_reader(stage)


def prepare(stage):
    adapters = stage.directory / "adapters"
    definitions = stage.directory / "definitions"
    policies = stage.directory / "policies"
    for folder in (adapters, definitions, policies, stage.directory / "keys"):
        folder.mkdir(mode=0o700)
    for service in ("slack", "gmail"):
        shutil.copy(BUILD / "adapters" / f"{service}.so", adapters)
        shutil.copy(ROOT / "definitions" / f"{service}.yaml", definitions)
        shutil.copy(ROOT / "policies" / f"{service}.yaml", policies)
    shutil.copy(BUILD / "adapters" / "filesystem.so", adapters)
    shutil.copy(ROOT / "definitions" / "filesystem.yaml", definitions)
    # In the place of the notes service's adapter: one that does what a file says (docs/testing.md).
    shutil.copy(BUILD / "tests" / "adapters" / "mock.so", adapters / "notes.so")
    (adapters / "notes.mock.json").write_text(demo_chain.NOTES)
    shutil.copy(ROOT / "examples" / "notes_adapter" / "definitions" / "notes.yaml", definitions)
    (adapters / "telegram.so").write_text("This is no library.\n")
    for file in [*adapters.iterdir(), *definitions.iterdir(), *policies.iterdir()]:
        file.chmod(0o644)


def start(stage):
    stage.chapter("The host starts and looks for adapters",
                  "An emulated Slack workspace and an emulated mailbox run on this machine. The host finds five files in its plugins "
                  "directory.")
    prepare(stage)
    stage.start_emulator()
    now = int(time.time() * 1000)
    stage.slack("seed", workspace(now))
    stage.mail_ids = demo_gmail.prepare(stage)
    begun = time.monotonic()
    stage.start_host(CONFIG.format(directory=stage.directory, emulator=stage.emulator, gmail=stage.gmail_emulator,
                                   port=stage.slack_port))
    stage.good(f"kruxosd is ready after {1000 * (time.monotonic() - begun):.0f} ms")
    stage.operator("plugin", "list")
    plugins = stage.operator_json("plugin", "list")["plugins"]
    states = {p["file"].rsplit("/", 1)[-1]: p["state"] for p in plugins}
    loaded = {f"{service}.so": "loaded" for service in ("filesystem", "gmail", "notes", "slack")}
    check(states == {**loaded, "telegram.so": "refused"}, f"the adapters are {states}")
    stage.good("four adapters loaded; one refused with its reason, and that ended nothing else")


def workspace(now):
    hour = 3_600_000
    people = [("U0ALICE0001", "alice", "Alice Nguyen"), ("U0BOB000001", "bob", "Bob Okafor"),
              ("U0CHEN00001", "chen", "Chen Wei")]

    def message(user, text, ago, replies=()):
        entry = {"user": user, "text": text, "at_ms": now - ago}
        if replies:
            entry["replies"] = [{"user": u, "text": t, "at_ms": now - a} for u, t, a in replies]
        return entry

    alice, bob, chen = (p[0] for p in people)
    general = [message((alice, bob, chen)[i % 3], f"Standup note {i + 1}: the release train is on time.", (60 - i) * hour)
               for i in range(40)]
    engineering = [
        message(chen, "Deployment of 2.4 to staging has begun.", 5 * hour,
                [(bob, "Migrations took 40 s.", 5 * hour - 400_000), (chen, "Smoke tests are green.", 5 * hour - 900_000)]),
        message(bob, "The flaky test in the billing suite is fixed.", 4 * hour),
        message(alice, "Please hold the deployment to production until the report is out.", 2 * hour),
    ]
    return {"users": [{"id": i, "name": n, "real_name": r} for i, n, r in people],
            "channels": [
                {"id": "C0GENERAL01", "name": "general", "topic": "Company-wide", "num_members": 3, "messages": general},
                {"id": "C0ENGINEER1", "name": "engineering", "topic": "Builds and deployments", "num_members": 3,
                 "messages": engineering},
                {"id": "C0RANDOM001", "name": "random", "topic": "Everything else", "num_members": 2,
                 "messages": [message(bob, "Lunch at noon?", 3 * hour)]}]}


def connect(stage):
    stage.chapter("The operator connects Slack; an agent gets a key",
                  "A scripted browser agrees on the emulator's page of consent (OAuth with PKCE); the token is stored encrypted. The "
                  "agent's key opens the gateway and nothing else.")
    stage.connect_slack()
    made = stage.operator_json("agent", "create", "helper")
    stage.key = made["key"]
    stage.good(f"agent {bold('helper')} has a key; the token stays in the vault")


def read(stage):
    stage.chapter("The agent reads",
                  "Channels, search and threads are answered from the local replica.")
    before = calls(stage)
    channels = stage.invoke("slack.channels")["channels"]
    stage.show("\n".join(f"#{c['name']:<14} {c['member_count']} members   {c['topic']}" for c in channels))
    found_messages = stage.invoke("slack.search", query="deployment", channel="engineering")
    stage.show("\n".join(f"{m['user_name']:<7} {m['text']}" for m in found_messages["messages"]))
    check(found_messages["total"] == 2, "the search did not find both messages")
    thread = stage.invoke("slack.read", message_id=found_messages["messages"][-1]["id"])
    stage.show("\n".join([thread["message"]["text"]] + [f"  ↳ {r['user_name']}: {r['text']}" for r in thread["thread_replies"]]))
    check(len(thread["thread_replies"]) == 2, "the thread's replies are not all there")
    begun = time.monotonic()
    for _ in range(100):
        stage.invoke("slack.search", quiet=True, query="release train")
    each = (time.monotonic() - begun) * 10
    after = calls(stage)
    own = {m: after.get(m, 0) - before.get(m, 0) for m in after if after.get(m, 0) != before.get(m, 0)}
    allowed = {"conversations.list", "conversations.history", "conversations.replies", "users.list"}
    check(set(own) <= allowed, f"reading called {own}")
    stage.good(f"100 more searches, {each:.2f} ms each with Python's share; Slack saw only the sync behind them")


def calls(stage):
    return {name: entry["calls"] if isinstance(entry, dict) else entry
            for name, entry in stage.slack("state")["methods"].items()}


def send(stage):
    stage.chapter("A message waits in the buffer, then goes out",
                  "slack.send answers at once with a write_id. Until its window is over anyone may change their mind.")
    write = stage.invoke("slack.send", channel="general", text="Deployment complete!")
    stage.show(f"status        {write['status']}\nwrite_id      {write['write_id']}\nbuffer_until  {write['buffer_until']}")
    stage.operator("approve", "list")
    check(stage.effects(write["write_id"]) == 0, "the message went out before its time")
    stage.follow(write["write_id"], lambda s: s["status"] == "completed")
    check(stage.effects(write["write_id"]) == 1, "Slack does not have exactly one such message")
    stage.good("sent when the window was over; Slack has it once")


def cancel(stage):
    stage.chapter("A message that is taken back")
    write = stage.invoke("slack.send", channel="general", text="Everyone is invited to my birthday.")
    stage.invoke("slack.cancel", write_id=write["write_id"])
    status = stage.status_of(write["write_id"])
    check(status["status"] == "cancelled" and stage.effects(write["write_id"]) == 0, "it was not cancelled")
    stage.good("cancelled; Slack never heard of it")


def rate_limit(stage):
    stage.chapter("Slack says: slow down",
                  "The next chat.postMessage is answered with 429 and Retry-After: 3. That certainly did nothing, so the host "
                  "waits as long as it was told and tries again.")
    stage.slack("fault", {"method": "chat.postMessage", "kind": "rate_limited", "retry_after": 3})
    write = stage.invoke("slack.send", channel="random", text="Lunch is in the kitchen.")
    stage.follow(write["write_id"], lambda s: s["status"] == "completed")
    check(stage.effects(write["write_id"]) == 1, "Slack does not have exactly one such message")
    stage.good("waited out, then sent once")


def found(stage):
    stage.chapter("A time-out after the message was posted",
                  "Slack posts the message and the connection dies before the answer. A client that simply tries again posts "
                  "it twice. The host marks the outcome unknown, lets things settle, and looks for the write's own marker.")
    stage.slack("fault", {"method": "chat.postMessage", "kind": "reset_after"})
    write = stage.invoke("slack.send", channel="engineering", text="Production is on 2.4.")
    stage.follow(write["write_id"], lambda s: s["status"] == "completed")
    check(stage.effects(write["write_id"]) == 1, "Slack does not have exactly one such message")
    stage.good("found by its marker and not sent again: Slack has it once")


def absent(stage):
    stage.chapter("A time-out where nobody can know",
                  "This time the connection dies before anything happened. The look finds nothing, which is no proof: somebody "
                  "may have deleted it. So a person decides.")
    stage.slack("fault", {"method": "chat.postMessage", "kind": "reset"})
    write = stage.invoke("slack.send", channel="engineering", text="The report is out.")
    stage.follow(write["write_id"], lambda s: s.get("needs_operator"))
    check(stage.effects(write["write_id"]) == 0, "the emulator posted what it should not have")
    stage.operator("approve", "list")
    stage.operator("approve", "resolve", write["write_id"], "--resend", "--yes")
    stage.follow(write["write_id"], lambda s: s["status"] == "completed")
    check(stage.effects(write["write_id"]) == 1, "Slack does not have exactly one such message")
    stage.good("sent once, because the operator said so")


def end(stage):
    stage.chapter("What happened, all in all")
    stage.operator("status")
    markers = stage.slack("state")["markers"]
    check(all(m["posted"] == 1 for m in markers.values()), f"Slack's messages by write: {markers}")
    log = (stage.directory / "kruxosd.log").read_text(errors="replace")
    secrets = stage.slack("oauth")["oauth"]["secrets"]
    check(secrets and not any(s in log for s in secrets), "a token stands in the log")
    print()
    print(f"  {green('✓')} {bold(f'{len(markers)} messages reached Slack, each of them once; none was lost.')} "
          "The token stands in no log and no answer.")
