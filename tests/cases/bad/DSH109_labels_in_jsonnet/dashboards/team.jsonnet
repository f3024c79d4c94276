local hottest(by, legend) = {
  type: 'timeseries',
  title: 'Hottest by ' + by,
  targets: [{ expr: 'max by (%s) (DCGM_FI_DEV_GPU_TEMP)' % by, legendFormat: legend }],
};

{
  title: 'Team',
  schemaVersion: 39,
  panels: [
    hottest('node', 'node {{Hostname}}'),
    hottest('gpu_uuid', '{{gpu_uuid}}'),
  ],
}
