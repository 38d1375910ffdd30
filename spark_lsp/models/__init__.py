"""Models: which ones are known, where their files are, how they get there and whether they are intact.

catalogue     the known models and how a name is looked up
store         the models directory: a name or a path -> a file that may be loaded
verify        a file against its catalogue entry: size, sha256
checksum      sha256 of a file, remembered beside it
gguf_header   is this file a complete GGUF
sources       pull: hub, package mirror or a local file -> the models directory
hub, mirror   one source each
disk          room on the disk, and what a failed write means
progress      the events of a download

Invariant: a file has its final name only after its size and checksum were right.
"""
