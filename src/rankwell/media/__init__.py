"""Pictures and texts: decoding, thumbnails, contact sheets, normalisers."""
