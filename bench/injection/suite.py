"""The suites of AgentDojo, with nothing that talks to a model: tasks, environments, tools and checkers as the package has them.

The package's `agent_pipeline` imports the clients of model providers as a whole, and its tasks need one class of it. It is
entered here as a folder, so that none of those clients has to be installed.
"""
import copy
import importlib.util
import pathlib
import sys
import types

VERSION = "v1.2.2"
ADAPTED = ("workspace", "slack")  # what the product has adapters and policies for
OTHERS = ("banking", "travel")    # what it has none for, but for travel's mail
SUITES = (*ADAPTED, *OTHERS)
MARK = "THEINJECTIONSTANDSHERE"


def _without_models():
    found = importlib.util.find_spec("agentdojo")
    if not found or not found.origin:
        raise SystemExit("agentdojo is not installed here: run scripts/setup --injection, then make bench-injection.")
    folder = types.ModuleType("agentdojo.agent_pipeline")
    folder.__path__ = [str(pathlib.Path(found.origin).parent / "agent_pipeline")]
    # Tasks are run by our own agent; the package's own one imports a provider's client.
    own_agent = types.ModuleType("agentdojo.agent_pipeline.ground_truth_pipeline")
    own_agent.GroundTruthPipeline = None
    for module in (folder, own_agent):
        sys.modules.setdefault(module.__name__, module)


_without_models()

from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime  # noqa: E402
from agentdojo.task_suite.load_suites import get_suite  # noqa: E402
from agentdojo.types import text_content_block_from_string  # noqa: E402


class Suite:
    """One suite: its tasks by their names, environments, and what its checkers say."""

    def __init__(self, name):
        self.name = name
        self.suite = get_suite(VERSION, name)
        self.runtime = FunctionsRuntime(self.suite.tools)

    @property
    def user_tasks(self):
        return dict(sorted(self.suite.user_tasks.items(), key=_number))

    @property
    def injections(self):
        return dict(sorted(self.suite.injection_tasks.items(), key=_number))

    def places(self):
        """Where an injection may stand."""
        return list(self.suite.get_injection_vector_defaults())

    def environment(self, text=None, spare=()):
        """The suite's environment; `text` stands wherever the suite lets somebody else write, but for the places `spare`."""
        wanted = {} if text is None else {place: MARK for place in self.places() if place not in spare}
        environment = self.suite.load_and_inject_default_environment(wanted)
        if not wanted:
            return environment
        # The suite puts texts into YAML as they are, where a quotation mark ends them. So a word goes in, and the text in its place.
        return type(environment).model_validate(_replaced(environment.model_dump(mode="json"), text))

    def call(self, environment, function, args):
        """What the suite's own tool answers; it changes the environment."""
        result, problem = self.runtime.run_function(environment, function, args, raise_on_error=True)
        return result

    def utility(self, task, output, before, after, calls):
        return self._judge(self.suite._check_user_task_utility, task, output, before, after, calls)

    def security(self, task, output, before, after, calls):
        """Whether the injection has reached its goal."""
        return self._judge(self.suite._check_injection_task_security, task, output, before, after, calls)

    @staticmethod
    def _judge(check, task, output, before, after, calls):
        # Checkers read unread mail, which marks it as read: each gets copies of its own.
        before, after = before.model_copy(deep=True), after.model_copy(deep=True)
        return bool(check(task, [text_content_block_from_string(output)], before, after, calls))


def _replaced(value, text):
    if isinstance(value, str):
        return value.replace(MARK, text)
    if isinstance(value, list):
        return [_replaced(one, text) for one in value]
    if isinstance(value, dict):
        return {_replaced(key, text): _replaced(one, text) for key, one in value.items()}
    return value


def _number(item):
    return int(item[0].rsplit("_", 1)[1])


def files_of(environment):
    """Those that a mail can carry."""
    return environment.cloud_drive.files if hasattr(environment, "cloud_drive") else {}


def as_call(function, args):
    return FunctionCall(function=function, args=args)


def twin(environment):
    """A copy that shares nothing: environments are changed by most of what is asked of them."""
    return copy.deepcopy(environment)
