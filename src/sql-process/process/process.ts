/**
 * Room: the SQL process: it keeps the tables up to the log, and runs queries. It imports only projections, basics, setup, log/sqlite,
 * dialect, sql and sql-process/contract.
 */

import { openLogReader } from '../../log/sqlite/log-reader.js'
import { runSelect } from '../../sql/engine/run/run-select.js'
import { serveSqlProcess } from './serve.js'

// The tables are kept: a payload that counted as erased because its key was missing would stay erased in them.
serveSqlProcess({ openLog: (dataDirectory, masterKeys) => openLogReader(dataDirectory, masterKeys, true), run: runSelect })
