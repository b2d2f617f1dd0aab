import { errorText } from '../../basics/errors.js'
import { DuckDBInstance } from '@duckdb/node-api'
import { existsSync } from 'node:fs'
import { ProjectionError } from '../../../projections/problem.js'
import { replay, replaySettings } from '../../../projections/replay.js'
import { ConfigError, type Config } from '../../setup/config.js'
import { checkDataDirectory, removeTablesFile } from '../../setup/data-directory.js'
import { openLogReader, type LogReader } from '../../log/sqlite/log-reader.js'
import type { Output } from '../terminal/output.js'
import { ownMasterKeys } from '../access/own-keys.js'
import { endPosition } from '../access/values.js'

type Options = { into: string; until: number | undefined }

const build = async (reader: LogReader, { into, until }: Options, out: Output): Promise<number> => {
  const database = await DuckDBInstance.create(into, replaySettings).catch((error: unknown) => {
    throw new ConfigError(`${into} cannot be written: ${errorText(error)}`)
  })
  try {
    return await replay({
      events: reader,
      payloads: reader,
      database,
      ...(until !== undefined && { until }),
      onProgress: (done, total) => out.progress(`${done} of ${total} events`),
    })
  } finally {
    database.closeSync()
  }
}

/** `mindledger replay --into file.duckdb [--until n]`: builds a DuckDB file from the log alone. */
export const replayInto = async (config: Config, options: Options, out: Output): Promise<number> => {
  const { into, until } = options
  if (existsSync(into)) throw new ConfigError(`${into} exists already; replay writes a new file`)
  const keys = ownMasterKeys(config, checkDataDirectory(config.dataDirectory))
  const reader = openLogReader(config.dataDirectory, config.masterKeys)
  try {
    endPosition(until, reader.head())
    const began = performance.now()
    const position = await build(reader, options, out)
    const seconds = (performance.now() - began) / 1000
    out.line(`${into} holds the log up to position ${position} (${seconds.toFixed(1)} s)`)
    if (keys.length === 0) out.line('No master key is at hand: rows of predictions are unreadable in it.')
    return 0
  } catch (error) {
    // Nobody must mistake incomplete tables for complete ones.
    removeTablesFile(into)
    if (error instanceof ProjectionError) throw new ConfigError(`${error.message} "mindledger verify" says whether the log holds.`)
    throw error
  } finally {
    reader.close()
  }
}
