# No attack.
