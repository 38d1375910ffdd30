"""How many seeded faults get a repair that removes the diagnostic, with the real model."""
