"""The same for JavaScript and TypeScript, with and without JSX.

::

    text -> pieces -> shapes of a module -> what a receiver is  -> its closed set of names
            lexical   shapes, bodies        bindings, this         members
            brackets  exports               library

Found without a tree: a few tokens decide where code is, and brackets decide what belongs together. Where brackets do
not fit together, nothing is said of the classes in them.
"""
