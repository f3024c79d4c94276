is_index() { # TEXT
    case $1 in 0 | [1-9] | [1-9][0-9] | [1-9][0-9][0-9]) return 0 ;; esac
    return 1
}

# Sets `gpus` to the names of the job's GPUs, a space before each. Slurm's own list comes first: the others may count
# from the job's point of view.
job_gpus() {
    gpus=
    IFS=', '
    for item in ${SLURM_JOB_GPUS:-${CUDA_VISIBLE_DEVICES:-${GPU_DEVICE_ORDINAL-}}}; do
        if is_index "$item" || { is_index "${item%%.*}" && is_index "${item#*.}"; }; then
            gpus="$gpus $item"
        elif is_index "${item%%-*}" && is_index "${item#*-}"; then
            index=${item%%-*}
            while [ "$index" -le "${item#*-}" ]; do
                gpus="$gpus $index"
                index=$((index + 1))
            done
        elif [ "$item" != NoDevFiles ]; then
            say "a GPU of job $job is not named by its index: its series will not carry the job"
        fi
    done
    unset IFS
}

consists_of() { # FILE LINES
    seen=
    while read -r line || [ -n "$line" ]; do
        seen=$seen$line$newline
    done <"$1"
    [ "$seen" = "$2$newline" ]
}

# A job is active once its GPUs are mapped: a mapping without an active job was left by a script that was killed.
forget_leftovers() {
    read_ids "$jobs/.active" || return
    active=$ids
    mapped
    for gpu in $files; do
        read_ids "$jobs/$gpu" || return
        rest=
        for id in $ids; do
            holds "$active" "$id" && rest=${rest:+$rest$newline}$id
        done
        consists_of "$jobs/$gpu" "$rest" || put "$jobs" "$gpu" "$rest" || return
    done
}

add() { # NAME
    read_ids "$jobs/$1" || return
    holds "$ids" "$job" || put "$jobs" "$1" "${ids:+$ids$newline}$job"
}

change() {
    failed=0
    job_gpus
    forget_leftovers || failed=1
    for gpu in $gpus; do
        add "$gpu" || failed=1
    done
    add .active || failed=1
    set_target || failed=1
    return "$failed"
}

hook
