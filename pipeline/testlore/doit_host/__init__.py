"""How our tasks use doit: the variables of its command line, the actions, and its configuration."""
