"""What was given up: recorded, shown, alarmed about, tried again or discarded."""
