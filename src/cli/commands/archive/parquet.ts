/** Room: commands over the exported history. It imports only basics, setup, log/sqlite, audit, archive, cli/access and cli/terminal. */

import { checkArchive } from '../../../archive/check.js'
import { openArchive } from '../../../archive/open.js'
import { writeArchive } from '../../../archive/write-archive.js'
import { findHeadSigner } from '../../../audit/head-key.js'
import { readHeads } from '../../../audit/kept-heads.js'
import { limits } from '../../../basics/limits.js'
import { openLogReader } from '../../../log/sqlite/log-reader.js'
import { ConfigError, type Config, type S3Keys } from '../../../setup/config.js'
import { dataPaths } from '../../../setup/data-directory.js'
import { endPosition } from '../../access/values.js'
import { headFault, readVkeys } from '../../access/verifier-key.js'
import type { Output } from '../../terminal/output.js'

/** `mindledger export --parquet <place> [--until n]`: Parquet files by position range, with or without a running server. */
export const exportParquet = async (
  config: Config,
  options: { place: string; until: number | undefined },
  out: Output,
): Promise<number> => {
  const { until } = options
  const store = openArchive('--parquet', options.place, config.blobKeys)
  const { place } = store
  const served = config.exports && openArchive('EXPORT_URL', config.exports.place, config.blobKeys).place
  if (place === served)
    throw new ConfigError(`${place} is the place where the server writes (EXPORT_DIR or EXPORT_URL): name another place`)
  const reader = openLogReader(config.dataDirectory, config.masterKeys)
  try {
    const size = endPosition(until, reader.head())
    await reader.confirm()
    const signer = findHeadSigner(dataPaths(config.dataDirectory), config.headKey, reader)
    const onProgress = (position: number): void => out.progress(`${position} events`)
    const { written } = await writeArchive({ store, reader, signer, size, onProgress })
    out.line(`${place} holds the log up to position ${size}; ranges written: ${written}`)
    return 0
  } finally {
    reader.close()
  }
}

/** `mindledger verify --parquet <place> [--head file]… [--vkey key]`: checks an export without a data directory. */
export const verifyParquet = async (
  { place, keys, heads: files, vkey }: { place: string; keys: S3Keys | undefined; heads: readonly string[]; vkey: string | undefined },
  out: Output,
): Promise<number> => {
  const trusted = vkey === undefined ? [] : readVkeys(vkey)
  const read = files.flatMap(readHeads)
  const unproven = read.flatMap((one) => {
    const fault = headFault(one, trusted)
    return fault === undefined ? [] : [{ one, fault }]
  })
  const heads = read.filter((one) => !unproven.some((other) => other.one === one)).map(({ head }) => head)
  const onProgress = (at: number): void => out.progress(`${at} events`)
  const store = openArchive('--parquet', place, keys)
  try {
    const { size, root, faults, provenTo } = await checkArchive({ store, heads, trusted, onProgress, waitMs: limits.archiveCheckWaitMs })
    for (const { one, fault } of unproven) out.line(`the head of position ${one.head.position} proves nothing: ${fault}`)
    for (const fault of faults) out.line(fault)
    const ok = faults.length === 0 && unproven.length === 0
    out.line(ok ? `The export holds: ${size} events, root ${root}` : 'THE EXPORT DOES NOT HOLD')
    if (ok && provenTo > 0) out.line(`Proven: positions 1 to ${provenTo}, by the head that was kept.`)
    if (ok && provenTo < size)
      out.line(`Unproven: positions ${provenTo + 1} to ${size}. Compare with a head kept elsewhere (--head <file>) and its key (--vkey).`)
    return ok ? 0 : 1
  } finally {
    await store.close()
  }
}
