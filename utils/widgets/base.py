"""What every widget of the course is: controls with words on them, a picture, the step in words."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

import ipywidgets

from utils.pictures.picture import Picture
from utils.widgets.style import CARD, STILL, STYLE


class CourseWidget(ipywidgets.VBox):
    """A card with a heading, controls, a picture, and the picture's facts in words.

    A subclass builds its controls, calls `show` whenever one moves, and says in `still` and `text`
    what a reader without a kernel gets. The mime bundle holds three forms of the same thing: the
    live view; a still copy in HTML, which survives an untrusted notebook, an export and a
    repository's web view; and plain text that is the same on each run.

    Args:
        heading: one line above the controls; `prose`.
        controls: rows of controls, top to bottom.
    """

    def __init__(self, heading: str, controls: Iterable[ipywidgets.Widget]) -> None:
        self.heading = heading
        self.picture = ipywidgets.HTML()
        self.words = ipywidgets.HTML()
        self.facts = ipywidgets.HTML()
        super().__init__(
            [
                ipywidgets.HTML(f"{STYLE}<p><strong>{prose(heading)}</strong></p>"),
                *controls,
                self.picture,
                self.words,
                self.facts,
            ]
        )
        self.add_class(CARD)
        self.picture.add_class("course-picture")

    def show(self, picture: Picture | None, words: str, facts: str = "") -> None:
        """Put a picture, words and facts on the card.

        Args:
            picture: what to draw; None for nothing.
            words: HTML, short. A live region: a screen reader speaks it when it changes.
            facts: HTML, as long as it needs to be, such as a table; read on demand.
        """
        self.picture.value = picture.svg if picture else ""
        self.words.value = f'<div role="status" aria-live="polite">{words}</div>'
        self.facts.value = facts

    def still(self) -> str:
        """The still copy, as HTML without scripts or style sheets."""
        raise NotImplementedError

    def text(self) -> str:
        """The same facts as plain text, the same on each run."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, object]:
        return super()._repr_mimebundle_(**kwargs) | {
            "text/html": _painted(f"<div>{self.still()}</div>"),
            "text/plain": self.text(),
        }


def _painted(still: str) -> str:
    """HTML whose elements carry their own look, for where no style sheet goes."""
    plain = "|".join(STILL)
    return re.sub(
        rf"<({plain})(?=[ >])(?! style)", lambda tag: f'<{tag[1]} style="{STILL[tag[1]]}"', still
    )


def row(*controls: ipywidgets.Widget, align: str = "center") -> ipywidgets.HBox:
    """Controls side by side, onto the next line where the window is narrow."""
    layout = ipywidgets.Layout(flex_flow="row wrap", align_items=align, grid_gap="6px 14px")
    return ipywidgets.HBox(controls, layout=layout)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """An HTML table. Cells are HTML already; the first cell of a row is its heading."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in rest) + "</tr>"
        for first, *rest in rows
    )
    title = f"<caption>{caption}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def code(text: object) -> str:
    """`text` as inline code, escaped."""
    return f"<code>{html.escape(str(text))}</code>"


def prose(text: str) -> str:
    """Plain text as HTML, escaped; what stands between backticks becomes code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
