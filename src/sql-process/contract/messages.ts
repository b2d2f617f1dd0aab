import type { Rebuilds } from './rebuilds.js'

/** The settings of the SQL process. They come over the private channel, because others can see arguments and environment. */
export type Settings = {
  dataDirectory: string
  /** The master keys in hex, when they are not those in the data directory's files. */
  masterKeys: string[]
  /** The socket to listen on. Its directory is private, and is removed with the process. */
  socket: string
  /** Whether to rebuild the tables even if they look whole: the process before died while it opened them. */
  rebuild: boolean
  /** The record of the tables' rebuilds; null if there is none. */
  rebuilds: Rebuilds | null
  /** Why an earlier process last failed to follow the log. */
  lastError: string | null
  /** Whether the file of a blob exists here only while the parent holds it. */
  asksForBlobs: boolean
  memoryMaxBytes: number
  threads: number
  walMaxBytes: number
  followerIntervalMs: number
  followerBatchEvents: number
  checkIntervalMs: number
}

/** A message of the SQL process about itself. */
export type ChildMessage =
  | { kind: 'starting'; position: number; head: number }
  /** It has built the tables and ends, which frees the memory of this work. */
  | { kind: 'built' }
  /**
   * The tables are open. The message has the number of rebuilds so far, the mechanism that prevents the process from writing files, and the
   * head of the log when the file of the tables was begun.
   */
  | { kind: 'opened'; rebuilds: Rebuilds; confinement: string; begunAt: number }
  | { kind: 'ready' }
  | { kind: 'state'; position: number; head: number; stopped: string | null }
  /** The tables could not be brought up to date. The next try may succeed. */
  | { kind: 'trouble'; reason: string }
  /** It ends, so that another process opens the tables again. `other_rows`: the tables do not show all rows that were added to them. */
  | { kind: 'ending'; loss: 'other_rows' | 'died'; reason: string }
  | { kind: 'alive' }
  /** It has received the master keys. */
  | { kind: 'keys' }
  /** The tables were copied into a file, at a position; or the reason why not. */
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

/** Reads a message of the child; undefined for a message of another sender, such as a debugger. */
export const parseChildMessage = (message: unknown): ChildMessage | undefined => {
  const kind = kindOf(message)
  return typeof kind === 'string' && kinds.includes(kind) ? (message as ChildMessage) : undefined
}

/** Whether a message is a ping of the parent. */
export const isPing = (message: unknown): boolean => kindOf(message) === 'ping'

/** The changed master keys in a message of the parent, in hex; undefined if it is another message. */
export const parseKeys = (message: unknown): string[] | undefined =>
  kindOf(message) === 'keys' ? (message as { keys: string[] }).keys : undefined

/** A request of the parent: copy the tables into a new file, at this log position or a later one. */
export type CopyRequest = { kind: 'copy'; into: string; upTo: number }

/** Reads such a message; undefined when it is another one. */
export const parseCopyRequest = (message: unknown): CopyRequest | undefined =>
  kindOf(message) === 'copy' ? (message as CopyRequest) : undefined

/** Reads the first message of the parent. */
export const parseSettings = (message: unknown): Settings => {
  if (kindOf(message) !== 'settings') throw new TypeError('the SQL process was sent something that is not its settings')
  return (message as { settings: Settings }).settings
}
