"""The table of operators, and what declarations are written with: attributes, dtypes, shape rules, gradients."""
