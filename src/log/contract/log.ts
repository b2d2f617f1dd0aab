/** Room: the interface of a log for writers, readers and other nodes. It imports only events, basics and vault. */

import type { EventDefinition, Kind, LedgerEvent, States } from '../../../events/catalogue/catalogue.js'
import type { StreamId } from '../../../events/common.js'
import type { anyForeign, ForeignEvent } from '../../../events/foreign.js'
import type { Envelope, Source } from '../../../events/stored/envelope.js'
import type { SealedPayload } from '../../vault/vault.js'
import type { Refusal } from '../../basics/opened-file.js'
import type { Precondition } from './precondition.js'
import type { AnyResource, ResourceVersion, Resource, Resources, Lookup } from './lookups.js'

/** The newest event's position and the chain up to it. Position 0 is the empty log. */
export type Head = { logId: string; position: number; chain: string }

/** One event as it is stored. */
export type StoredEvent = { position: number; text: string }

/** The origin of a command, which its events record: the actor, the channel, and the requests that it belongs to. */
export type Origin = Pick<Envelope, 'actor' | 'source' | 'request' | 'correlation' | 'causation' | 'traceparent'> & {
  /** The run of a job that the command is part of; events do not store it. After the end of the run the command is refused. */
  during?: { job: StreamId; run: string }
  /**
   * How many events the log's own stream had when the work began that the command is part of; events do not store it. After a later
   * erasure the command is refused, because the data that it used may be gone.
   */
  erasures?: number
}

/** Does work that uses recorded rows or answers. It gives the work an origin: its commands are refused if such data is erased meanwhile. */
export type ErasureGuard = <T>(origin: Origin, work: (origin: Origin) => Promise<T>) => Promise<T>

/**
 * An event that a decision wants to write, and its stream. `begins` says that this is the first event: the stream got a random id for it,
 * so the log need not look for earlier events.
 */
export type NewEvent = { stream: string; event: LedgerEvent | ForeignEvent; begins?: true }

/**
 * A command on its way to the writer: the facts it needs, and the decision based on them. `decide` is pure and synchronous, runs
 * inside the transaction that writes its events, and refuses by throwing a Problem.
 */
export type Submission = {
  origin: Origin
  lookups: Record<string, Lookup>
  decide: (facts: Record<string, unknown>) => NewEvent[]
  payloads: readonly SealedPayload[]
  /** Further lookups, which depend on the first facts. */
  further?: (facts: Record<string, unknown>) => Record<string, Lookup>
  /** The name of the fact that holds the resource which the command is about. */
  subject?: string
  /** The versions that this resource may have. They are checked only if the command itself does not refuse. */
  expects?: Precondition
  idempotency?: Key
  /** Carries the command out and undoes it: nothing is written, no key is stored, and no listener is called. */
  dryRun?: boolean
}

/** The parts of a request that belong to its key. */
export type RequestKey = Pick<Submission, 'origin' | 'idempotency'>

/** An actor's key for one request, and a fingerprint that identifies the request. */
export type Key = { key: string; fingerprint: string }

/**
 * The answer to a request, as it was sent. `rows` says that it shows rows of predictions, which may have to be erased. `positions` are
 * those of the events that the request produced.
 */
export type Reply = { status: number; type: string | null; etag: string | null; body: string; rows?: true; positions?: readonly number[] }

/** The place of a kept answer in the order in which kept answers are searched. */
export type ReplyPlace = { actor: string; key: string }

/** The streams that a commit wrote to, each with its kind. */
export type ChangedStreams = ReadonlyMap<string, EventDefinition['kind'] | typeof anyForeign>

/**
 * The outcome of a command: the positions of its events, and the resource after the last event. If there was nothing to do, it is the
 * resource as it was found.
 */
export type Outcome = {
  positions: number[]
  stream: string | null
  resource: AnyResource | null
  /** Whether this is the stored answer of the same command sent before. */
  repeated: boolean
  /** For a dry run: the texts of the events that it would write. */
  planned?: string[]
}

/** The state of a node towards the shared log. */
export const sharedStates = ['following', 'unreachable', 'outdated', 'other_log'] as const

/** The state of this node in a shared log: whether it follows, and how many known batches and events it does not have yet. */
export type SharedHealth = { state: (typeof sharedStates)[number]; lag: { batches: number; events: number } }

/**
 * The state of the log: its newest position, or null while it cannot be read; the number of waiting commands; and, if
 * the last write failed, the reason. `shared` is set if other nodes write the log as well.
 */
export type LogHealth = { position: number | null; queued: number; unwritable: string | undefined; shared?: SharedHealth }

/** A finished transaction: how many commands shared it, how long it took, and the events that it wrote; none when it failed. */
export type Batch = { commands: number; seconds: number; failed: boolean; events: readonly WrittenEvent[] }

/** Called after a commit with the head, the streams that have new events, and these events in order. */
export type CommitListener = (position: number, changed: ChangedStreams, events: readonly WrittenEvent[]) => void

/** A written event, the channel that it came through, and its time: `2026-01-31T10:00:00.500000Z`. */
export type WrittenEvent = { event: LedgerEvent | ForeignEvent; source: Source; recordedAt: string }

/** Proves that an event is in the log: its leaf hash, and the hashes from its sibling up to the root's child. */
export type InclusionProof = { leaf: Buffer; hashes: Buffer[] }

/** The Merkle tree over the log as RFC 9162 defines it: leaf 0 is the event at position 1, and a size is the position it ends with. */
export interface LogTree {
  /** @throws Problem 400 when the log has fewer events; this holds for all methods here */
  rootAt(size: number): Promise<Buffer>
  /** Proves that the event at a position is in the log of this size. */
  inclusionProof(position: number, size: number): Promise<InclusionProof>
  /** Proves that the log of size `to` begins with the one of size `from`; empty when that is trivial. */
  consistencyProof(from: number, to: number): Promise<Buffer[]>
  /** The fewest complete subtrees that together cover the events after position `from` up to `to`, in order. */
  subtrees(from: number, to: number): Promise<Buffer[]>
  /** The leaf hashes of the events after position `from` up to `to`. */
  leaves(from: number, to: number): Promise<Buffer[]>
}

/** Whether a payload's key was erased, the payload that now holds the rows that stayed, and the size of its ciphertext in bytes. */
export type PayloadState = { isErased: boolean; replacedBy: string | null; bytes: number }

/** Stored outcomes and answers of requests with a key. All methods throw a Problem 422 when the key came with another request. */
export interface LogAnswers {
  /** The outcome of the command sent before with this key; undefined when there was none. */
  repeated(keyed: RequestKey): Promise<Outcome | undefined>
  /** The stored answer to the request sent before with this key; undefined when there is none. */
  replyTo(keyed: RequestKey): Promise<Reply | undefined>
  /**
   * Keeps the answer to a request that has a key. Returns the answer that all senders get: the first that was kept. An answer with rows is
   * not kept if an erasure came after this position, because it may show erased rows.
   */
  keepReply(keyed: RequestKey, reply: Reply, erasedAt: number): Promise<Reply>
  /**
   * Erases some of the kept answers that show rows: those after a place in their order. Returns the place to go on from; undefined when none
   * are left. `DataErased` itself erases the answers that were kept meanwhile, or all of them if this was never called.
   */
  eraseSomeReplies(after: ReplyPlace): Promise<ReplyPlace | undefined>
  /** Whether some kept answer shows rows, or one of those that were kept up to a time in milliseconds since 1970. */
  hasRepliesWithRows(upTo?: number): Promise<boolean>
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

/** The kinds of data that can be erased by age: rows of predictions with their true values, and answers of agents with messages. */
export type AgeingKind = 'rows' | 'answers'

/** Data that may have to be erased, and the record of its erasure. */
export interface LogPayloads {
  /** The plain bytes of a payload, or of its replacement; undefined when it was erased or never existed. */
  payload(hash: string): Promise<Buffer | undefined>
  /** The state of a payload; undefined when it never existed. */
  payloadState(hash: string): Promise<PayloadState | undefined>
  /** The position of the last `DataErased` event; 0 when nothing was ever erased. */
  erasedAt(): Promise<number>
  /** The position up to which all data of a kind was erased by its age; 0 at first. */
  erasedByAge(what: AgeingKind): Promise<number>
  /** Notes that all data of a kind up to a position was erased by its age. Nodes of a shared log have the same notes. */
  noteErasedByAge(what: AgeingKind, position: number): Promise<void>
  /**
   * Resolves when the storage has no byte of the data that `DataErased` events removed. Such an event removes keys and ciphertexts in its
   * own transaction; this waits for copies of them elsewhere, such as in a write-ahead log.
   */
  wipe(signal?: AbortSignal): Promise<void>
}

/** The append-only log. Everything that happens goes through `submit`; a promise that resolves is durable. */
export interface Log extends LogAnswers, LogEvents, LogTree, LogPayloads {
  readonly id: string
  readonly resources: Resources
  /** @throws Problem when the command is refused, the queue is full, or the storage failed and nothing was recorded */
  submit(submission: Submission): Promise<Outcome>
  /** Takes a place in the queue for a submission that is made when its turn comes, so that it can include what arrives until then. */
  submitLater(make: () => Submission): Promise<Outcome>
  head(): Promise<Head>
  /** The time that events get, in milliseconds since 1970: PostgreSQL's where nodes share the log, else that of this machine. */
  now(): number
  /**
   * Resolves when reads see everything that any node acknowledged before the call; undefined if no other node writes, so that there is
   * nothing to wait for.
   * @throws Problem 503 when that takes too long, or cannot be found out
   */
  newest(): Promise<void> | undefined
  /**
   * Resolves when reads see everything that any node acknowledged before the end of this process's last halt; undefined if there is nothing
   * to wait for. Until then reads may show data that was erased meanwhile.
   * @throws Problem 503 when that takes too long, or cannot be found out
   */
  sinceHalt(): Promise<void> | undefined
  /** After a failed write, another write is tried from time to time, so that the failure is not reported for longer than it lasts. */
  health(): Promise<LogHealth>
  /** A resource as it was at one of its versions; undefined when it has no such version. */
  earlier<K extends Kind>(found: Resource<K>, version: number): Promise<ResourceVersion<K> | undefined>
  /**
   * Calls the listener after each commit that wrote events; returns a function that unsubscribes it. An error of the listener becomes
   * a warning of the process.
   */
  onCommitted(listener: CommitListener): () => void
  /** Calls the listener after each commit, once for each resource of these kinds that has new events; else like `onCommitted`. */
  onChanged<K extends Kind>(kinds: readonly K[], listener: (stream: StreamId, kind: K) => void): () => void
  /** Carries out what is queued, then closes; later requests are refused. */
  close(): Promise<void>
}

/** A rotation of the master key that is under way, and how many payloads' keys are wrapped under the next one. */
export type Rotation = { from: string; to: string; payloads: number }

/** A log whose master key can be changed while it is used. */
export interface KeyedLog extends Log {
  /** The rotation under way, if there is one. */
  rotation(): Promise<Rotation | undefined>
  /** From now on payloads are sealed with this key, which the vault has. */
  beginRotation(to: string): Promise<Rotation>
  /**
   * Rewraps the keys of some payloads between commands: those after a place in the log's own order, 0 at first. Returns the place to
   * continue from; undefined when none were left. `MasterKeyRotated` then ends the rotation.
   */
  rewrapSome(after: number): Promise<number | undefined>
}

/** The log of a running service, with the functions that the service needs besides commands and reads. */
export interface ServedLog extends KeyedLog {
  /** The verifier keys of its heads, the newest first. */
  headKeys(): string[]
  /** Notes the key that signs its heads from now on. */
  noteHeadKey(vkey: string): Promise<void>
  /** The time of the newest event, in milliseconds since 1970; undefined when there is none. */
  recordedAt(): number | undefined
  /** Forgets some of the kept answers up to a time in milliseconds since 1970, the oldest first. Returns whether any are left. */
  forgetSomeAnswers(upTo: number): Promise<boolean>
  /** Refuses writes until the next start, for a reason outside the log. */
  refuseWrites(refusal: Refusal): void
}

export type { AnyResource, Resource, Resources, Kind, States }
