"""Reports of an audit: one file a format."""
