"""How a person decides about a write."""

from __future__ import annotations

from ._clock import Deadline
from ._core import Core
from ._portal import Blocking, blocking
from ._settings import Options
from ._waiting import states
from .models import ApprovalStatus, Event


class AsyncApprovals:
    def __init__(self, core: Core, options: Options) -> None:
        self._core = core
        self._options = options

    async def check(self, approval_id: str) -> ApprovalStatus:
        """As it stands now."""
        return await self._look(approval_id)

    async def _look(self, approval_id: str, deadline: Deadline | None = None) -> ApprovalStatus:
        asked = {"approval_id": approval_id}
        return await self._core.rpc.ask(ApprovalStatus, "approvals.check", asked, self._options, deadline=deadline)

    async def wait(self, approval_id: str, timeout: float | None = 600) -> ApprovalStatus:
        """Once a person has decided; after `timeout` seconds as it stood last, `resolved` false. Lost connections do not end it."""

        def is_about(event: Event) -> bool:
            return event.write is not None and event.write.write_id == approval_id

        status: ApprovalStatus | None = None
        async for status in states(
            self._core,
            self._options,
            timeout,
            is_about,
            lambda by: self._look(approval_id, by),
            is_last=lambda found: found.resolved,
        ):
            pass
        assert status is not None
        return status


class Approvals(Blocking[AsyncApprovals]):
    """The same, for callers that block."""

    check = blocking(AsyncApprovals.check)
    wait = blocking(AsyncApprovals.wait)
