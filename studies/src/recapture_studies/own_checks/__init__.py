"""Questions of our own, which no paper asks."""
