import { hashBytes } from '../log/proof/merkle-tree.js'
import { fromBase64 } from './note-key.js'

/** The statement of a log about itself at a size, in C2SP's tlog-checkpoint format: its origin, its number of events, and their root. */
export type TlogCheckpoint = { origin: string; size: number; root: Buffer }

const prefix = 'mindledger/'

/** The origin of a log's checkpoints, and the name of the key that signs them. `mindledger/8e0f…` */
export const originOf = (logId: string): string => prefix + logId

/** The log that an origin names; the origin itself if it has another form. */
export const logOf = (origin: string): string => (origin.startsWith(prefix) ? origin.slice(prefix.length) : origin)

/** The text of a checkpoint, to be signed as a note. */
export const checkpointText = ({ origin, size, root }: TlogCheckpoint): string => `${origin}\n${size}\n${root.toString('base64')}\n`

/** Reads the text of a checkpoint; lines after the third are extensions, which are ignored. Undefined if the text is not a checkpoint. */
export const readTlogCheckpoint = (text: string): TlogCheckpoint | undefined => {
  const [origin = '', size = '', encoded = '', ...rest] = text.split('\n')
  const root = fromBase64(encoded)
  const isWhole = rest.length > 0 && rest.at(-1) === '' && !rest.slice(0, -1).includes('')
  if (origin === '' || !isWhole || root?.length !== hashBytes || !/^(?:0|[1-9]\d{0,15})$/.test(size)) return undefined
  return Number.isSafeInteger(Number(size)) ? { origin, size: Number(size), root } : undefined
}
