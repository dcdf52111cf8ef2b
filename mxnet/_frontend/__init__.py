"""What derives from the operator table: argument binding, signatures, docstrings, namespaces, stubs."""
