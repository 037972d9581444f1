"""A person scans a QR code with WeChat: from the first code to the channel that receives, and what ends a session."""
