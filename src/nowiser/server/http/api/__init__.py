"""`/api/v1`: everything the gateway does, for programs; one file per part."""
