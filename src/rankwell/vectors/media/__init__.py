"""Pictures and texts: decoding, thumbnails, contact sheets, normalisers, similarities of texts."""
