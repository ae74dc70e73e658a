"""A finished picture and its text twin."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG picture with everything a reader without eyes on it needs.

    Attributes:
        svg: one `<svg>` element, self-contained, the same bytes for the same input.
        title: what it shows, in a few words.
        text: the text twin: the same facts, line by line, stable.
    """

    svg: str
    title: str
    text: str

    @property
    def img(self) -> str:
        """An `<img>` in a scroll box: the one form that also shows in an untrusted notebook.

        It shrinks a little on a narrow page, and scrolls rather than make its text unreadable.
        """
        code = base64.b64encode(self.svg.encode()).decode()
        words = self.text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
        width = re.match(r'<svg[^>]* viewBox="0 0 ([0-9.]+) ', self.svg)
        least = f";min-width:{float(width[1]) * 11 / 12:.0f}px" if width else ""
        return (
            f'<div style="overflow-x:auto"><img alt="{words}" style="max-width:100%{least}" '
            f'src="data:image/svg+xml;base64,{code}"></div>'
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.img, "text/plain": self.text}
