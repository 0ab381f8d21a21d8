set -eu
export PGDATA=/var/lib/postgresql/data
sockets="-c unix_socket_directories=/var/run/postgresql"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    echo "$POSTGRES_PASSWORD" > /tmp/password
    initdb --encoding UTF8 --locale C.UTF-8 --username postgres --pwfile /tmp/password --auth-local trust --auth-host scram-sha-256
    rm /tmp/password
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl start --wait --options "$sockets -c listen_addresses=''"
    createdb --username postgres --host /var/run/postgresql "$POSTGRES_DB"
    pg_ctl stop --wait --mode fast
fi
exec postgres $sockets -c listen_addresses='*'
