"""How each rule is proved, one file a rule; a file is found by being here."""
