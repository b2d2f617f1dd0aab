/*
 * The offline verifier of Mindledger's exports. It is one file, needs nothing but Node.js (20 or later), opens no
 * connection and writes nothing. It shares no code with the service whose work it checks, on purpose: read it, then run it.
 *
 *   node verifier.mjs export.jsonl [--vkey <key or file>] [--head <file>]...
 *   node verifier.mjs proof.txt --event event.json [--vkey <key or file>] [--head <file>]...
 *
 * Exit status: 0 the export holds and every head given agrees, 1 it does not, 2 it could not be checked.
 *
 * What an export is: lines, each ended by one newline. The first is a header: the log's id, the project (null for all), the
 * number of events `size`, a signed head of that size (`checkpoint`), and the public key (`key`). Then, in order of position
 * from 1, each line is the text of one event, exactly the bytes that were hashed, or stands for events that are left out
 * because they belong to other projects: {"omitted":{"from":7,"to":9,"subtrees":["<base64>",...]}}. A list of leaf hashes, one
 * after the other, precedes consecutive events: {"leaves":{"from":1,"to":6,"hashes":"<base64>"}}. Exports of format 1 have no
 * such lists.
 *
 * What is proven: the events are the leaves of a Merkle tree as RFC 9162 defines it,
 *   leaf = SHA-256(0x00 | text),   node = SHA-256(0x01 | left | right),
 * and the head is a signature (Ed25519, a C2SP signed note) over the tree's size and root. If the leaves here add up to that
 * root, nobody without the key has changed, added, moved or left out one byte of one event. The holder of the key could sign
 * another history: only a head that was kept elsewhere (--head) rules that out. So keep one, away from the log's operator.
 *
 * What the lists are for: if the events do not add up to the root, the listed hashes may. Then they are the signed ones, and
 * each line that differs from them was changed. A list that does not add up either names nothing.
 */
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const sha256 = (...parts: (Uint8Array | string)[]): Buffer => {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return digest.digest()
}
const leafHash = (text: Uint8Array): Buffer => sha256(Buffer.of(0), text)
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right)

/** Bit `level` of a number that may exceed 2^32, the limit of JavaScript's bit operators. */
const bit = (n: number, level: number): boolean => Math.floor(n / 2 ** level) % 2 === 1

/**
 * A Merkle tree that knows only its right edge: the roots of the complete subtrees that make up its size, the largest first. Two
 * neighbours of the same size merge at once, like a carry in a binary addition.
 */
class Tree {
  size = 0
  readonly #edge: Buffer[] = []

  /** Adds a complete subtree of 2^level leaves; level 0 is one leaf. */
  add(hash: Buffer, level = 0): void {
    let sum = hash
    for (let at = level; bit(this.size, at); at++) sum = nodeHash(this.#edge.pop() ?? Buffer.alloc(0), sum)
    this.#edge.push(sum)
    this.size += 2 ** level
  }

  /**
   * Adds the roots of the fewest complete subtrees up to a size. The positions alone determine the sizes of these subtrees, so that
   * the maker of the export has no choice. Says what is wrong with the hashes, if anything is.
   */
  fill(hashes: readonly unknown[], to: number, grown: () => void = () => undefined): string | undefined {
    for (const encoded of hashes) {
      const hash = fromBase64(encoded, 32)
      let level = 0
      while (!bit(this.size, level) && this.size + 2 ** (level + 1) <= to) level++
      if (!hash || this.size + 2 ** level > to) return 'wrong hashes for the events left out'
      this.add(hash, level)
      grown()
    }
    return this.size === to ? undefined : 'hashes for the events left out are missing'
  }

  /** The tree's root now: the edge, folded from its right end. */
  root(): Buffer {
    return this.#edge.length === 0 ? sha256('') : this.#edge.reduceRight((right, left) => nodeHash(left, right))
  }
}

/** The lines cannot be followed any further, so that going on would say nothing more. Exit status 1. */
class Broken extends Error {}

/** Base64 in its one regular form: another text that decodes to the same bytes is refused. */
const fromBase64 = (text: unknown, length: number): Buffer | undefined => {
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined
}

/* ---- Keys and signed heads ---- */

type Key = { name: string; id: Buffer; key: KeyObject }

/** Reads a verifier key, `name+id+base64`. The id is made of the name and the key, so that a typo in either shows. */
const readKey = (text: string): Key | undefined => {
  const [, name = '', id = '', encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text.trim()) ?? []
  const bytes = fromBase64(encoded, 33)
  if (bytes?.[0] !== 1) return undefined // 1 stands for Ed25519
  if (sha256(name, '\n', bytes).subarray(0, 4).toString('hex') !== id) return undefined
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.subarray(1).toString('base64url') }, format: 'jwk' })
  return { name, id: Buffer.from(id, 'hex'), key }
}

/** A head: how many events there were, and what they added up to. The older form has the hash chain in place of root and signature. */
type Head = { origin: string; size: number; root?: Buffer; chain?: string; body?: string; signatures?: string[]; agrees?: boolean }

const readNote = (body: string, signatures: string[]): Head | undefined => {
  const [origin = '', size = '', encoded] = body.split('\n')
  const root = fromBase64(encoded, 32)
  return root && /^(0|[1-9]\d{0,15})$/.test(size) ? { origin, size: Number(size), root, body, signatures } : undefined
}

/** Whether one of the signatures under a head was made with this key. Others, such as those of witnesses, are skipped. */
const isSigned = ({ origin, body, signatures }: Head, { name, id, key }: Key): boolean =>
  origin === name &&
  body !== undefined &&
  (signatures ?? []).some((line) => {
    const [dash, by, encoded] = line.split(' ')
    const bytes = fromBase64(encoded, 4 + 64)
    return dash === '—' && by === name && bytes?.subarray(0, 4).equals(id) && verify(null, Buffer.from(body), key, bytes.subarray(4))
  })

/** The heads in a text: notes separated by empty lines, or lines of the older JSON. Undefined when it contains anything else. */
const readHeads = (text: string): Head[] | undefined => {
  const heads: (Head | undefined)[] = []
  let body = ''
  const lines = text.replace(/\r/g, '').split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (body === '' && line.startsWith('{')) heads.push(readOldHead(line))
    else if (line !== '') body += `${line}\n`
    else if (body !== '') {
      const signatures: string[] = []
      while (lines[at + 1]?.startsWith('— ')) signatures.push(lines[++at] ?? '')
      heads.push(readNote(body, signatures))
      body = ''
    }
  }
  const found = heads.filter((head) => head !== undefined)
  return body === '' && found.length > 0 && found.length === heads.length ? found : undefined
}

const readOldHead = (line: string): Head | undefined => {
  const { logId, position, chain } = fieldsOf(line)
  if (typeof logId !== 'string' || !isCount(position) || typeof chain !== 'string') return undefined
  return { origin: originOf(logId), size: position, chain }
}

/** The name under which a log signs: origin of its heads and name of its key. */
const originOf = (log: string): string => `mindledger/${log}`

/* ---- Lines ---- */

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The members of a JSON object; none of anything else. */
const fieldsOf = (value: unknown): Record<string, unknown> => {
  try {
    const read: unknown = typeof value === 'string' ? JSON.parse(value) : value
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? { ...read } : {}
  } catch {
    return {}
  }
}

const lineMaxBytes = 64 * 1024 * 1024

/** The lines of a file as bytes, in constant memory. Only a newline ends a line: text readers would also split at other characters. */
async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let from = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      yield bytes.subarray(from, end)
      from = end + 1
    }
    rest = bytes.subarray(from)
    if (rest.length > lineMaxBytes) throw new Broken(`a line has more than ${lineMaxBytes} bytes: this is no export`)
  }
  if (rest.length > 0) throw new Broken('the last line does not end: the file was cut off')
}

type Header = { format: 1 | 2; log: string; project: string | null; size: number; checkpoint: Head; key: Key }

const readHeader = (line: string): Header => {
  const { mindledger_export: format, log, project, size, checkpoint, key } = fieldsOf(line)
  if (format !== 1 && format !== 2) throw new Broken('the first line is not the header of an export')
  const [head, more] = (typeof checkpoint === 'string' ? readHeads(checkpoint) : undefined) ?? []
  const ownKey = typeof key === 'string' ? readKey(key) : undefined
  if (typeof log !== 'string' || !isCount(size) || (typeof project !== 'string' && project !== null) || !head || more || !ownKey)
    throw new Broken('the header is not one of an export: a field is missing or is not what it should be')
  return { format, log, project, size, checkpoint: head, key: ownKey }
}

/* ---- The check ---- */

const maxFindings = 20
/** How many lines that no list names are kept for comparison, so that a file of only such lines needs no more memory. */
const maxUnlisted = 1_000
const foldName = (name: string): string => name.normalize('NFC').toLowerCase().normalize('NFC')

/** Sentences, up to the number that anybody reads. */
class Findings {
  readonly sentences: string[] = []

  add(sentence: string): void {
    if (this.sentences.length < maxFindings) this.sentences.push(sentence)
    else if (this.sentences.length === maxFindings) this.sentences.push('... and more')
  }
}

/** Goes through the lines once. `order` and `findings` say what is wrong, one sentence each. */
class Check {
  /** What is wrong with the order of the events; it follows from the first changed line. */
  readonly order = new Findings()
  readonly findings = new Findings()
  /** The size of the newest head that agrees. */
  proven: number | undefined
  readonly tree = new Tree()
  omitted = 0
  #chain: Buffer
  #recordedAt = ''
  /** The newest version of each stream. With the project's names, it is all that grows with the export. */
  readonly #versions = new Map<string, number>()
  #projectStream: string | undefined
  readonly #projectNames = new Set<string>()

  constructor(
    private readonly header: Header,
    private readonly heads: readonly Head[],
  ) {
    this.#chain = sha256(header.log)
    this.#compareHeads()
  }

  /** @throws Broken where the lines cannot be followed any further */
  line(fields: Record<string, unknown>, leaf: Buffer): void {
    if ('omitted' in fields) this.#leftOut(fieldsOf(fields['omitted']))
    else this.#event(fields, leaf)
  }

  #event(fields: Record<string, unknown>, leaf: Buffer): void {
    const place = this.tree.size + 1
    const { position, stream, version, type, recorded_at: at, data } = fields
    if (!isCount(position) || typeof stream !== 'string' || !isCount(version) || typeof type !== 'string' || typeof at !== 'string')
      throw new Broken(`the line of position ${place} is not an event`)
    if (position !== place) this.order.add(`position ${place}: the event here says that its position is ${position}`)
    const next = (this.#versions.get(stream) ?? 0) + 1
    if (version !== next) this.order.add(`position ${place}: version ${version} of its stream, where ${next} should be`)
    this.#versions.set(stream, version)
    if (at < this.#recordedAt) this.order.add(`position ${place}: recorded before the event that precedes it`)
    this.#recordedAt = at
    if (this.header.project !== null) this.#belongs(place, stream, version, type, fieldsOf(data))
    this.#chain = sha256(this.#chain, leaf)
    this.tree.add(leaf)
    this.#compareHeads()
  }

  /** Whether an event belongs to the project in the header. The header is not signed, but the events are. */
  #belongs(place: number, stream: string, version: number, type: string, data: Record<string, unknown>): void {
    if (type === 'ProjectCreated' && version === 1) this.#projectStream ??= stream
    if (stream === this.#projectStream && typeof data['name'] === 'string') this.#projectNames.add(foldName(data['name']))
    const isOwn = stream === 'log' || stream === this.#projectStream || version > 1
    const model = stream.endsWith('/predictions') ? stream.slice(0, -'/predictions'.length) : undefined
    if (!isOwn && data['project'] !== this.#projectStream && !(model !== undefined && this.#versions.has(model)))
      this.order.add(`position ${place}: the event is not of the project`)
  }

  /** Events of other projects: the roots of subtrees that cover them take their place. */
  #leftOut({ from, to, subtrees }: Record<string, unknown>): void {
    const place = this.tree.size + 1
    if (this.header.project === null) this.order.add(`position ${place}: events are left out of an export of everything`)
    if (from !== place || !isCount(to) || to < place || to > this.header.size || !Array.isArray(subtrees))
      throw new Broken(`position ${place}: the events left out here do not begin and end as they should`)
    this.omitted += to - place + 1
    const wrong = this.tree.fill(subtrees, to, () => this.#compareHeads())
    if (wrong !== undefined) throw new Broken(`position ${place}: ${wrong}`)
  }

  /** Compares the lines so far with the heads of this size. The chain is known only if nothing is left out. */
  #compareHeads(): void {
    for (const head of this.heads) {
      if (head.size !== this.tree.size || (head.chain !== undefined && this.omitted > 0)) continue
      head.agrees = head.root ? head.root.equals(this.tree.root()) : head.chain === this.#chain.toString('hex')
      if (head.agrees) this.proven = head.size
      else this.findings.add(`the head of size ${head.size} that was kept differs: before it something was changed, added or taken out`)
    }
  }

  /** Whether the trusted key signed the header's head, for what the header says. */
  isHeadSound(key: Key): boolean {
    const { checkpoint, log, size } = this.header
    return originOf(log) === checkpoint.origin && checkpoint.size === size && isSigned(checkpoint, key)
  }

  /** The checks that need all lines. `key` is the trusted one. */
  finish(key: Key): void {
    const { header, heads, tree } = this
    const { checkpoint, project } = header
    const where = this.proven === undefined ? '' : ` after position ${this.proven}`
    if (originOf(header.log) !== checkpoint.origin)
      this.findings.add(`the signed head is of ${checkpoint.origin}, the header says log ${header.log}`)
    if (!isSigned(checkpoint, key)) this.findings.add(`the head is not signed by the key ${key.name}`)
    if (checkpoint.size !== header.size) this.findings.add(`the signed head has size ${checkpoint.size}, the header says ${header.size}`)
    if (tree.size !== checkpoint.size)
      this.findings.add(`the export ends at position ${tree.size}, its signed head is of ${checkpoint.size} events`)
    else if (!checkpoint.root?.equals(tree.root()))
      this.findings.add(`the events do not add up to the signed root: something was changed, added, moved or taken out${where}`)
    if (project !== null && !this.#projectNames.has(foldName(project))) this.findings.add(`no event here makes a project ${project}`)
    for (const head of heads) {
      if (head.origin !== checkpoint.origin) this.findings.add(`a head that was kept is of another log: ${head.origin}`)
      else if (head.root && !isSigned(head, key))
        this.findings.add(`the head of size ${head.size} that was kept is not signed by ${key.name}`)
      if (head.agrees === undefined) this.findings.add(`NOT PROVEN: the head of size ${head.size} ${this.#whyNotCompared(head)}`)
    }
  }

  #whyNotCompared({ size, chain }: Head): string {
    if (size > this.tree.size) return 'is newer than this export; ask for an export up to it'
    if (chain !== undefined) return 'is of the older form, which can only be compared with an export of everything'
    return 'ends inside what is left out here; ask for an export with --head and this head'
  }
}

/* ---- Which line it was ---- */

/** A line: its hash, and the position that it states, if it is an event. */
type Line = { leaf: string; says: unknown }

/** A line, by its number among the lines at hand, and the index of its event in their list. */
type Place = { index: number; line: number }

/** As many of these places as possible, in the order of their lines, whose indexes rise. */
const rising = (places: readonly Place[]): Place[] => {
  const ends: Place[] = []
  const before = new Map<Place, Place | undefined>()
  for (const place of places) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle]?.index ?? 0) < place.index) low = middle + 1
      else high = middle
    }
    before.set(place, ends[low - 1])
    ends[low] = place
  }
  const kept: Place[] = []
  for (let place = ends.at(-1); place; place = before.get(place)) kept.push(place)
  return kept.reverse()
}

/**
 * Compares the lines with the hashes that the export lists for them. The list proves nothing by itself: it names lines only if it
 * adds up to the signed root.
 */
class Listing {
  readonly differences = new Findings()
  /** Why the lists cannot be followed any further, if so. */
  #broken: string | undefined
  readonly #tree = new Tree()
  /** The hashes listed for the lines at hand, and where these begin. */
  #listed: string[] = []
  #from = 1
  #lines: Line[] = []

  line(fields: Record<string, unknown>, leaf: Buffer): void {
    if (this.#broken !== undefined) return
    if ('leaves' in fields) this.#list(fieldsOf(fields['leaves']))
    else if ('omitted' in fields) this.#leftOut(fieldsOf(fields['omitted']))
    else if (this.#lines.length < this.#listed.length + maxUnlisted)
      this.#lines.push({ leaf: leaf.toString('hex'), says: fields['position'] })
    else this.#broken = `position ${this.#from + this.#listed.length}: many more events follow than the export lists hashes for`
  }

  /** Why the lists do not add up to a root; undefined when they do. To be called after all lines. */
  whyNot({ size, root }: Head): string | undefined {
    this.#compare()
    if (this.#broken !== undefined) return this.#broken
    if (this.#tree.size === size && root?.equals(this.#tree.root())) return undefined
    return 'the hashes that the export lists do not add up to the signed root'
  }

  #begins(from: unknown, to: unknown): to is number {
    this.#compare()
    const place = this.#tree.size + 1
    if (from === place && isCount(to) && to >= place) return true
    this.#broken = `position ${place}: the hashes that are listed here are of other positions`
    return false
  }

  #list({ from, to, hashes }: Record<string, unknown>): void {
    if (!this.#begins(from, to)) return
    const place = this.#tree.size + 1
    const bytes = fromBase64(hashes, (to - place + 1) * 32)
    if (!bytes) {
      this.#broken = `position ${place}: the list of hashes cannot be read`
      return
    }
    this.#from = place
    for (let at = 0; at < bytes.length; at += 32) {
      const hash = bytes.subarray(at, at + 32)
      this.#tree.add(hash)
      this.#listed.push(hash.toString('hex'))
    }
  }

  #leftOut({ from, to, subtrees }: Record<string, unknown>): void {
    if (!this.#begins(from, to)) return
    const place = this.#tree.size + 1
    const wrong = Array.isArray(subtrees) ? this.#tree.fill(subtrees as unknown[], to) : 'hashes for the events left out are missing'
    if (wrong !== undefined) this.#broken = `position ${place}: ${wrong}`
    this.#from = this.#tree.size + 1
  }

  /** Says how the lines at hand differ from their list. What is in both, in the same order, divides the rest into gaps. */
  #compare(): void {
    const [listed, lines] = [this.#listed, this.#lines]
    ;[this.#listed, this.#lines] = [[], []]
    if (listed.length === lines.length && listed.every((hash, i) => hash === lines[i]?.leaf)) return
    const indexes = new Map(listed.map((hash, index) => [hash, index]))
    const places = lines.flatMap(({ leaf }, line) => {
      const index = indexes.get(leaf)
      return index === undefined ? [] : [{ index, line }]
    })
    const anchors = rising(places)
    const [inPlace, standing] = [new Set(anchors.map(({ index }) => index)), new Set(anchors.map(({ line }) => line))]
    const moved = new Set<number>()
    for (const { index, line } of places)
      if (!inPlace.has(index) && !moved.has(index)) {
        moved.add(index)
        standing.add(line)
      }
    let [index, line] = [0, 0]
    for (const next of [...anchors, { index: listed.length, line: lines.length }]) {
      const [first, starts] = [index, line]
      const missing = Array.from({ length: next.index - first }, (_, n) => first + n)
      for (const one of missing) if (moved.has(one)) this.differences.add(`position ${this.#from + one}: its event was moved elsewhere`)
      this.#gap(
        missing.filter((one) => !moved.has(one)).map((one) => this.#from + one),
        lines.slice(line, next.line).filter((_, n) => !standing.has(starts + n)),
        this.#from + index - 1,
      )
      ;[index, line] = [next.index + 1, next.line + 1]
    }
  }

  /** Reports positions whose events are missing, and the lines in their place, after the position `after`. */
  #gap(missing: readonly number[], lines: readonly Line[], after: number): void {
    for (const [n, { says }] of lines.slice(0, missing.length).entries()) {
      const position = missing[n] ?? 0
      const other = says === position || !isCount(says) ? '' : `; what stands here says that its position is ${says}`
      this.differences.add(`position ${position}: the event was changed${other}`)
    }
    const [first, last] = [missing[lines.length], missing.at(-1)]
    if (first !== undefined && last !== undefined)
      this.differences.add(
        first === last ? `position ${first}: the event was taken out` : `position ${first} to ${last}: the events were taken out`,
      )
    const added = lines.length - missing.length
    if (added > 0) this.differences.add(`after position ${last ?? after}: ${added === 1 ? 'a line was' : `${added} lines were`} added`)
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/* ---- One proof ---- */

/**
 * The root computed from a leaf and the hashes along its path, as RFC 9162 says in section 2.1.3.2. Undefined when there are too many
 * or too few hashes.
 */
const rootFrom = (leaf: Buffer, index: number, size: number, hashes: readonly Buffer[]): Buffer | undefined => {
  let [at, last, sum] = [index, size - 1, leaf]
  for (const hash of hashes) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      sum = nodeHash(hash, sum)
      while (at % 2 === 0 && at !== 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
    } else sum = nodeHash(sum, hash)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 ? sum : undefined
}

/** A proof of one event, C2SP's tlog-proof: the leaf's index, hashes, and the signed head. */
const readProof = (text: string): { index: number; hashes: Buffer[]; checkpoint: Head } => {
  const end = text.indexOf('\n\n')
  const [format, at = '', ...encoded] = text.slice(0, Math.max(0, end)).split('\n')
  const [, index] = /^index (0|[1-9]\d{0,15})$/.exec(at) ?? []
  const hashes = encoded.flatMap((hash) => fromBase64(hash, 32) ?? [])
  const [checkpoint, more] = readHeads(text.slice(end + 2)) ?? []
  if (format !== 'c2sp.org/tlog-proof@v1' || index === undefined || hashes.length !== encoded.length || !checkpoint || more)
    throw new Broken('the first file is not a proof: GET /api/log/proofs/inclusion gives one with Accept: text/plain')
  return { index: Number(index), hashes, checkpoint }
}

/** The findings about one proof. */
const checkProof = (proof: ReturnType<typeof readProof>, event: Buffer, heads: readonly Head[], key: Key | undefined): string[] => {
  const { index, hashes, checkpoint } = proof
  const findings: string[] = []
  const text = event.at(-1) === 10 ? event.subarray(0, -1) : event
  const { position } = fieldsOf(text.toString())
  if (position !== index + 1)
    findings.push(`the event says that its position is ${String(position)}, the proof is of position ${index + 1}`)
  if (index >= checkpoint.size) findings.push(`position ${index + 1} is not in a log of ${checkpoint.size} events`)
  else if (!rootFrom(leafHash(text), index, checkpoint.size, hashes)?.equals(checkpoint.root ?? Buffer.alloc(0)))
    findings.push(`position ${index + 1}: the event and the hashes do not add up to the root of the head: one of them was changed`)
  if (key && !isSigned(checkpoint, key)) findings.push(`the head is not signed by the key ${key.name}`)
  for (const head of heads) {
    if (head.origin !== checkpoint.origin) findings.push(`a head that was kept is of another log: ${head.origin}`)
    else if (head.size !== checkpoint.size || !head.root)
      findings.push(
        `NOT PROVEN: the head of size ${head.size} is of another size than the proof, ${checkpoint.size}: ask for a proof with it`,
      )
    else if (!checkpoint.root?.equals(head.root)) findings.push(`the head of size ${head.size} that was kept differs: the log was changed`)
    else if (key && !isSigned(head, key)) findings.push(`the head of size ${head.size} that was kept is not signed by ${key.name}`)
  }
  return findings
}

const runProof = (file: string, event: string, heads: readonly Head[], key: Key | undefined): number => {
  try {
    const proof = readProof(readFileSync(file, 'utf8'))
    const findings = checkProof(proof, readFileSync(event), heads, key)
    for (const finding of findings) say(finding)
    if (findings.length === 0) {
      const { index, checkpoint } = proof
      say(`The proof holds: the event of position ${index + 1} is one of the first ${checkpoint.size} of ${checkpoint.origin}`)
      if (key) say(`Signed by the key given, ${key.name}.`)
      else say('Whose signature the head has was not checked: give the key that you know (--vkey).')
      if (heads.length > 0) say('Proven by the head that was kept.')
      return 0
    }
  } catch (error) {
    if (!(error instanceof Broken)) throw error
    say(error.message)
  }
  say('THE PROOF DOES NOT HOLD')
  return 1
}

/* ---- The command ---- */

const readArguments = (args: string[]) => {
  const options = { head: { type: 'string', multiple: true }, vkey: { type: 'string' }, event: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [file] = positionals
  if (file === undefined || positionals.length > 1)
    throw new Error('usage: node verifier.mjs export.jsonl | proof.txt --event event.json [--vkey key] [--head file]...')
  const key = values.vkey === undefined ? undefined : readKey(existsSync(values.vkey) ? readFileSync(values.vkey, 'utf8') : values.vkey)
  if (values.vkey !== undefined && !key) throw new Error(`--vkey takes a verifier key (name+id+base64) or a file with one: ${values.vkey}`)
  const heads = (values.head ?? []).flatMap((name) => {
    const found = readHeads(readFileSync(name, 'utf8'))
    if (!found) throw new Error(`${name} is not a file of heads`)
    return found
  })
  return { file, key, heads, event: values.event }
}

/** The result for a file: its header and the check, if it has a header, and the findings. */
type Result = { header?: Header; check?: Check; findings: string[] }

/** What is wrong. Lines that the signed root names replace the findings that only follow from them. */
const findingsOf = (check: Check, listing: Listing | undefined, header: Header, key: Key, broken: string | undefined): string[] => {
  if (broken === undefined) check.finish(key)
  const proof = [...check.order.sentences, ...check.findings.sentences, ...(broken === undefined ? [] : [broken])]
  if (!listing) return proof
  const whyNot = listing.whyNot(header.checkpoint)
  if (whyNot !== undefined)
    return [...proof, proof.length === 0 ? `the list of hashes was changed: ${whyNot}` : `Which line it was cannot be said: ${whyNot}`]
  const named = listing.differences.sentences
  if (named.length === 0 || !check.isHeadSound(key)) return proof
  return [...named, ...check.findings.sentences]
}

/** Why a step stopped, if the lines are at fault. */
const stopOf = (step: () => void): string | undefined => {
  try {
    step()
    return undefined
  } catch (error) {
    if (error instanceof Broken) return error.message
    throw error
  }
}

/** Reads the whole file: it checks as far as the lines can be followed, and reads the lists to the end. */
const checkFile = async (file: string, heads: Head[], key: Key | undefined): Promise<Result> => {
  let read: { header: Header; check: Check; listing: Listing | undefined } | undefined
  let broken: string | undefined
  try {
    for await (const bytes of linesOf(file)) {
      if (!read) {
        const header = readHeader(bytes.toString())
        read = { header, check: new Check(header, heads), listing: header.format === 1 ? undefined : new Listing() }
        continue
      }
      const { check, listing } = read
      const [fields, leaf] = [fieldsOf(bytes.toString()), leafHash(bytes)]
      listing?.line(fields, leaf)
      if (listing && 'leaves' in fields) continue
      broken ??= stopOf(() => check.line(fields, leaf))
    }
  } catch (error) {
    if (!(error instanceof Broken)) throw error
    broken ??= error.message
  }
  if (!read) return { findings: [broken ?? 'the file is empty'] }
  const { header, check, listing } = read
  return { header, check, findings: findingsOf(check, listing, header, key ?? header.key, broken) }
}

const run = async (args: string[]): Promise<number> => {
  const { file, key, heads, event } = readArguments(args)
  if (event !== undefined) return runProof(file, event, heads, key)
  const { header, check, findings } = await checkFile(file, heads, key)
  for (const finding of findings) say(finding)
  if (!header || !check || findings.length > 0) {
    say('THE EXPORT DOES NOT HOLD')
    return 1
  }
  const { tree, omitted } = check
  say(
    `The export holds: ${tree.size - omitted} events up to position ${tree.size} of log ${header.log}, root ${tree.root().toString('base64')}`,
  )
  if (header.project !== null) {
    say(`Of project ${header.project}: the ${omitted} events left out are in the root by their hashes; their texts cannot be seen here.`)
    say('No stream has a gap. Whether the newest events of one, or a whole one, are among those left out cannot be seen.')
  }
  if (key) say(`Signed by the key given, ${key.name}.`)
  else say(`Signed by the export's own key, which proves only that it agrees with itself: give the key that you know (--vkey).`)
  for (const { size } of heads) say(`Proven by the head that was kept: the first ${size} events are those of then.`)
  if (heads.length === 0) say('No head kept elsewhere was given (--head): who holds the key could have signed another history.')
  return 0
}

// A reader that has seen enough closes the pipe; the exit status says the rest.
process.stdout.on('error', () => undefined)

run(process.argv.slice(2)).then(
  (status) => (process.exitCode = status),
  (error: unknown) => {
    process.stderr.write(`verifier: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 2
  },
)
