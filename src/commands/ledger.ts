/**
 * Room: commands: each checks its input and decides events. It imports only events, basics, catalogue, vault, log/contract, dialect,
 * commands/rules and commands/records.
 */

import { v7 as uuidv7 } from 'uuid'
import { logStream } from '../../events/records/log.js'
import { mapMembers, unfitJson, type Json } from '../../events/common.js'
import { Problem, wrong } from '../basics/errors.js'
import { KeyedTurns } from '../basics/concurrency/keyed-turns.js'
import { inTurns } from '../basics/long-work.js'
import type { Precondition } from '../log/contract/precondition.js'
import type { RequestKey, Log, NewEvent, Origin, Outcome, Reply, Submission } from '../log/contract/log.js'
import { byStream, versionOf, type Resource, type Lookup } from '../log/contract/lookups.js'
import { foreignTokens, tokensIn, type Token } from '../dialect/lexer.js'
import { secretInText } from '../dialect/secret-cuts.js'
import { findSecretLiterals } from '../dialect/secret-literals.js'
import { quotedStatements, withoutStatements } from '../dialect/tokens.js'
import { holdsSecret } from '../vault/looks-secret.js'
import { sealSecrets } from '../vault/seal-secrets.js'
import type { SealedPayload, Vault } from '../vault/vault.js'
import { secretFields } from './deciders.js'
import { handlers, type LedgerCommand } from './dispatch.js'

/**
 * How a command is executed: with an idempotency key and the whole request; only if its resource has an expected version; as a dry
 * run; or with payloads that it names by their hashes.
 */
export type Execution = {
  idempotency?: { key: string; request: string }
  expects?: Precondition
  dryRun?: boolean
  payloads?: readonly SealedPayload[]
}

/** A command that is created when its turn in the queue comes. */
export type LaterCommand = { command: LedgerCommand; origin: Origin; execution?: Execution }

/** UpdateConfig can change several defaults, each of which is a resource. */
const hasOneSubject = (commands: readonly LedgerCommand[]): boolean => commands.length === 1 && commands[0]?.type !== 'UpdateConfig'

/** Free texts that the log stores unencrypted. */
const plainFields = new Set(['model_name', 'provider', 'type'])

/** Parsing the statement around a longer query has already taken a while in the same turn of the event loop. */
const longQueryChars = 100_000

const secretAmong = function* (tokens: readonly Token[]): Generator<void, string | undefined> {
  yield
  const [found] = yield* findSecretLiterals(tokens)
  return found && (found.key === undefined ? 'a text that is a secret' : `a secret, the text for ${found.key}`)
}

/** The same for a statement of a connected database. If it has no tokens here, nothing that looks like the value of a secret may be in it. */
const secretInForeign = function* (text: string): Generator<void, string | undefined> {
  yield
  const readings = foreignTokens(text)
  if (readings.length === 0) return holdsSecret(text) || secretInText(text) !== undefined ? 'a secret' : undefined
  for (const tokens of readings) {
    const found = yield* secretAmong(tokens)
    if (found !== undefined) return found
  }
  return undefined
}

/** Describes the secret in a query of a view or a training without revealing it; undefined if there is none. */
const secretIn = function* (query: string): Generator<void, string | undefined> {
  yield
  const tokens = tokensIn(query)
  if (!tokens) return holdsSecret(query) ? 'a secret' : undefined
  const statements = quotedStatements(tokens)
  const found = yield* secretAmong(withoutStatements(tokens, statements))
  if (found !== undefined) return found
  for (const { text } of statements) {
    const inside = yield* secretInForeign(text)
    if (inside !== undefined) return inside
  }
  return undefined
}

const refusePlainSecret = (key: string, member: Json): void => {
  if (typeof member !== 'string') return
  if (plainFields.has(key) && holdsSecret(member))
    throw wrong(
      `${key} holds a secret, such as a URL with a password, which everybody could read there`,
      'Keep it where it is encrypted: in params, or in a connection (CREATE DATABASE).',
    )
}

/** Refuses a query that holds a secret. Long queries are read in several turns of the event loop. */
const refuseSecretQuery = async (query: string): Promise<void> => {
  const found = await inTurns(secretIn(query), { goesOn: query.length > longQueryChars })
  if (found !== undefined)
    throw wrong(
      `the query holds ${found}; the log stores it unencrypted, and everybody may read it`,
      'Leave the text out of the query. If it is no secret, give the column another name first: FROM (SELECT password AS word FROM …).',
    )
}

type Facts = Record<string, unknown>

/** The names of facts; those of commands have a number before them. */
const jobOfRun = 'job of the run'
const erasuresNow = 'erasures'

/** Data was erased since the work began whose command this is. The same command is refused for ever; the work has to begin again. */
export class ErasedMeanwhile extends Problem {
  constructor() {
    super('busy', 'Erased meanwhile', 'data was erased while this was under way, and it may have used that data', {
      hint: 'Send the request again.',
      retryAfterSeconds: 1,
    })
  }
}

/** A node that was cut off from the others may go on with a run that they have ended. */
const requireRun = (run: string, job: Resource<'job'> | undefined): void => {
  if (job?.state.running?.run !== run) throw new Problem('not_ready', 'Run ended', 'the run of the job that sent this has ended')
}

const prefixed = (lookups: Record<string, Lookup>, prefix: string): Record<string, Lookup> => {
  const all: Record<string, Lookup> = {}
  for (const name in lookups) {
    const lookup = lookups[name]
    if (lookup) all[prefix + name] = lookup
  }
  return all
}

/** The parts found in a command: its sealed secrets, and the queries that must still be checked for secrets. */
type Parts = { payloads: SealedPayload[]; queries: string[] }

const withoutSecrets = (vault: Vault, value: Json, parts: Parts): Json => {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(vault, item, parts))
  if (typeof value !== 'object' || value === null) return value
  return mapMembers(value, (member, key) => {
    refusePlainSecret(key, member)
    if (key === 'query' && typeof member === 'string') parts.queries.push(member)
    if (!secretFields.has(key)) return withoutSecrets(vault, member, parts)
    const sealed = sealSecrets(vault, member)
    parts.payloads.push(...sealed.payloads)
    return sealed.value
  })
}

/**
 * Executes commands from any source: checks their texts, seals their secrets, and passes them to the log's queue.
 *
 * @example await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
 */
export class Ledger {
  readonly #fingerprints = new WeakMap<object, string>()
  readonly #turns = new KeyedTurns()

  constructor(
    private readonly log: Log,
    readonly vault: Vault,
  ) {}

  /**
   * An origin whose commands are refused after any further erasure. It is for work with data that an erasure may remove before the event is
   * recorded. Example: a content is being stored, and somebody else erases the same bytes.
   *
   * @example const guarded = await ledger.guarded(origin) // { …, erasures: 12 }
   */
  async guarded(origin: Origin): Promise<Origin> {
    return { ...origin, erasures: origin.erasures ?? (await this.log.streamVersion(logStream)) }
  }

  /** @throws Problem when the command is refused; nothing is recorded then */
  async execute(command: LedgerCommand, origin: Origin, execution: Execution = {}): Promise<Outcome> {
    return this.executeAll([command], origin, execution)
  }

  /**
   * Executes all of several commands or none. Each is decided on the state before the first. If two are about the same resource, only
   * the first counts, as in `DROP VIEW a, A`.
   */
  async executeAll(commands: readonly LedgerCommand[], origin: Origin, execution: Execution = {}): Promise<Outcome> {
    if (execution.expects && !hasOneSubject(commands))
      throw wrong('If-Match and If-None-Match are for commands about one resource', 'Leave the header out, or send a command for each.')
    const { submission, queries } = this.#submissionOf(commands, origin, execution)
    for (const query of queries) await refuseSecretQuery(query)
    return this.log.submit(submission)
  }

  /**
   * Executes a command that is queued now and made when its turn comes, so that it can include data that arrives until then. It must
   * have no query: checking one for secrets would delay others.
   */
  executeLater(make: () => LaterCommand): Promise<Outcome> {
    return this.log.submitLater(() => {
      const { command, origin, execution = {} } = make()
      const { submission, queries } = this.#submissionOf([command], origin, execution)
      if (queries.length > 0) throw new TypeError(`${command.type} has a query`)
      return submission
    })
  }

  /** The submission of commands to the log, and their queries that must still be checked for secrets. */
  #submissionOf(commands: readonly LedgerCommand[], origin: Origin, execution: Execution): { submission: Submission; queries: string[] } {
    const { expects, dryRun, payloads = [] } = execution
    const parts: Parts = { payloads: [...payloads], queries: [] }
    const prepared = commands.map((command, i) => this.#prepare(command, `${i} `, parts))
    const [first] = prepared
    const during = prepared.every(({ isRecord }) => isRecord) ? undefined : origin.during
    const submission: Submission = {
      origin,
      lookups: Object.assign(
        {},
        during && { [jobOfRun]: byStream('job', during.job) },
        origin.erasures !== undefined && { [erasuresNow]: versionOf(logStream) },
        ...prepared.map(({ lookups }) => lookups),
      ) as Record<string, Lookup>,
      decide: (facts) => {
        if (during) requireRun(during.run, facts[jobOfRun] as Resource<'job'> | undefined)
        if (origin.erasures !== undefined && facts[erasuresNow] !== origin.erasures) throw new ErasedMeanwhile()
        const decided = new Set<string>()
        return prepared.flatMap(({ decide }) => decide(facts, decided))
      },
      further: (facts) => Object.assign({}, ...prepared.map(({ further }) => further(facts))) as Record<string, Lookup>,
      payloads: parts.payloads,
      ...(commands.length === 1 && first?.subject !== undefined && { subject: first.subject }),
      ...(expects && { expects }),
      ...(dryRun ? { dryRun } : this.#keyed(execution)),
    }
    return { submission, queries: parts.queries }
  }

  /** Prepares a command. A prefix makes the names of its facts unique, so that several commands can share a submission. */
  #prepare(command: LedgerCommand, prefix: string, parts: Parts) {
    const unfit = unfitJson(command.data)
    if (unfit) throw wrong(`${unfit[0]} ${unfit[1]}`.trim())
    const sealed = { ...command, data: withoutSecrets(this.vault, command.data, parts) } as LedgerCommand
    const { subject, isRecord, reads, readsFurther, decide } = handlers[command.type]
    const newStream = uuidv7()
    const first = reads(sealed)
    const own = (all: Facts, lookups: Record<string, Lookup>, facts: Facts = {}): Facts => {
      for (const name in lookups) facts[name] = all[prefix + name]
      return facts
    }
    const furtherOf = (all: Facts) => readsFurther?.(own(all, first), sealed) ?? {}
    return {
      subject: subject && prefix + subject,
      isRecord,
      lookups: prefixed(first, prefix),
      further: (all: Facts) => prefixed(furtherOf(all), prefix),
      decide: (all: Facts, decided: Set<string>): NewEvent[] => {
        const facts = own(all, first)
        if (readsFurther) own(all, furtherOf(all), facts)
        const found = subject && facts[subject]
        const stream = isFound(found) ? found.stream : newStream
        if (decided.has(stream)) return []
        decided.add(stream)
        return decide(sealed, facts).map((event, i) => {
          if ('event' in event) return event
          return i === 0 && stream === newStream ? { stream, event, begins: true } : { stream, event }
        })
      },
    }
  }

  /**
   * The outcome of an earlier request with the same key; for callers that have work or checks to do before there is a command.
   * @throws Problem 422 when the earlier request was another one
   */
  async repeated(origin: Origin, execution: Execution): Promise<Outcome | undefined> {
    return execution.idempotency && !execution.dryRun ? this.log.repeated(this.keyed(origin, execution)) : undefined
  }

  /** Runs requests with the same key one after the other, so that the later ones find the answer of the first. */
  inTurn<T>({ actor }: Pick<Origin, 'actor'>, { idempotency }: Execution, work: () => Promise<T>): Promise<T> {
    return idempotency ? this.#turns.take(JSON.stringify([actor, idempotency.key]), work) : work()
  }

  /** The kept reply to an earlier request with the same key. @throws Problem 422 when that was another request */
  replyTo(origin: Origin, execution: Execution): Promise<Reply | undefined> {
    return this.log.replyTo(this.keyed(origin, execution))
  }

  /**
   * Keeps the reply to a request with a key before it is sent, and returns the one to send. `erasedAt` is the position of the last
   * erasure before the request was executed.
   */
  keepReply(origin: Origin, execution: Execution, reply: Reply, erasedAt: number): Promise<Reply> {
    return this.log.keepReply(this.keyed(origin, execution), reply, erasedAt)
  }

  /** The identity of a request with a key, as the log stores it. */
  keyed(origin: Origin, execution: Execution): RequestKey {
    return { origin, ...this.#keyed(execution) }
  }

  #keyed({ idempotency }: Execution) {
    return idempotency && { idempotency: { key: idempotency.key, fingerprint: this.#fingerprint(idempotency) } }
  }

  /** Kept per request, because a large one takes a while and several callers need it. */
  #fingerprint(keyed: NonNullable<Execution['idempotency']>): string {
    const known = this.#fingerprints.get(keyed) ?? this.vault.fingerprint(keyed.request)
    this.#fingerprints.set(keyed, known)
    return known
  }
}

const isFound = (fact: unknown): fact is { stream: string } => typeof fact === 'object' && fact !== null && 'stream' in fact
