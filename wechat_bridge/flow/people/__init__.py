"""Who may talk, what they may say to the bridge itself, who answers them, and what they are told unasked."""
