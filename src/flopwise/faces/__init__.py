"""Faces: how people and programs reach flopwise. They parse, call ``app`` and print; they compute nothing."""
