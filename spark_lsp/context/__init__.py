"""Stage 3: the text around the cursor that the model gets to see."""
