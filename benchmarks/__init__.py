"""The benchmarks that ``doit bench`` runs, and their results."""
