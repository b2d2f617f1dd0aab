import { Findings } from './findings.js'
import { originOf, readHeads, readKey, shownKeys, signerOf, type Head, type Key } from './heads.js'
import { MalformedInputError, fieldsOf, isCount } from './lines.js'
import { sha256, Tree } from './tree.js'

export type Header = { format: 1 | 2; log: string; project: string | null; size: number; checkpoint: Head; key: Key }

/**
 * Reads the first line of an export, a JSON object: the log, how many events it had, its signed head, and the key of the head.
 *
 * @throws MalformedInputError when the line is not such a header
 */
export const readHeader = (line: string): Header => {
  const { mindledger_export: format, log, project, size, checkpoint, key } = fieldsOf(line)
  if (format !== 1 && format !== 2) throw new MalformedInputError('the first line is not the header of an export')
  const [head, more] = (typeof checkpoint === 'string' ? readHeads(checkpoint) : undefined) ?? []
  const ownKey = typeof key === 'string' ? readKey(key) : undefined
  if (typeof log !== 'string' || !isCount(size) || (typeof project !== 'string' && project !== null) || !head || more || !ownKey)
    throw new MalformedInputError('the header is not one of an export: a field is missing or is not what it should be')
  return { format, log, project, size, checkpoint: head, key: ownKey }
}

const foldName = (name: string): string => name.normalize('NFC').toLowerCase().normalize('NFC')

/**
 * Goes through the lines once. `order` and `findings` have the faults, one sentence for each. One of the trusted keys must have signed each
 * head; without such keys, the export's own key must have signed its head.
 */
export class Check {
  /** Faults in the order of the events; they follow from the first changed line. */
  readonly order = new Findings()
  readonly findings = new Findings()
  /** The size of the newest head that agrees. */
  proven: number | undefined
  readonly tree = new Tree()
  omitted = 0
  #chain: Buffer
  #recordedAt = ''
  /** The newest version of each stream. Only this and the project's names grow with the export. */
  readonly #versions = new Map<string, number>()
  #projectStream: string | undefined
  readonly #projectNames = new Set<string>()

  constructor(
    private readonly header: Header,
    private readonly heads: readonly Head[],
    private readonly trusted: readonly Key[],
  ) {
    this.#chain = sha256(header.log)
    this.#compareHeads()
  }

  /** @throws MalformedInputError at a line from which the check cannot continue */
  line(fields: Record<string, unknown>, leaf: Buffer): void {
    if ('omitted' in fields) this.#leftOut(fieldsOf(fields['omitted']))
    else this.#event(fields, leaf)
  }

  #event(fields: Record<string, unknown>, leaf: Buffer): void {
    const place = this.tree.size + 1
    const { position, stream, version, type, recorded_at: at, data } = fields
    if (!isCount(position) || typeof stream !== 'string' || !isCount(version) || typeof type !== 'string' || typeof at !== 'string')
      throw new MalformedInputError(`the line of position ${place} is not an event`)
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
    // Records stand in a stream beside that of their resource: <model>/predictions, <agent>/answers.
    const [resource = '', beside] = stream.split('/', 2)
    if (!isOwn && data['project'] !== this.#projectStream && !(beside !== undefined && this.#versions.has(resource)))
      this.order.add(`position ${place}: the event is not of the project`)
  }

  /** Events of other projects: the roots of the subtrees over them replace them. */
  #leftOut({ from, to, subtrees }: Record<string, unknown>): void {
    const place = this.tree.size + 1
    if (this.header.project === null) this.order.add(`position ${place}: events are left out of an export of everything`)
    if (from !== place || !isCount(to) || to < place || to > this.header.size || !Array.isArray(subtrees))
      throw new MalformedInputError(`position ${place}: the events left out here do not begin and end as they should`)
    this.omitted += to - place + 1
    const wrong = this.tree.fill(subtrees, to, () => this.#compareHeads())
    if (wrong !== undefined) throw new MalformedInputError(`position ${place}: ${wrong}`)
  }

  /** Compares the lines so far with the heads of this size. The chain is known only if no event is left out. */
  #compareHeads(): void {
    for (const head of this.heads) {
      if (head.size !== this.tree.size || (head.chain !== undefined && this.omitted > 0)) continue
      head.agrees = head.root ? head.root.equals(this.tree.root()) : head.chain === this.#chain.toString('hex')
      if (head.agrees) this.proven = head.size
      else this.findings.add(`the kept head of size ${head.size} differs: an event before it was changed, added or removed`)
    }
  }

  /** The keys one of which must have signed the header's head. */
  get #signers(): readonly Key[] {
    return this.trusted.length > 0 ? this.trusted : [this.header.key]
  }

  /** Whether the header's head is signed, and matches the header. */
  get isHeadSound(): boolean {
    const { checkpoint, log, size } = this.header
    return originOf(log) === checkpoint.origin && checkpoint.size === size && signerOf(checkpoint, this.#signers) !== undefined
  }

  /** The checks that need all lines. */
  finish(): void {
    const { header, heads, tree, trusted } = this
    const { checkpoint, project } = header
    const where = this.proven === undefined ? '' : ` after position ${this.proven}`
    if (originOf(header.log) !== checkpoint.origin)
      this.findings.add(`the signed head is of ${checkpoint.origin}, the header says log ${header.log}`)
    if (!signerOf(checkpoint, this.#signers)) this.findings.add(`the head is not signed by the key ${shownKeys(this.#signers)}`)
    if (checkpoint.size !== header.size) this.findings.add(`the signed head has size ${checkpoint.size}, the header says ${header.size}`)
    if (tree.size !== checkpoint.size)
      this.findings.add(`the export ends at position ${tree.size}, its signed head is of ${checkpoint.size} events`)
    else if (!checkpoint.root?.equals(tree.root()))
      this.findings.add(`the events do not add up to the signed root: an event was changed, added, moved or removed${where}`)
    if (project !== null && !this.#projectNames.has(foldName(project))) this.findings.add(`no event here makes a project ${project}`)
    for (const head of heads) {
      if (head.origin !== checkpoint.origin) this.findings.add(`a head that was kept is of another log: ${head.origin}`)
      else if (head.root && trusted.length > 0 && !signerOf(head, trusted))
        this.findings.add(`the head of size ${head.size} that was kept is not signed by ${shownKeys(trusted)}`)
      if (head.agrees === undefined) this.findings.add(`NOT PROVEN: the head of size ${head.size} ${this.#whyNotCompared(head)}`)
    }
  }

  #whyNotCompared({ size, chain }: Head): string {
    if (size > this.tree.size) return 'is newer than this export; ask for an export up to it'
    if (chain !== undefined) return 'is of the older form, which can only be compared with an export of everything'
    return 'ends inside what is left out here; ask for an export with --head and this head'
  }
}
