"""Why two gradients differ: one file a cause."""
