import { createReadStream } from 'node:fs'
import { payloadsOf } from '../../events/catalogue/references.js'
import { parseEnvelope, type Envelope } from '../../events/stored/envelope.js'
import { logSchemas, type DataErased, type ErasedPayload, type ErasureKind } from '../../events/records/log.js'
import { limits } from '../basics/limits.js'
import type { Ledger } from '../commands/ledger.js'
import { ConfigError } from '../setup/config.js'
import { cutHistories } from '../erasure/plan/conversation-turns.js'
import { withoutRows, type RowPlace } from '../erasure/plan/recorded-rows.js'
import type { Blobs } from '../files/blobs.js'
import type { Log, Origin } from '../log/contract/log.js'
import { firstRecordedFrom } from '../log/read/bisect.js'
import { eventAt } from '../log/read/slices.js'
import type { SealedPayload } from '../vault/vault.js'

export type LaterErasure = { position: number; text: string; data: DataErased }

/** No event is as long. Spaces around it are let pass. */
const lineMaxChars = 16 * limits.eventMaxBytes

async function* linesOf(file: string): AsyncGenerator<string, void, void> {
  let rest = ''
  for await (const part of createReadStream(file, 'utf8')) {
    const text = String(part)
    rest += text
    if (rest.length > lineMaxChars) throw new ConfigError(`${file} has a line that is longer than an event`)
    if (!text.includes('\n')) continue
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}

/**
 * The erasures in a file of events, one per line, as `mindledger log` prints them. The file may be longer than the memory.
 *
 * @throws ConfigError that names the line
 */
export const readErasures = async (file: string): Promise<LaterErasure[]> => {
  const erasures: LaterErasure[] = []
  let line = 0
  for await (const text of linesOf(file)) {
    line++
    if (text.trim() === '') continue
    try {
      const { type, position, data } = parseEnvelope(text)
      if (type === 'DataErased') erasures.push({ position, text, data: logSchemas.DataErased.parse(data) })
    } catch {
      throw new ConfigError(`${file}, line ${line}: not an event, as "mindledger log" prints them`)
    }
  }
  return erasures
}

/** Erasures of rows, which kept answers may show as well. */
const ofRows: ReadonlySet<ErasureKind> = new Set(['prediction', 'request', 'before'])

type Target = { ledger: Ledger; log: Log; blobs: Blobs }

/** Repeats an erasure of a newer log in an older one. */
class ErasureReplay {
  readonly #replacements = new Map<string, SealedPayload | null | undefined>()
  #histories: Map<string, string> | undefined

  constructor(
    private readonly target: Target,
    private readonly later: DataErased,
  ) {}

  get sealed(): SealedPayload[] {
    return [...this.#replacements.values()].filter((payload) => payload !== null && payload !== undefined)
  }

  /** Whether documents of others go as well: the event does not say which documents of an insert were erased, as an id may be personal. */
  get takesOthers(): boolean {
    const { what, payloads } = this.later
    return what === 'documents' && payloads.some(({ replacement }) => replacement !== null)
  }

  /** The payloads of this log that still have a key, each with its replacement here. */
  async payloads(): Promise<ErasedPayload[]> {
    const erased = new Map<string, ErasedPayload>()
    for (const { hash, replacement } of this.later.payloads) {
      const state = await this.target.log.payloadState(hash)
      if (!state || (state.isErased && state.replacedBy === null)) continue
      const own = replacement === null ? null : await this.#replace(hash, replacement)
      if (own === undefined) continue
      for (const one of [hash, state.replacedBy]) if (one !== null) erased.set(one, { hash: one, replacement: own })
    }
    return [...erased.values()]
  }

  /**
   * If only some rows of a payload are erased, the rest is sealed again, because the replacement is only in the other log. Returns null
   * when nothing stays, and undefined when nothing is erased.
   */
  async #replace(hash: string, replacement: string): Promise<string | null | undefined> {
    if (!this.#replacements.has(replacement)) this.#replacements.set(replacement, await this.#without(hash))
    const made = this.#replacements.get(replacement)
    return made ? made.hash : made
  }

  async #without(hash: string): Promise<SealedPayload | null | undefined> {
    if (this.takesOthers) return null
    const bytes = await this.target.log.payload(hash)
    if (!bytes)
      throw new ConfigError(`rows of ${this.later.what} ${this.later.subject} cannot be erased: the payload ${hash} cannot be read`)
    const text = bytes.toString()
    const without = text.startsWith('{') ? await this.#withoutTurns(hash) : withoutRows(text, await this.#leaving())
    if (!without) return undefined
    return without.stays === null ? null : this.target.ledger.vault.seal(Buffer.from(without.stays))
  }

  /** The record of an answer, which lost turns of its conversation. */
  async #withoutTurns(hash: string): Promise<{ stays: string } | undefined> {
    this.#histories ??= await this.#cutHistories()
    const stays = this.#histories.get(hash)
    return stays === undefined ? undefined : { stays }
  }

  async #cutHistories(): Promise<Map<string, string>> {
    const replacements = new Map(this.later.payloads.map(({ hash, replacement }) => [hash, replacement]))
    const erasing = {
      goes: ({ type, data }: Envelope) => payloadsOf(type, data).some((hash) => replacements.get(hash) === null),
      touches: (_: string, payload: string) => typeof replacements.get(payload) === 'string',
    }
    const histories = new Map<string, string>()
    for await (const { hash, stays } of cutHistories(this.target.log, 0, erasing)) histories.set(hash, stays)
    return histories
  }

  /** Which rows an erasure removes from a payload that also holds rows of others. */
  async #leaving(): Promise<(row: RowPlace) => boolean> {
    const { what, subject } = this.later
    if (what === 'prediction') return ({ position }) => position === Number(subject)
    if (what !== 'before') return ({ request }) => request === subject
    const { log } = this.target
    const from = await firstRecordedFrom(log, subject, (await log.head()).position)
    return ({ position }) => position !== undefined && position < from
  }
}

/**
 * Repeats newer erasures in an older log: each becomes an event there, and its data is erased. It skips erasures that the log already has,
 * and erasures of data that the log does not have. An erasure of rows also takes kept answers with rows. `say` gets what goes beyond an
 * erasure. Returns the number of repeated erasures.
 */
export const applyErasures = async (
  target: Target,
  erasures: readonly LaterErasure[],
  origin: Origin,
  say: (line: string) => void = () => undefined,
): Promise<number> => {
  const { ledger, log, blobs } = target
  const { position: head } = await log.head()
  let applied = 0
  for (const { position, text, data } of erasures) {
    const own = position <= head ? await eventAt(log, position) : undefined
    if (own?.text === text) continue
    const applying = new ErasureReplay(target, data)
    const payloads = await applying.payloads()
    const gone: string[] = []
    for (const hash of data.blobs) if (await blobs.has(hash)) gone.push(hash)
    // Kept answers may show rows although no payload has them.
    const takesAnswers = ofRows.has(data.what) && (await log.hasRepliesWithRows())
    if (payloads.length === 0 && gone.length === 0 && !takesAnswers) continue
    await ledger.execute({ type: 'EraseData', data: { ...data, payloads, blobs: gone } }, origin, { payloads: applying.sealed })
    for (const hash of gone) await blobs.remove(hash)
    if (applying.takesOthers)
      say(
        `${data.subject}: documents that were inserted together with erased ones were erased, too, because the erasure of position ${position} does not say which they are. Insert the others again.`,
      )
    applied++
  }
  if (applied > 0) await log.wipe()
  return applied
}
