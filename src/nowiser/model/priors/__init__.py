"""What an attacker believes before the release, one family per file. Import from `nowiser.model.prior`."""
