"""What was built from what: records that outlive their machine."""
