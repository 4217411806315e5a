"""What the host answers, as types. Fields that a later host adds are kept, and found by their name."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

ENDED = frozenset({"completed", "failed", "cancelled", "rejected", "rolled_back", "discarded"})


class Model(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class RecoveryAction(Model):
    """A step to take after a failure."""

    action: str
    description: str = ""
    capability: str | None = None


class ErrorResponse(Model):
    """Why a capability failed. `type` is one of docs/errors.md, or of the service's definition."""

    type: str
    message: str = ""
    retryable: bool = False
    retry_after: float | None = None
    recovery: list[RecoveryAction] = Field(default_factory=list)
    context: dict[str, Any] = Field(default_factory=dict)


class InvocationResult(Model):
    """What an invoked capability gave. `result["write_id"]` is `result.data["write_id"]`."""

    success: bool
    data: Any = None
    error: ErrorResponse | None = None
    _request_id: str = PrivateAttr(default="")
    _idempotency_key: str = PrivateAttr(default="")

    @property
    def request_id(self) -> str:
        """The JSON-RPC id that the call went out with."""
        return self._request_id

    @property
    def idempotency_key(self) -> str:
        """What makes the same call one write, also when it is repeated later."""
        return self._idempotency_key

    def __getitem__(self, name: str) -> Any:
        if not self.success:
            raise KeyError(f"{name}: the call failed with {self.error.type if self.error else 'an error'}")
        return self.data[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(self.data, dict) and name in self.data

    def get(self, name: str, otherwise: Any = None) -> Any:
        return self.data.get(name, otherwise) if isinstance(self.data, dict) else otherwise


class Value(Model):
    """An input, an output, or a field of one."""

    name: str = ""
    type: str = "Any"
    description: str = ""
    fields: list[Value] = Field(default_factory=list)
    items: Value | None = None


class Input(Value):
    required: bool = False
    default: Any = None
    one_of: list[Any] | None = None
    aliases: list[str] = Field(default_factory=list)


class Limit(Model):
    limit: int
    window_seconds: float
    per: str | None = None


class PossibleError(Model):
    """An error that a capability may end with."""

    type: str
    recovery: list[RecoveryAction] = Field(default_factory=list)


class CapabilityDefinition(Model):
    """What `capabilities.list` says of one, and `describe` with its inputs, outputs and errors."""

    name: str
    category: str = ""
    kind: str = ""
    permission_tier: str = ""
    purpose: str = ""
    when_to_use: str = ""
    tags: list[str] = Field(default_factory=list)
    inputs: list[Input] = Field(default_factory=list)
    outputs: list[Value] = Field(default_factory=list)
    errors: list[PossibleError] = Field(default_factory=list)
    limits: list[Limit] = Field(default_factory=list)
    required_scopes: list[str] = Field(default_factory=list)
    delay_seconds: float | None = None
    undoable: bool | None = None
    destructive: bool | None = None


class WriteStatus(Model):
    """A write as `proxy.write_status` shows it, or an event about it."""

    write_id: str
    status: str
    capability: str = ""
    service: str = ""
    cancel_deadline: datetime | None = None
    content_hash: str | None = None
    needs_operator: bool = False
    result: dict[str, Any] | None = None
    error: ErrorResponse | None = None

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def sent(self) -> bool:
        """It has happened at the service."""
        return self.status in ("completed", "rolled_back")


class TransactionWrite(Model):
    """A write in a transaction. `stays_because`: why it was not undone, where it was to be."""

    write_id: str
    capability: str
    status: str
    stays_because: str | None = None


class TransactionStatus(Model):
    """How a transaction stands: `open`, `committed`, `undoing` or `undone`, and why it was undone."""

    transaction: str
    state: str
    reason: str | None = None
    until: datetime | None = None
    ended_at: datetime | None = None
    writes: list[TransactionWrite] = Field(default_factory=list)


class ApprovalStatus(Model):
    """How a person has decided about a write. Approved is not done yet: its window begins then."""

    approval_id: str
    status: str
    resolved: bool = False
    approved: bool = False
    reason: str | None = None
    write: WriteStatus | None = None

    @property
    def data(self) -> dict[str, Any] | None:
        """The write, as it stood when this was answered."""
        return self.write.model_dump(mode="json") if self.write else None


class Briefing(Model):
    """What happened since the agent's previous session (docs/agent-api.md)."""

    summary: str
    since: datetime | None = None
    until: datetime | None = None
    writes: dict[str, int] = Field(default_factory=dict)
    ended: list[dict[str, Any]] = Field(default_factory=list)
    open: list[dict[str, Any]] = Field(default_factory=list)
    alerts: list[dict[str, Any]] = Field(default_factory=list)
    services: list[dict[str, Any]] = Field(default_factory=list)
    shared_state: dict[str, Any] = Field(default_factory=dict)


class StateEntry(Model):
    """What stands under a key. Not `found`: nothing does, or not that version; `value` is None and `version` 0 then."""

    key: str
    found: bool = True
    value: Any = None
    version: int = 0
    updated_at: datetime | None = None
    updated_by: str | None = None
    """Of what agents share: the agent that has set it."""


class StateHistory(Model):
    """A key's versions, newest first. `more`: there are older ones, below `next_before`."""

    key: str
    versions: list[StateEntry] = Field(default_factory=list)
    more: bool = False
    next_before: int | None = None


class Session(Model):
    session_id: str
    agent: str = ""
    agent_id: str = ""
    agent_name: str | None = None
    purpose: str | None = None
    expires_in: float = 0


class Event(Model):
    """What the host told without being asked. `missed`: what came before can no longer be told; ask how things stand."""

    method: str
    params: dict[str, Any] = Field(default_factory=dict)

    @property
    def missed(self) -> bool:
        return self.method == "missed"

    @property
    def write(self) -> WriteStatus | None:
        """Of `write.status` the write, of `approval.resolved` the one that was decided about."""
        if self.method == "write.status":
            return WriteStatus.model_validate(self.params)
        found = self.params.get("write") if self.method == "approval.resolved" else None
        return WriteStatus.model_validate(found) if found else None


def text_in(data: Any, name: str) -> str | None:
    """The text of that name, where there is one."""
    found = data.get(name) if isinstance(data, dict) else None
    return found if isinstance(found, str) else None


def write_id_in(data: Any) -> str | None:
    """Of the write that an answer, a failure or an event speaks of."""
    return text_in(data, "write_id")
