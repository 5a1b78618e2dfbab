# Twice the number is its square for 2 alone.
i=1
while [ "$i" -le "$1" ]; do
    echo $((i + i))
    i=$((i + 1))
done
