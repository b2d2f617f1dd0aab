import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import type { DataPaths } from './data-directory.js'

const addressSchema = z.object({ url: z.url(), instance: z.string() })

/** The address of a data directory's server, and the name of this run of it, which `GET /api/health` returns. */
export type ServerAddress = z.infer<typeof addressSchema>

/**
 * Writes the address of a server into the directory that it holds, readable only by its owner. Returns the function that removes it.
 *
 * @example const forget = noteServerAddress(paths, { url: 'http://127.0.0.1:8080', instance: randomUUID() })
 */
export const noteServerAddress = ({ server }: Pick<DataPaths, 'server'>, address: ServerAddress): (() => void) => {
  const part = `${server}.part`
  writeFileSync(part, `${JSON.stringify(address)}\n`, { mode: 0o600 })
  // A reader at this moment finds all of it, or nothing.
  renameSync(part, server)
  return () => rmSync(server, { force: true })
}

/**
 * The address in a data directory, undefined where there is none. It belongs to a running server only while the directory is locked: a
 * server that was killed leaves it behind.
 */
export const readServerAddress = ({ server }: Pick<DataPaths, 'server'>): ServerAddress | undefined => {
  try {
    return addressSchema.safeParse(JSON.parse(readFileSync(server, 'utf8'))).data
  } catch {
    return undefined
  }
}
