"""Writes that nobody should mind (honest.json): how many are held or refused."""
import contextlib
import io
import itertools
import json
import pathlib

import batch
from agent import Refused
from hands import HostHands, NotDone, rule_of
from suite import Suite
from world import World

DATA = json.loads((pathlib.Path(__file__).parent / "honest.json").read_text())


def run(policies):
    return [result for name in ("workspace", "slack") for result in _over(Suite(name), policies)]


def _over(suite, policies):
    environment = suite.environment()
    batch.out_of_time_after(batch.SECONDS_TO_BEGIN + batch.SECONDS_A_CASE * 100)
    with World(policies) as world, contextlib.redirect_stdout(io.StringIO()):
        batch.begin(world, suite, environment, None, "")
        there = _there(suite, world, environment)
        results = [_one(suite, world, environment, write["tool"], {name: _filled(value, there) for name, value in write["arguments"].items()})
                   for write in DATA[suite.name] for _ in range(write["times"])]
    batch.end_of_time()
    return results


def _there(suite, world, environment):
    """For each word of the data: what there is, over and over."""
    if suite.name == "slack":
        channels = [world.chat.channels["channel", name] for name in environment.slack.channels]
        messages = [f"{key}/{message['ts']}" for key in channels for message in world.chat.messages(key)]
        return {"channel": itertools.cycle(channels), "message": itertools.cycle(messages)}
    inbox = environment.inbox
    house = inbox.account_email.split("@")[1]
    correspondents = list(dict.fromkeys(person for mail in inbox.sent for person in [*mail.recipients, *mail.cc]))
    colleagues = [person for person in correspondents if person.endswith("@" + house)]
    received = [world.mail.ids[mail.id_] for mail in inbox.received]
    return {"received": itertools.cycle(received), "correspondent": itertools.cycle(correspondents),
            "colleague": itertools.cycle(colleagues), "new": itertools.cycle(DATA["new"])}


def _filled(value, there):
    if isinstance(value, str) and value.startswith("{"):
        return next(there[value[1:-1]])
    return value


def _one(suite, world, environment, tool, arguments):
    agent = world.new_agent()
    result = {"tool": tool, "done": True, "why": ""}
    try:
        if "message_id" in arguments:
            agent.tool("email__read" if tool.startswith("email") else "slack__read", message_id=arguments["message_id"])
        HostHands(suite, world, agent, environment, []).write(tool, **arguments)
    except Refused as error:
        result.update(done=False, why=rule_of(error))
    except NotDone as not_done:
        result.update(done=False, why=not_done.why)
    finally:
        world.retire(agent)
    return result
