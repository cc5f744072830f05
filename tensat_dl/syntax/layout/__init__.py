"""The canonical layout of rule files: white space is chosen anew, all else stays as it is."""
