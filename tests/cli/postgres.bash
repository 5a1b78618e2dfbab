# A PostgreSQL server of a file's own: nobody else's is used, and none is left. It can be reached by a socket alone, in a
# directory of its own. Its superuser is `postgres`; `owner` may make databases, and so stores, and `with_password` proves who it is.

# Where Debian has it, which keeps several versions beside each other; or on the path.
postgres_program() {
    local found
    found=$(printf '%s\n' /usr/lib/postgresql/*/bin/"$1" | sort -V | tail -n 1)
    if [ -x "$found" ]; then echo "$found"; else command -v "$1"; fi
}

# For setup_file. The exported names are those that PostgreSQL's clients look at.
postgres_start() {
    as=()
    # It refuses root, and wants a user with a name.
    if [ "$(id -u)" -eq 0 ]; then
        as=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups --)
    elif ! getent passwd "$(id -u)" > /dev/null; then
        as=(unshare --user --map-user="$(id -u nobody)" --map-group="$(id -g nobody)" --)
    fi
    PGHOST=$(mktemp -d "${TMPDIR:-/tmp}/assay-postgres.XXXXXX")
    export PGHOST PGUSER=owner
    [ "$(id -u)" -ne 0 ] || chown nobody "$PGHOST"
    chmod 755 "$PGHOST"
    cd "$PGHOST" || return
    "${as[@]}" "$(postgres_program initdb)" --pgdata="$PGHOST/data" --username=postgres --auth=trust --encoding=UTF8 \
        --locale=C --no-sync > log 2>&1 || { cat log >&2 && return 1; }
    sed -i '1i local all with_password scram-sha-256' data/pg_hba.conf
    printf '%s\n' "${as[@]}" > as
    postgres_serve
    as_superuser -d postgres -c 'CREATE ROLE owner LOGIN CREATEDB' \
        -c "CREATE ROLE with_password LOGIN CREATEDB PASSWORD 'se/cr:et@'"
    cd "$OLDPWD" || return
}

# Whatever becomes of the tests, it ends with them.
postgres_serve() {
    local as
    mapfile -t as < "$PGHOST/as"
    [ -n "${as[0]}" ] || as=()
    "${as[@]}" setpriv --pdeathsig INT -- "$(postgres_program postgres)" -D "$PGHOST/data" -k "$PGHOST" \
        -c listen_addresses= -c fsync=off -c shared_buffers=16MB >> "$PGHOST/log" 2>&1 3>&- &
    export POSTGRES_PID=$!
    echo "$POSTGRES_PID" > "$PGHOST/pid"
    until as_superuser -d postgres -c '' 2> /dev/null; do
        kill -0 "$POSTGRES_PID" || { cat "$PGHOST/log" >&2 && return 1; }
    done
}

postgres_is_there() {
    local pid
    pid=$(cat "$PGHOST/pid")
    [ -e "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2> /dev/null
}

# postgres_restart SIGNAL: INT ends it in good order, QUIT as if the power had gone
postgres_restart() {
    local pid
    pid=$(cat "$PGHOST/pid")
    kill "-$1" "$pid"
    while postgres_is_there; do :; done
    postgres_serve
}

# For teardown_file.
postgres_stop() {
    local pid
    pid=$(cat "$PGHOST/pid" 2> /dev/null) || return 0
    kill -INT "$pid" || true
    while postgres_is_there; do :; done
    [ -z "${PGHOST:-}" ] || rm -rf "$PGHOST"
}

# as_superuser OPTIONS…: the database's own shell, as who may do anything
as_superuser() {
    PGUSER=postgres psql -XqAt -v ON_ERROR_STOP=1 "$@"
}
