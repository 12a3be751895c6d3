"""`python -m probtruth`: the command line."""

from probtruth.cli import main

main()
