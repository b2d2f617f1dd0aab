/** Room: erasing data, until no byte of it is left. It imports only events, basics, vault, log, commands, files and erasure/plan. */

import { setTimeout as sleep } from 'node:timers/promises'
import { instant } from '../../events/stored/envelope.js'
import { logStream, type ErasedPayload, type LogEvent } from '../../events/records/log.js'
import { stopping } from '../basics/errors.js'
import type { BlobStore } from '../files/blob-store.js'
import { limits } from '../basics/limits.js'
import type { Ledger } from '../commands/ledger.js'
import type { AgeingKind, ErasureGuard, Log, Origin } from '../log/contract/log.js'
import type { Wipes } from '../log/contract/wipes.js'
import { startLastingProcessor, type Reaction } from '../log/emmett/lasting-processor.js'
import type { SealedPayload } from '../vault/vault.js'
import { hasAnswersAfter } from './plan/answers.js'
import { droppingErased } from './drop-blobs.js'
import { eraseKeptReplies } from './erase-kept-replies.js'
import { laterEvents, rowsIn, takeSteps, type StepOptions, type Taken } from './plan/older-data.js'
import { OwnFiles, type PurgeFiles } from './own-files.js'
import {
  distinct,
  emptyPlan,
  sharedContent,
  sharesOf,
  type ErasureResult,
  type Plan,
  type PlannedPayload,
  type Share,
} from './plan/plan.js'
import { areUsedAgain, formerHoldersOf } from './plan/secrets.js'
import { ReadWriteLock } from './read-write-lock.js'
import { planBefore, planOf, timeBefore, type ErasureRequest } from './plan/subject-plan.js'
import { removeErasedBlobs } from './unfinished.js'

type Options = PurgeFiles & {
  ledger: Ledger
  log: Log
  blobs: BlobStore
  /** The other nodes of the log, which also have files. */
  wipes?: Wipes | undefined
  /** The bounds of one step of an erasure by age, if they are not the usual ones. */
  stepBounds?: StepOptions['bounds']
}

/** The time before connections close at which a waiting client gets the answer that the erasure will be finished later. */
const toldMs = 1_000
/** The wait of a node before it tries again to wipe its files. */
const wipeAgainMs = 2_000

/** The settings for the maximum age of each kind of data. */
const reasons = { rows: 'PREDICTION_RETENTION', answers: 'ANSWER_RETENTION' } as const satisfies Record<AgeingKind, string>

/** Makes the plan of an erasure; also again when a part of it is already recorded. */
type MakePlan = (isRecorded: boolean) => Promise<Plan>

/** The recorded part of the plan, and all blobs whose bytes must be gone before the answer. */
type RecordedErasure = { plan: Plan; positions: number[]; contents: Set<string> }

/** A plan with nothing to record, or one that is not carried out. */
const unrecorded = (plan: Plan): RecordedErasure => ({ plan, positions: [], contents: new Set() })

/** The result of an erasure, with what its earlier steps have taken. */
const resultOf = ({ plan, positions }: RecordedErasure, dryRun: boolean, taken: readonly Taken[]): ErasureResult => {
  const sum = (numberOf: (one: Taken) => number) => taken.reduce((total, one) => total + numberOf(one), 0)
  return {
    what: plan.what,
    subject: plan.subject,
    dry_run: dryRun,
    positions: [...taken.flatMap((one) => one.positions), ...positions],
    payloads: plan.payloads.length + sum((one) => one.payloads),
    rows: rowsIn(plan.payloads) + sum((one) => one.rows),
    blobs: plan.blobs,
    kept_answers: plan.replies,
    already_erased: plan.already + sum((one) => one.already),
    shared_with: plan.sharedWith,
    also_in: plan.alsoIn,
  }
}

/**
 * Erases data: rows of predictions, answers of agents, secrets, contents of files, training matrices. One transaction writes the event and
 * removes the keys. The answer is sent when no file of the data directory has a byte of the data.
 *
 * @example await erasures.erase({ subject: { what: 'request', of: id }, reason: 'Article 17', shared: false, dryRun: false }, origin)
 */
export class Erasures {
  /** Nobody may refer to recorded rows or answers between the plan of their erasure and its event. */
  readonly #rows = new ReadWriteLock()
  /** Erasures run one at a time, because each depends on the state that the previous one left. */
  #last: Promise<unknown> = Promise.resolve()
  /** The later events that may be about older data. */
  readonly #later = laterEvents()
  readonly #stepping: StepOptions
  /** Aborted when a stop has reached its time limit. */
  readonly #patience = new AbortController()
  #isStopping = false
  #processing: Reaction | undefined

  /** They stay unwiped if an erasure fails after its event; the next erasure wipes them, which may be the repeated request. */
  readonly #files: OwnFiles

  constructor(private readonly options: Options) {
    this.#files = new OwnFiles(options)
    this.#stepping = {
      log: options.log,
      record: (makePlan, reason, origin) => this.#rows.alone(() => this.#recordAll(makePlan, reason, origin)),
      isStopping: () => this.#isStopping,
      bounds: options.stepBounds,
    }
  }

  /** @throws Problem if nothing has this name, or if something else uses the same bytes */
  erase(request: ErasureRequest, origin: Origin): Promise<ErasureResult> {
    const { log, blobs } = this.options
    const { subject } = request
    if (subject.what === 'before') return this.#inTurn(() => this.#eraseBefore(subject.of, request, origin))
    const makePlan: MakePlan = async (isRecorded) => {
      const plan = await planOf(subject, log, blobs)
      // Each event but one of secrets erases the kept answers with rows as well.
      if (plan.payloads.length + plan.blobs.length > 0 && plan.what !== 'secrets') plan.replies ||= await log.hasRepliesWithRows()
      // If somebody stored the same bytes again after the event, they stay.
      if (plan.sharedWith.length > 0 && !request.shared && !request.dryRun && !isRecorded) throw sharedContent(plan)
      return plan
    }
    return this.#inTurn(() => this.#carryOut(makePlan, request, origin))
  }

  /** Erases everything before a time. */
  async #eraseBefore(of: string, { reason, dryRun }: ErasureRequest, origin: Origin): Promise<ErasureResult> {
    const { log } = this.options
    const subject = await timeBefore(log, of)
    const how = { subject, reason, dryRun, origin }
    const rows = await takeSteps('rows', { from: 0 }, how, this.#stepping)
    const answers = await takeSteps('answers', { from: 0 }, how, this.#stepping)
    const makePlan = async () => planBefore(log, subject, [await rows.rest(), await answers.rest()])
    return this.#carryOut(makePlan, how, origin, [rows.taken, answers.taken])
  }

  /** Erases the rows of predictions, or the answers of agents, that are older than a time and that no earlier call has erased. */
  eraseOlder(what: AgeingKind, time: Date, origin: Origin): Promise<ErasureResult> {
    return this.#inTurn(async () => {
      const { log } = this.options
      const subject = instant(time.getTime())
      const how = { subject, reason: reasons[what], dryRun: false, origin }
      const from = await log.erasedByAge(what)
      const { taken, bound, isLeft, rest } = await takeSteps(what, { from, later: this.#later[what] }, how, this.#stepping)
      // Each event erases the kept answers with rows as well.
      const shows = async () => what === 'rows' && taken.positions.length === 0 && (await log.hasRepliesWithRows(Date.parse(subject)))
      const makePlan = async () => ({ ...emptyPlan('before', subject), payloads: (await rest()).payloads, replies: await shows() })
      const recorded =
        isLeft || (await shows())
          ? await this.#rows.alone(() => this.#recordAll(makePlan, how.reason, origin))
          : unrecorded(emptyPlan('before', subject))
      if (bound > from) await log.noteErasedByAge(what, bound)
      await this.#finish(recorded, origin, [taken])
      return resultOf(recorded, false, [taken])
    })
  }

  /**
   * Runs work that refers to recorded rows or answers. Meanwhile this node erases none. If another node erases some, the commands of the
   * work are refused.
   */
  readonly beside: ErasureGuard = (origin, work) => this.#rows.beside(async () => work(await this.#guarded(origin)))

  /** An origin whose commands are refused after another erasure. In a log with a single node, no erasure can come in between. */
  async #guarded(origin: Origin): Promise<Origin> {
    if (!this.options.wipes) return origin
    return this.options.ledger.guarded(origin)
  }

  /**
   * Accepts no more erasures, and resolves when none is running. A process that keeps reading the log keeps bytes in its files. The stop
   * waits for it up to its time limit; the next start continues.
   */
  async stop(withinMs: number = limits.stopTimeoutMs - toldMs): Promise<void> {
    this.#isStopping = true
    const patience = setTimeout(() => this.#patience.abort(), withinMs)
    await this.#last
    await this.#processing?.stop()
    clearTimeout(patience)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isStopping) return Promise.reject(stopping())
    const mine = this.#last.then(work)
    this.#last = mine.catch(() => undefined)
    return mine
  }

  async #carryOut(
    makePlan: MakePlan,
    { reason, dryRun }: Pick<ErasureRequest, 'reason' | 'dryRun'>,
    origin: Origin,
    taken: readonly Taken[] = [],
  ): Promise<ErasureResult> {
    const recorded = await this.#rows.alone(async () =>
      dryRun
        ? unrecorded(distinct(await makePlan(false)))
        : droppingErased(this.options.log, this.options.blobs, () => this.#recordAll(makePlan, reason, origin)),
    )
    if (!dryRun) await this.#finish(recorded, origin, taken)
    return resultOf(recorded, dryRun, taken)
  }

  /**
   * Records a plan. The plan is made again if another node erased something meanwhile, because then other rows of a payload may stay, or if
   * a resource got an old secret again. It is also made again after the events, because other events may have referred to the data until
   * then: of other nodes, or the answer to a message in a conversation, which repeats the turns before it.
   */
  async #recordAll(makePlan: MakePlan, reason: string | null, origin: Origin): Promise<RecordedErasure> {
    const { log } = this.options
    const positions: number[] = []
    const payloads: PlannedPayload[] = []
    const blobs: string[] = []
    let first: Plan | undefined
    for (;;) {
      let erasures = await log.streamVersion(logStream)
      const { position } = await log.head()
      const made = distinct(await makePlan(positions.length > 0))
      // Blobs are only removed after all events are recorded, so a repeated plan contains them again.
      const plan = { ...made, blobs: made.blobs.filter((hash) => !blobs.includes(hash)) }
      const shares = sharesOf(plan)
      // The event would erase all kept replies at once, which may be too many for one batch of a shared log.
      if (!first && shares.length > 0 && this.options.wipes && plan.what !== 'secrets') await eraseKeptReplies(log, () => this.#isStopping)
      first ??= made
      let isOvertaken = false
      for (const share of shares) {
        try {
          positions.push(await this.#record(plan, share, reason, { ...origin, erasures }))
        } catch (error) {
          isOvertaken = (await log.streamVersion(logStream)) !== erasures || (await areUsedAgain(log, share.payloads))
          if (!isOvertaken) throw error
          break
        }
        erasures++
        payloads.push(...share.payloads)
        blobs.push(...share.blobs)
      }
      const mayBeMore = shares.length > 0 && (this.options.wipes !== undefined || (await hasAnswersAfter(log, position)))
      if (isOvertaken || mayBeMore) continue
      // Data that another node erased meanwhile counts as already erased.
      const already = positions.length === 0 ? made.already : first.already
      return { plan: { ...first, payloads, blobs, already }, positions, contents: new Set([...first.blobs, ...first.erasedBlobs]) }
    }
  }

  async #record({ what, subject }: Plan, { payloads, blobs }: Share, reason: string | null, origin: Origin): Promise<number> {
    const replacements: SealedPayload[] = []
    const replacementOf = ({ stays }: PlannedPayload): string | null => {
      if (stays === null) return null
      const sealed = this.options.ledger.vault.seal(typeof stays === 'string' ? Buffer.from(stays) : stays)
      replacements.push(sealed)
      return sealed.hash
    }
    const erased = payloads.flatMap((planned): ErasedPayload[] => {
      const replacement = replacementOf(planned)
      // Refers both to the hash in events and to that of a later replacement, so that readers of either find the new replacement at once.
      return [...new Set([planned.hash, planned.standsIn])].map((hash) => ({ hash, replacement }))
    })
    if (!this.options.wipes) this.#files.note(what)
    const data = { what, subject, reason, payloads: erased, blobs, formerHolders: formerHoldersOf(payloads) }
    const { positions } = await this.options.ledger.execute({ type: 'EraseData', data }, origin, { payloads: replacements })
    return positions[0] ?? 0
  }

  /**
   * After the event is durable, this removes the data from all other files. It also finishes earlier erasures of the data: the request may
   * be a repeated one, because the store failed or because not all files were wiped: after a start, an index may have erased documents.
   */
  async #finish({ plan, positions, contents }: RecordedErasure, origin: Origin, taken: readonly Taken[] = []): Promise<void> {
    const { log, blobs, wipes } = this.options
    if (!blobs.drop && contents.size > 0) await removeErasedBlobs(log, blobs, 0, contents)
    const { signal } = this.#patience
    const last = positions.at(-1) ?? taken.flatMap((one) => one.positions).at(-1)
    const isRepeated = [plan, ...taken].some(({ already }) => already > 0)
    if (!wipes) {
      if (isRepeated && plan.what === 'documents') this.#files.note(plan.what)
      if (!this.#files.areWiped) await this.#files.wipe(await log.erasedAt(), signal)
    } else if (last !== undefined || isRepeated) {
      // An event has waited for a synchronous standby. Without one, a command with nothing to do waits for what was erased before.
      if (last === undefined) await log.submit({ origin, lookups: {}, decide: () => [], payloads: [] })
      await wipes.everywhere(last ?? (await log.erasedAt()), signal)
    }
  }

  /**
   * Removes erased blobs that a crash left. If there are other nodes, it also wipes data that was erased while this node was away, and from
   * then on data that any node erases. It reports its progress, because other nodes wait for that before they answer.
   */
  async follow(onFailed: (error: unknown) => void): Promise<void> {
    const { log, wipes, blobs } = this.options
    const { position } = await log.head()
    const erasedAt = await log.erasedAt()
    if (erasedAt > 0) await removeErasedBlobs(log, blobs)
    if (!wipes) return
    if (erasedAt > 0) {
      this.#files.note('documents')
      await this.#files.wipe(erasedAt, this.#patience.signal)
    }
    await wipes.wiped(position)
    this.#processing = startLastingProcessor<LogEvent>(log, {
      processorId: 'wipes',
      canHandle: ['DataErased', 'MasterKeyRotated'],
      after: position,
      eachMessage: (event) => this.#followOne(wipes, event, Number(event.metadata.globalPosition), onFailed),
      onFailed,
      // Other nodes wait for the wiping of each erasure, so none is set aside.
      bounds: { triesMax: Infinity },
    })
  }

  /** Other nodes wait for this node, so it repeats the wiping until it succeeds. */
  async #followOne(wipes: Wipes, event: LogEvent, position: number, onFailed: (error: unknown) => void): Promise<void> {
    // The other event is the end of a rotation, which leaves keys that were wrapped under the old master key.
    const what = event.type === 'DataErased' ? event.data.what : 'secrets'
    for (;;)
      try {
        await wipes.wiped(await this.#files.follow(position, what, this.#patience.signal))
        return
      } catch (error) {
        // The next start wipes the files.
        if (this.#isStopping) return
        onFailed(error)
        await sleep(wipeAgainMs)
      }
  }

  /** Continues after a crash: the keys are gone since the event, the blobs since `follow`, and tables are cleaned when they are opened. */
  async resume(): Promise<void> {
    const { log } = this.options
    if (this.options.wipes || (await log.erasedAt()) === 0) return
    await this.#inTurn(async () => {
      // If this fails, the next erasure wipes the log's files.
      this.#files.note('secrets')
      await this.#files.wipe(await log.erasedAt(), this.#patience.signal)
    })
  }
}
