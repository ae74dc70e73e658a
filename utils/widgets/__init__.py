"""Moves pictures: one widget a file, one base class. Arrows point to pictures and graph only."""
