import { open } from 'node:fs/promises'
import { ConfigError } from '../setup/config.js'
import { limits } from '../basics/limits.js'
import { olderLog } from '../setup/data-directory.js'
import type { Log } from '../log/contract/log.js'
import type { KeptHead } from '../log/verify/verify.js'
import { headsAmong } from './kept-heads.js'

/** The end of a file, which may be long; undefined when the file is missing or cannot be read. */
const endOf = async (path: string): Promise<string | undefined> => {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      const length = Math.min(size, limits.headFileReadMaxBytes)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}

const differs = async (log: Pick<Log, 'head' | 'rootAt'>, head: KeptHead): Promise<string | undefined> => {
  const { position } = await log.head()
  if (head.position > position) return `it has a head of position ${head.position}, and the log ends at ${position}`
  if (!('root' in head) || head.root.equals(await log.rootAt(head.position))) return undefined
  return `its head of position ${head.position} is one of another history of this log`
}

/**
 * Compares a log with its heads at the end of a file of kept heads. Returns a text about the newest head that does not belong to the log.
 * It compares all heads, because one file may have heads of two histories. Heads of other logs are ignored, and so is a missing file.
 *
 * @example await otherHead(log, '/mnt/elsewhere/heads.txt') // 'it has a head of position 5, and the log ends at 3'
 */
export const otherHead = async (log: Pick<Log, 'id' | 'head' | 'rootAt'>, path: string): Promise<string | undefined> => {
  const text = await endOf(path)
  const own = headsAmong(text ?? '').flatMap(({ head }) => (head.logId === log.id ? [head] : []))
  for (const head of own.sort((one, other) => other.position - one.position)) {
    const found = await differs(log, head)
    if (found !== undefined) return found
  }
  return undefined
}

/** The same for a start. @throws ConfigError when a head does not belong to the log */
export const compareWithHeads = async (log: Pick<Log, 'id' | 'head' | 'rootAt'>, path: string): Promise<void> => {
  const found = await otherHead(log, path)
  if (found === undefined) return
  const accept = 'keep that file, which shows what is missing, set HEAD_FILE to a new one'
  throw new ConfigError(olderLog(`${path} was kept of it, and ${found}`, accept))
}
