"""Draws graphs, tapes and arrays as SVG and as text. Pure functions of plain data.

Imports neither torch nor ipywidgets.
"""
