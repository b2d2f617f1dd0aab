import { DuckDBInstance } from '@duckdb/node-api'
import { existsSync } from 'node:fs'
import { replay, replaySettings } from '../../projections/replay.js'
import { ConfigError, type Config } from '../config.js'
import { openLogReader } from '../log/reader.js'
import type { Output } from './output.js'

/** `mindledger replay --into file.duckdb [--until n]`: the log, and nothing else, becomes a DuckDB file. */
export const replayInto = async (
  config: Config,
  { into, until }: { into: string; until: number | undefined },
  out: Output,
): Promise<number> => {
  if (existsSync(into)) throw new ConfigError(`${into} exists already; replay writes a new file`)
  const reader = openLogReader(config.dataDirectory, config.vaultKey)
  try {
    const database = await DuckDBInstance.create(into, replaySettings).catch((error: unknown) => {
      throw new ConfigError(`${into} cannot be written: ${error instanceof Error ? error.message : String(error)}`)
    })
    const began = performance.now()
    const position = await replay({
      events: reader,
      payloads: reader,
      database,
      ...(until !== undefined && { until }),
      onProgress: (done, total) => out.progress(`${done} of ${total} events`),
    })
    database.closeSync()
    const seconds = (performance.now() - began) / 1000
    out.line(`${into} holds the log up to position ${position} (${seconds.toFixed(1)} s)`)
    return 0
  } finally {
    reader.close()
  }
}
