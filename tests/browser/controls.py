"""Moves each control of a widget, by mouse and by keyboard, and tells which moved nothing."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, TimeoutError

# A card's picture, words and facts; the controls' own looks do not count.
_CONTENT = "card => [...card.querySelectorAll('.widget-html-content')].map(e => e.innerHTML).join()"
_QUIET = 120  # ms without news: the kernel has answered


def dead_controls(card: Locator, patience: float = 3000) -> list[str]:
    """Move every control of `card`; name each way that changed nothing.

    Args:
        card: one of the course's widgets, live.
        patience: how long a change may take, in ms.
    """
    dead = []

    def changes(move: Callable[[], None]) -> bool:
        before = _settled(card)
        move()
        try:
            card.page.wait_for_function(
                f"([card, before]) => ({_CONTENT})(card) !== before",
                arg=[card.element_handle(), before],
                timeout=patience,
            )
        except TimeoutError:
            return False
        return True

    for slider in card.get_by_role("slider").all():
        slider.press("Home")
        for key in ("ArrowRight", "ArrowLeft", "End"):
            if not changes(lambda slider=slider, key=key: slider.press(key)):
                dead.append(f"{key} on the slider {slider.get_attribute('aria-label')!r}")
    for box in card.get_by_role("checkbox").all():
        for how, move in (("a click", box.click), ("Space", lambda box=box: box.press("Space"))):
            if not changes(move):
                dead.append(f"{how} on the checkbox {box.evaluate('b => b.labels[0].innerText')!r}")
    for group in card.get_by_role("radiogroup").all():
        radios = group.get_by_role("radio").all()
        for radio in sorted(radios, key=lambda radio: radio.is_checked()):  # the one on comes last
            if not changes(radio.click):
                dead.append(f"a click on {radio.evaluate('r => r.labels[0].innerText')!r}")
        chosen = group.get_by_role("radio", checked=True)
        if not changes(lambda chosen=chosen: chosen.press("ArrowDown")):
            dead.append(f"ArrowDown in the choice {group.get_attribute('aria-label')!r}")
    buttons = card.get_by_role("button").all()
    for number, button in enumerate(buttons):
        ways = {
            "a click": button.click,
            "Enter": lambda button=button: button.press("Enter"),
            "Space": lambda button=button: button.press("Space"),
        }
        for how, move in ways.items():
            _go_elsewhere(card, buttons[number - 1])
            if not changes(move):
                dead.append(f"{how} on the button {button.inner_text()!r}")
    return dead


def _go_elsewhere(card: Locator, other: Locator) -> None:
    """To a state in which each button has something to do: one step in, or another choice made."""
    sliders = card.get_by_role("slider").all()
    if sliders:
        sliders[0].press("Home")
        sliders[0].press("ArrowRight")
    else:
        other.click()


def _settled(card: Locator) -> str:
    """The card's content, once the answers to earlier moves are all there."""
    content = None
    while content != (content := card.evaluate(_CONTENT)):
        card.page.wait_for_timeout(_QUIET)
    return content
