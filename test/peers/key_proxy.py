"""Passes HTTP on to a host and adds an agent's key, for a suite that can send none. Nothing else is changed, Host and Origin least of all."""
import asyncio
import threading

LARGEST_HEAD = 64 * 1024


class KeyProxy:
    """Listens on a free port of 127.0.0.1, with a thread of its own, until it is left."""

    def __init__(self, port, key):
        self.target = port
        self.line = f"Authorization: Bearer {key}\r\n".encode()
        self.loop = asyncio.new_event_loop()

    def __enter__(self):
        self.server = self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", 0, limit=LARGEST_HEAD))
        self.port = self.server.sockets[0].getsockname()[1]
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.server.close()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    async def serve(self, reader, writer):
        from_host, to_host = await asyncio.open_connection("127.0.0.1", self.target)
        directions = [asyncio.ensure_future(self.requests(reader, to_host)), asyncio.ensure_future(copy(from_host, writer))]
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
            writer.close()
            to_host.close()

    async def requests(self, reader, to_host):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            first, rest = head.split(b"\r\n", 1)
            to_host.write(first + b"\r\n" + self.line + rest)
            await pass_body(reader, to_host, head.lower())
            await to_host.drain()


async def pass_body(reader, writer, head):
    fields = dict(line.split(b":", 1) for line in head.split(b"\r\n")[1:] if b":" in line)
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        size = 1
        while size:
            line = await reader.readuntil(b"\r\n")
            size = int(line.split(b";")[0], 16)
            writer.write(line + await reader.readexactly(size + 2))
    else:
        writer.write(await reader.readexactly(int(fields.get(b"content-length", b"0"))))


async def copy(reader, writer):
    while data := await reader.read(LARGEST_HEAD):
        writer.write(data)
        await writer.drain()
