"""Where the host's programs and the mock are installed."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from ..errors import KruxOSError


class NotInstalled(KruxOSError):
    """Something that a test's host needs is not there."""


@dataclass(frozen=True)
class Installation:
    programs: Path
    """The directory of kruxosd and kruxos."""
    mock: Path
    """The adapter that stands in for any other, mock.so."""
    definitions: Path
    """The directory of the services' definitions."""

    @classmethod
    def below(cls, prefix: Path) -> Installation:
        """As `make install PREFIX=…` puts it."""
        return cls(prefix / "bin", prefix / "lib/kruxos/testing/mock.so", prefix / "share/kruxos/definitions")

    @classmethod
    def find(cls, prefix: str | Path | None = None) -> Installation:
        """Below `prefix`, else where the kruxosd of PATH belongs."""
        if prefix is None:
            program = shutil.which("kruxosd")
            if program is None:
                raise NotInstalled("There is no kruxosd in PATH: install KruxOS, or say where it is (kruxos_prefix in pytest's settings).")
            prefix = Path(program).resolve().parent.parent
        found = cls.below(Path(prefix))
        found.check()
        return found

    def check(self) -> None:
        for needed in (self.programs / "kruxosd", self.programs / "kruxos", self.mock, self.definitions):
            if not needed.exists():
                raise NotInstalled(f"{needed} is not there: it belongs to what make install installs.")

    def definition(self, service: str) -> Path:
        file = self.definitions / f"{service}.yaml"
        if not file.exists():
            raise NotInstalled(f"There is no definition of {service}: {file} is not there.")
        return file

    def version_for(self, service: str) -> str:
        """The lowest that the definition takes of its adapter."""
        found = re.search(r"^adapter:\s*\{.*?min_version:\s*([0-9.]+)", self.definition(service).read_text(), re.MULTILINE)
        return found[1] if found else "1.0.0"

    def prefix_for(self, service: str) -> str:
        """Of its capabilities."""
        found = re.search(r"^prefix:\s*(\w+)", self.definition(service).read_text(), re.MULTILINE)
        return found[1] if found else service
