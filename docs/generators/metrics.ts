import { Metrics } from '../../src/observe/metrics.js'
import { diskKinds } from '../../src/observe/disk-use.js'
import { table } from './markdown.js'

/** docs/operate/metrics.md: the metrics of a scrape, as its own `# HELP` and `# TYPE` lines describe them. */
export const metricsPage = async (): Promise<string> => {
  const all = await new Metrics().described()
  const rows = (own: boolean) =>
    all
      .filter(({ name }) => name.startsWith('mindledger_') === own)
      .map(({ name, type, labels, help }) => [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), help])
  return `# Metrics

\`GET /metrics\` returns the metrics in the text format of Prometheus. With AUTH=session it requires a login, like all other requests; with \`METRICS=open\` a scraper needs none. Counters begin at 0 with each start. No label holds a name, a text or an address that a client chose: routes are templates such as \`/projects/:project/skills\`, and types and outcomes come from lists in the code. So the number of series is bounded.

\`\`\`yaml
scrape_configs:
  - job_name: mindledger
    static_configs:
      - targets: ['127.0.0.1:47334']
\`\`\`

Watch these first: \`mindledger_log_writable\` and \`mindledger_sql_ready\` (0 means that an operator has to look), \`mindledger_projection_lag_events\` (stays near 0), \`mindledger_events_set_aside\` (above 0, the log of the service says why), \`mindledger_disk_free_bytes\`, and the 99th percentile of \`mindledger_log_commit_duration_seconds\` (it rises first if the disk is slow).

## The service

${table(['Metric', 'Type', 'Labels', 'Meaning'], rows(true))}

Kinds of disk use, which \`GET /api/log/storage\` and \`mindledger status\` show as well:

${table(
  ['Kind', 'Meaning'],
  Object.entries(diskKinds).map(([kind, about]) => [`\`${kind}\``, about]),
)}

## The process

${table(['Metric', 'Type', 'Labels', 'Meaning'], rows(false))}`
}
