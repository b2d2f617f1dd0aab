import { SqlProcess } from '../../../src/sql-process/sql-process.js'
import { rawProcess } from './bench.js'
import { until } from '../until.js'

// A parent that starts the SQL process, runs an endless query, and waits until it is killed.
const sqlProcess = await SqlProcess.start({
  dataDirectory: String(process.argv[2]),
  entry: rawProcess,
  limits: { startWaitMs: 20 * 60_000 },
})
void sqlProcess.query({ sql: 'SELECT count(*) FROM range(1e15::BIGINT)', db: '', defaultProject: '', upTo: 0 }).catch(() => undefined)
await until(() => sqlProcess.status().running === 1)
process.stdout.write(`${sqlProcess.pid ?? 0}\n`)
setInterval(() => undefined, 1_000)
