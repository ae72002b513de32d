"""How records are ranked: words, BM25, and how both scores are fused."""
