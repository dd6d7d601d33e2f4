"""One pattern a file, each the source half of the cause with the same code."""
