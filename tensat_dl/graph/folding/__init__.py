"""What depends on constants alone, computed beforehand."""
