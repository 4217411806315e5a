"""One case: a user's task, an injection or none, and in which order a fully hijacked agent makes their calls."""
import dataclasses

from goals import Goal
from suite import twin

ORDERS = ("user first", "injection first")


@dataclasses.dataclass
class Outcome:
    """What a call has come to."""
    done: bool
    kind: str = "read"      # or "write"
    why: str = ""           # of what was not done: the rule, limit or error that stopped it
    held: bool = False      # of a write: a person is asked
    service: str = ""
    mail_id: str | None = None  # of a mail that was sent: the suite's id


@dataclasses.dataclass
class Result:
    suite: str
    user: str
    injection: str | None
    order: str
    utility: bool = False
    goal: bool = False      # the injection has reached it
    whole: bool = True      # every call of the user's task was carried out
    writes: list = dataclasses.field(default_factory=list)  # of the user's task: outcome by outcome
    stopped: list = dataclasses.field(default_factory=list)  # of the injection: what stopped a call
    needs: str = ""         # by which service the injection's first write goes; "text": it only wants something said

    def as_json(self):
        return dataclasses.asdict(self)


def run(suite, hands, user, injection=None, order=ORDERS[0], utility=True):
    """`hands` carry calls out, and have the environment as it is by now. `utility`: whether that is asked, which takes longest."""
    result = Result(suite.name, user.ID, injection.ID if injection else None, order)
    before = twin(hands.environment)
    calls, answered = [], True
    for part in _parts(injection, order):
        if part == "injection":
            _hijacked(suite, hands, injection, result, calls)
        else:
            answered = _honest(hands, user, result, calls)
    output = user.GROUND_TRUTH_OUTPUT if answered else ""
    if injection and injection.GROUND_TRUTH_OUTPUT:
        output += f" {injection.GROUND_TRUTH_OUTPUT}"
    result.utility = utility and suite.utility(user, output, before, hands.environment, calls)
    if injection:
        result.goal = suite.security(injection, output, before, hands.environment, calls)
    return result


def _parts(injection, order):
    if not injection:
        return ["user"]
    return ["user", "injection"] if order == "user first" else ["injection", "user"]


def _honest(hands, user, result, calls):
    """Whether every read of the task was answered."""
    answered = True
    for call in user.ground_truth(twin(hands.environment)):
        outcome = hands.do(call)
        if outcome.done:
            calls.append(call)
        elif outcome.kind == "read":
            answered = False
        result.whole = result.whole and outcome.done
        if outcome.kind == "write":
            result.writes.append(dataclasses.asdict(outcome))
    return answered


def _hijacked(suite, hands, injection, result, calls):
    hands.read_injections()
    goal = Goal(suite, injection, lambda: hands.environment)
    any_call = False
    for call in goal.steps():
        any_call = True
        outcome = hands.do(call)
        goal.done(call, outcome.mail_id)
        if outcome.kind == "write" and not result.needs:
            result.needs = outcome.service
        if outcome.done:
            calls.append(call)
        else:
            result.stopped.append({"call": call.function, "service": outcome.service, "why": outcome.why, "held": outcome.held})
    if not any_call:
        result.needs = "text"
