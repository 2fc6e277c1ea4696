"""Random numbers: the two ciphers behind keys, keys out of keys, and what is drawn by them."""
