import { inParts } from '../../../basics/limits/in-parts.js'
import type { EventRow, PartBounds, PayloadRow, Rows } from './rows.js'
import type { SharedLogSession } from './shared-log-session.js'

/** Payloads that a later batch wrote again: how many bytes each has, together with the payload that replaced it. */
type Rewritten = ReadonlyMap<string, number>

const sizes = `
  SELECT named.hash, length(named.body) + coalesce(length(instead.body), 0) AS bytes
  FROM mindledger.payloads AS named
    LEFT JOIN mindledger.payloads AS instead ON instead.hash = named.replaced_by AND instead.seq > $2
  WHERE named.hash = ANY($1) AND named.seq > $2`

/** Payloads by their hashes, with their replacements. */
const rewritten = `
  WITH named AS MATERIALIZED (
    SELECT hash, key_id, wrapped, body, replaced_by FROM mindledger.payloads WHERE hash = ANY($1) AND seq > $2
  )
  SELECT hash, key_id AS "keyId", wrapped, body, replaced_by AS "replacedBy" FROM named
  UNION ALL SELECT p.hash, p.key_id, p.wrapped, p.body, p.replaced_by
    FROM mindledger.payloads AS p WHERE p.hash IN (SELECT replaced_by FROM named) AND p.seq > $2`

const hashes = /"([0-9a-f]{64})"/g

/** The texts in an event that may be hashes of payloads. */
export const hashesIn = (text: string): string[] => Array.from(text.matchAll(hashes), ([, hash = '']) => hash)

/** The payloads of events that a batch after these wrote again: a node that has an event has its payloads, unless they were erased. */
export const rewrittenAfter = async (session: SharedLogSession, seq: number, { events, payloads }: Rows): Promise<Rewritten> => {
  const known = new Set(payloads.map(({ hash }) => hash))
  const named = new Set(events.flatMap(({ text }) => hashesIn(text)).filter((hash) => !known.has(hash)))
  if (named.size === 0) return new Map()
  const { rows } = await session.query<{ hash: string; bytes: number }>(sizes, [[...named], seq], 'rewritten_sizes')
  return new Map(rows.map(({ hash, bytes }) => [hash, bytes]))
}

/** The position of the first event whose payloads do not fit into a part together with those before it; undefined when all fit. */
export const firstBeyond = (events: readonly EventRow[], bytesOf: Rewritten, maxBytes: number): number | undefined => {
  // If all of them fit, the events need not be searched.
  if ([...bytesOf.values()].reduce((sum, more) => sum + more, 0) <= maxBytes) return undefined
  const counted = new Set<string>()
  let bytes = 0
  const beyond = events.find(({ text }) => {
    for (const hash of hashesIn(text)) {
      if (!counted.has(hash)) bytes += bytesOf.get(hash) ?? 0
      counted.add(hash)
    }
    return bytes > maxBytes
  })
  return beyond?.position
}

/** Fetches payloads with their replacements. The payloads of one batch may be many: each statement fetches a bounded number of bytes. */
export const fetchRewritten = async (
  session: SharedLogSession,
  seq: number,
  bytesOf: Rewritten,
  { bytes: maxSize, events: maxItems }: PartBounds,
): Promise<PayloadRow[]> => {
  const found: PayloadRow[] = []
  for (const part of inParts(bytesOf, ([, bytes]) => bytes, { maxItems, maxSize })) {
    const { rows } = await session.query<PayloadRow>(rewritten, [part.map(([hash]) => hash), seq], 'rewritten')
    found.push(...rows)
  }
  return found
}
