"""One module per verb: its flags, one call into ``app``, and how the answer is printed.

Each module holds ``app``, a ``typer.Typer``. Importing one imports typer and nothing heavy: what a verb works with is
imported when it runs (``lazy``), so that ``flopwise VERB --help`` stays quick.
"""
