"""Judges answers: the exercise contract, observers, the bank of mistakes, one module a lesson.

Never imports widgets. `observers` imports torch alone: it runs beside a stranger's code.
"""
