"""What has been told so far, and what may still be asked."""
