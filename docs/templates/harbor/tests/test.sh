#!/bin/bash
# The part of the logs that are summed up as they should be.
passed=0
total=0
for log in /tests/logs/*.log; do
    total=$((total + 1))
    if [ "$(timeout 5 bash /app/summary.sh "$log" 2> /dev/null)" = "$(cat "${log%.log}.expected")" ]; then
        passed=$((passed + 1))
    fi
done
printf '%d.%02d\n' $((passed / total)) $((100 * passed / total % 100)) > /logs/verifier/reward.txt
