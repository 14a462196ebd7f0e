"""Programs that claim to be private: prove the claim, refute it, or say that neither was possible."""
