import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { sha256 } from '../../events/stored/chain.js'
import { exportLines, type ExportOptions } from '../../src/log/feed/export.js'
import type { SqliteLog } from '../../src/log/sqlite/sqlite-log.js'
import { countOf } from '../support/counts.js'
import { pick, Random, writeHonestLog } from '../support/log/honest-log.js'
import { temporaryDirectory } from '../support/log/log.js'
import { testSigner, type TestSigner } from '../support/log/notes.js'

const count = countOf('MANIPULATIONS')

const { path: directory, remove } = temporaryDirectory()
afterAll(remove)

// As an auditor has it: alone in a folder.
const alone = join(directory, 'alone')
const verifier = join(alone, 'verifier.mjs')

type Said = { status: number | null; out: string; err: string }

const saidBy = async (program: ChildProcessByStdio<null, Readable, Readable> | Worker): Promise<Said> => {
  const [ended, out, err] = await Promise.all([once(program, 'exit'), text(program.stdout), text(program.stderr)])
  const [status] = ended as [number | null]
  return { status, out, err }
}

const runProgram = (...args: string[]): Promise<Said> =>
  saidBy(spawn(process.execPath, [verifier, ...args], { cwd: alone, stdio: ['ignore', 'pipe', 'pipe'] }))

/** The same program in a thread, which starts with less work than a process. */
const run = (...args: string[]): Promise<Said> => saidBy(new Worker(verifier, { argv: args, stdout: true, stderr: true }))

let files = 0
const fileOf = (content: string): string => {
  const file = join(directory, `file-${++files}`)
  writeFileSync(file, content)
  return file
}

/** What was taken of a log: exports of everything and of one project, and heads of several sizes. */
type Taken = { id: string; size: number; signer: TestSigner; whole: string[]; shop: string[]; heads: Map<number, string>; oldHead: string }

const linesOf = async (log: SqliteLog, signer: TestSigner, options: ExportOptions): Promise<string[]> => {
  let text = ''
  const source = {
    logId: log.id,
    read: (after: number, limit: number) => log.readAll(after, limit),
    first: async (stream: string) => (await log.readStream(stream, 0, 1))[0],
    subtrees: (from: number, to: number) => log.subtrees(from, to),
    leaves: (from: number, to: number) => log.leaves(from, to),
    checkpoint: async (size: number) => signer.checkpoint(size, await log.rootAt(size)),
    key: signer.key,
  }
  for await (const lines of exportLines(source, options)) text += lines
  return text.split(/(?<=\n)/)
}

const take = async (seed: number): Promise<Taken> => {
  let taken: Taken | undefined
  const heads = new Map<number, string>()
  let oldHead = ''
  await writeHonestLog(join(directory, `${seed}.sqlite`), seed, 150, async (log) => {
    const head = await log.head()
    const signer = testSigner(log.id)
    heads.set(head.position, signer.checkpoint(head.position, await log.rootAt(head.position)))
    if (oldHead === '') oldHead = JSON.stringify(head)
    const shop = (await log.resources.list('project')).find(({ state }) => state.name === 'shop')!
    const project = { stream: shop.stream, name: shop.state.name }
    const options = { size: head.position, splits: [...heads.keys()] }
    const [whole, some] = [await linesOf(log, signer, options), await linesOf(log, signer, { ...options, project })]
    taken = { id: log.id, size: head.position, signer, whole, shop: some, heads, oldHead }
  })
  return taken!
}

let logs: Taken[] = []

beforeAll(async () => {
  mkdirSync(alone)
  copyFileSync(fileURLToPath(new URL('../../bin/verifier.js', import.meta.url)), verifier)
  logs = [await take(1), await take(2)]
})

/** Whether an event is the project's: by the project that the first event of its stream, or of the model predicted with, names. */
const ofShop = (texts: readonly string[]): ((text: string) => boolean) => {
  type Said = { stream: string; type: string; data: { project?: string; name?: string } }
  const said = (text: string) => JSON.parse(text) as Said
  const projects = new Map<string, string | undefined>()
  for (const { stream, data } of texts.map(said)) if (!projects.has(stream)) projects.set(stream, data.project)
  const shop = texts.map(said).find(({ type, data }) => type === 'ProjectCreated' && data.name === 'shop')?.stream
  return (text) => {
    const { stream } = said(text)
    return stream === 'log' || stream === shop || projects.get(stream.replace('/predictions', '')) === shop
  }
}

const textsOf = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('{"position"'))

const headsOf = ({ heads }: Taken): string => [...heads.values()].join('\n')

describe('an honest export is accepted', () => {
  test.each(['whole', 'shop'] as const)('%s: with and without key and heads, also by the name verifier.js', async (which) => {
    for (const taken of logs) {
      const file = fileOf(taken[which].join(''))
      const bare = await runProgram(file)
      expect(bare).toMatchObject({ status: 0, err: '' })
      expect(bare.out).toContain(`up to position ${taken.size} of log ${taken.id}`)
      expect(bare.out).toContain('which proves only that it agrees with itself')
      expect(bare.out).toContain('No head kept elsewhere was given')
      const held = await runProgram(file, '--vkey', taken.signer.key, '--head', fileOf(headsOf(taken)))
      expect(held).toMatchObject({ status: 0, err: '' })
      for (const size of taken.heads.keys()) expect(held.out).toContain(`the first ${size} events are those of then`)
      expect(held.out.includes('left out')).toBe(which === 'shop')
      copyFileSync(verifier, join(alone, 'verifier.js'))
    }
  })

  test('of everything is compared with heads of any size and of the older form; of a project only where it is divided', async () => {
    const [taken] = logs as [Taken]
    const whole = fileOf(taken.whole.join(''))
    expect((await run(whole, '--head', fileOf(taken.oldHead))).status).toBe(0)
    const shop = fileOf(taken.shop.join(''))
    expect(await run(shop, '--head', fileOf(taken.oldHead))).toMatchObject({
      status: 1,
      out: expect.stringMatching(/NOT PROVEN.*older form/),
    })
  })

  test('of the events of a project, with all that is said of them, and no other', () => {
    for (const { shop, whole, size } of logs) {
      const [texts, all] = [textsOf(shop), textsOf(whole)]
      expect(all.length).toBe(size)
      expect(texts.length).toBeGreaterThan(20)
      expect(texts).toEqual(all.filter(ofShop(all)))
    }
  })
})

describe('what cannot be asked ends with status 2', () => {
  test.each([
    ['nothing', []],
    ['two exports', ['a', 'b']],
    ['no such file', ['absent.jsonl']],
    ['an option that there is not', ['a', '--fast']],
    ['a key that is none', ['a', '--vkey', 'mindledger/x+00000000+AAAA']],
    ['a file of heads with something else in it', ['a', '--head', verifier]],
  ])('%s', async (_, args) => {
    const said = await runProgram(...args)
    expect(said).toMatchObject({ status: 2, out: '' })
    expect(said.err).toMatch(/^verifier: .+\n$/)
  })
})

type Header = { log: string; project: string | null; size: number; checkpoint: string; key: string }
type Omitted = { omitted: { from: number; to: number; subtrees: string[] } }
type Change = (lines: string[], random: Random, taken: Taken, other: Taken) => void

const header = (lines: string[], change: (header: Header) => Partial<Header>): void => {
  const read = JSON.parse(lines[0]!) as Header
  lines[0] = `${JSON.stringify({ ...read, ...change(read) })}\n`
}
const events = (lines: readonly string[]): number[] => lines.flatMap((line, at) => (line.startsWith('{"position"') ? [at] : []))
const left = (lines: readonly string[]): number[] => lines.flatMap((line, at) => (line.startsWith('{"omitted"') ? [at] : []))
const event =
  (change: (event: Record<string, unknown>, random: Random) => object): Change =>
  (lines, random) => {
    const at = pick(random, events(lines))
    lines[at] = `${JSON.stringify({ ...JSON.parse(lines[at]!), ...change(JSON.parse(lines[at]!) as Record<string, unknown>, random) })}\n`
  }
const omitted =
  (change: (omitted: Omitted['omitted'], random: Random) => void): Change =>
  (lines, random) => {
    const where = left(lines)
    if (where.length === 0) return
    const at = pick(random, where)
    const read = JSON.parse(lines[at]!) as Omitted
    change(read.omitted, random)
    lines[at] = `${JSON.stringify(read)}\n`
  }
const lists = (lines: readonly string[]): number[] => lines.flatMap((line, at) => (line.startsWith('{"leaves"') ? [at] : []))
const listOf = (line: string): { from: number; hashes: Buffer[] } => {
  const { leaves } = JSON.parse(line) as { leaves: { from: number; hashes: string } }
  const bytes = Buffer.from(leaves.hashes, 'base64')
  return { from: leaves.from, hashes: Array.from({ length: bytes.length / 32 }, (_, i) => bytes.subarray(i * 32, i * 32 + 32)) }
}
const listLine = (from: number, hashes: readonly Buffer[]): string =>
  `${JSON.stringify({ leaves: { from, to: from + hashes.length - 1, hashes: Buffer.concat(hashes).toString('base64') } })}\n`
const listed =
  (change: (hashes: Buffer[], random: Random) => void): Change =>
  (lines, random) => {
    const at = pick(random, lists(lines))
    const { from, hashes } = listOf(lines[at]!)
    change(hashes, random)
    lines[at] = listLine(from, hashes)
  }
const position = (line: string): number => (JSON.parse(line) as { position: number }).position
const hidden = (line: string): string =>
  `${JSON.stringify({ omitted: { from: position(line), to: position(line), subtrees: [sha256(`\0${line.slice(0, -1)}`).toString('base64')] } })}\n`

const changes: Record<string, Change> = {
  'a character edited': (lines, random) => {
    const at = pick(random, events(lines))
    const within = random.below(lines[at]!.length - 1)
    lines[at] = `${lines[at]!.slice(0, within)}${lines[at]![within] === 'x' ? 'y' : 'x'}${lines[at]!.slice(within + 1)}`
  },
  'an actor edited': event(() => ({ actor: 'nobody' })),
  'a time edited': event(({ recorded_at }) => ({ recorded_at: String(recorded_at).replace('2', '3') })),
  'a position edited': event(({ position }) => ({ position: Number(position) + 1 })),
  'a version edited': event(({ version }) => ({ version: Number(version) + 1 })),
  'two lines swapped': (lines, random) => {
    const at = 1 + random.below(lines.length - 2)
    ;[lines[at], lines[at + 1]] = [lines[at + 1]!, lines[at]!]
  },
  'a line dropped': (lines, random) => void lines.splice(1 + random.below(lines.length - 1), 1),
  'a line doubled': (lines, random) => {
    const at = 1 + random.below(lines.length - 1)
    lines.splice(at, 0, lines[at]!)
  },
  'an event inserted': (lines, random) => {
    const at = pick(random, events(lines))
    lines.splice(at, 0, lines[at]!.replace('"actor":"tester"', '"actor":"nobody"'))
  },
  'an event of another log': (lines, random, _, other) => {
    lines[pick(random, events(lines))] = pick(random, textsOf(other.whole))
  },
  'an event hidden behind its hash': (lines, random) => {
    // The newest of a stream may be hidden in an export of a project: the verifier says so itself.
    const versions = new Map(events(lines).map((at) => [(JSON.parse(lines[at]!) as { stream: string }).stream, at]))
    const newest = new Set(versions.values())
    const at = pick(
      random,
      events(lines).filter((one) => !newest.has(one)),
    )
    lines[at] = hidden(lines[at]!)
  },
  'the last lines cut off': (lines, random) => void lines.splice(-1 - random.below(5)),
  'the last line cut in half': (lines) => void lines.push(lines.pop()!.slice(0, -20)),
  'the last newline cut off': (lines) => void lines.push(lines.pop()!.slice(0, -1)),
  'a line cut in half': (lines, random) => {
    const at = 1 + random.below(lines.length - 1)
    lines[at] = `${lines[at]!.slice(0, lines[at]!.length >> 1)}\n`
  },
  'an empty line': (lines, random) => void lines.splice(1 + random.below(lines.length), 0, '\n'),
  'left out: begins elsewhere': omitted((range) => {
    range.from++
  }),
  'left out: ends elsewhere': omitted((range) => {
    range.to++
  }),
  'left out: a hash taken away': omitted((range, random) => void range.subtrees.splice(random.below(range.subtrees.length), 1)),
  'left out: a hash more': omitted((range) => void range.subtrees.push(range.subtrees[0]!)),
  'left out: another hash': omitted((range, random) => {
    range.subtrees[random.below(range.subtrees.length)] = sha256('another').toString('base64')
  }),
  'left out: hashes in another order': omitted((range) => void range.subtrees.reverse()),
  'left out: a hash written in another way': omitted((range) => {
    range.subtrees[0] = range.subtrees[0]!.slice(0, -1)
  }),
  'the list: a hash edited': listed((hashes, random) => {
    hashes[random.below(hashes.length)] = sha256('another')
  }),
  'the list: two hashes swapped': listed((hashes) => void hashes.push(...hashes.splice(0, hashes.length > 1 ? 1 : 0))),
  'the list: a hash taken away': listed((hashes) => void hashes.pop()),
  'the list: taken away': (lines, random) => void lines.splice(pick(random, lists(lines)), 1),
  'the list: an event and its hash edited': (lines, random) => {
    const at = pick(random, events(lines))
    const text = lines[at]!.replace('"actor":"tester"', '"actor":"nobody"')
    const hash = (line: string) => sha256(`\0${line.slice(0, -1)}`)
    const list = lists(lines).findLast((one) => one < at)!
    const read = listOf(lines[list]!)
    lines[list] = listLine(
      read.from,
      read.hashes.map((one) => (one.equals(hash(lines[at]!)) ? hash(text) : one)),
    )
    lines[at] = text
  },
  'the head of an older size': (lines, _, { heads }) => header(lines, () => ({ checkpoint: [...heads.values()][0]! })),
  'the head of an older size, and its size': (lines, _, { heads }) =>
    header(lines, () => ({ checkpoint: [...heads.values()][0]!, size: [...heads.keys()][0]! })),
  'another log’s head': (lines, _, __, other) => header(lines, () => ({ checkpoint: [...other.heads.values()].at(-1)! })),
  'another log’s header': (lines, _, __, other) => void (lines[0] = other.whole[0]!),
  'a head signed by another key': (lines, _, { id, size }) =>
    header(lines, () => ({ checkpoint: testSigner(id, 9).checkpoint(size, sha256('root')), key: testSigner(id, 9).key })),
  'a root edited': (lines) =>
    header(lines, ({ checkpoint }) => ({ checkpoint: checkpoint.replace(/\n(.{43}=)\n/, `\n${sha256('root').toString('base64')}\n`) })),
  'a signature edited': (lines) => header(lines, ({ checkpoint }) => ({ checkpoint: checkpoint.replace(/.{10}==?\n$/, 'AAAAAAAAAA==\n') })),
  'a size edited': (lines) => header(lines, ({ size }) => ({ size: size - 1 })),
  'a log edited': (lines) => header(lines, () => ({ log: 'another' })),
  'a project of another name': (lines) => header(lines, ({ project }) => ({ project: project === null ? 'shop2' : 'lab' })),
  'a key that is none': (lines) => header(lines, ({ key }) => ({ key: key.slice(0, -2) })),
  'no header': (lines) => void lines.shift(),
  nothing: (lines) => void lines.splice(0),
}

test(`each of ${count} manipulated exports is rejected`, async () => {
  const random = new Random(11)
  const all = Object.entries(changes)
  const missed: string[] = []
  const one = async (i: number) => {
    const [name, change] = all[i % all.length]!
    const [taken, other] = [logs[i % 2]!, logs[(i + 1) % 2]!]
    let lines: string[]
    const draw = (): void => {
      const which = name.startsWith('left out') || random.below(2) === 0 ? 'shop' : 'whole'
      lines = [...taken[which]]
      change(lines, random, taken, other)
      if (lines.join('') === taken[which].join('')) draw() // one hash in reverse, for instance
    }
    draw()
    const heads = random.below(2) === 0 ? ['--head', fileOf(headsOf(taken))] : []
    const said = await run(fileOf(lines!.join('')), '--vkey', taken.signer.key, ...heads)
    if (said.status !== 1 || !said.out.endsWith('THE EXPORT DOES NOT HOLD\n'))
      missed.push(`${i} ${name}: ${said.status} ${said.out}${said.err}`)
  }
  for (let i = 0; i < count; i += 2) await Promise.all([one(i), one(i + 1)])
  expect(missed).toEqual([])
})

describe('the line that was tampered with is named', () => {
  /** What the verifier says, but for its last line. */
  const said = async (which: 'whole' | 'shop', change: (lines: string[]) => void): Promise<string[]> => {
    const [taken] = logs as [Taken]
    const lines = [...taken[which]]
    change(lines)
    const { status, out } = await run(fileOf(lines.join('')), '--vkey', taken.signer.key)
    expect(status).toBe(1)
    return out.split('\n').slice(0, -2)
  }
  /** Where the line of an event stands that has another event on each side. */
  const within = (lines: readonly string[], n: number): number => {
    const among = events(lines).filter((at) => [at - 1, at + 1].every((beside) => lines[beside]?.startsWith('{"position"')))
    return among[n % among.length]!
  }
  const nobody = (line: string): string => line.replace('"actor":"tester"', '"actor":"nobody"')
  const root = 'the events do not add up to the signed root'

  test.each(['whole', 'shop'] as const)('%s: changed, taken out, added, doubled, swapped, moved, all at once', async (which) => {
    for (const n of [0, 7, 60]) {
      let [at, p] = [0, 0]
      const naming = async (change: (lines: string[]) => void): Promise<string[]> =>
        said(which, (lines) => {
          at = within(lines, n)
          p = position(lines[at]!)
          change(lines)
        })
      const proof = expect.stringContaining(root) as unknown
      const changed = await naming((lines) => void (lines[at] = nobody(lines[at]!)))
      expect(changed).toEqual([`position ${p}: the event was changed`, proof])
      const broken = await naming((lines) => void (lines[at] = 'no event\n'))
      expect(broken[0]).toBe(`position ${p}: the event was changed`)
      const gone = await naming((lines) => void lines.splice(at, 1))
      expect(gone[0]).toBe(`position ${p}: the event was removed`)
      const added = await naming((lines) => void lines.splice(at + 1, 0, nobody(lines[at]!)))
      expect(added[0]).toBe(`after position ${p}: a line was added`)
      const doubled = await naming((lines) => void lines.splice(at + 1, 0, lines[at]!))
      expect(doubled[0]).toMatch(new RegExp(`^after position (${p - 1}|${p}): a line was added$`))
      const swapped = await naming((lines) => void lines.splice(at, 2, lines[at + 1]!, lines[at]!))
      expect(swapped[0]).toMatch(new RegExp(`^position (${p}|${p + 1}): its event was moved elsewhere$`))
      for (const one of [changed, broken, gone, added, doubled, swapped])
        expect(one.filter((line) => /^(after )?position/.test(line))).toHaveLength(1)
    }
  })

  test('several, each by its own position, and the end that was cut off', async () => {
    const whole = await said('whole', (lines) => {
      const all = events(lines)
      lines[all[9]!] = lines[all[90]!]!
      lines.splice(all.at(-3)!)
      lines[all[80]!] = nobody(lines[all[80]!]!)
      lines.splice(all[20]!, 2)
    })
    const { size } = logs[0]!
    expect(whole.slice(0, 4)).toEqual([
      'position 10: the event was changed; what stands here says that its position is 91',
      'position 21 to 22: the events were removed',
      'position 81: the event was changed',
      `position ${size - 2} to ${size}: the events were removed`,
    ])
  })

  test('but not by a list that does not add up to the root itself', async () => {
    const forged = await said('whole', (lines) => {
      const at = within(lines, 30)
      lines[at] = nobody(lines[at]!)
      listed((hashes) => void (hashes[3] = sha256('another')))(lines, new Random(1), logs[0]!, logs[1]!)
    })
    expect(forged.join('\n')).toContain('Which line it was cannot be said')
    expect(forged.join('\n')).not.toContain('was changed;')
    expect(forged.filter((line) => /^position .*was changed/.test(line))).toEqual([])
  })

  test('nor among thousands of lines that no list names', async () => {
    const flooded = await said('whole', (lines) => {
      const at = within(lines, 30)
      lines.splice(at, 0, ...Array.from({ length: 3_000 }, () => nobody(lines[at]!)))
    })
    expect(flooded.join('\n')).toContain('many more events follow than the export lists hashes for')
    expect(flooded.length).toBeLessThan(60)
  })

  test('and an export of the first format, which lists no hashes, is checked as ever', async () => {
    const [taken] = logs as [Taken]
    for (const which of ['whole', 'shop'] as const) {
      const lines = taken[which].filter((line) => !line.startsWith('{"leaves"'))
      lines[0] = lines[0]!.replace('"mindledger_export":2', '"mindledger_export":1')
      expect(await run(fileOf(lines.join('')), '--vkey', taken.signer.key, '--head', fileOf(headsOf(taken)))).toMatchObject({ status: 0 })
      const at = within(lines, 5)
      lines[at] = nobody(lines[at]!)
      expect(await run(fileOf(lines.join('')))).toMatchObject({ status: 1, out: expect.stringContaining(root) })
    }
  })
})

test('a history that the holder of the key signed anew is rejected with a head kept elsewhere, and only with it', async () => {
  const [taken] = logs as [Taken]
  const { id, signer } = taken
  const at = events(taken.whole)[40]!
  const edited = [...taken.whole]
  edited[at] = edited[at]!.replace('"actor":"tester"', '"actor":"nobody"')
  const hashes = textsOf(edited).map((line) => sha256(`\0${line.slice(0, -1)}`))
  for (const list of lists(edited)) {
    const { from, hashes: old } = listOf(edited[list]!)
    edited[list] = listLine(from, hashes.slice(from - 1, from - 1 + old.length))
  }
  header(edited, () => ({ checkpoint: testSigner(id).checkpoint(taken.size, rootOf(hashes)) }))
  const file = fileOf(edited.join(''))
  expect((await run(file, '--vkey', signer.key)).status).toBe(0)
  const said = await runProgram(file, '--vkey', signer.key, '--head', fileOf(headsOf(taken)))
  expect(said.status).toBe(1)
  expect(said.out).toMatch(/the kept head of size \d+ differs/)
  expect((await run(file, '--vkey', signer.key, '--head', fileOf(logs[1]!.heads.get(logs[1]!.size)!))).out).toContain('of another log')
})

/** RFC 9162's definition, word for word. */
const rootOf = (leaves: readonly Buffer[]): Buffer => {
  if (leaves.length === 1) return leaves[0]!
  let k = 1
  while (k * 2 < leaves.length) k *= 2
  return sha256(Buffer.concat([Buffer.of(1), rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k))]))
}
