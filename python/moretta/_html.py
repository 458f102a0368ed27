"""Tables of figures for notebooks. They never have rows of data."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any


def table(title: str, header: list[str], rows: Iterable[Iterable[Any]], *, note: str = "") -> str:
    """A table of texts and figures; every text is escaped."""
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in rows)
    after = f"<p>{escape(note)}</p>" if note else ""
    return f"<div><b>{escape(title)}</b><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{after}</div>"


def _cell(value: Any) -> str:
    align = "right" if isinstance(value, (int, float)) and not isinstance(value, bool) else "left"
    return f"<td style='text-align:{align}'>{escape(figure(value))}</td>"


def figure(value: Any) -> str:
    """A figure as people read it."""
    if value is None:
        return ""
    if value is True:
        return "yes"
    if value is False:
        return "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def picture(svg: str) -> str:
    """An SVG file as a part of a page."""
    return svg[svg.index("<svg") :]
