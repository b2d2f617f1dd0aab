import { Analytics } from '../../../src/analytics/supervisor.js'
import { rawProcess } from './analytics.js'
import { until } from '../until.js'

// A parent that starts the analytics process, runs an endless query, and waits until it is killed.
const analytics = await Analytics.start({ dataDirectory: String(process.argv[2]), entry: rawProcess })
void analytics.query({ sql: 'SELECT count(*) FROM range(1e15::BIGINT)', db: '', defaultProject: '', upTo: 0 }).catch(() => undefined)
await until(() => analytics.status().running === 1)
process.stdout.write(`${analytics.pid ?? 0}\n`)
setInterval(() => undefined, 1_000)
