import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// The address of a Unix socket holds 104 bytes on macOS and 108 on Linux, and Node cuts a longer one without an error.
const pathMaxBytes = 100

/** Makes a private directory (0700) for sockets, with a path so short that the names of sockets fit behind it. */
export const makeSocketDirectory = (): string => {
  const longestName = '/0000000.sock'
  for (const parent of [tmpdir(), '/tmp']) {
    const prefix = join(parent, 'mindledger-')
    if (Buffer.byteLength(`${prefix}XXXXXX${longestName}`) <= pathMaxBytes) return mkdtempSync(prefix)
  }
  throw new Error(`the path of the temporary directory ${tmpdir()} is too long for a Unix socket; set TMPDIR to a shorter one`)
}
