import { DuckDBInstance } from '@duckdb/node-api'
import { join } from 'node:path'
import { replay, replaySettings } from '../../projections/replay.js'
import { openLogReader } from '../../src/log/sqlite/log-reader.js'
import { bareReplay } from '../bare/replay.js'

// One measured run in a process of its own: `replay-run.js ours|bare <data directory> <new file>`.
const [side, directory = '', into = ''] = process.argv.slice(2)

const ours = async () => {
  const reader = openLogReader(directory)
  const instance = await DuckDBInstance.create(into, replaySettings)
  await replay({ events: reader, payloads: reader, database: instance })
  const connection = await instance.connect()
  const counted = await connection.runAndReadAll(
    'SELECT (SELECT count(*)::INTEGER FROM ledger.events), (SELECT count(*)::INTEGER FROM ledger.skills_history)',
  )
  const [[events, skills] = []] = counted.getRows()
  connection.closeSync()
  instance.closeSync()
  reader.close()
  return { events: Number(events), skills: Number(skills) }
}

const began = performance.now()
const result = side === 'ours' ? await ours() : await bareReplay(join(directory, 'log.sqlite'), into)
console.log(JSON.stringify({ ...result, seconds: (performance.now() - began) / 1000, peakMb: process.resourceUsage().maxRSS / 1024 }))
