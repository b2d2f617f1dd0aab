/*
 * The offline verifier of Mindledger's exports. It is one file, needs nothing but Node.js (20 or later), opens no
 * connection and writes nothing. It shares no code with the service whose work it checks, on purpose: read it, then run it.
 *
 *   node verifier.mjs export.jsonl [--vkey <key or file>] [--head <file>]...
 *   node verifier.mjs proof.txt --event event.json [--vkey <key or file>] [--head <file>]...
 *
 * Exit status: 0 the export holds and every head given agrees, 1 it does not, 2 it could not be asked that way.
 *
 * What an export is: lines, each ended by one newline. The first is a header: the log's id, the project (null for all), the
 * number of events `size`, a signed head of that size (`checkpoint`), and the public key (`key`). Then, in order of position
 * from 1, each line is the text of one event, exactly the bytes that were hashed, or stands for events that are left out
 * because they are of other projects: {"omitted":{"from":7,"to":9,"subtrees":["<base64>",...]}}.
 *
 * What is proven: the events are the leaves of a Merkle tree as RFC 9162 defines it,
 *   leaf = SHA-256(0x00 | text),   node = SHA-256(0x01 | left | right),
 * and the head is a signature (Ed25519, a C2SP signed note) over the tree's size and root. If the leaves here add up to that
 * root, nobody without the key has changed, added, moved or left out one byte of one event. Who holds the key could sign
 * another history: only a head that was kept elsewhere (--head) rules that out. So keep one, away from the log's operator.
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

/** Bit `level` of a number that may pass 2^32, where JavaScript's bit operators end. */
const bit = (n: number, level: number): boolean => Math.floor(n / 2 ** level) % 2 === 1

/**
 * A Merkle tree that only knows its right edge: the roots of the complete subtrees that its size is made of, the largest
 * first. Two neighbours of the same size become one at once, as a carry does in a binary addition.
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

  /** The tree's root now: the edge, folded from its right end. */
  root(): Buffer {
    return this.#edge.length === 0 ? sha256('') : this.#edge.reduceRight((right, left) => nodeHash(left, right))
  }
}

/** Where going on would say nothing more: the lines cannot be followed any further. Exit status 1. */
class Broken extends Error {}

/** Bytes written in base64, in the one way that they are written: what reads the same but is another text is not taken. */
const fromBase64 = (text: unknown, length: number): Buffer | undefined => {
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined
}

/* ---- Keys and signed heads ---- */

type Key = { name: string; id: Buffer; key: KeyObject }

/** Reads a verifier key, `name+id+base64`: the id is made of the name and the key, so that a slip in either shows. */
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

/** Whether one of the signatures under a head is this key's. Others, of witnesses for instance, are passed over. */
const isSigned = ({ origin, body, signatures }: Head, { name, id, key }: Key): boolean =>
  origin === name &&
  body !== undefined &&
  (signatures ?? []).some((line) => {
    const [dash, by, encoded] = line.split(' ')
    const bytes = fromBase64(encoded, 4 + 64)
    return dash === '—' && by === name && bytes?.subarray(0, 4).equals(id) && verify(null, Buffer.from(body), key, bytes.subarray(4))
  })

/** The heads in a text: notes one after another with an empty line between, or lines of the older JSON. Undefined when anything else is in it. */
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

/** The lines of a file as bytes, in flat memory. Only the newline ends a line: what reads text would end it at other signs, too. */
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

type Header = { log: string; project: string | null; size: number; checkpoint: Head; key: Key }

const readHeader = (line: string): Header => {
  const { mindledger_export: format, log, project, size, checkpoint, key } = fieldsOf(line)
  if (format !== 1) throw new Broken('the first line is not the header of an export')
  const [head, more] = (typeof checkpoint === 'string' ? readHeads(checkpoint) : undefined) ?? []
  const ownKey = typeof key === 'string' ? readKey(key) : undefined
  if (typeof log !== 'string' || !isCount(size) || (typeof project !== 'string' && project !== null) || !head || more || !ownKey)
    throw new Broken('the header is not one of an export: a field is missing or is not what it should be')
  return { log, project, size, checkpoint: head, key: ownKey }
}

/* ---- The check ---- */

const maxFindings = 20
const foldName = (name: string): string => name.normalize('NFC').toLowerCase().normalize('NFC')

/** Goes through the lines once. What does not hold is in `findings`, one sentence each. */
class Check {
  readonly findings: string[] = []
  /** The size of the newest head that agrees. */
  proven: number | undefined
  readonly tree = new Tree()
  omitted = 0
  #chain: Buffer
  #recordedAt = ''
  /** The newest version of each stream: with the project's names, all that grows with the export. */
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

  fail(sentence: string): void {
    if (this.findings.length < maxFindings) this.findings.push(sentence)
    else if (this.findings.length === maxFindings) this.findings.push('... and more')
  }

  line(bytes: Buffer): void {
    const fields = fieldsOf(bytes.toString())
    if ('omitted' in fields) this.#leftOut(fieldsOf(fields['omitted']))
    else this.#event(fields, bytes)
  }

  #event(fields: Record<string, unknown>, bytes: Buffer): void {
    const place = this.tree.size + 1
    const { position, stream, version, type, recorded_at: at, data } = fields
    if (!isCount(position) || typeof stream !== 'string' || !isCount(version) || typeof type !== 'string' || typeof at !== 'string')
      throw new Broken(`the line of position ${place} is not an event`)
    if (position !== place) this.fail(`position ${place}: the event here says that its position is ${position}`)
    const next = (this.#versions.get(stream) ?? 0) + 1
    if (version !== next) this.fail(`position ${place}: version ${version} of its stream, where ${next} should be`)
    this.#versions.set(stream, version)
    if (at < this.#recordedAt) this.fail(`position ${place}: recorded before the event that precedes it`)
    this.#recordedAt = at
    if (this.header.project !== null) this.#belongs(place, stream, version, type, fieldsOf(data))
    const leaf = leafHash(bytes)
    this.#chain = sha256(this.#chain, leaf)
    this.tree.add(leaf)
    this.#compareHeads()
  }

  /** Whether an event is of the project that the header names, which is not signed: the events are. */
  #belongs(place: number, stream: string, version: number, type: string, data: Record<string, unknown>): void {
    if (type === 'ProjectCreated' && version === 1) this.#projectStream ??= stream
    if (stream === this.#projectStream && typeof data['name'] === 'string') this.#projectNames.add(foldName(data['name']))
    const isOwn = stream === 'log' || stream === this.#projectStream || version > 1
    const model = stream.endsWith('/predictions') ? stream.slice(0, -'/predictions'.length) : undefined
    if (!isOwn && data['project'] !== this.#projectStream && !(model !== undefined && this.#versions.has(model)))
      this.fail(`position ${place}: the event is not of the project`)
  }

  /**
   * Events of other projects: in their place stand the roots of the fewest complete subtrees that cover them. Which sizes
   * these have follows from the positions alone, so there is nothing to choose for who made the export.
   */
  #leftOut({ from, to, subtrees }: Record<string, unknown>): void {
    const place = this.tree.size + 1
    if (this.header.project === null) this.fail(`position ${place}: events are left out of an export of everything`)
    if (from !== place || !isCount(to) || to < place || to > this.header.size || !Array.isArray(subtrees))
      throw new Broken(`position ${place}: the events left out here do not begin and end as they should`)
    this.omitted += to - place + 1
    for (const encoded of subtrees as unknown[]) {
      const hash = fromBase64(encoded, 32)
      let level = 0
      while (!bit(this.tree.size, level) && this.tree.size + 2 ** (level + 1) <= to) level++
      if (!hash || this.tree.size + 2 ** level > to) throw new Broken(`position ${place}: wrong hashes for the events left out`)
      this.tree.add(hash, level)
      this.#compareHeads()
    }
    if (this.tree.size !== to) throw new Broken(`position ${place}: hashes for the events left out are missing`)
  }

  /** Compares what there is so far with the heads of this size. The chain is only known where nothing is left out. */
  #compareHeads(): void {
    for (const head of this.heads) {
      if (head.size !== this.tree.size || (head.chain !== undefined && this.omitted > 0)) continue
      head.agrees = head.root ? head.root.equals(this.tree.root()) : head.chain === this.#chain.toString('hex')
      if (head.agrees) this.proven = head.size
      else this.fail(`the head of size ${head.size} that was kept differs: before it something was changed, added or taken out`)
    }
  }

  /** What can be said only when all lines are read. `key` is the one to trust. */
  finish(key: Key): void {
    const { header, heads, tree } = this
    const { checkpoint, project } = header
    const where = this.proven === undefined ? '' : ` after position ${this.proven}`
    if (originOf(header.log) !== checkpoint.origin)
      this.fail(`the signed head is of ${checkpoint.origin}, the header says log ${header.log}`)
    if (!isSigned(checkpoint, key)) this.fail(`the head is not signed by the key ${key.name}`)
    if (checkpoint.size !== header.size) this.fail(`the signed head has size ${checkpoint.size}, the header says ${header.size}`)
    if (tree.size !== checkpoint.size)
      this.fail(`the export ends at position ${tree.size}, its signed head is of ${checkpoint.size} events`)
    else if (!checkpoint.root?.equals(tree.root()))
      this.fail(`the events do not add up to the signed root: something was changed, added, moved or taken out${where}`)
    if (project !== null && !this.#projectNames.has(foldName(project))) this.fail(`no event here makes a project ${project}`)
    for (const head of heads) {
      if (head.origin !== checkpoint.origin) this.fail(`a head that was kept is of another log: ${head.origin}`)
      else if (head.root && !isSigned(head, key)) this.fail(`the head of size ${head.size} that was kept is not signed by ${key.name}`)
      if (head.agrees === undefined) this.fail(`NOT PROVEN: the head of size ${head.size} ${this.#whyNotCompared(head)}`)
    }
  }

  #whyNotCompared({ size, chain }: Head): string {
    if (size > this.tree.size) return 'is newer than this export; ask for an export up to it'
    if (chain !== undefined) return 'is of the older form, which can only be compared with an export of everything'
    return 'ends inside what is left out here; ask for an export with --head and this head'
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/* ---- One proof ---- */

/**
 * The root that a leaf and the hashes beside its way up add up to, as RFC 9162 says in section 2.1.3.2. Undefined where the
 * hashes are too many or too few.
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

/** Reads the whole file. What does not hold is in the findings of what it gives, or thrown as Broken with them before. */
const checkFile = async (
  file: string,
  heads: Head[],
  key: Key | undefined,
): Promise<{ header?: Header; check?: Check; findings: string[] }> => {
  let header: Header | undefined
  let check: Check | undefined
  try {
    for await (const line of linesOf(file))
      if (check) check.line(line)
      else check = new Check((header = readHeader(line.toString())), heads)
    if (!header || !check) throw new Broken('the file is empty')
    check.finish(key ?? header.key)
    return { header, check, findings: check.findings }
  } catch (error) {
    if (error instanceof Broken) return { findings: [...(check?.findings ?? []), error.message] }
    throw error
  }
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
