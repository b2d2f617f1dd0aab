import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { ConfigError, type Config } from '../config.js'
import { Blobs } from '../files/blobs.js'
import { hashFile } from '../files/disk.js'
import { checkDataDirectory } from '../log/data-directory.js'
import type { Head } from '../log/log.js'
import { verifyLog } from '../log/verify.js'
import type { Output } from './output.js'

const headSchema = z.object({ logId: z.string(), position: z.int().nonnegative(), chain: z.string().regex(/^[0-9a-f]{64}$/) })

const jsonIn = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

const readHead = (file: string): Head => {
  if (!existsSync(file)) throw new ConfigError(`there is no file ${file}; "mindledger head > ${file}" writes one`)
  const parsed = headSchema.safeParse(jsonIn(file))
  if (!parsed.success) throw new ConfigError(`${file} does not hold a head; "mindledger head" prints one`)
  return parsed.data
}

/** `mindledger verify [--head file]`: walks the whole log; exit status 0 only when everything holds. */
export const verify = async (config: Config, { head }: { head: string | undefined }, out: Output): Promise<number> => {
  const paths = checkDataDirectory(config.dataDirectory)
  const blobs = new Blobs(paths.blobs)
  const kept = head === undefined ? undefined : readHead(head)
  const result = await verifyLog({
    logFile: paths.log,
    blobHash: async (hash) => ((await blobs.has(hash)) ? hashFile(blobs.path(hash)) : undefined),
    onProgress: (position) => out.progress(`${position} events`),
    ...(kept && { kept }),
  })
  for (const { position, what } of result.findings) out.line(position === null ? what : `position ${position}: ${what}`)
  const { position, chain } = result.head
  out.line(`${result.ok ? 'The log holds' : 'THE LOG DOES NOT HOLD'}: ${position} events, chain ${chain}`)
  out.line(`payloads: ${result.payloads.readable} readable, ${result.payloads.erased} erased`)
  if (result.provenTo === null) out.line('The newest state is not proven: compare with a head kept elsewhere (--head <file>).')
  else out.line(`Proven up to position ${result.provenTo} by the head that was kept.`)
  return result.ok ? 0 : 1
}
