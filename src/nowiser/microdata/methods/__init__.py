"""Methods, one per file (`METHOD`): ways to make a table safer. See `nowiser.microdata.method_contract`."""
