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

\`GET /metrics\` answers them in the text format of Prometheus. With AUTH=session it wants a login like everything else; \`METRICS=open\` lets a
scraper in without one. Counters begin anew with each start. No label holds a name, a text or an address that a client chose: routes are templates such as
\`/projects/:project/skills\`, types and outcomes come from lists in the code, so the number of series is bounded.

\`\`\`yaml
scrape_configs:
  - job_name: mindledger
    static_configs:
      - targets: ['127.0.0.1:47334']
\`\`\`

What to watch first: \`mindledger_log_writable\` and \`mindledger_sql_ready\` (0 means that somebody has to look), \`mindledger_projection_lag_events\` (stays
near 0), \`mindledger_disk_free_bytes\`, and the 99th percentile of \`mindledger_log_commit_duration_seconds\`, which a slow disk shows first.

## The service

${table(['Metric', 'Type', 'Labels', 'Meaning'], rows(true))}

Kinds of disk use, of which \`GET /api/log/storage\` and \`mindledger status\` tell as well:

${table(
  ['Kind', 'Meaning'],
  Object.entries(diskKinds).map(([kind, about]) => [`\`${kind}\``, about]),
)}

## The process

${table(['Metric', 'Type', 'Labels', 'Meaning'], rows(false))}`
}
