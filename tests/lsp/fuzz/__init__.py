"""Random messages to the server, thousands of them, and what must hold whatever they say.

`kinds.py` is the table of what is sent, `world.py` the plain reference of documents and answers, `runner.py` sends and
compares. The messages depend on the seed alone, not on what the server answers or when.
"""
