import { openLogReader } from '../log/reader.js'
import { runSelect } from '../sql/run-select.js'
import { serveAnalytics } from './serve.js'

serveAnalytics({ openLog: openLogReader, run: runSelect })
