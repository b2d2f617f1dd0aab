import { afterAll, describe, expect, jest, test } from '@jest/globals'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { MetadataFilter } from '../../../src/knowledge/contract/search.js'
import { BaseIndex } from '../../../src/knowledge/index/base-index.js'
import type { SearchRequest, Step } from '../../../src/knowledge/index/messages.js'
import { vectorBytes } from '../../../src/knowledge/index/vector-bytes.js'
import { VectorTable } from '../../../src/knowledge/index/vector-table.js'
import { dot, normalised } from '../../../src/knowledge/index/vectors.js'
import { tracesInFiles } from '../../support/observe/traces.js'

const directory = mkdtempSync(join(tmpdir(), 'knowledge-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

let files = 0
const identity = { logId: 'log', base: 'base', code: 'code' }
const state = { version: 1_000, erasedAt: 0 }
const newIndex = (file = join(directory, `${++files}.sqlite`), as = identity, ofLog = state) => new BaseIndex(file, as, ofLog)

const inserting = (version: number, documents: object[], more: object = {}): Step => ({
  version,
  position: version * 10,
  inserted: {
    ...{ payload: `p${version}`, chunking: { size: 200, overlap: 0 }, dimensions: null, replaces: [], vectors: undefined },
    documents: documents as never,
    ...more,
  },
})
const document = (id: string, content: string, metadata: object = {}) => ({ id, content, metadata })
const asked = (content: string, more: Partial<SearchRequest> = {}): SearchRequest => ({
  ...{ content, vector: null, alpha: 0, limit: 10, minRelevance: 0, filters: [], asOf: null },
  ...more,
})
const idsIn = (index: BaseIndex, request: SearchRequest) => index.search(request).map(({ id }) => id)

const pets = [
  document('dogs', 'Running dogs love parks', { year: 2020, kind: 'pet', wild: false }),
  document('cats', 'Cats sleep on the sofa', { year: 2021, kind: 'pet', wild: false }),
  document('wolves', 'Wolves run in the woods at night', { year: 2022, kind: 'beast', wild: true, weight: 42.5 }),
]

describe('words', () => {
  test('are found in other forms and cases, and the best fit comes first', () => {
    const index = newIndex()
    index.apply([inserting(1, pets)])
    expect(idsIn(index, asked('RUNS'))).toEqual(expect.arrayContaining(['dogs', 'wolves']))
    expect(idsIn(index, asked('where do the wolves sleep at night?'))[0]).toBe('wolves')
    const [best] = index.search(asked('cats sofa'))
    expect(best).toMatchObject({ id: 'cats', chunk_id: 'cats:1of1:0to22', distance: null, metadata: { year: 2021 } })
    expect(best?.relevance).toBeGreaterThan(0.5)
    expect(best?.relevance).toBeLessThanOrEqual(1)
  })

  test.each([
    '" OR *',
    'NEAR(dogs, 2)',
    "'; DROP TABLE chunks; --",
    'content: dogs',
    'dogs AND NOT',
    '^dogs*',
    '-dogs',
    '()',
    '"',
    '\\',
    'a'.repeat(9_000),
    '\u0000',
    '💥 ☃',
    '{}',
    'dogs"))',
  ])('of a question are never syntax: %j', (content) => {
    const index = newIndex()
    index.apply([inserting(1, pets)])
    expect(Array.isArray(index.search(asked(content)))).toBe(true)
    expect(idsIn(index, asked('dogs'))).toEqual(['dogs'])
  })

  test('that marks divide are looked for whole, each once', () => {
    const index = newIndex()
    const content = 'हिन्दी में लिखा हुआ'
    index.apply([inserting(1, [document('a', content), document('b', 'में हुआ')])])
    expect(idsIn(index, asked('हिन्दी'))).toEqual(['a'])
    const parts = Array.from({ length: 2_000 }, (_, i) => `w${i.toString(36)}`).join('ः')
    const from = process.cpuUsage()
    expect(idsIn(index, asked(`${parts} हिन्दी`))).toEqual(['a'])
    // A word that is asked for once for each of its parts takes twenty times as long.
    expect(process.cpuUsage(from).user).toBeLessThan(400_000)
  })

  test('that say nothing count only where there are no others', () => {
    const index = newIndex()
    index.apply([inserting(1, [document('a', 'To be or not to be'), document('b', 'Something else')])])
    expect(idsIn(index, asked('to be or not to be'))).toEqual(['a'])
    expect(idsIn(index, asked('the zebra'))).toEqual([])
  })
})

describe('metadata', () => {
  const index = newIndex()
  index.apply([inserting(1, pets)])
  const passing = (...filters: MetadataFilter[]) =>
    index.list({ limit: 10, filters, asOf: null, after: 0, metadata: null }).chunks.map(({ id }) => id)

  test.each<[MetadataFilter, string[]]>([
    [{ column: 'year', op: '>', value: 2020 }, ['cats', 'wolves']],
    [{ column: 'year', op: '>', value: '2020' }, ['cats', 'wolves']],
    [{ column: 'year', op: '!=', value: 2021 }, ['dogs', 'wolves']],
    [{ column: 'kind', op: '=', value: 'pet' }, ['dogs', 'cats']],
    [{ column: 'kind', op: 'in', value: ['beast', 'x'] }, ['wolves']],
    [{ column: 'kind', op: 'not in', value: ['beast'] }, ['dogs', 'cats']],
    [{ column: 'kind', op: 'like', value: 'b%' }, ['wolves']],
    [{ column: 'kind', op: 'not like', value: 'b%' }, ['dogs', 'cats']],
    [{ column: 'wild', op: '=', value: true }, ['wolves']],
    [{ column: 'weight', op: '<=', value: 42.5 }, ['wolves']],
    [{ column: 'weight', op: '!=', value: 1 }, ['wolves']],
    [
      {
        any: [
          { column: 'year', op: '=', value: 2020 },
          { column: 'weight', op: '>', value: 1 },
        ],
      },
      ['dogs', 'wolves'],
    ],
    [{ all: [{ column: 'kind', op: '=', value: 'pet' }, { any: [] }] }, []],
    [{ all: [] }, ['dogs', 'cats', 'wolves']],
    [{ column: 'absent', op: 'not in', value: ['x'] }, []],
    [{ column: "x') OR 1=1 --", op: '=', value: 1 }, []],
    [{ column: 'id', op: '=', value: 'dogs' }, ['dogs']],
    [{ column: 'chunk_id', op: 'like', value: 'cats:1of1%' }, ['cats']],
    [{ column: 'chunk_content', op: 'like', value: '%woods%' }, ['wolves']],
  ])('passes %j as its type says', (filter, expected) => expect(passing(filter)).toEqual(expected))

  const years = Array.from({ length: 1_000 }, (_, i) => 1_021 + i)
  const inYears = (values: (number | string)[], op: 'in' | 'not in' = 'in'): MetadataFilter => ({ column: 'year', op, value: values })
  test.each<[string, MetadataFilter[], string[]]>([
    ['numbers', [inYears(years)], ['dogs']],
    ['numbers as texts', [inYears(years.map(String))], ['dogs']],
    ['texts', [{ column: 'kind', op: 'in', value: years.map((n) => (n === 1_500 ? 'beast' : `x${n}`)) }], ['wolves']],
    ['numbers that are left out', [inYears(years, 'not in')], ['cats', 'wolves']],
    ['ids', [{ column: 'id', op: 'in', value: years.map((n) => (n === 1_500 ? 'cats' : `x${n}`)) }], ['cats']],
    ['alternatives', [{ any: years.map((value) => ({ column: 'year', op: '=', value })) }], ['dogs']],
    ['conditions', years.map((value) => ({ column: 'year', op: '!=', value })), ['cats', 'wolves']],
    ['lists', years.slice(0, 100).map(() => inYears(years)), ['dogs']],
  ])('is compared with as many %s as the limit takes', (_, filters, expected) => expect(passing(...filters)).toEqual(expected))

  test.each<[string, string, unknown, string[]]>([
    ['a.b', '=', 1, ['odd']],
    ['a', '=', 5, ['odd']],
    ['a"b', '=', 2, ['odd']],
    ["it's", '>', 2, ['odd']],
    ['ключ 1', 'in', [4, 5], ['odd']],
    ['back\\slash', '=', 6, ['odd']],
    ['$', '=', 7, ['odd']],
    ['nothing', '!=', 1, []],
    ['nothing', 'not in', [1], []],
    ['list', '=', '[1]', []],
    ['list', '!=', 'x', ['odd']],
    ['nested', 'like', '%', []],
    ['text', '=', true, []],
    ['price', '>', 100, ['odd']],
    ['price', '>', '100', ['odd']],
    ['price', '<', 100, []],
    ['price', '!=', 5, ['odd']],
    ['year', '=', 2024, ['odd']],
    ['year', '!=', 2024, []],
    ['year', 'in', [2023, 2024], ['odd']],
    ['year', 'not in', [2024], []],
    ['text', '>', 0, []],
    ['text', 'not in', [0], ['odd']],
  ])('under the name %s is found as under any other (%s %j)', (column, op, value, expected) => {
    const odd = newIndex()
    const metadata = {
      'a.b': 1,
      a: 5,
      'a"b': 2,
      "it's": 3,
      'ключ 1': 4,
      'back\\slash': 6,
      $: 7,
      nothing: null,
      list: [1],
      nested: { a: 9 },
      price: '12345678901234.5678',
      year: '2024',
    }
    odd.apply([inserting(1, [document('odd', 'Text', { ...metadata, text: 'true' }), document('plain', 'Text')])])
    const filters = [{ column, op, value }] as MetadataFilter[]
    expect(odd.list({ limit: 10, filters, asOf: null, after: 0, metadata: null }).chunks.map(({ id }) => id)).toEqual(expected)
  })

  test.each(['id', 'chunk_id', 'chunk_content'])('%s, a text, is not put in order with a number', (column) =>
    expect(() => passing({ column, op: '>', value: 5 })).toThrow(`${column} is a text, which is not > a number`),
  )

  test('is compared with no pattern that is longer than SQLite takes', () =>
    expect(() => passing({ column: 'kind', op: 'like', value: 'x'.repeat(60_000) })).toThrow(/at most 50000 bytes/))

  test('has the types of its values', () =>
    expect(index.facts().columns).toEqual(
      expect.arrayContaining([
        { name: 'year', types: ['integer'] },
        { name: 'kind', types: ['text'] },
        { name: 'wild', types: ['boolean'] },
        { name: 'weight', types: ['real'] },
      ]),
    ))
})

describe('large metadata', () => {
  const wide = (name: string) => Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${name}${i}`, i]))

  test('is told of the columns that a query may show, also after an erasure', () => {
    const index = newIndex()
    index.apply([inserting(1, [document('a', 'x', wide('a'))]), inserting(2, [document('b', 'x', wide('b'))])])
    const names = () => index.facts().columns.map(({ name }) => name)
    expect(names()).toEqual(Object.keys(wide('a')).slice(0, 256))
    index.erase([{ payload: 'p1', stays: [] }], 30)
    expect(names()).toEqual(Object.keys(wide('b')).slice(0, 256))
  })

  test('makes a list end earlier, and the rest is listed behind it', () => {
    const index = newIndex()
    index.apply([inserting(1, [document('a', 'word '.repeat(16_000), { note: 'x'.repeat(60_000) }), document('b', 'last')])])
    const { chunks } = index.facts()
    const parts: number[] = []
    const ids = new Set<string>()
    for (let after: number | null = 0; after !== null;) {
      const part = index.list({ limit: 10_000, filters: [], asOf: null, after, metadata: null })
      parts.push(part.chunks.length)
      for (const { chunk_id } of part.chunks) ids.add(chunk_id)
      after = part.last
    }
    expect([parts.length > 1, ids.size]).toEqual([true, chunks])
    expect(index.list({ limit: 10_000, filters: [], asOf: null, after: 0, metadata: [] })).toMatchObject({ last: null })
  })
})

describe('vectors', () => {
  const vector = (...values: number[]) => normalised(Float32Array.from(values))
  const withVectors = (version: number, documents: object[], vectors: Float32Array[], more: object = {}) =>
    inserting(version, documents, { dimensions: 3, vectors: vectorBytes(vectors), ...more })

  test('are found by their angle: relevance is 1 / (1 + distance)', () => {
    const index = newIndex()
    index.apply([withVectors(1, pets, [vector(1, 0, 0), vector(0, 1, 0), vector(0, 0, 1)])])
    const [first, second] = index.search(asked('x', { vector: vector(1, 0.2, 0), alpha: 1 }))
    expect([first?.id, second?.id]).toEqual(['dogs', 'cats'])
    expect(first?.relevance).toBeCloseTo(1 / (1 + (first?.distance ?? 0)), 12)
    expect(idsIn(index, asked('x', { vector: vector(1, 0.2, 0), alpha: 1, filters: [{ column: 'year', op: '>', value: 2020 }] }))[0]).toBe(
      'cats',
    )
  })

  test('and words are weighed by alpha', () => {
    const index = newIndex()
    index.apply([withVectors(1, pets, [vector(1, 0, 0), vector(0, 1, 0), vector(0, 0, 1)])])
    const of = (alpha: number) => idsIn(index, asked('wolves woods', { vector: vector(1, 0, 0), alpha }))[0]
    expect([of(1), of(0.1), of(0)]).toEqual(['dogs', 'wolves', 'wolves'])
  })

  test('of what a later insert replaced are found in the past only', () => {
    const index = newIndex()
    index.apply([withVectors(1, pets, [vector(1, 0, 0), vector(0, 1, 0), vector(0, 0, 1)])])
    const near = asked('x', { vector: vector(1, 0, 0), alpha: 1, limit: 1 })
    expect(idsIn(index, near)).toEqual(['dogs'])
    index.apply([withVectors(2, [document('dogs', 'Gone')], [vector(0, 1, 1)], { replaces: [{ position: 10, rows: [0] }] })])
    expect(index.search(near)[0]?.distance).toBeGreaterThan(0.2)
    expect(index.search({ ...near, asOf: 15 })[0]).toMatchObject({ id: 'dogs', content: 'Running dogs love parks' })
  })

  const table = (dimensions: number, rows: readonly Float32Array[], keys = rows.map((_, i) => i + 1)) => {
    const made = new VectorTable(dimensions)
    keys.forEach((key) => made.add(key, key * 10, rows[key - 1] ?? new Float32Array(dimensions)))
    return made
  }
  const wavy = (dimensions: number, n: number) =>
    Array.from({ length: n }, (_, i) =>
      normalised(Float32Array.from({ length: dimensions }, (_, j) => Math.sin(i * 7.3 + j * (1 + (i % 13))))),
    )

  test('a table that loses rows finds what a new one would, and keeps blocks of the same bytes', () => {
    const rows = wavy(20, 3_000)
    const one = table(20, rows)
    one.remove(new Set([1, 9_999, ...rows.map((_, i) => i + 1).filter((key) => key % 3 === 0)]))
    const fresh = table(
      20,
      rows,
      rows.map((_, i) => i + 1).filter((key) => key % 3 > 0 && key > 1),
    )
    const [question = new Float32Array(20)] = wavy(20, 1)
    expect(one.nearest(question, 20, { asOf: null })).toEqual(fresh.nearest(question, 20, { asOf: null }))
    const kept = fresh.takeChanges()
    const written = new Map(one.takeChanges().map((block) => [block.block, block]))
    for (const { block, places, codes } of kept) {
      expect(Buffer.from(written.get(block)?.places ?? []).equals(Buffer.from(places))).toBe(true)
      expect(Buffer.from(written.get(block)?.codes ?? []).equals(Buffer.from(codes ?? []))).toBe(true)
    }
    const restored = new VectorTable(20)
    for (const { block, places, codes } of kept) if (codes) restored.restore({ block, places: places.slice(), codes: codes.slice() })
    expect(restored.nearest(question, 20, { asOf: null })).toEqual(fresh.nearest(question, 20, { asOf: null }))
    expect(restored.takeChanges()).toEqual([])
  })

  test.each([1, 3, 16, 17, 384, 1_536, 4_096])(
    'codes of %i dimensions are right to a hundredth, at the largest numbers too',
    (dimensions) => {
      const rows = [
        ...wavy(dimensions, 300),
        normalised(new Float32Array(dimensions).fill(1)),
        normalised(new Float32Array(dimensions).fill(-1)),
      ]
      const one = table(dimensions, rows)
      for (const question of [rows[0], rows[300], rows[301]]) {
        if (!question) throw new Error('no question')
        for (const { key, similarity } of one.nearest(question, 302, { asOf: null }))
          expect(Math.abs(similarity - dot(question, rows[key - 1] ?? question, 0))).toBeLessThan(0.01)
      }
    },
  )

  test('a search finds exactly what comparing all vectors finds, now and at each position of the past', () => {
    const rows = wavy(40, 900)
    const index = newIndex()
    for (const version of [1, 2, 3]) {
      const from = (version - 1) * 300
      index.apply([
        inserting(
          version,
          rows.slice(from, from + 300).map((_, i) => document(`d${from + i}`, `text ${from + i}`, { fifth: i % 5, rare: i % 100 })),
          {
            ...{ dimensions: 40, vectors: vectorBytes(rows.slice(from, from + 300)) },
            replaces: version === 3 ? [{ position: 10, rows: Array.from({ length: 200 }, (_, i) => i) }] : [],
          },
        ),
      ])
    }
    const [question = new Float32Array(40)] = wavy(40, 5).slice(4)
    const holdsAt = (i: number, asOf: number) => (Math.floor(i / 300) + 1) * 10 <= asOf && !(i < 200 && asOf >= 30)
    const all = (asOf: number, passes = (_: number) => true) =>
      rows
        .map((row, i) => ({ id: `d${i}`, i, similarity: dot(question, row, 0) }))
        .filter(({ i }) => holdsAt(i, asOf) && passes(i))
        .sort((one, other) => other.similarity - one.similarity || one.i - other.i)
        .slice(0, 10)
        .map(({ id }) => id)
    const fifth: MetadataFilter[] = [{ column: 'fifth', op: '=', value: 3 }]
    // So few pass that they are found before any vector is compared.
    const rare: MetadataFilter[] = [{ column: 'rare', op: '=', value: 77 }]
    const check = (searched: BaseIndex) => {
      const isRare = (i: number) => (i % 300) % 100 === 77
      for (const [asOf, alpha] of [20, 25, 30].flatMap((at) => [[at, 1] as const, [at, 0.999] as const]))
        expect(idsIn(searched, asked('zebra', { vector: question, alpha, asOf, filters: rare }))).toEqual(all(asOf, isRare))
      expect(idsIn(searched, asked('text', { vector: question, alpha: 0.5, filters: rare })).sort()).toEqual(all(30, isRare).sort())
      for (const asOf of [10, 20, 25, 30]) expect(idsIn(searched, asked('text', { vector: question, alpha: 1, asOf }))).toEqual(all(asOf))
      expect(idsIn(searched, asked('text', { vector: question, alpha: 1 }))).toEqual(all(30))
      expect(idsIn(searched, asked('text', { vector: question, alpha: 1, filters: fifth }))).toEqual(all(30, (i) => (i % 300) % 5 === 3))
    }
    check(index)
  })

  test('a search reads what the process before it kept, and a step that failed leaves nothing in memory', () => {
    const file = join(directory, `${++files}.sqlite`)
    const rows = wavy(8, 20)
    const first = newIndex(file)
    first.apply([
      inserting(
        1,
        rows.map((_, i) => document(`d${i}`, `t${i}`)),
        { dimensions: 8, vectors: vectorBytes(rows) },
      ),
    ])
    const again = { ...inserting(2, [document('late', 'late')], { dimensions: 8, vectors: vectorBytes(rows.slice(0, 1)) }), position: 10 }
    expect(() => first.apply([again])).toThrow()
    const search = asked('?', { vector: rows[3] ?? null, alpha: 1, limit: 100 })
    const found = idsIn(first, search)
    expect(found).toHaveLength(20)
    expect(found[0]).toBe('d3')
    first.close()
    const second = newIndex(file)
    expect(idsIn(second, search)).toEqual(found)
    second.close()
  })
})

describe('the past', () => {
  test('has what held at each position, and events that come again change nothing', () => {
    const index = newIndex()
    const steps = [
      inserting(1, [document('a', 'first text')]),
      inserting(2, [document('a', 'second text')], { replaces: [{ position: 10, rows: [0] }] }),
      { version: 3, position: 30, removed: [{ position: 20, rows: [0] }] },
    ]
    index.apply(steps)
    index.apply(steps)
    const at = (asOf: number | null) => index.search(asked('text', { asOf })).map(({ content }) => content)
    expect([at(5), at(10), at(19), at(20), at(29), at(30), at(null)]).toEqual([
      [],
      ['first text'],
      ['first text'],
      ['second text'],
      ['second text'],
      [],
      [],
    ])
    expect(index.facts()).toMatchObject({ documents: 0, chunks: 2 })
    expect(index.find(['a'])).toEqual([])
  })
})

describe('a document of many chunks', () => {
  const cpuMs = (work: () => void): number => {
    const from = process.cpuUsage()
    work()
    return process.cpuUsage(from).user / 1_000
  }

  test('is replaced, and erased, in about the time that it took to insert it', () => {
    const content = Array.from({ length: 250_000 }, (_, i) => `w${Math.floor(Math.exp(((i * 7_919) % 10_007) / 1_000)).toString(36)}`).join(
      ' ',
    )
    const index = newIndex()
    const inserted = cpuMs(() => index.apply([inserting(1, [document('a', content)], { chunking: { size: 50, overlap: 25 } })]))
    const replaced = cpuMs(() => index.apply([inserting(2, [document('a', 'b')], { replaces: [{ position: 10, rows: [0] }] })]))
    const erased = cpuMs(() => index.erase([{ payload: 'p1', stays: [] }], 30))
    expect(index.facts()).toMatchObject({ documents: 1, chunks: 1 })
    // An index that searches each word's whole list for each chunk takes more than ten times as long.
    expect(Math.max(replaced, erased)).toBeLessThan(6 * inserted)
  })
})

describe('the file', () => {
  test.each<[string, (file: string) => typeof identity]>([
    ['of another log', () => ({ ...identity, logId: 'other' })],
    ['of other code', () => ({ ...identity, code: 'other' })],
    [
      'that is damaged',
      (file) => {
        writeFileSync(file, Buffer.alloc(8_192, 7))
        return identity
      },
    ],
  ])('%s is begun anew', (_, change) => {
    const file = join(directory, `${++files}.sqlite`)
    const first = newIndex(file)
    first.apply([inserting(1, pets)])
    first.close()
    const kept = newIndex(file)
    expect(kept.state.version).toBe(1)
    kept.close()
    const anew = newIndex(file, change(file))
    expect(anew.state.version).toBe(0)
    anew.close()
  })

  test('one that knows more than the log, of which an older copy was put back, is begun anew', () => {
    const file = join(directory, `${++files}.sqlite`)
    const first = newIndex(file)
    first.apply([inserting(1, pets), inserting(2, [document('late', 'late')])])
    first.erase([], 500)
    first.close()
    const same = newIndex(file, identity, { version: 2, erasedAt: 500 })
    expect(same.state).toEqual({ version: 2, erasedAt: 500 })
    same.close()
    for (const ofLog of [
      { version: 1, erasedAt: 500 },
      { version: 2, erasedAt: 100 },
    ]) {
      const copy = `${file}-${ofLog.version}`
      cpSync(file, copy)
      const older = newIndex(copy, identity, ofLog)
      expect(older.state).toEqual({ version: 0, erasedAt: ofLog.erasedAt })
      older.close()
    }
  })

  test('of an erasure that was cut off has the position of the one before, and its repetition leaves no byte of the documents', () => {
    const file = join(directory, `${++files}.sqlite`)
    const content = Array.from({ length: 2_000 }, (_, i) => `secretword${i}`).join(' ')
    const ofLog = { version: 2, erasedAt: 500 }
    const first = newIndex(file)
    first.apply([inserting(1, [document('gone', content)]), inserting(2, pets)])
    const exec: (source: string) => Database.Database = Reflect.get(Database.prototype, 'exec')
    const full = jest.spyOn(Database.prototype, 'exec').mockImplementation(function (this: Database.Database, source: string) {
      if (source === 'VACUUM') throw new Error('no room on the disk')
      return exec.call(this, source)
    })
    expect(() => first.erase([{ payload: 'p1', stays: [] }], 500)).toThrow('no room on the disk')
    expect(first.state.erasedAt).toBe(0)
    first.close()
    const second = newIndex(file, identity, ofLog)
    expect(second.state).toEqual({ version: 2, erasedAt: 0 })
    expect(() => second.erase([{ payload: 'p1', stays: [] }], 500)).toThrow('no room on the disk')
    full.mockRestore()
    expect(second.erase([{ payload: 'p1', stays: [] }], 500)).toEqual({ version: 2, erasedAt: 500 })
    expect(idsIn(second, asked('dogs'))).toEqual(['dogs'])
    expect(
      tracesInFiles(
        [file, `${file}-wal`],
        [3, 999, 1_998].map((i) => Buffer.from(`secretword${i}`)),
      ),
    ).toEqual([])
    second.close()
  })
})
