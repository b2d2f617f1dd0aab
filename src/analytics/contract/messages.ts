import type { Rebuilds } from './rebuilds.js'

/** What the analytics process is started with. It comes over the private channel: arguments and environment can be seen by others. */
export type Settings = {
  dataDirectory: string
  /** The master keys in hex, when they are not those in the data directory's files. */
  masterKeys: string[]
  /** Where to listen; its directory is private, and goes with the process. */
  socket: string
  /** Whether to build the tables anew even when they look whole: the process before died opening them. */
  rebuild: boolean
  /** What is on record of the tables; null when nothing is. */
  rebuilds: Rebuilds | null
  /** Why an earlier process last failed to follow the log. */
  lastError: string | null
  /** Whether a blob has its file here only while the parent holds it. */
  asksForBlobs: boolean
  memoryMaxBytes: number
  threads: number
  walMaxBytes: number
  followerIntervalMs: number
  followerBatchEvents: number
  checkIntervalMs: number
}

/** What the analytics process tells of itself. */
export type ChildMessage =
  | { kind: 'starting'; position: number; head: number }
  /** It has built the tables and ends, which frees the memory that this took. */
  | { kind: 'built' }
  /** The tables are open; how often they had to be begun anew up to now, and what keeps the process from writing files. */
  | { kind: 'opened'; rebuilds: Rebuilds; confinement: string }
  | { kind: 'ready' }
  | { kind: 'state'; position: number; head: number; stopped: string | null }
  /** The tables could not be brought up to date. The next try may succeed. */
  | { kind: 'trouble'; reason: string }
  /** It ends, so that the tables are opened anew. `other_rows`: they do not show the rows that were added to them. */
  | { kind: 'ending'; loss: 'other_rows' | 'died'; reason: string }
  | { kind: 'alive' }
  /** It knows the master keys that it was sent. */
  | { kind: 'keys' }
  /** The tables were copied into a file, as they were at a position; or the reason why not. */
  | { kind: 'copied'; into: string; position: number }
  | { kind: 'not_copied'; into: string; reason: string }
  /** It could not start. `isForeign`: the tables have followed events that the log does not have. */
  | { kind: 'failed'; reason: string; isForeign: boolean }

const kinds: readonly string[] = [
  'starting',
  'built',
  'opened',
  'ready',
  'state',
  'trouble',
  'ending',
  'alive',
  'keys',
  'copied',
  'not_copied',
  'failed',
] satisfies ChildMessage['kind'][]

const kindOf = (message: unknown): unknown => (typeof message === 'object' && message !== null ? Reflect.get(message, 'kind') : undefined)

/** Reads a message of the child; undefined when it is another's, such as a debugger's. */
export const parseChildMessage = (message: unknown): ChildMessage | undefined => {
  const kind = kindOf(message)
  return typeof kind === 'string' && kinds.includes(kind) ? (message as ChildMessage) : undefined
}

/** Whether the parent asks for a sign of life. */
export const isPing = (message: unknown): boolean => kindOf(message) === 'ping'

/** The master keys in hex that the parent tells of, when they change; undefined when that is not what it says. */
export const parseKeys = (message: unknown): string[] | undefined =>
  kindOf(message) === 'keys' ? (message as { keys: string[] }).keys : undefined

/** The parent asks for a copy of the tables as they are at a position of the log or after it, in a new file. */
export type CopyRequest = { kind: 'copy'; into: string; upTo: number }

/** Reads such a message; undefined when it is another one. */
export const parseCopyRequest = (message: unknown): CopyRequest | undefined =>
  kindOf(message) === 'copy' ? (message as CopyRequest) : undefined

/** Reads the first message of the parent. */
export const parseSettings = (message: unknown): Settings => {
  if (kindOf(message) !== 'settings') throw new TypeError('the analytics process was sent something that is not its settings')
  return (message as { settings: Settings }).settings
}
