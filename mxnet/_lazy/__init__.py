"""Deferred execution: pending arrays, the step that is under construction, its plan.

README.md in this folder has the states of an array and of a step, and what each thing that is remembered depends on.
"""
