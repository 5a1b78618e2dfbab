# A PostgreSQL server of a file's own: nobody else's is used, and none is left. It can be reached by a socket alone, in a
# directory of its own. Its superuser is `postgres`; `owner` may make databases, and so stores, and `with_password` proves who it is.

# Where Debian has it, which keeps several versions beside each other; or on the path.
postgres_program() {
    local found
    found=$(printf '%s\n' /usr/lib/postgresql/*/bin/"$1" | sort -V | tail -n 1)
    if [ -x "$found" ]; then echo "$found"; else command -v "$1"; fi
}

# For setup_file. The exported names are those that PostgreSQL's clients look at. With POSTGRES_NET, a network namespace,
# it also listens there; with DURABLE=on what it commits is on the disk.
postgres_start() {
    local as=()
    # It refuses root, and wants a user with a name.
    if [ "$(id -u)" -eq 0 ]; then
        as=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups --)
    elif ! getent passwd "$(id -u)" > /dev/null; then
        as=(unshare --user --map-user="$(id -u nobody)" --map-group="$(id -g nobody)" --)
    fi
    [ -z "${POSTGRES_NET:-}" ] || as=(nsenter --net="$POSTGRES_NET" -- "${as[@]}")
    PGHOST=$(mktemp -d "${TMPDIR:-/tmp}/assay-postgres.XXXXXX")
    export PGHOST PGUSER=owner
    [ "$(id -u)" -ne 0 ] || chown nobody "$PGHOST"
    chmod 755 "$PGHOST"
    cd "$PGHOST" || return
    "${as[@]}" "$(postgres_program initdb)" --pgdata="$PGHOST/data" --username=postgres --auth=trust --encoding=UTF8 \
        --locale=C --no-sync > log 2>&1 || { cat log >&2 && return 1; }
    sed -i '1i local all with_password scram-sha-256' data/pg_hba.conf
    [ -z "${POSTGRES_NET:-}" ] || echo 'host all all 10.0.0.0/8 trust' >> data/pg_hba.conf
    setpriv --pdeathsig KILL -- bash -c "$(declare -f postgres_keep postgres_program); postgres_keep \"\$@\"" keep "${as[@]}" 3>&- &
    export POSTGRES_PID=$!
    postgres_answers
    as_superuser -d postgres -c 'CREATE ROLE owner LOGIN CREATEDB' \
        -c "CREATE ROLE with_password LOGIN CREATEDB PASSWORD 'se/cr:et@'"
    cd "$OLDPWD" || return
}

# postgres_keep [COMMAND…]: one server after the other, by that command, until it is told to stop. Whatever becomes of the
# tests, it ends with them.
postgres_keep() {
    while [ ! -e "$PGHOST/stop" ]; do
        rm -f "$PGHOST/data/postmaster.pid"
        "$@" setpriv --pdeathsig INT -- "$(postgres_program postgres)" -D "$PGHOST/data" -k "$PGHOST" \
            -c listen_addresses="${POSTGRES_NET:+*}" -c fsync="${DURABLE:-off}" -c shared_buffers=16MB >> "$PGHOST/log" 2>&1 &
        echo $! > "$PGHOST/pid.new"
        mv "$PGHOST/pid.new" "$PGHOST/pid"
        wait $! || true
    done
}

postgres_answers() {
    until as_superuser -d postgres -c '' 2> /dev/null; do
        [ -e "/proc/$POSTGRES_PID" ] || { cat "$PGHOST/log" >&2 && return 1; }
    done
}

# postgres_restart SIGNAL: INT ends it in good order, QUIT as if the power had gone
postgres_restart() {
    local pid
    pid=$(cat "$PGHOST/pid")
    kill "-$1" "$pid"
    while [ "$(cat "$PGHOST/pid")" = "$pid" ]; do :; done
    postgres_answers
}

# For teardown_file.
postgres_stop() {
    [ -n "${POSTGRES_PID:-}" ] || return 0
    touch "$PGHOST/stop"
    kill -INT "$(cat "$PGHOST/pid")" || true
    wait "$POSTGRES_PID" || true
    rm -rf "$PGHOST"
}

# as_superuser OPTIONS…: the database's own shell, as who may do anything
as_superuser() {
    PGUSER=postgres psql -XqAt -v ON_ERROR_STOP=1 "$@"
}
