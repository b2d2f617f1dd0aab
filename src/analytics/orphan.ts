import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const holder = /Conflicting lock is held in .*\(PID (\d+)\)/

/**
 * Ends the process for SQL that keeps this one from its tables. A server that was killed may leave one behind that was stopped, and so
 * does not notice. Whoever holds the lock of the data directory has the only server on it, so that no other process of this kind has a
 * server. Gives the id of the process that was ended.
 *
 * @example endOrphan('Conflicting lock is held in /usr/bin/node (PID 4711)', '/app/sql-process.js') // 4711
 */
export const endOrphan = (reason: string, entry: string): number | undefined => {
  const pid = Number(holder.exec(reason)?.[1] ?? 0)
  if (pid <= 1 || pid === process.pid) return undefined
  try {
    // Only Linux tells; elsewhere the reason names the process, and a person ends it.
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    if (!command.some((word) => basename(word) === basename(entry))) return undefined
    process.kill(pid, 'SIGKILL')
    return pid
  } catch {
    return undefined
  }
}
