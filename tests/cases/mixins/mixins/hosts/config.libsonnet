{
  _config+:: {
    // Selects the series of the hosts.
    hostSelector: 'job="hosts"',
    // GB of a filesystem that must be free.
    fullBelow: 3,
  },
}
