"""What only trees of more than 2,000 points need."""
