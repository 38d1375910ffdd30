"""What is written, and how often it is right: the pipeline against the raw model with the plain prompt, in one run."""
