import { openLogReader } from '../../log/sqlite/log-reader.js'
import { runSelect } from '../../sql/engine/run/run-select.js'
import { serveAnalytics } from './serve.js'

serveAnalytics({ openLog: openLogReader, run: runSelect })
