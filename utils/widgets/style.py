"""How every widget of the course looks: one light card, readable on light and dark themes.

ipywidgets offers no background, and a theme's own text colours would vanish on our pictures. So
the card paints itself and sets JupyterLab's colour variables anew for what is inside it.
"""

from __future__ import annotations

import html

CARD = "autograd-course"

INK, MUTED, PAPER, LINE = "#1b1f24", "#57606a", "#fcfcfa", "#8c959f"

# A still copy has no style sheet: there, each element carries its own look.
STILL = {
    "div": f"background:{PAPER};color:{INK};border:1px solid {LINE};padding:10px 14px",
    "code": f"background:#eef0f2;color:{INK}",
    "pre": f"background:#eef0f2;color:{INK};padding:6px 8px",
    "tr": f"background:{PAPER}",
    "th": f"color:{INK};text-align:left;padding:3px 10px",
    "td": f"color:{INK};text-align:left;padding:3px 10px",
}

_RULES = f"""
.{CARD} {{
  background: {PAPER}; color: {INK}; border: 1px solid {LINE}; border-radius: 6px;
  padding: 10px 14px; margin: 2px 0; color-scheme: light;
  --jp-content-font-color0: {INK}; --jp-content-font-color1: {INK};
  --jp-ui-font-color0: {INK}; --jp-ui-font-color1: {INK}; --jp-ui-font-color2: {MUTED};
  --jp-widgets-color: {INK}; --jp-widgets-label-color: {INK};
  --jp-widgets-readout-color: {INK}; --jp-widgets-font-size: 14px;
  --jp-brand-color1: {INK}; --jp-brand-color2: {MUTED}; --jp-brand-color3: {LINE};
  --jp-layout-color0: {PAPER}; --jp-layout-color1: #fff; --jp-layout-color2: #eef0f2;
  --jp-layout-color3: #d8dce0; --jp-border-color0: {LINE}; --jp-border-color1: {LINE};
  --jp-border-color2: #c4cad0; --jp-rendermime-table-row-background: #f3f4f2;
  --jp-rendermime-table-row-hover-background: #e9edf0;
}}
.{CARD} .widget-html, .{CARD} .widget-html-content {{
  height: auto; line-height: 1.45; font-size: 14px; color: {INK};
}}
.{CARD} .widget-html-content > * {{ max-width: 100%; }}
.{CARD} .widget-html-content p {{ margin: 0 0 4px; }}
.{CARD} .course-picture {{ overflow: auto; max-height: 560px; margin: 4px 0; }}
.{CARD} .course-picture svg {{ display: block; }}
.{CARD} code, .{CARD} pre {{
  background: #eef0f2; color: {INK}; font-size: 13px; padding: 1px 4px; border-radius: 3px;
}}
.{CARD} pre {{
  padding: 6px 8px; margin: 4px 0; white-space: pre-wrap; word-break: normal;
  overflow-wrap: anywhere;
}}
.{CARD} table {{ margin: 4px 0; border-collapse: collapse; font-size: 13px; }}
.{CARD} table td, .{CARD} table th {{
  text-align: left; vertical-align: top; padding: 3px 10px; color: {INK};
  border-bottom: 1px solid #d8dce0; white-space: normal;
}}
.{CARD} .course-facts {{ width: 100%; }}
.{CARD} .course-facts th {{ white-space: nowrap; width: 1%; }}
.{CARD} .course-facts td {{ white-space: pre-line; }}
.{CARD} table caption {{ text-align: left; color: {MUTED}; }}
.{CARD} .widget-button {{
  background: #fff; color: {INK}; border: 1px solid {MUTED}; border-radius: 4px; font-size: 14px;
  width: auto; height: auto; min-height: 32px; line-height: 1.4; padding: 4px 12px;
  white-space: pre-wrap; overflow-wrap: anywhere; text-align: left; overflow: visible;
}}
.{CARD} .widget-button:hover {{ background: #e9edf0; }}
.{CARD} .course-values .widget-button {{ font-family: var(--jp-code-font-family, monospace); }}
.{CARD} input {{ accent-color: {INK}; }}
.{CARD} .widget-radio {{ font-size: 14px; }}
.{CARD} .widget-dropdown, .{CARD} .widget-checkbox {{ width: auto; }}
.{CARD} .widget-dropdown > select {{
  background-color: #fff; color: {INK}; border: 1px solid {MUTED}; border-radius: 4px;
  font-size: 14px; height: 32px; padding: 0 24px 0 8px; min-width: 240px;
}}
.{CARD} .widget-dropdown > select option {{ background: #fff; color: {INK}; }}
.{CARD} .widget-checkbox label {{ display: flex; align-items: center; gap: 8px; }}
.{CARD} .widget-checkbox input {{ width: 16px; height: 16px; margin: 0; }}
.{CARD} .widget-slider, .{CARD} .widget-checkbox {{ min-height: 32px; align-items: center; }}
.{CARD} .widget-slider .noUi-connect {{ background: {MUTED}; }}
.{CARD} .widget-slider .noUi-handle, .{CARD} .noUi-handle:hover, .{CARD} .noUi-handle:focus {{
  border: 2px solid {INK}; background: #fff; transform: none;
}}
.{CARD} :focus-visible, .{CARD} .noUi-handle:focus {{
  outline: 3px solid {INK}; outline-offset: 2px;
}}
"""

# What a style sheet cannot do. Whatever is added to the card, now or later:
# * ipywidgets leaves the handle of its slider without a name, so a screen reader would say "slider"
#   and a number. The handle borrows the words of its visible label.
# * Its radio buttons belong to no group: arrow keys would not move among them, and nothing says
#   what they choose. The group borrows the visible label, too.
# * A notebook takes arrow keys for itself, to fold headings, unless it is told to leave them.
# * A wide picture has a scroll box of its own; it follows the node whose turn it is,
#   or shows the root at first; then it stays where the reader puts it. Its heading comes along.
_SCRIPT = f"""
const card = this.closest('.{CARD}');
const carryHeading = picture => {{
  const svg = picture.querySelector('svg');
  const scale = svg ? svg.viewBox.baseVal.width / svg.getBoundingClientRect().width : 1;
  let line = svg?.querySelector(':scope > rect')?.nextElementSibling;
  for (; line?.matches('text[text-anchor=start]'); line = line.nextElementSibling) {{
    line.setAttribute('transform', `translate(${{picture.scrollLeft * scale}})`);
  }}
}};
const arrange = () => {{
  for (const handle of card.querySelectorAll('[role=slider]:not([aria-label])')) {{
    const label = handle.closest('.widget-slider').querySelector('label');
    handle.setAttribute('aria-label', label.textContent);
    handle.dataset.lmSuppressShortcuts = 'true';
  }}
  for (const select of card.querySelectorAll('select')) {{
    select.dataset.lmSuppressShortcuts = 'true';
  }}
  for (const group of card.querySelectorAll('.widget-radio-box:not([role])')) {{
    const label = group.closest('.widget-radio').querySelector('label').textContent;
    group.role = 'radiogroup';
    group.ariaLabel = label;
    const name = `${{label}} ${{Math.random()}}`;  // a page may show the same widget twice
    for (const radio of group.querySelectorAll('input')) {{
      radio.name = name;
      radio.dataset.lmSuppressShortcuts = 'true';
    }}
  }}
  const picture = card.querySelector('.course-picture');
  if (!picture) return;
  const overflows = picture.scrollWidth > picture.clientWidth
    || picture.scrollHeight > picture.clientHeight;
  picture.tabIndex = overflows ? 0 : -1;  // who scrolls with the keyboard has to come in
  picture.role = overflows ? 'group' : null;
  picture.ariaLabel = overflows ? 'Picture, larger than its box' : null;
  picture.onscroll = () => carryHeading(picture);
  carryHeading(picture);
  const words = [...picture.querySelectorAll('text')];
  const spot = words.find(word => word.textContent.startsWith('now'))
    || words.find(word => word.textContent.includes('starts with'))
    || (!picture.dataset.rootShown && words.find(word => word.textContent === 'root'));
  if (!spot) return;
  if (overflows && spot.textContent === 'root') picture.dataset.rootShown = 'true';
  const [inner, outer] = [spot.getBoundingClientRect(), picture.getBoundingClientRect()];
  const move = (low, high) => Math.min(low, 0) || Math.max(high, 0);  // no more than needed
  picture.scrollLeft += move(inner.left - outer.left - 90, inner.right - outer.right + 90);
  picture.scrollTop += move(inner.top - outer.top - 30, inner.bottom - outer.bottom + 110);
}};
arrange();
new MutationObserver(arrange).observe(card, {{childList: true, subtree: true}});
new ResizeObserver(arrange).observe(card);
"""

STYLE = f'<style onload="{html.escape(_SCRIPT)}">{_RULES}</style>'
