/**
 * Room: the SQL process: it keeps the tables up to the log, and runs queries. It imports projections, basics, setup, log/sqlite, dialect,
 * sql and analytics/contract alone.
 */

import { openLogReader } from '../../log/sqlite/log-reader.js'
import { runSelect } from '../../sql/engine/run/run-select.js'
import { serveAnalytics } from './serve.js'

// Tables are kept: what they take for erased because a key is missing would stay so.
serveAnalytics({ openLog: (dataDirectory, masterKeys) => openLogReader(dataDirectory, masterKeys, true), run: runSelect })
