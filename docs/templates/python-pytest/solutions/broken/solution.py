# Ends with an error before it prints anything.
raise SystemExit("not finished")
