"""JSON-RPC messages: what goes out, and what an answer says."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from ._transport import MOST_BYTES
from .errors import ConfigurationError, KruxOSError, ProtocolError, capability_error
from .models import ErrorResponse


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Garbage(Exception):
    """What came is no JSON-RPC: nothing else of that connection can be trusted."""


class NobodysAnswer(Exception):
    """The host refused a message and could not say which."""


@dataclass(frozen=True)
class Answer:
    request_id: str
    message: dict[str, Any]
    """With `result` or `error`."""
    sends: int
    connection: int | None
    """Over which one it came (`Channel.connection`)."""


@dataclass(eq=False)
class Call:
    number: int
    id: str
    method: str
    text: str
    repeatable: bool
    most_losses: int
    answer: asyncio.Future[Answer]
    idempotency_key: str | None = None
    sends: int = 0
    losses: int = 0

    def fail(self, error: BaseException) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


@dataclass(frozen=True)
class Notification:
    method: str
    params: dict[str, Any]


def request_text(id_: str, method: str, params: dict[str, Any]) -> str:
    message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
    try:
        text = _ENCODER.encode(message)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"The arguments are no JSON: {error}.") from None
    if size > MOST_BYTES:
        raise ConfigurationError(f"The call has {size:,} bytes, at most {MOST_BYTES:,} are taken: send files by POST /uploads.")
    return text


def understood(text: str | bytes) -> Notification | dict[str, Any]:
    """A notification, or an answer: with `result` or `error`, and the `id` of a request of ours."""
    try:
        message = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Garbage("a message came that is no JSON-RPC")
    if "method" in message and "id" not in message:
        params = message.get("params", {})
        if not isinstance(message["method"], str) or not isinstance(params, dict):
            raise Garbage("a notification came that is none")
        return Notification(message["method"], params)
    if not isinstance(message.get("error", {}), dict) or ("error" in message) == ("result" in message):
        raise Garbage("an answer came with neither a result nor an error")
    if message.get("id") is None:
        raise NobodysAnswer(str(message.get("error", {}).get("message", "a message was refused")))
    if not isinstance(message["id"], str):
        raise Garbage("an answer came to what was never asked")
    return message


def error_of(answer: Answer) -> KruxOSError | None:
    """The error that JSON-RPC answers with, as an exception."""
    error = answer.message.get("error")
    if error is None:
        return None
    data = error.get("data") if isinstance(error.get("data"), dict) else {}
    try:
        found = ErrorResponse.model_validate({"type": "Internal", **data, "message": error.get("message", "")})
    except ValueError:
        return ProtocolError("An error came that is none of JSON-RPC's.", request_id=answer.request_id)
    return capability_error(found, request_id=answer.request_id)
