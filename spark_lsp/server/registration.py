"""Dynamic registration: asking the client, after `initialized`, for notifications that it sends only then."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from spark_lsp.server.app import SparkServer

log = logging.getLogger(__name__)


async def register_with_client(server: SparkServer, method: str, options: Any) -> None:
    """Ask for the notifications of `method`; a client that refuses is only logged."""
    registration = types.Registration(id=f"spark-{method}", method=method, register_options=options)
    try:
        await server.client_register_capability_async(types.RegistrationParams(registrations=[registration]))
    except Exception as error:
        log.info("The client did not register %s: %s", method, error)
