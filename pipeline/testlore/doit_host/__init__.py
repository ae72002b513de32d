"""What our tasks need of doit itself: variables of the command line, actions, a reporter, and doit's database."""
