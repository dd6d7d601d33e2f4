"""`python -m retrograde`."""

from retrograde.cli.main import main

main()
