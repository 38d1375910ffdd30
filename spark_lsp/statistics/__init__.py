"""What became of suggestions: shown, accepted, kept. Counted and kept on this machine, never sent anywhere.

`offers` counts in memory, `store` keeps the counts on disk, `report` prints them.
"""
