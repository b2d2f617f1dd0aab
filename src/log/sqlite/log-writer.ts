import { catalogue, currentSchema } from '../../../events/catalogue/catalogue.js'
import { erasedPayloadsOf, payloadsOf } from '../../../events/catalogue/references.js'
import { unfitJson } from '../../../events/common.js'
import {
  anyForeign,
  categoryOf,
  isForeignType,
  ownTypeOf,
  storedTypeIn,
  unfitData,
  unfitStream,
  unfitType,
} from '../../../events/foreign.js'
import { chainLeaf, leafHash } from '../../../events/stored/chain.js'
import { renderAround } from '../../../events/stored/envelope.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { isStorageError, sqliteCode } from '../../basics/storage-error.js'
import type { SealedPayload, Vault } from '../../vault/vault.js'
import type { AnyResource, ChangedStreams, NewEvent, Origin, Outcome, Submission, WrittenEvent } from '../contract/log.js'
import { isKind } from '../contract/lookups.js'
import { checkExpects } from '../contract/precondition.js'
import { CheckedProofs } from '../proof/checked-proofs.js'
import type { MerkleTree } from '../proof/merkle-tree.js'
import { leafReader, openTree } from '../proof/stored-tree.js'
import { microsecondsOf, nextInstant, readTail, type Tail } from '../storage/events.js'
import { prepareEndRotation } from '../storage/keys.js'
import { prepareErase } from '../storage/payloads.js'
import { ResourceTable } from '../storage/resource-table.js'
import type { LogConnection } from '../storage/schema.js'
import { envelopeAt, folding, knownEvent } from './blocking-event-error.js'
import { KeptReplies, prepareEraseReplies } from './kept-replies.js'

type ChangedKind = ChangedStreams extends ReadonlyMap<string, infer K> ? K : never

/**
 * The only writer. It executes commands in the shared transaction of a batch. A command that may be refused after its first write has a
 * savepoint there. A Problem refuses one command; an error of the storage ends the batch.
 */
export class LogWriter {
  readonly resources: ResourceTable
  readonly answers: KeptReplies
  readonly #tree: MerkleTree
  readonly proofs: CheckedProofs
  #tail: Tail
  /** The end of the log before the current command. */
  #before: Tail
  /** The end of the log before the batch. */
  #begun: Tail
  /** The bytes of texts, ciphertexts and answers that the batch wrote. */
  #bytes = 0
  #hasSavepoint = false
  #changed = new Map<string, ChangedKind>()
  #written: WrittenEvent[] = []
  readonly #db: LogConnection
  readonly #vault: Vault
  readonly #now: () => number
  readonly #insertEvent
  readonly #insertPayload
  readonly #erase
  readonly #eraseReplies
  readonly #endRotation
  readonly #after
  readonly #statements

  /** `now` gives the time of events, in milliseconds since 1970. */
  constructor(db: LogConnection, vault: Vault, now: () => number = Date.now) {
    this.#db = db
    this.#vault = vault
    this.#now = now
    this.#begun = this.#before = this.#tail = readTail(db)
    this.#tree = openTree(db, this.#tail.position)
    this.proofs = new CheckedProofs(this.#tree)
    this.resources = new ResourceTable(db)
    this.answers = new KeptReplies(db, vault, now, (bytes) => (this.#bytes += bytes))
    this.#insertEvent = db.prepare<[number, string, Buffer]>('INSERT INTO events (position, text, chain) VALUES (?, ?, ?)')
    this.#insertPayload = db.prepare<[string, string, Buffer, Buffer]>(
      'INSERT OR IGNORE INTO payloads (hash, key_id, wrapped, body) VALUES (?, ?, ?, ?)',
    )
    this.#erase = prepareErase(db)
    this.#eraseReplies = prepareEraseReplies(db)
    this.#endRotation = prepareEndRotation(db, vault)
    this.#after = db.prepare<[number], string>('SELECT text FROM events WHERE position > ? ORDER BY position').pluck()
    this.#statements = {
      begin: db.prepare('BEGIN IMMEDIATE'),
      commit: db.prepare('COMMIT'),
      rollback: db.prepare('ROLLBACK'),
      savepoint: db.prepare('SAVEPOINT command'),
      release: db.prepare('RELEASE command'),
      undo: db.prepare('ROLLBACK TO command'),
    }
  }

  get tail(): Tail {
    return this.#tail
  }

  /** The streams that the batch wrote to. */
  get changed(): ChangedStreams {
    return this.#changed
  }

  /** The events of the batch. */
  get written(): readonly WrittenEvent[] {
    return this.#written
  }

  /** The number of bytes of events, payloads and answers in the batch. */
  get bytes(): number {
    return this.#bytes
  }

  /** Begins the transaction of a batch. */
  begin(): void {
    this.#changed = new Map()
    this.#written = []
    this.#begun = this.#tail
    this.#bytes = 0
    this.#statements.begin.run()
  }

  /** Ends the transaction of a batch. */
  commit(): void {
    this.#statements.commit.run()
    this.#begun = this.#tail
  }

  /** Rolls the whole batch back, unless SQLite has done so already. */
  abandon(): void {
    if (this.#db.inTransaction) this.#statements.rollback.run()
  }

  /** Undoes the whole batch, so that the next one begins at the same place. */
  giveBack(): void {
    this.abandon()
    this.#hasSavepoint = false
    this.resources.forget(this.#changed.keys())
    if (this.#tail !== this.#begun) this.#tree.reset(leafReader(this.#db), this.#begun.position)
    this.#before = this.#tail = this.#begun
  }

  /**
   * Adds an event that another node decided.
   * @throws RangeError when it does not follow from the event before; BlockingEventError when this release does not know it or cannot fold
   * it
   */
  add({ position, text, chain }: { position: number; text: string; chain: Buffer }): void {
    const leaf = leafHash(text)
    if (position !== this.#tail.position + 1 || !chainLeaf(this.#tail.chain, leaf).equals(chain))
      throw new RangeError(`the event at position ${position} does not follow from the one before`)
    const envelope = envelopeAt(position, text)
    const event = knownEvent(envelope)
    this.#insertFollowing(position, text, chain)
    this.#tree.append(leaf)
    folding(envelope, () => this.resources.apply(envelope.stream, envelope.version, position, envelope.recorded_at, event))
    this.#changed.set(envelope.stream, catalogue.get(event.type)?.kind ?? anyForeign)
    this.#written.push({ event, source: envelope.source, recordedAt: envelope.recorded_at })
    this.#before = this.#tail = { position, chain, microseconds: microsecondsOf(envelope.recorded_at) }
  }

  #insertFollowing(position: number, text: string, chain: Buffer): void {
    try {
      this.#insertEvent.run(position, text, chain)
    } catch (error) {
      if (!sqliteCode(error)?.startsWith('SQLITE_CONSTRAINT')) throw error
      throw new RangeError(`the event at position ${position} repeats a version of its stream`, { cause: error })
    }
  }

  /**
   * Executes one command. After a refusal, the state is the same as before.
   * @throws Problem when the command is refused; any other error means that the batch is lost
   */
  carryOut(submission: Submission): Outcome {
    const { length } = this.#written
    this.resources.begin()
    try {
      const outcome = this.answers.repeated(submission) ?? this.#decide(submission)
      if (submission.dryRun) this.#undo(length)
      else this.#release()
      this.#before = this.#tail
      return outcome
    } catch (error) {
      if (isStorageError(error)) throw error
      // A refusal by this service: SQLite works, so only this command is undone.
      this.#undo(length)
      throw error
    }
  }

  /** Whether the last command wrote something and could not be undone alone: its batch must not be committed. */
  get isHalfDone(): boolean {
    return this.#tail !== this.#before
  }

  #release(): void {
    if (this.#hasSavepoint) this.#statements.release.run()
    this.#hasSavepoint = false
  }

  #undo(written: number): void {
    this.resources.undo()
    if (!this.#hasSavepoint) return
    this.#statements.undo.run()
    this.#release()
    if (this.#tail !== this.#before) this.#tree.reset(leafReader(this.#db), this.#before.position)
    this.#tail = this.#before
    this.#written.length = written
  }

  #decide(submission: Submission): Outcome {
    // A REST path may use a name or an id; a statement uses names, also one that an assistant tries.
    const { source } = submission.origin
    const orId = source !== 'sql' && source !== 'mcp'
    const before = this.#tail
    const facts = this.resources.lookUpAll(submission.lookups, orId)
    if (submission.further) Object.assign(facts, this.resources.lookUpAll(submission.further(facts), orId))
    const events = submission.decide(facts)
    const subject = submission.subject === undefined ? undefined : (facts[submission.subject] as AnyResource | undefined)
    // This check is the last, so a command with another fault is refused for that fault.
    if (submission.expects) checkExpects(submission.expects, subject?.version)
    if (submission.dryRun || !isCheckedFirst(events, submission)) {
      this.#statements.savepoint.run()
      this.#hasSavepoint = true
    }
    let resource: AnyResource | null = events.length === 0 ? (subject ?? null) : null
    const positions = events.map((event) => {
      resource = this.#append(event, submission) ?? null
      return this.#tail.position
    })
    if (submission.payloads.length > 0) {
      const named = new Set(events.flatMap(({ event }) => payloadsOf(event.type, event.data)))
      for (const payload of submission.payloads) if (named.has(payload.hash)) this.#keep(payload)
    }
    for (const { event } of events) {
      for (const erased of erasedPayloadsOf(event.type, event.data)) this.#erase(erased)
      if (event.type === 'DataErased') this.#eraseReplies(event.data)
      if (event.type === 'MasterKeyRotated') this.#endRotation(event.data)
    }
    const stream = events.at(-1)?.stream ?? null
    if (submission.dryRun) return { positions: [], stream, resource, repeated: false, planned: this.#after.all(before.position) }
    for (const { stream, event } of events) this.#changed.set(stream, catalogue.get(event.type)?.kind ?? anyForeign)
    const outcome: Outcome = { positions, stream, resource, repeated: false }
    this.answers.note(submission, outcome)
    return outcome
  }

  /** A payload may have been sealed before a rotation began, and then have waited. It is wrapped under the new key, like later payloads. */
  #keep({ hash, body, key, ...sealed }: SealedPayload): void {
    const { keyId, wrapped } = sealed.keyId === this.#vault.keyId ? sealed : this.#vault.wrap(key, hash)
    this.#insertPayload.run(hash, keyId, wrapped, body)
    this.#bytes += body.length
  }

  #append(written: NewEvent, { origin }: Submission): AnyResource | undefined {
    const { stream, event, begins } = written
    if (isForeignType(event.type)) checkForeign(written)
    else checkOurs(written)
    checkWhere(stream, origin)
    const position = this.#tail.position + 1
    const version = begins ? 1 : this.resources.versionOf(stream) + 1
    const at = nextInstant(this.#tail.microseconds, this.#now())
    const { type } = event
    const data = JSON.stringify(event.data)
    const text = renderAround({ position, stream, version, type, schema: currentSchema(type), recorded_at: at.text, ...origin }, data)
    const bytes = Buffer.byteLength(text)
    if (bytes > limits.eventMaxBytes)
      throw new Problem('too_large', 'Too large', `the ${type} event would have more than ${limits.eventMaxBytes} bytes`, {
        hint: 'Send less in one command.',
      })
    const fold = this.resources.fold(stream, version, position, at.text, event, data)
    const leaf = leafHash(text)
    const chain = chainLeaf(this.#tail.chain, leaf)
    this.#insertEvent.run(position, text, chain)
    this.#written.push({ event, source: origin.source, recordedAt: at.text })
    this.#bytes += bytes
    this.#tree.append(leaf)
    this.#tail = { position, chain, microseconds: at.microseconds }
    return fold()
  }
}

/** Whether all possible refusals of these events happen before the first write: at most one event, of a resource, and no payload. */
const isCheckedFirst = (events: readonly NewEvent[], { payloads }: Submission): boolean =>
  events.length <= 1 && payloads.length === 0 && events.every(({ event }) => isKind(catalogue.get(event.type)?.kind))

/** Checks one of our events against its schema, as the last step before it is written. */
const checkOurs = ({ stream, event: { type, data } }: NewEvent): void => {
  if (categoryOf(stream) !== undefined) throw wrong(`the stream ${stream} is for events from outside: it cannot have a ${type} event`)
  const parsed = catalogue.get(type)?.schema.safeParse(data)
  if (parsed?.success) return
  const issue = parsed?.error.issues[0]
  if (!issue) throw new TypeError(`unknown event type ${type}`)
  throw wrong(`${issue.path.join('.')} ${issue.message}`.trim())
}

/** Checks a foreign event, which has no schema here. */
const checkForeign = ({ stream, event: { type, data } }: NewEvent): void => {
  const own = ownTypeOf(type)
  const unfit = unfitStream(stream) ?? unfitType(stream, own) ?? unfitData(data)
  if (unfit !== undefined) throw wrong(unfit)
  if (type !== storedTypeIn(stream, own)) throw wrong(`the stream ${stream} cannot have an event of another category: ${type}`)
}

/**
 * The fields beside the data must be readable again as well. One unreadable event would keep the log from opening, and projections need a
 * stream name that JSON writes unchanged.
 */
const checkWhere = (stream: string, origin: Origin): void => {
  if (stream === '') throw wrong('stream must not be empty')
  const unfit = unfitJson({ stream, ...origin })
  if (unfit) throw wrong(unfit.join(' '))
  if (JSON.stringify(stream) !== `"${stream}"`) throw wrong('stream must not contain quotes, backslashes or control characters')
}
