"""The two directions of a connection: whole messages in, their size capped; bytes out; no wait without end."""

import asyncio

from nowiser.server.wire.protocol.messages import Malformed

LINGER = 3.0  # seconds
SLOW = 60.0  # seconds: for the rest of a message that began, and for a client to take what it is sent
HIGH = 1 << 16  # bytes that are gathered before they are sent


class Stream:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int) -> None:
        self._reader, self._writer = reader, writer
        self.most = most  # bytes of a message
        self._parts, self._size = list[bytes](), 0

    async def message(self) -> tuple[bytes, bytes]:
        """Kind and body of the next message."""
        head = await self._reader.readexactly(5)
        size = int.from_bytes(head[1:], "big", signed=True) - 4
        if not 0 <= size <= self.most:
            raise Malformed("a message is too long")
        if size == 0:
            return head[:1], b""
        async with asyncio.timeout(SLOW):
            return head[:1], await self._reader.readexactly(size)

    async def sized(self, least: int, most: int) -> bytes:
        """A start-up message, which has no kind: the bytes after its size."""
        size = int.from_bytes(await self._reader.readexactly(4), "big", signed=True)
        if not least <= size <= most:
            raise Malformed("the first message is too short or too long")
        return await self._reader.readexactly(size - 4)

    def write(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        if self._size > HIGH:
            self._pass_on()

    def _pass_on(self) -> None:
        if self._parts:
            self._writer.write(b"".join(self._parts))
            self._parts, self._size = [], 0

    async def flush(self) -> None:
        self._pass_on()
        if self._writer.transport.get_write_buffer_size() > HIGH:
            async with asyncio.timeout(SLOW):
                await self._writer.drain()

    def close(self) -> None:
        """What was written is still sent, as far as the client takes it."""
        self._pass_on()
        self._writer.close()

    async def closed(self) -> None:
        """Close, and wait a little for the client to take what was written."""
        self.close()
        try:
            async with asyncio.timeout(LINGER):
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            self._writer.transport.abort()
