"""Two models on the same inputs."""
