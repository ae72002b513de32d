"""One command of the command line a file: arguments in, one call, output out."""
