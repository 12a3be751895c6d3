"""The command `probtruth` as `python -m probtruth`."""

from probtruth.cli import main

if __name__ == "__main__":
    main()
