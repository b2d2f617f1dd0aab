import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import type { DataPaths } from './data-directory.js'

const addressSchema = z.object({ url: z.url(), instance: z.string() })

/** The address of a data directory's server, and the id of its current run, which `GET /api/health` returns. */
export type ServerAddress = z.infer<typeof addressSchema>

/**
 * Writes the address of a server into its data directory, readable only by the owner. Returns a function that removes it.
 *
 * @example const forget = noteServerAddress(paths, { url: 'http://127.0.0.1:8080', instance: randomUUID() })
 */
export const noteServerAddress = ({ server }: Pick<DataPaths, 'server'>, address: ServerAddress): (() => void) => {
  const part = `${server}.part`
  writeFileSync(part, `${JSON.stringify(address)}\n`, { mode: 0o600 })
  // A concurrent reader finds the whole file or none.
  renameSync(part, server)
  return () => rmSync(server, { force: true })
}

/**
 * The address in a data directory; undefined if there is none. It is only valid while the directory is locked, because a killed server
 * leaves its address behind.
 */
export const readServerAddress = ({ server }: Pick<DataPaths, 'server'>): ServerAddress | undefined => {
  try {
    return addressSchema.safeParse(JSON.parse(readFileSync(server, 'utf8'))).data
  } catch {
    return undefined
  }
}
