import { once } from 'node:events'
import { findHeadSigner } from '../../audit/head-key.js'
import { signHead } from '../../audit/heads.js'
import { readHeads } from '../../audit/kept-heads.js'
import { ConfigError, type Config } from '../../setup/config.js'
import { limits } from '../../basics/limits.js'
import { dataPaths } from '../../setup/data-directory.js'
import { exportLines, projectCalled, type ExportSource } from '../../log/feed/export.js'
import { openLogReader, type LogReader } from '../../log/sqlite/log-reader.js'
import { endPosition } from '../access/values.js'

type Options = {
  /** The project whose events are shown; by default all. */
  project: string | undefined
  until: number | undefined
  /** Files with heads that the export must be comparable with. */
  heads: readonly string[]
}

const sourceOf = (reader: LogReader, config: Config): ExportSource => {
  const signer = findHeadSigner(dataPaths(config.dataDirectory), config.headKey, reader)
  const proofs = reader.proofs()
  return {
    logId: reader.id,
    read: async (after, limit) => reader.read(after, limit, limits.eventSliceMaxChars),
    first: async (stream) => reader.first(stream),
    subtrees: async (from, to) => proofs.subtrees(from, to),
    leaves: async (from, to) => proofs.leaves(from, to),
    checkpoint: async (size) => signHead(signer, size, proofs.rootAt(size)),
    key: signer.vkey,
  }
}

/** `mindledger export [--project p] [--until n] [--head file]…`: lines for the offline verifier, with or without a running server. */
export const exportLog = async (config: Config, { project, until, heads }: Options): Promise<number> => {
  const splits = heads.flatMap(readHeads).map(({ head }) => head.position)
  const reader = openLogReader(config.dataDirectory, config.masterKeys)
  try {
    const size = endPosition(until, reader.head())
    await reader.confirm()
    const source = sourceOf(reader, config)
    const found = project === undefined ? undefined : await projectCalled(source.read, project, size)
    if (project !== undefined && !found) throw new ConfigError(`no project was called ${project} up to position ${size}`)
    for await (const lines of exportLines(source, { size, splits, ...(found && { project: found }) }))
      if (!process.stdout.write(lines)) await once(process.stdout, 'drain')
    return 0
  } finally {
    reader.close()
  }
}
