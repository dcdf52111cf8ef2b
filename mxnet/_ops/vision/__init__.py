"""Images, boxes and regions."""
