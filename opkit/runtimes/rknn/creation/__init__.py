"""What makes files of this template; no repository needs it, so that no wheel has it."""
