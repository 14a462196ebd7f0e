"""Files of the custodian: csv records line by line, why a file cannot be read, why one cannot be written."""
