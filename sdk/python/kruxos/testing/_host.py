"""The host of a test: begun, connected and ended again."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, Unpack

from .._settings import ConnectOptions
from ..async_client import AsyncKruxOS, Connecting
from ..client import KruxOS
from ._installation import Installation, NotInstalled

CONFIGURATION = """data_dir: {place}/data
places_dir: {place}/places
vault_key_file: {place}/keys/vault.key
plugins_dir: {place}/adapters
definitions_dir: {place}/definitions
policies_dir: {place}/policies
server: {{port: {port}, health_port: 0}}
operator: {{agents_share_user: false}}
write_buffer: {{default_delay_seconds: {delay}, delays: {{{delays}}}}}
retry: {{schedule_seconds: [1, 1], settle_seconds: 1}}
"""


class MockHost:
    """`with MockHost({"slack": {"rules": […]}}) as host:` where the rules are those of docs/testing.md, "The script".

    Each service's adapter is the mock, which does what its script says; a write waits `delay_seconds`.
    """

    _base = CONFIGURATION

    def __init__(
        self,
        services: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        installation: Installation | None = None,
        tokens: Mapping[str, str] | None = None,
        delay_seconds: int = 1,
        configuration: str = "",
    ) -> None:
        self.installation = installation or Installation.find()
        self._services = dict(services if services is not None else {"slack": {}})
        self._tokens = dict(tokens or {})
        self._delay = delay_seconds
        self._more = configuration
        self._process: subprocess.Popen[str] | None = None
        self._port = 0
        self.directory = Path()
        self.key = ""

    # --- beginning and end --------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.directory = Path(tempfile.mkdtemp(prefix="kruxos-test-"))
        try:
            for folder in ("adapters", "definitions", "policies"):
                (self.directory / folder).mkdir(mode=0o700)
            self.place_services()
            self.start()
            self.connect_services()
            self.key = self.new_key("tester")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def place_services(self) -> None:
        for service, script in self._services.items():
            self.place(self.installation.mock, "adapters", f"{service}.so")
            self.place(self.installation.definition(service), "definitions", f"{service}.yaml")
            self.script(service, script)

    def place(self, file: Path, folder: str, name: str) -> None:
        """A copy that nobody else can write: the host takes no other."""
        copy = self.directory / folder / name
        shutil.copyfile(file, copy)
        copy.chmod(0o644)

    def connect_services(self) -> None:
        for service in self._services:
            self.operator("connect", service, stdin=self._tokens.get(service, "testing") + "\n")  # a mock takes any

    def start(self) -> None:
        """Also once more, after `kill` or `stop`: at the same port, with what it had."""
        delays = ", ".join(f"{name}: {self._delay}" for name in self._write_names())
        text = self._base.format(place=self.directory, port=self._port, delay=self._delay, delays=delays) + self._more
        config = self.directory / "kruxos.yaml"
        config.write_text(text)
        with (self.directory / "kruxosd.log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self.installation.programs / "kruxosd"), "--config", str(config)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=_environment(),
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        found = re.match(r"ready http://[^ ]*:(\d+)", line)
        if found is None:
            raise NotInstalled(f"kruxosd did not start: {(self.log().strip().splitlines() or ['it said nothing'])[-1]}")
        self._port = int(found[1])

    def _write_names(self) -> list[str]:
        """Of the services' writes: their definitions have delays of their own."""
        names = []
        for service in self._services:
            text = self.installation.definition(service).read_text()
            for part in re.split(r"^  - name: ", text, flags=re.MULTILINE)[1:]:
                if re.search(r"^    kind: write$", part, re.MULTILINE) and re.search(r"^    delay: \d", part, re.MULTILINE):
                    names.append(part.split()[0])
        return names

    def kill(self) -> None:
        """As a power cut: without a word."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    # --- for agents ---------------------------------------------------------------------------------------------

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    def connect(self, **options: Unpack[ConnectOptions]) -> KruxOS:
        return KruxOS.connect(**self._given(options))

    def connect_async(self, **options: Unpack[ConnectOptions]) -> Connecting[AsyncKruxOS]:
        return KruxOS.connect_async(**self._given(options))

    def _given(self, options: ConnectOptions) -> ConnectOptions:
        ours: ConnectOptions = {"endpoint": self.address, "api_key": self.key}
        return {**ours, **options}

    # --- for operators ------------------------------------------------------------------------------------------

    def operator(self, *arguments: str, stdin: str = "") -> str:
        """`kruxos …`, as the operator of this host; what it printed."""
        command = [str(self.installation.programs / "kruxos"), "--data-dir", str(self.directory / "data"), *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, env=_environment(), timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"kruxos {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def operator_json(self, *arguments: str) -> Any:
        return json.loads(self.operator("--json", *arguments))

    def new_key(self, name: str) -> str:
        """An agent of this name, and its key."""
        return str(self.operator_json("agent", "create", name)["key"])

    # --- for the test -------------------------------------------------------------------------------------------

    def script(self, service: str, script: Mapping[str, Any]) -> None:
        """What the mock does from now on."""
        whole = {
            "service": service,
            "prefix": self.installation.prefix_for(service),
            "version": self.installation.version_for(service),
            "account": {"account_id": "test", "display_name": f"Mock of {service}"},
            **script,
        }
        file = self.directory / "adapters" / f"{service}.mock.json"
        new = file.with_suffix(".new")
        new.write_text(json.dumps(whole))
        new.chmod(0o600)
        new.replace(file)

    def journal(self, service: str) -> list[dict[str, Any]]:
        """What the mock was asked to do and to undo, with `effect` where it "happened", and `error` where it failed."""
        file = self.directory / "adapters" / f"{service}.mock.json.journal"
        lines = file.read_text().splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]

    def log(self) -> str:
        """What the host has written to its log so far."""
        return (self.directory / "kruxosd.log").read_text(errors="replace")


def _environment() -> dict[str, str]:
    """Without settings of the host that is used otherwise."""
    return {name: value for name, value in os.environ.items() if not name.startswith("KRUXOS_")}
