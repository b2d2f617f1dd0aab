import { runSelect } from '../../sql/engine/run/run-select.js'
import { serveAnalytics } from './serve.js'

const noLog = { head: () => 0, read: () => [], payload: () => undefined, erasedAt: () => 0, useKeys: () => undefined }

serveAnalytics({ openLog: () => noLog, run: runSelect })
