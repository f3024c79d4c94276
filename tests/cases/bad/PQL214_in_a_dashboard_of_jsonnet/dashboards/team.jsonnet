local panel(title, expr) = { type: 'timeseries', title: title, targets: [{ expr: expr }] };

{
  title: 'Team',
  schemaVersion: 39,
  panels: [
    panel('Running', 'sum(vllm:num_requests_running)'),
    panel('Temperature', 'max by (node) (%s{UUID="x"})' % 'DCGM_FI_DEV_GPU_TEMP'),
  ],
}
