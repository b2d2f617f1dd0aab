import { isDeepStrictEqual } from 'node:util'
import { catalogue, currentEvent, evolve, hasLinks, linksOf, type Kind, type States } from '../../../events/catalogue/catalogue.js'
import { blobsOf, erasedBlobsOf, erasedPayloadsOf, payloadsOf, recordsPayloads } from '../../../events/catalogue/references.js'
import { foldName } from '../../../events/common.js'
import { mayNameSecrets } from '../../../events/secrets.js'
import { parseEnvelope, type Envelope } from '../../../events/stored/envelope.js'
import { codeFingerprint } from '../../setup/package.js'
import { Vault } from '../../vault/vault.js'
import { isKind, projectStreamOf } from '../contract/lookups.js'
import { readMeta, type LogConnection } from '../storage/schema.js'
import { Findings, firstLine, inOrder, type Finding } from './findings.js'
import { PayloadCheck, type PayloadCounts } from './payload-check.js'

/** A resource as computed from its events. */
type FoldedResource = { kind: Kind; id: number; version: number; created_at: string; updated_at: string; state: States[Kind] }

type ResourceRow = {
  stream: string
  kind: string
  project: string
  name: string
  id: number
  version: number
  created_at: string
  updated_at: string
  state: string
}

const rowText = `stream || '\t' || kind || '\t' || project || '\t' || name || '\t' || id || '\t' || version || '\t' ||
  created_at || '\t' || updated_at || '\t' || state || '\t' || typeof(id) || typeof(version)`

const textOf = (stream: string, { kind, id, version, created_at, updated_at, state }: FoldedResource): string =>
  `${stream}\t${kind}\t${projectStreamOf(state)}\t${foldName(state.name)}\t${id}\t${version}\t` +
  `${created_at}\t${updated_at}\t${JSON.stringify(state)}\tintegerinteger`

/**
 * Compares `resources` and `links` with the states from the events. Tables that other code built are skipped, because they are rebuilt
 * before use.
 */
const compareResources = (db: LogConnection, resources: ReadonlyMap<string, FoldedResource>, findings: Findings): void => {
  try {
    if (readMeta(db, 'resources_built_by') !== codeFingerprint()) return
    compareRows(db, resources, findings)
    compareLinks(db, resources, findings)
  } catch (error) {
    findings.add(null, `resources cannot be read: ${firstLine(error)}`)
  }
}

/**
 * A row is read as one text, with tabs between its columns, which is several times faster than separate columns. Neither names nor JSON can
 * contain a tab, so equal texts mean equal rows. The columns of unequal rows are compared.
 */
const compareRows = (db: LogConnection, resources: ReadonlyMap<string, FoldedResource>, findings: Findings): void => {
  const texts = db.prepare<[], string | null>(`SELECT ${rowText} FROM resources`).pluck()
  let rows = 0
  let same = 0
  for (const text of texts.iterate()) {
    rows++
    const stream = text?.slice(0, text.indexOf('\t')) ?? ''
    const folded = resources.get(stream)
    if (folded && text === textOf(stream, folded)) same++
  }
  if (rows !== same || same !== resources.size) compareOneByOne(db, resources, findings)
}

const rowOf = (stream: string, { kind, state, ...rest }: FoldedResource): ResourceRow => ({
  stream,
  kind,
  project: projectStreamOf(state),
  name: foldName(state.name),
  ...rest,
  state: JSON.stringify(state),
})

const compareOneByOne = (db: LogConnection, resources: ReadonlyMap<string, FoldedResource>, findings: Findings): void => {
  const seen = new Set<string>()
  for (const row of db.prepare<[], ResourceRow>('SELECT * FROM resources').iterate()) {
    seen.add(row.stream)
    const folded = resources.get(row.stream)
    if (!folded) findings.add(null, `resources has a ${row.kind} ${row.name} that no event created`)
    else if (!isDeepStrictEqual({ ...row }, rowOf(row.stream, folded)))
      findings.add(folded.id, `${folded.kind} ${folded.state.name} in resources differs from what its events say`)
  }
  for (const [stream, { id, kind, state }] of resources)
    if (!seen.has(stream)) findings.add(id, `${kind} ${state.name} is missing in resources`)
}

const compareLinks = (db: LogConnection, resources: ReadonlyMap<string, FoldedResource>, findings: Findings): void => {
  const links = db.prepare<[], { link: string }>(`SELECT source || ' ' || target AS link FROM links`).all()
  const expected = new Set<string>()
  for (const [stream, { kind, state }] of resources)
    if (hasLinks(kind)) for (const target of linksOf(kind, state)) expected.add(`${stream} ${target}`)
  if (links.length !== expected.size || links.some(({ link }) => !expected.has(link)))
    findings.add(null, 'links differ from what the events say')
}

/**
 * The result of the walk over the meaning of the events: the faults of the events themselves, and of the data that follows from them.
 * `blobs` are the blobs that must exist, each with the event that names it.
 */
export type SemanticReport = {
  events: Finding[]
  following: Finding[]
  payloads: PayloadCounts
  blobs: [hash: string, position: number][]
  recordedAt: string
}

/** Checks the events of this connection, and all data in the log's file that follows from them. */
export const checkSemantics = async (
  db: LogConnection,
  masterKeys: readonly Uint8Array[],
  onProgress: (position: number) => void,
): Promise<SemanticReport> => {
  const events = new Findings()
  const following = new Findings()
  const named = new Findings()
  const payloads = new PayloadCheck(
    db,
    named,
    masterKeys.map((key) => new Vault(key)),
  )
  const walk = new SemanticWalk(db, events, payloads)
  await walk.walk(onProgress)
  compareResources(db, walk.resources, following)
  payloads.finish()
  return {
    events: events.all,
    following: [...following.all, ...inOrder(named.all)],
    payloads: payloads.counts,
    blobs: [...walk.blobs],
    recordedAt: walk.recordedAt,
  }
}

type Row = { position: number; text: string }
type Run = [events: number, first: number, last: number, texts: string]

const runEvents = 128

/** Walks the texts of all events once: envelopes, order, versions, and the states that follow from them. */
class SemanticWalk {
  position = 0
  readonly resources = new Map<string, FoldedResource>()
  /** The blobs that must exist: an event names them, and no later event erased them. */
  readonly blobs = new Map<string, number>()
  readonly #versions = new Map<string, number>()
  /** The time of the newest readable event; empty when there is none. */
  recordedAt = ''
  readonly #run
  readonly #rows

  constructor(
    db: LogConnection,
    private readonly findings: Findings,
    private readonly payloads: PayloadCheck,
  ) {
    this.#run = db
      .prepare<[number, number], Run>(
        `SELECT count(*), min(position), max(position), group_concat(text, char(10))
         FROM (SELECT position, text FROM events WHERE position > ? ORDER BY position LIMIT ?)`,
      )
      .raw(true)
    this.#rows = db.prepare<[number, number], Row>(
      'SELECT position, CAST(text AS TEXT) AS text FROM events WHERE position > ? ORDER BY position LIMIT ?',
    )
  }

  /**
   * Walks to the last event of the connection, with pauses for other work. The walk over the bytes reports unreadable events.
   */
  async walk(onProgress: (position: number) => void): Promise<void> {
    try {
      for (let runs = 1; this.#step(); runs++)
        if (runs % 8 === 0) {
          onProgress(this.position)
          await new Promise((resolve) => setImmediate(resolve))
        }
    } catch {
      this.#oneByOne()
    }
  }

  #step(): boolean {
    const before = this.position
    const [events, first, last, joined] = this.#run.get(this.position, runEvents) ?? [0, 0, 0, '']
    if (events === 0) return false
    const texts = last - first + 1 === events ? joined.split('\n') : []
    if (texts.length === events) texts.forEach((text, i) => this.#event(first + i, text))
    else for (const { position, text } of this.#rows.all(this.position, runEvents)) this.#event(position, text)
    // A damaged page may return the same rows for ever.
    return this.position > before
  }

  #oneByOne(): void {
    try {
      for (let [row] = this.#rows.all(this.position, 1); row && row.position > this.position; [row] = this.#rows.all(this.position, 1))
        this.#event(row.position, row.text)
    } catch {
      // The walk ends here.
    }
  }

  #event(position: number, text: string): void {
    this.position = position
    try {
      this.#envelope(position, text, parseEnvelope(text))
    } catch (error) {
      this.findings.add(position, `not an event: ${firstLine(error)}`)
    }
  }

  #envelope(position: number, text: string, envelope: Envelope): void {
    const { type, stream, version, data } = envelope
    if (envelope.position !== position) this.findings.add(position, `its text says position ${envelope.position}`)
    const next = (this.#versions.get(stream) ?? 0) + 1
    if (version !== next) this.findings.add(position, `version ${version} of its stream, where ${next} should be`)
    this.#versions.set(stream, version)
    if (envelope.recorded_at < this.recordedAt) this.findings.add(position, 'recorded before the event that precedes it')
    this.recordedAt = envelope.recorded_at
    if (recordsPayloads(type)) this.payloads.rows(position, payloadsOf(type, data))
    else if (type === 'DataErased') this.#erased(position, type, data)
    else if (mayNameSecrets(text)) this.payloads.secrets(position, payloadsOf(type, data))
    for (const hash of blobsOf(type, data)) this.blobs.set(hash, position)
    this.#fold(envelope)
  }

  #erased(position: number, type: string, data: Envelope['data']): void {
    this.payloads.erased(position, erasedPayloadsOf(type, data))
    this.payloads.rows(position, payloadsOf(type, data))
    for (const hash of erasedBlobsOf(type, data)) this.blobs.delete(hash)
  }

  #fold(envelope: Envelope): void {
    const event = currentEvent(envelope)
    const kind = catalogue.get(event.type)?.kind
    if (!isKind(kind)) return
    const { stream, position, version, recorded_at } = envelope
    const folded = this.resources.get(stream)
    const state = evolve(kind, folded?.state, event)
    if (!state) this.resources.delete(stream)
    else if (folded) Object.assign(folded, { kind, version, updated_at: recorded_at, state })
    else this.resources.set(stream, { kind, id: position, version, created_at: recorded_at, updated_at: recorded_at, state })
  }
}
