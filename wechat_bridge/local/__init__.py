"""Everything on one machine: embedded Redis and MongoDB, and the supervisor that runs the Procfile."""
