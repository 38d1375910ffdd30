"""`python -m spark_lsp`."""

from spark_lsp.cli import main

if __name__ == "__main__":
    main()
