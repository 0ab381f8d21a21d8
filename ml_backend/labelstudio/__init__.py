"""Client for a Label Studio server: reading, writing, connecting, diagnosing."""
