import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Outcome, Reply, ReplyPlace, RequestKey } from '../contract/log.js'
import { erasedReply, newerReply, replaceReplies, showsRows } from '../storage/kept-replies-table.js'
import { forgetReplyKey, openReplyVault, replyVault } from '../storage/keys.js'
import type { LogConnection } from '../storage/schema.js'
import type { DataErased } from '../../../events/records/log.js'
import type { Vault } from '../../vault/vault.js'

type StoredAnswer = { fingerprint: string; answer: string }
/** The stored data of a request: its outcome and, once rendered, its answer. */
type RememberedOutcome = Outcome & { reply?: Reply }

/** A reply that shows rows is stored sealed, in a form that an earlier release can send: it says that a newer one has the answer. */
type StoredReply = Reply & { sealed?: { hash: string; keyId: string; wrapped: string; body: string } }

const sealedReply = (vault: Vault, reply: Reply): StoredReply => {
  const { hash, keyId, wrapped, body } = vault.seal(Buffer.from(JSON.stringify(reply)))
  return { ...newerReply, rows: true, sealed: { hash, keyId, wrapped: wrapped.toString('base64'), body: body.toString('base64') } }
}

/** The reply as it was sent. Another key than its own says that an erasure came in between. A node may not have the key yet. */
const openedReply = (vault: Vault | undefined, { hash, keyId, wrapped, body }: NonNullable<StoredReply['sealed']>): Reply => {
  if (!vault) return newerReply
  const plain = vault.open({ hash, keyId, wrapped: Buffer.from(wrapped, 'base64'), body: Buffer.from(body, 'base64') })
  return plain ? (JSON.parse(plain.toString()) as Reply) : erasedReply
}

/** Whether an erasure takes the reply: the same condition as `showsRows`. */
const isErasable = ({ stream, reply }: RememberedOutcome): boolean =>
  reply?.rows === true && (stream === null || stream.endsWith('/answers'))

/** The outcome of a request that was answered without a command, because there was nothing to do. */
const nothingDone: Outcome = { positions: [], stream: null, resource: null, repeated: false }

/**
 * The stored outcomes and answers of requests with a key, so that each has one effect and one answer. Answers that show rows are sealed
 * under a key that the next erasure of rows forgets.
 */
export class KeptReplies {
  readonly #find
  readonly #put
  readonly #withRows
  readonly #withRowsUpTo

  /** `now` gives the time of the log, in milliseconds since 1970; `onStored` gets the bytes of each answer. */
  constructor(
    private readonly db: LogConnection,
    private readonly vault: Vault,
    private readonly now: () => number = Date.now,
    private readonly onStored: (bytes: number) => void = () => undefined,
  ) {
    this.#find = db.prepare<[string, string], StoredAnswer>('SELECT fingerprint, answer FROM answers WHERE actor = ? AND key = ?')
    this.#put = db.prepare<[string, string, string, string, string]>(
      'INSERT INTO answers VALUES (?, ?, ?, ?, ?) ON CONFLICT (actor, key) DO UPDATE SET answer = excluded.answer',
    )
    this.#withRows = db.prepare<[]>(`SELECT 1 FROM answers WHERE ${showsRows} LIMIT 1`)
    this.#withRowsUpTo = db.prepare<[string]>(`SELECT 1 FROM answers WHERE answered_at <= ? AND ${showsRows} LIMIT 1`)
  }

  /** The outcome of the same command sent before. @throws Problem 422 when the key came with another request */
  repeated(keyed: RequestKey): Outcome | undefined {
    const remembered = this.#remembered(keyed)
    if (!remembered) return undefined
    const { reply: _, ...outcome } = remembered
    return { ...outcome, repeated: true }
  }

  /** The stored answer to the same request sent before. @throws Problem 422 when the key came with another request */
  replyTo(keyed: RequestKey): Reply | undefined {
    return this.#remembered(keyed)?.reply
  }

  /** Stores an answer, unless one is already stored; returns the stored answer. */
  keepReply(keyed: RequestKey, reply: Reply): Reply {
    const before = this.#remembered(keyed)
    if (before?.reply) return before.reply
    this.note(keyed, { ...(before ?? nothingDone), reply })
    return reply
  }

  /** Whether some stored answer shows rows, or one of those stored up to a time in milliseconds since 1970. */
  showRows(upTo?: number): boolean {
    return (upTo === undefined ? this.#withRows.get() : this.#withRowsUpTo.get(new Date(upTo).toISOString())) !== undefined
  }

  /** Stores the outcome of a request, if it has a key. */
  note({ origin, idempotency }: RequestKey, remembered: RememberedOutcome): void {
    if (!idempotency) return
    const { key, fingerprint } = idempotency
    const { reply } = remembered
    const sealed = reply && isErasable(remembered) && sealedReply(replyVault(this.db, this.vault), reply)
    const answer = JSON.stringify(sealed ? { ...remembered, reply: sealed } : remembered)
    this.#put.run(origin.actor, key, fingerprint, answer, new Date(this.now()).toISOString())
    this.onStored(Buffer.byteLength(answer))
  }

  #remembered({ origin, idempotency }: RequestKey): RememberedOutcome | undefined {
    const stored = idempotency && this.#find.get(origin.actor, idempotency.key)
    if (!stored) return undefined
    if (stored.fingerprint !== idempotency.fingerprint)
      throw new Problem('idempotency_mismatch', 'Idempotency key reused', 'this Idempotency-Key came before with another request', {
        hint: 'Use a new key for a new request.',
      })
    const remembered = JSON.parse(stored.answer) as Outcome & { reply?: StoredReply }
    const sealed = remembered.reply?.sealed
    return sealed ? { ...remembered, reply: openedReply(openReplyVault(this.db, this.vault), sealed) } : remembered
  }
}

/**
 * Deletes some of the answers up to a time in milliseconds since 1970: the oldest, and all that are as old as the last of these. Returns
 * whether any are left.
 */
export const forgetSomeAnswers = (db: LogConnection, upTo: number): boolean => {
  const before = new Date(upTo).toISOString()
  const last = db
    .prepare<[string, number], string>('SELECT answered_at FROM answers WHERE answered_at <= ? ORDER BY answered_at LIMIT 1 OFFSET ?')
    .pluck()
    .get(before, limits.forgottenAnswersPerBatchMax - 1)
  db.prepare('DELETE FROM answers WHERE answered_at <= ?').run(last ?? before)
  return last !== undefined
}

/** Removes the stored answers that show rows, and the key that sealed them, in the transaction of the erasure. */
export const prepareEraseReplies = (db: LogConnection): ((erasure: DataErased) => void) => {
  const replace = db.prepare<[string]>(`${replaceReplies} WHERE ${showsRows}`)
  return ({ what }) => {
    if (what === 'secrets') return
    replace.run(JSON.stringify(erasedReply))
    forgetReplyKey(db)
  }
}

/** Removes some of these answers before an erasure: those after a place in their order. Returns the next place, if any answers are left. */
export const eraseSomeReplies = (db: LogConnection, { actor, key }: ReplyPlace): ReplyPlace | undefined => {
  const last = db
    .prepare<[string, string, number], ReplyPlace>(
      'SELECT actor, key FROM answers WHERE (actor, key) > (?, ?) ORDER BY actor, key LIMIT 1 OFFSET ?',
    )
    .get(actor, key, limits.sharedErasedRepliesMax - 1)
  const upTo = last ? 'AND (actor, key) <= (?, ?)' : ''
  const places = last ? [actor, key, last.actor, last.key] : [actor, key]
  db.prepare<string[]>(`${replaceReplies} WHERE (actor, key) > (?, ?) ${upTo} AND ${showsRows}`).run(JSON.stringify(erasedReply), ...places)
  return last
}
