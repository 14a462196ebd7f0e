"""Several counted releases about the same people, measured together: records, possible worlds, beliefs."""
