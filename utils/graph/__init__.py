"""Reads torch's own autograd graph: a tensor becomes plain data, a real backward becomes a tape.

Imports torch and nothing else of the course.
"""
