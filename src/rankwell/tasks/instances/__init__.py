"""Instance search among pictures."""
