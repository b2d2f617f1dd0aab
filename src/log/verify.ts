import { isDeepStrictEqual } from 'node:util'
import { catalogue, evolve, hasLinks, linksOf, type Kind, type States } from '../../events/catalogue.js'
import { genesis, nextChain, sha256Hex } from '../../events/chain.js'
import { foldName } from '../../events/common.js'
import { parseEnvelope, type Envelope } from '../../events/envelope.js'
import { blobsOf, erasedBlobsOf, erasedPayloadsOf, payloadsOf } from '../../events/references.js'
import type { Head } from './log.js'
import { isKind } from './lookups.js'
import { currentEvent } from './sqlite/rebuild.js'
import { projectOf } from './sqlite/resource-table.js'
import { openForReading, readLogId, type Connection } from './sqlite/schema.js'

/** Something that does not hold. `position` is the event's, where there is one. */
export type Finding = { position: number | null; what: string }

export type Verification = {
  ok: boolean
  head: Head
  /** Whether a head kept elsewhere proved that nothing newer was taken away. */
  provenTo: number | null
  findings: Finding[]
  payloads: { readable: number; erased: number }
}

export type VerifyOptions = {
  logFile: string
  /** SHA-256 of a blob's bytes, or undefined when there is none. Called once for each blob that an event names. */
  blobHash?: (hash: string) => Promise<string | undefined>
  /** A head that was kept elsewhere. */
  kept?: Head
  onProgress?: (position: number) => void
}

const maxFindings = 100
const pageSize = 1_000

type Row = { position: number; text: Buffer; kind: string; chain: Buffer }
type Folded = { kind: Kind; id: number; version: number; created_at: string; updated_at: string; state: States[Kind] }

class Findings {
  readonly all: Finding[] = []
  add(position: number | null, what: string): void {
    if (this.all.length < maxFindings) this.all.push({ position, what })
  }
}

/** Walks the events once: hashes, order, envelopes, and the states that follow from them. */
class Walk {
  readonly resources = new Map<string, Folded>()
  readonly payloads = new Map<string, number>()
  /** What must be there: named by an event, and not erased since. */
  readonly blobs = new Map<string, number>()
  /** Where each payload was erased. */
  readonly erased = new Map<string, number>()
  readonly #versions = new Map<string, number>()
  #recordedAt = ''
  position = 0
  chain: Buffer

  constructor(
    logId: string,
    private readonly findings: Findings,
  ) {
    this.chain = genesis(logId)
  }

  step({ position, text, kind, chain }: Row): void {
    if (position !== this.position + 1) this.findings.add(this.position + 1, `missing: the next event in the file has position ${position}`)
    this.position = position
    if (kind !== 'text') this.findings.add(position, `stored as ${kind} instead of text`)
    const expected = nextChain(this.chain, text)
    if (!expected.equals(chain)) this.findings.add(position, 'the text is not the one that was chained here')
    // Going on from what is stored, each further finding is one of its own.
    this.chain = chain
    try {
      this.#envelope(position, parseEnvelope(text.toString()))
    } catch (error) {
      this.findings.add(position, `not an event: ${firstLine(error)}`)
    }
  }

  #envelope(position: number, envelope: Envelope): void {
    if (envelope.position !== position) this.findings.add(position, `its text says position ${envelope.position}`)
    const version = (this.#versions.get(envelope.stream) ?? 0) + 1
    if (envelope.version !== version) this.findings.add(position, `version ${envelope.version} of its stream, where ${version} should be`)
    this.#versions.set(envelope.stream, envelope.version)
    if (envelope.recorded_at < this.#recordedAt) this.findings.add(position, 'recorded before the event that precedes it')
    this.#recordedAt = envelope.recorded_at
    for (const hash of payloadsOf(envelope.type, envelope.data)) this.payloads.set(hash, position)
    for (const hash of blobsOf(envelope.type, envelope.data)) this.blobs.set(hash, position)
    for (const { hash } of erasedPayloadsOf(envelope.type, envelope.data)) this.erased.set(hash, position)
    for (const hash of erasedBlobsOf(envelope.type, envelope.data)) this.blobs.delete(hash)
    this.#fold(envelope)
  }

  #fold(envelope: Envelope): void {
    const event = currentEvent(envelope)
    const kind = catalogue.get(event.type)?.kind
    if (!isKind(kind)) return
    const before = this.resources.get(envelope.stream)
    const state = evolve(kind, before?.state, event)
    if (!state) this.resources.delete(envelope.stream)
    else
      this.resources.set(envelope.stream, {
        kind,
        id: before?.id ?? envelope.position,
        version: envelope.version,
        created_at: before?.created_at ?? envelope.recorded_at,
        updated_at: envelope.recorded_at,
        state,
      })
  }
}

/**
 * Checks a log from its first event: no gap, no edit, and everything that follows from it as it should be.
 * Reads beside a running server as well as without one.
 *
 * @example (await verifyLog({ logFile: 'data/log.sqlite' })).ok
 */
export const verifyLog = async ({ logFile, blobHash, kept, onProgress }: VerifyOptions): Promise<Verification> => {
  const db = openForReading(logFile)
  const findings = new Findings()
  try {
    db.exec('BEGIN')
    const logId = readLogId(db)
    const walk = new Walk(logId, findings)
    let provenTo: number | null = null
    const checkKept = () => {
      if (kept?.position !== walk.position) return
      if (kept.logId === logId && kept.chain === walk.chain.toString('hex')) provenTo = kept.position
      else findings.add(kept.position, 'the chain differs from the head that was kept: the history before it was changed')
    }
    checkKept()
    checkBeforeFirst(db, findings)
    await walkEvents(db, walk, findings, () => {
      checkKept()
      if (walk.position % 100_000 === 0) onProgress?.(walk.position)
    })
    if (kept && kept.logId !== logId) findings.add(null, `the head that was kept belongs to another log (${kept.logId})`)
    else if (kept && kept.position > walk.position)
      findings.add(walk.position + 1, `missing: the head that was kept has position ${kept.position}, the log ends at ${walk.position}`)
    compareResources(db, walk, findings)
    const payloads = checkPayloads(db, walk, findings)
    if (blobHash) await checkBlobs(walk, findings, blobHash)
    checkPages(db, findings)
    const head = { logId, position: walk.position, chain: walk.chain.toString('hex') }
    return { ok: findings.all.length === 0, head, provenTo, findings: findings.all, payloads }
  } finally {
    db.close()
  }
}

const firstLine = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').slice(0, 200)

/** A row before position 1 would be in no walk, but in the versions of its stream. */
const checkBeforeFirst = (db: Connection, findings: Findings): void => {
  try {
    for (const { position } of db.prepare<[], { position: number }>('SELECT position FROM events WHERE position < 1 LIMIT 10').all())
      findings.add(position, 'the log begins at position 1')
  } catch (error) {
    findings.add(null, `the beginning cannot be read: ${firstLine(error)}`)
  }
}

const walkEvents = async (db: Connection, walk: Walk, findings: Findings, afterEach: () => void): Promise<void> => {
  const page = db.prepare<[number, number], Row>(
    'SELECT position, CAST(text AS BLOB) AS text, typeof(text) AS kind, chain FROM events WHERE position > ? ORDER BY position LIMIT ?',
  )
  for (;;) {
    let rows: Row[]
    try {
      rows = page.all(walk.position, pageSize)
    } catch (error) {
      readOneByOne(db, walk, findings, firstLine(error))
      return
    }
    for (const row of rows) {
      walk.step(row)
      afterEach()
    }
    if (rows.length < pageSize) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** A page that cannot be read as a whole: goes on event by event to the one that cannot be read. */
const readOneByOne = (db: Connection, walk: Walk, findings: Findings, reason: string): void => {
  const one = db.prepare<[number], Row>(
    'SELECT position, CAST(text AS BLOB) AS text, typeof(text) AS kind, chain FROM events WHERE position = ?',
  )
  try {
    for (;;) {
      const row = one.get(walk.position + 1)
      if (!row) break
      walk.step(row)
    }
  } catch {
    // The position after the last readable one is the broken one.
  }
  findings.add(walk.position + 1, `cannot be read: ${reason}`)
}

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

const compareResources = (db: Connection, walk: Walk, findings: Findings): void => {
  try {
    const rows = new Map(
      db
        .prepare<[], ResourceRow>('SELECT * FROM resources')
        .all()
        .map((row) => [row.stream, row]),
    )
    for (const [stream, { kind, state, ...rest }] of walk.resources) {
      const row = rows.get(stream)
      const expected = { stream, kind, project: projectOf(state), name: foldName(state.name), ...rest, state: JSON.stringify(state) }
      if (!row) findings.add(rest.id, `${kind} ${state.name} is missing in resources`)
      else if (!isDeepStrictEqual({ ...row }, expected))
        findings.add(rest.id, `${kind} ${state.name} in resources differs from what its events say`)
      rows.delete(stream)
    }
    for (const row of rows.values()) findings.add(null, `resources has a ${row.kind} ${row.name} that no event made`)
    const links = db.prepare<[], { link: string }>(`SELECT source || ' ' || target AS link FROM links`).all()
    const expected = new Set(
      [...walk.resources].flatMap(([stream, { kind, state }]) =>
        hasLinks(kind) ? linksOf(kind, state).map((to) => `${stream} ${to}`) : [],
      ),
    )
    if (links.length !== expected.size || links.some(({ link }) => !expected.has(link)))
      findings.add(null, 'links differ from what the events say')
  } catch (error) {
    findings.add(null, `resources cannot be read: ${firstLine(error)}`)
  }
}

const checkPayloads = (db: Connection, walk: Walk, findings: Findings) => {
  const counts = { readable: 0, erased: 0 }
  try {
    const select = db.prepare<[string], { wrapped: Buffer | null; body: Buffer }>('SELECT wrapped, body FROM payloads WHERE hash = ?')
    for (const [hash, position] of walk.payloads) {
      const row = select.get(hash)
      const erasedAt = walk.erased.get(hash)
      if (!row) findings.add(position, 'its payload is missing, not erased')
      else if (erasedAt !== undefined && row.wrapped === null) counts.erased++
      else if (erasedAt !== undefined) findings.add(position, `its payload was erased at position ${erasedAt}, but its key is there`)
      else if (row.wrapped === null) findings.add(position, 'its payload has no key, and no event says that it was erased')
      else if (sha256Hex(row.body) === hash) counts.readable++
      else findings.add(position, 'its payload is not the one that it names')
    }
  } catch (error) {
    findings.add(null, `payloads cannot be read: ${firstLine(error)}`)
  }
  return counts
}

const checkBlobs = async (walk: Walk, findings: Findings, blobHash: (hash: string) => Promise<string | undefined>): Promise<void> => {
  for (const [hash, position] of walk.blobs) {
    const found = await blobHash(hash)
    if (found === undefined) findings.add(position, `its blob ${hash} is missing`)
    else if (found !== hash) findings.add(position, `its blob ${hash} has other content`)
  }
}

/** What SQLite itself can say about its pages and indexes. */
const checkPages = (db: Connection, findings: Findings): void => {
  try {
    const rows = db.pragma('integrity_check(10)') as { integrity_check: string }[]
    for (const { integrity_check: said } of rows) if (said !== 'ok') findings.add(null, `the file is damaged: ${said}`)
  } catch (error) {
    findings.add(null, `the file is damaged: ${firstLine(error)}`)
  }
}
