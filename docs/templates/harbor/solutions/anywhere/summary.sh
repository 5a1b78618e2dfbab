# Counts the words wherever they are in a line.
for level in ERROR WARNING INFO; do
    echo "$level $(grep -c "$level" "$1")"
done
