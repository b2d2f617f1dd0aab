import { runSelect } from '../sql/run-select.js'
import { serveAnalytics } from './serve.js'

const noLog = { head: () => 0, read: () => [], payload: () => undefined }

serveAnalytics({ openLog: () => noLog, run: runSelect })
