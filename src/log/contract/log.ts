import type { EventDefinition, Kind, LedgerEvent, States } from '../../../events/catalogue.js'
import type { StreamId } from '../../../events/common.js'
import type { anyForeign, ForeignEvent } from '../../../events/foreign.js'
import type { Source } from '../../../events/stored/envelope.js'
import type { SealedPayload } from '../../vault/vault.js'
import type { Expects } from './expects.js'
import type { AnyFound, Earlier, Found, Lookup } from './lookups.js'

/** The newest event's position and the chain up to it. Position 0 is the empty log. */
export type Head = { logId: string; position: number; chain: string }

/** One event as it is stored. */
export type StoredEvent = { position: number; text: string }

/** Who asks, through which channel, and which other requests it belongs to. */
export type Origin = {
  actor: string
  source: Source
  request: string | null
  correlation: string | null
  causation: string | null
  /** Where the request stands in a distributed trace (W3C Trace Context). */
  traceparent?: string
}

/** An event that a decision wants written, and the stream it belongs to. */
export type NewEvent = { stream: string; event: LedgerEvent | ForeignEvent }

/**
 * A command on its way to the drain: what it must see, and what it then decides. `decide` is pure and synchronous, runs
 * inside the transaction that will hold its events, and refuses by throwing a Problem.
 */
export type Submission = {
  origin: Origin
  lookups: Record<string, Lookup>
  decide: (facts: Record<string, unknown>) => NewEvent[]
  payloads: readonly SealedPayload[]
  /** What can only be looked up once the first facts are known. */
  further?: (facts: Record<string, unknown>) => Record<string, Lookup>
  /** The fact that is the one resource which the command is about. */
  subject?: string
  /** What that resource must be like; looked at once the command itself has nothing against it. */
  expects?: Expects
  idempotency?: Key
  /** Carries the command out and undoes it: nothing is written, no key is remembered, and nobody is told. */
  dryRun?: boolean
}

/** A request as its key knows it. */
export type Keyed = Pick<Submission, 'origin' | 'idempotency'>

/** An actor's key for one request, and what tells that request from others. */
export type Key = { key: string; fingerprint: string }

/** The answer that a request got, as it was sent; whether it shows rows of predictions, which may have to be erased. */
export type Reply = { status: number; type: string | null; etag: string | null; body: string; rows?: true }

/** The streams that a commit wrote to, with what each is of. */
export type Changed = ReadonlyMap<string, EventDefinition['kind'] | typeof anyForeign>

/**
 * What came of a command: where its events stand, and the resource as it is after the last event, or where there was nothing
 * to do, as it was found.
 */
export type Outcome = {
  positions: number[]
  stream: string | null
  resource: AnyFound | null
  /** Whether this is the stored answer of the same command sent before. */
  repeated: boolean
  /** For a dry run: the texts of the events that would follow. */
  planned?: string[]
}

/** How the log is: its newest position, the commands that wait, and why it could not be written at the last attempt, if so. */
export type LogHealth = { position: number; queued: number; unwritable: string | undefined }

/** A transaction that is over: how many commands shared it, for how long, and the events that it wrote; none when it failed. */
export type Batch = { commands: number; seconds: number; failed: boolean; events: readonly Written[] }

/** Hears of a commit: the head, the streams that have new events, and these events in order. */
export type CommitListener = (position: number, changed: Changed, events: readonly Written[]) => void

/** An event as it was written, and through what it came. */
export type Written = { event: LedgerEvent | ForeignEvent; source: Source }

/** Resources as they are after the last commit. */
export interface Resources {
  one<K extends Kind>(kind: K, ref: string, project?: Found<'project'>): Promise<Found<K> | undefined>
  byStream<K extends Kind>(kind: K, stream: StreamId): Promise<Found<K> | undefined>
  /** In order of creation; every project's when none is named. */
  list<K extends Kind>(kind: K, project?: Found<'project'>): Promise<Found<K>[]>
  /** Some of them: those after an id, at most so many; of kinds that live in no project when none is named. */
  page<K extends Kind>(kind: K, project: Found<'project'> | undefined, after: number, limit: number): Promise<Found<K>[]>
  /** The resources of a kind that refer to this stream. */
  linked<K extends Kind>(kind: K, to: StreamId): Promise<Found<K>[]>
}

/** That an event is in the log: its leaf hash, and the hashes from its sibling up to the root's child. */
export type InclusionProof = { leaf: Buffer; hashes: Buffer[] }

/** The Merkle tree over the log as RFC 9162 has it: leaf 0 is the event at position 1, and a size is the position it ends with. */
export interface LogTree {
  /** @throws Problem 400 when the log has fewer events, as for all of these */
  rootAt(size: number): Promise<Buffer>
  /** That the event at a position is in the log of this size. */
  inclusionProof(position: number, size: number): Promise<InclusionProof>
  /** That the log of size `to` begins with the one of size `from`; empty when that is plain. */
  consistencyProof(from: number, to: number): Promise<Buffer[]>
  /** The fewest complete subtrees that together are the events after position `from` up to `to`, in order. */
  subtrees(from: number, to: number): Promise<Buffer[]>
  /** The leaf hashes of the events after position `from` up to `to`. */
  leaves(from: number, to: number): Promise<Buffer[]>
}

/** Whether a payload's key is gone, and the payload that holds what others had in it. */
export type PayloadState = { isErased: boolean; replacedBy: string | null }

/** What is remembered of requests that came with a key. All throw a Problem 422 when the key came with another request. */
export interface LogAnswers {
  /** What came of the command that was sent before with this key; undefined when none was. */
  repeated(keyed: Keyed): Promise<Outcome | undefined>
  /** The answer that was kept for the request which was sent before with this key; undefined when none was. */
  replyTo(keyed: Keyed): Promise<Reply | undefined>
  /**
   * Keeps the answer to a request that has a key; gives the one that all get who send it, which is the first that was kept.
   * One with rows is not kept when something was erased after this position: they may be among what went.
   */
  keepReply(keyed: Keyed, reply: Reply, erasedAt: number): Promise<Reply>
}

/** Events as they are stored, by their place in the log or in a stream. */
export interface LogEvents {
  /** Events after a position, in order: at most `limit`, and no more once their texts have `maxChars`. */
  readAll(after: number, limit: number, maxChars?: number): Promise<StoredEvent[]>
  /** Events of one stream after a version, in order, bounded alike. */
  readStream(stream: string, after: number, limit: number, maxChars?: number): Promise<StoredEvent[]>
  /** The number of events in a stream; 0 when there is none. */
  streamVersion(stream: string): Promise<number>
  /** The number of events that a stream had at a position. */
  versionAt(stream: string, position: number): Promise<number>
}

/** What may have to be erased, and that it was. */
export interface LogPayloads {
  /** The plain bytes of a payload, or of what replaced it; undefined when it was erased or never was. */
  payload(hash: string): Promise<Buffer | undefined>
  /** What became of a payload; undefined when it never was. */
  payloadState(hash: string): Promise<PayloadState | undefined>
  /** The position of the last `DataErased` event; 0 when nothing was ever erased. */
  erasedAt(): Promise<number>
  /**
   * Resolves when no byte of what `DataErased` events took away is in the storage any more. Such an event takes the keys and
   * ciphertexts in its own transaction; this waits for what was left of them elsewhere, such as in a write-ahead log.
   */
  wipe(signal?: AbortSignal): Promise<void>
}

/** The append-only log. Everything that happens goes through `submit`; a promise that resolves is durable. */
export interface Log extends LogAnswers, LogEvents, LogTree, LogPayloads {
  readonly id: string
  readonly resources: Resources
  /** @throws Problem when the command is refused, the queue is full, or the storage failed and nothing was recorded */
  submit(submission: Submission): Promise<Outcome>
  /** Takes a place in the queue for a submission that is made when its turn comes, so that it can hold what arrives until then. */
  submitLater(make: () => Submission): Promise<Outcome>
  head(): Promise<Head>
  /** A log that could not be written is tried again now and then, and so says no longer than it is true that it cannot. */
  health(): Promise<LogHealth>
  /** What a resource was at a version of its own; undefined when it has no such version. */
  earlier<K extends Kind>(found: Found<K>, version: number): Promise<Earlier<K> | undefined>
  /**
   * Calls back after each commit that wrote events; returns what ends it. A listener that throws becomes a warning of the process.
   */
  onCommitted(listener: CommitListener): () => void
  /** Carries out what is queued, then closes; whatever is asked afterwards is refused. */
  close(): Promise<void>
}

/** A rotation of the master key that is under way, and how many payloads' keys are wrapped under the next one. */
export type Rotation = { from: string; to: string; payloads: number }

/** A log whose master key can be changed while it is used. */
export interface KeyedLog extends Log {
  /** The rotation that is under way, if one is. */
  rotation(): Promise<Rotation | undefined>
  /** From now on what is written is sealed with this key, which the vault has. */
  beginRotation(to: string): Promise<Rotation>
  /**
   * Wraps the keys of some payloads anew, between commands: of those after a place in the log's own order, 0 at first. Gives
   * the place to go on from; undefined when there were none left. `MasterKeyRotated` then ends the rotation.
   */
  rewrapSome(after: number): Promise<number | undefined>
}

export type { AnyFound, Found, Kind, States }
