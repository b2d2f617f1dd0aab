import { limits } from '../../src/basics/limits.js'
import type { Target } from '../harness/harness.js'
import type { Maker } from './texts.js'

/** Ids that the service gave, and other values that it must know, by the name of their parameter. */
export type Ids = Readonly<Record<string, string>>

/** A body, its media type, and other headers, which may sign it. */
export type Body = {
  name: string
  /** Makes the largest accepted content for 1, a tenth of it for .1. */
  content: (share: number, ids: Ids) => string | Buffer
  type?: string
  headers?: Record<string, string>
  signed?: (body: string) => Record<string, string>
  /** Names for its path instead of the usual ones. */
  names?: Ids
  /** Creates again what the request uses up, so that another attempt has as much work. */
  refill?: (target: Target, share: number) => Promise<void>
  /** The time to wait for its answer at least, because its work continues when the client has left. */
  patienceMs?: number
}

export const json = (name: string, content: Body['content']): Body => ({ name, content })

/** A text of this many characters. */
export const long =
  (count: number): Maker =>
  (share) =>
    'a b '.repeat(Math.floor((share * count) / 4))

/** As many repetitions of a text as fit into the body of a resource, with some room for the rest of the body. */
export const characters = (part: string): Maker => {
  const count = Math.floor((limits.resourceBodyMaxBytes - 10_000) / Buffer.byteLength(JSON.stringify(part).slice(1, -1)))
  return (share) => part.repeat(Math.ceil(share * count))
}

/** The name of the resource that has the largest params of some form. */
export const largeName = (kind: string, of: string): string => `large_${kind}_${of.toLowerCase().replaceAll(' ', '_')}`
