"""Pictures, files, voice and video on their way through the bridge, both ways."""
