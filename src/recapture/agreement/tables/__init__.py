"""What is printed of agreement."""
