"""A kernel of its own, in which the controls of a widget are moved as the browser moves them."""

from __future__ import annotations

import time
from types import TracebackType

from jupyter_client.manager import start_new_kernel


class Kernel:
    """A fresh kernel, for as long as the `with` lasts."""

    def __enter__(self) -> Kernel:
        self._manager, self._client = start_new_kernel()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def run(self, code: str) -> None:
        """Run a cell.

        Raises:
            RuntimeError: the cell raised; the message is its traceback.
        """
        reply = self._client.execute_interactive(code, timeout=120, output_hook=lambda _: None)
        if reply["content"]["status"] != "ok":
            raise RuntimeError("\n".join(reply["content"]["traceback"]))

    def model(self, control: str) -> str:
        """The id by which the browser knows a control, such as "widget.slider"."""
        reply = self._client.execute_interactive(
            "", user_expressions={"id": f"{control}.model_id"}, output_hook=lambda _: None
        )
        return reply["content"]["user_expressions"]["id"]["data"]["text/plain"].strip("'")

    def move(self, model: str, **state: object) -> float:
        """Give a control another state; milliseconds until the kernel's last answer."""
        update = {"method": "update", "state": state, "buffer_paths": []}
        message = self._client.session.msg("comm_msg", {"comm_id": model, "data": update})
        start = time.perf_counter()
        self._client.shell_channel.send(message)
        while True:
            reply = self._client.get_iopub_msg(timeout=60)
            mine = reply["parent_header"].get("msg_id") == message["header"]["msg_id"]
            if mine and reply["content"].get("execution_state") == "idle":
                return 1000 * (time.perf_counter() - start)
