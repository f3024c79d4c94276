PATH=/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
unset IFS
umask 022
set -f
trap '' PIPE
newline='
'

# A script that fails drains its node, so trouble is told and the job goes on. An id that is none is not repeated.
say() {
    printf 'tocsin: %s\n' "$1" >&2
    command -v logger >/dev/null 2>&1 && logger -t tocsin -- "$1" >/dev/null 2>&1 9<&-
    return 0
}

is_id() { # TEXT
    case $1 in '' | *[!0-9]*) return 1 ;; esac
    [ "${#1}" -le 20 ]
}

is_node() { # TEXT
    case $1 in '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._-]*) return 1 ;; esac
    [ "${#1}" -le 200 ]
}

holds() { # LINES LINE
    case $newline$1$newline in *"$newline$2$newline"*) return 0 ;; esac
    return 1
}

# Sets `ids` to the job ids of a file, each once: dcgm-exporter does not answer at all where one stands twice.
read_ids() { # FILE
    ids=
    [ -f "$1" ] || return 0
    while read -r line || [ -n "$line" ]; do
        if is_id "$line" && ! holds "$ids" "$line"; then ids=${ids:+$ids$newline}$line; fi
    done <"$1"
}

# Whoever reads sees the whole old file or the whole new one; a file without lines is none.
put() { # FOLDER NAME TEXT
    if [ -n "$3" ]; then
        printf '%s\n' "$3" >"$1/.$2.tmp" && mv -f -- "$1/.$2.tmp" "$1/$2"
    elif [ -e "$1/$2" ]; then
        rm -f -- "$1/$2"
    fi
}

# Sets `files` to the names of all GPUs, or MIG instances, that jobs are mapped to.
mapped() {
    files=
    set +f
    for path in "$jobs"/[0-9]*; do
        [ -f "$path" ] && files="$files ${path##*/}"
    done
    set -f
}

# The node is a target of the deep job exactly while it has jobs.
set_target() {
    read_ids "$jobs/.active" || return
    wanted=
    [ -z "$ids" ] ||
        wanted="[{\"targets\": [\"$node:$port\"], \"labels\": {\"cluster\": \"$cluster\", \"node\": \"$node\"}}]"
    if [ -n "$wanted" ]; then
        found=
        [ -f "$targets/$node.json" ] && read -r found <"$targets/$node.json"
        [ "$found" = "$wanted" ] && return
        # Only the last folder is made: where the shared one is not mounted, nobody would read what is written below.
        [ -d "$targets" ] || mkdir -- "$targets" || [ -d "$targets" ] || return
    fi
    put "$targets" "$node.json" "$wanted"
}

# What a script that was killed left half-written.
tidy() {
    set +f
    for path in "$jobs"/.*.tmp "$targets/.$node.json.tmp"; do
        [ -f "$path" ] && rm -f -- "$path"
    done
    set -f
}

# One script at a time; the lock is the folder itself, and goes with its holder, however that ends.
hook() {
    job=${SLURM_JOB_ID-}
    node=${SLURMD_NODENAME:-$(uname -n)}
    [ -n "${SLURMD_NODENAME-}" ] || node=${node%%.*}
    if ! is_id "$job"; then
        say 'SLURM_JOB_ID is not a number: nothing done'
    elif ! is_node "$node"; then
        say 'the name of this node is none that Prometheus could reach: nothing done'
    elif ! mkdir -p -- "$jobs"; then
        say "the folder $jobs cannot be made: job $job is not told of"
    elif ! (flock -w 60 9 && tidy && change) 9<"$jobs"; then
        say "job $job could not be told of in full in $jobs and $targets"
    fi
    exit 0
}
