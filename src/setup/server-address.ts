import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { DataPaths } from './data-directory.js'

const addressSchema = z.object({ url: z.url(), instance: z.string() })

/** Where the server of a data directory answers, and the name of this run of it, which `GET /api/health` answers with. */
export type ServerAddress = z.infer<typeof addressSchema>

/**
 * Writes the address of a server into the directory that it holds, readable by its owner alone.
 * Returns what takes it away.
 *
 * @example const forget = noteServerAddress(paths, { url: 'http://127.0.0.1:8080', instance: randomUUID() })
 */
export const noteServerAddress = ({ server }: Pick<DataPaths, 'server'>, address: ServerAddress): (() => void) => {
  const part = `${server}.part`
  writeFileSync(part, `${JSON.stringify(address)}\n`, { mode: 0o600 })
  // Who reads meanwhile finds all of it, or nothing.
  renameSync(part, server)
  return () => rmSync(server, { force: true })
}

/**
 * The address that stands in a data directory. It is a running server's only while the directory is held: a server that was
 * killed leaves it behind. Undefined where there is none.
 */
export const readServerAddress = ({ server }: Pick<DataPaths, 'server'>): ServerAddress | undefined => {
  try {
    return addressSchema.safeParse(JSON.parse(readFileSync(server, 'utf8'))).data
  } catch {
    return undefined
  }
}
