"""What each required key is for, with an example: the hint where it is missing."""

NEEDED = {
    "version": "begin with `version: 1`",
    "factory": "give the factory a name, which its output and its alerts carry: `factory: lab`",
    "targets": "name the releases that the output must run on: prometheus, alertmanager, grafana, dcgm_exporter",
    "targets.prometheus": 'add `prometheus: "3.5"`, the release you run',
    "targets.alertmanager": 'add `alertmanager: "0.33"`, the release you run',
    "targets.grafana": 'add `grafana: "12"`, the release you run',
    "targets.dcgm_exporter": 'add `dcgm_exporter: "4.8.2"`, the release you run',
    "owners": "name the teams, and how each of them is paged and ticketed",
    "owners.*.page": "say how the team is woken: `page: {pagerduty: {routing_key_file: secrets/pagerduty}}`",
    "owners.*.ticket": "say how the team gets what can wait: "
    '`ticket: {slack: {channel: "#gpu", api_url_file: secrets/slack}}`',
    "owners.*.runbooks": "every alert links to a page: give the folder of the team's runbooks, "
    "`runbooks: https://runbooks.example.com/gpu/`",
    "owners.*.*.pagerduty.routing_key_file": "add `routing_key_file: secrets/pagerduty`, a file that holds the key",
    "owners.*.*.slack.channel": 'add `channel: "#gpu"`, with its quotes',
    "owners.*.*.slack.api_url_file": "add `api_url_file: secrets/slack`, a file that holds the webhook's address",
    "layers": "say who repairs what: silicon, fabric, runtime, application, facility",
    "labels": "declare the labels that a series may carry: cluster, node, gpu_uuid and job_id at least",
    "clusters": "name the clusters, and the nodes that are scraped in them",
    "clusters.*.region": "add `region: eu-central`, in your own words",
    "clusters.*.scheduler": "add `scheduler: slurm`",
    "clusters.*.discovery": "say how Prometheus finds the hosts: `discovery: {file: {}}`",
    "clusters.*.discovery.kubernetes.pods": "say by which labels the pods of each exporter and job are known: "
    "`pods: {dcgm: {app: nvidia-dcgm-exporter}, node: {app: node-exporter}}`",
    "clusters.*.discovery.consul.server": 'add `server: "consul:8500"`',
    "clusters.*.discovery.consul.services": "name the service of each exporter and job: "
    "`services: {dcgm: dcgm-exporter, node: node-exporter}`",
    "clusters.*.discovery.dns.names": "give the name that is asked for each exporter and job: "
    "`names: {dcgm: _dcgm._tcp.example.com, node: _node._tcp.example.com}`",
    "clusters.*.discovery.http.urls": "give the list of each exporter and job: "
    "`urls: {dcgm: https://inventory.example.com/dcgm, node: https://inventory.example.com/node}`",
    "clusters.*.exporters.*.port": "add `port: 9400`, where the exporter listens",
    "clusters.*.nodes": "name the node groups: "
    '`nodes: {h100: {hosts: "gpu-node-[01-64]", gpu: {model: h100, count: 8}}}`',
    "clusters.*.nodes.*.hosts": 'add `hosts: "gpu-node-[01-64]"`',
    "clusters.*.nodes.*.gpu": "add `gpu: {model: h100, count: 8}`",
    "clusters.*.nodes.*.gpu.model": "add `model: h100`",
    "clusters.*.nodes.*.gpu.count": "add `count: 8`, the boards of one node",
    "clusters.*.jobs.*.workload": "add `workload: training`, or `inference`",
    "signals": "list what must be there, as in `signals: {mandatory: [xid]}`",
    "signals.mandatory": "list what must be there: `mandatory: [xid]`",
    "signals.define.*.metric": "add `metric: requests_total`, the name that the application exports",
    "signals.define.*.type": "add `type: counter`, or `gauge`, or `histogram`",
    "signals.define.*.unit": "add `unit: requests`",
    "signals.define.*.layer": "add `layer: application`",
    "signals.define.*.job": "name one of the `jobs` of a cluster, which exports it: `job: serving`",
    "slos.*.owner": "every SLO has exactly one owner: name one of `owners`",
    "slos.*.objective": "add `objective: 99.5%`",
    "slos.*.period": "add `period: 28d`",
    "slos.*.ratio": "say what is counted: `ratio: {bad: 'requests_total{code=~\"5..\"}', total: requests_total}`",
    "slos.*.ratio.total": "say what all events are: `total: requests_total`",
    "alerting": "say where alerts go: alertmanagers, fallback, heartbeat",
    "alerting.alertmanagers": 'add `alertmanagers: ["alertmanager-1:9093"]`',
    "alerting.fallback": "name the owner who is told of what nobody else is: `fallback: ops`",
    "alerting.heartbeat": "without a dead man's switch nobody notices when alerting itself is dead: "
    "`heartbeat: {webhook: {url_file: secrets/heartbeat}}`",
    "alerting.heartbeat.webhook": "add `webhook: {url_file: secrets/heartbeat}`",
    "grafana": "say where Grafana is, and where it reads: url, datasource",
    "grafana.url": "add `url: https://grafana.example.com`",
    "grafana.datasource": "add `datasource: http://prometheus:9090`, where Grafana reads",
}
