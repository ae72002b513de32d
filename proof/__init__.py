"""Proves that everything works together on a real project, and fills the repository's own memory.

::

    doit proof                             prove everything with the Python engine, and write the receipt
    doit proof runtime=node [sdk_root=DIR] the same with the Node engine
    doit verify_receipt                    say whether the committed receipts still fit today's sources
    doit own_memory                        stage and validate proof/candidates, and remember them in this repository

It is part of the checkout, not of the wheel.
"""
