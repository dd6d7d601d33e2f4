"""What a program did: operations, contents of memory, iterations."""
