"""``docker/nginx.conf`` at work: by nginx itself where there is one, else by a small proxy that does what it says."""

from __future__ import annotations

import asyncio
import re
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import aiohttp
from aiohttp import web
from yarl import URL

from wechat_bridge.local.managed import Managed
from wechat_bridge.local.ports import free_port

UPSTREAM = "http://127.0.0.1:8400"
MEGABYTE = 1024 * 1024


class ReverseProxy(Protocol):
    """A proxy in front of a web process."""

    @property
    def port(self) -> int: ...
    def start(self) -> object: ...
    def stop(self) -> None: ...


def proxies() -> dict[str, type[Nginx] | type[SmallProxy]]:
    """The proxies that can run here."""
    return {"small": SmallProxy, **({"nginx": Nginx} if shutil.which("nginx") else {})}


class Nginx(Managed):
    """nginx with the file as it is, but for its port and that of the web process."""

    def __init__(self, site: str, upstream_port: int, folder: Path) -> None:
        super().__init__("nginx", folder, folder / "nginx.log")
        self.port = free_port()
        listening = site.replace("listen 80;", f"listen 127.0.0.1:{self.port};")
        (folder / "site.conf").write_text(listening.replace(UPSTREAM, f"http://127.0.0.1:{upstream_port}"))
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{kind}_temp_path {folder / kind};" for kind in kinds)
        own = f"daemon off; master_process off; error_log stderr; pid {folder / 'pid'}; events {{}}"
        (folder / "nginx.conf").write_text(f"{own} http {{ {temporary} include {folder / 'site.conf'}; }}\n")

    def command(self) -> list[str]:
        """The command line."""
        return ["nginx", "-p", str(self.directory), "-c", str(self.directory / "nginx.conf")]

    def start(self) -> None:
        """Launch it."""
        self.launch()

    def stop(self) -> None:
        """End it."""
        self.kill()


@dataclass(frozen=True)
class Location:
    """What the file says of one prefix."""

    prefix: str
    target: str
    most_bytes: int
    drops_errors: bool


def locations_of(site: str) -> list[Location]:
    """The locations of a file that hand requests on."""
    blocks = re.findall(r"\n    location (/\S*) \{\n(.*?)\n    \}", site, re.DOTALL)
    return [_location(prefix, text) for prefix, text in blocks if "proxy_pass" in text]


def headers_of(site: str) -> dict[str, str]:
    """The headers that a file sets, with nginx's variables in them."""
    return dict(re.findall(r"\n    proxy_set_header (\S+) (\S+);", site))


def _location(prefix: str, text: str) -> Location:
    target = re.search(rf"proxy_pass {UPSTREAM}(\S+);", text)
    size = re.search(r"client_max_body_size (\d+)m;", text)
    assert target is not None
    return Location(prefix, target[1], int(size[1]) * MEGABYTE if size else MEGABYTE, "@unanswered" in text)


class SmallProxy:
    """Does what the file says, in a thread: prefixes, headers, sizes, and no answer where the file wants none."""

    def __init__(self, site: str, upstream_port: int, folder: Path) -> None:
        self.port = free_port()
        self._locations, self._headers = locations_of(site), headers_of(site)
        self._upstream = f"http://127.0.0.1:{upstream_port}"
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()
        self._up = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))

    def start(self) -> Self:
        """Start it; return when it listens."""
        self._thread.start()
        assert self._up.wait(10)
        return self

    def stop(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> None:
        self._session = aiohttp.ClientSession(auto_decompress=False, timeout=aiohttp.ClientTimeout(total=10))
        runner = web.ServerRunner(web.Server(self._handle))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        self._up.set()
        await self._ending.wait()
        await runner.cleanup()
        await self._session.close()

    async def _handle(self, request: web.BaseRequest) -> web.Response:
        place = next((each for each in self._locations if request.path.startswith(each.prefix)), None)
        if place is None or ".." in request.path.split("/"):
            return web.Response(status=404)
        if (request.content_length or 0) > place.most_bytes:
            return web.Response(status=413)
        path = place.target + request.raw_path.removeprefix(place.prefix)
        try:
            return await self._handed_on(request, path)
        except aiohttp.ClientError:
            if place.drops_errors and request.transport is not None:
                request.transport.abort()
            return web.Response(status=502)

    async def _handed_on(self, request: web.BaseRequest, path: str) -> web.Response:
        told = {"$host": request.host.partition(":")[0], "$remote_addr": request.remote or "", "$scheme": "http"}
        headers = request.headers.copy()
        headers.update({name: told.get(value, value) for name, value in self._headers.items()})
        async with self._session.request(
            request.method,
            URL(self._upstream + path, encoded=True),
            headers=headers,
            data=await request.read(),
            allow_redirects=False,
        ) as answer:
            kept = {name: answer.headers[name] for name in ("Content-Type", "Location") if name in answer.headers}
            return web.Response(status=answer.status, body=await answer.read(), headers=kept)
