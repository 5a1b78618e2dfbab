for level in ERROR WARNING INFO; do
    echo "$level $(grep -c "^$level " "$1")"
done
