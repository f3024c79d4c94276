without() { # LINES LINE
    rest=
    for line in $1; do
        [ "$line" = "$2" ] || rest=${rest:+$rest$newline}$line
    done
}

drop() { # NAME
    read_ids "$jobs/$1" || return
    if holds "$ids" "$job"; then
        without "$ids" "$job"
        put "$jobs" "$1" "$rest"
    fi
}

# The job is no longer active before its GPUs are free: where this is cut short, the next prolog frees them.
change() {
    failed=0
    drop .active || failed=1
    mapped
    for gpu in $files; do
        drop "$gpu" || failed=1
    done
    set_target || failed=1
    return "$failed"
}

hook
