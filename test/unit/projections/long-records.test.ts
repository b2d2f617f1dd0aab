import { describe, expect, test } from '@jest/globals'
import { sha256Hex } from '../../../events/stored/chain.js'
import { streamId } from '../../../events/common.js'
import { recordLimits, shortRecord, tableText } from '../../../projections/payloads/long-records.js'
import { replay } from '../../../projections/replay.js'
import { factsOf, recordOf } from '../../support/agents/answer-maker.js'
import { MemoryLog, streamOf } from '../../support/log/memory-log.js'
import { rowsOf } from '../../support/log/states.js'
import { memoryDatabase } from '../../support/memory-database.js'

const { wholeMaxBytes, textMaxChars, allMaxChars } = recordLimits
const short = (record: unknown) => shortRecord(Buffer.from(JSON.stringify(record)))

describe('the record of an answer, as tables are made from it,', () => {
  test('is whole up to its limit, byte for byte', () => {
    const text = JSON.stringify({ ...recordOf('q', 'a'), history: 'x'.repeat(wholeMaxBytes / 2) })
    expect(shortRecord(Buffer.from(text))).toBe(text)
    expect(shortRecord(Buffer.from('no JSON'))).toBe('no JSON')
  })

  test('beyond it has the beginnings of its texts, and no rows', () => {
    const record = recordOf('q'.repeat(wholeMaxBytes), 'a')
    const { question, answer, tools, exchanges, ...more } = JSON.parse(short(record)) as typeof record & { exchanges: { new: string }[] }
    expect(question).toBe(`${'q'.repeat(textMaxChars)}…`)
    expect(answer).toBe('a')
    expect(tools).toEqual([{ call: { input: record.tools[0]?.call.input }, output: 'word: planted', sql: `SELECT 'planted' AS word` }])
    expect(exchanges[1]?.new).toBe(JSON.stringify(record.exchanges[1]?.new))
    expect(more).toEqual({})
  })

  test('has the exchanges of a search with its reranking model, also as the record of a search', () => {
    const record = recordOf('q', 'a')
    const exchanges = record.exchanges.slice(1)
    const tools = record.tools.map((tool) => ({ ...tool, exchanges }))
    const long = short({ ...record, tools, history: 'x'.repeat(wholeMaxBytes) })
    const said = [{ new: [{ role: 'tool', content: 'planted' }], response: { text: 'a', finish: 'stop' } }]
    expect((JSON.parse(long) as typeof record).tools[0]?.exchanges).toEqual(said)
    const search = { question: 'q'.repeat(wholeMaxBytes), documents: ['d'], exchanges, failure: { code: 'busy', detail: 'later' } }
    const kept = JSON.parse(tableText('KnowledgeSearched', Buffer.from(JSON.stringify(search)))) as unknown
    expect(kept).toEqual({ question: `${'q'.repeat(textMaxChars)}…`, exchanges: said, failure: { detail: 'later' } })
  })

  test('cuts no character in two', () => {
    const { question } = JSON.parse(short(recordOf(`x${'🦆'.repeat(wholeMaxBytes)}`, 'a'))) as { question: string }
    expect(question.isWellFormed()).toBe(true)
  })

  test('is bounded, however many texts there are', () => {
    const [tool] = recordOf('q', 'a').tools
    const record = { ...recordOf('q', 'a'), tools: Array.from({ length: 1_000 }, () => ({ ...tool!, output: '\u0001'.repeat(10_000) })) }
    expect(short(record).length).toBeLessThan(2 * allMaxChars)
  })

  test.each([
    ['a list', [['x'.repeat(wholeMaxBytes)]]],
    ['a text', 'x'.repeat(wholeMaxBytes)],
  ])('is empty if it is %s', (_, record) => {
    expect(short(record)).toBe('')
  })

  test('has nothing in the place of what is of another type', () => {
    const forged = { question: 1, answer: ['x'.repeat(wholeMaxBytes)], exchanges: [1, null, { new: 1, response: [] }], tools: { a: 1 } }
    expect(JSON.parse(short(forged))).toEqual({
      question: null,
      answer: null,
      exchanges: [
        { new: null, response: { text: null } },
        { new: null, response: { text: null } },
        { new: '1', response: { text: null } },
      ],
      tools: [],
    })
  })
})

describe('an erasure', () => {
  const erased = (what: string, hash: string) => ({
    stream: 'log',
    type: 'DataErased',
    data: { what, subject: 'x', reason: null, payloads: [{ hash, replacement: hash }], blobs: [] },
  })
  const sealed = (log: MemoryLog, value: unknown): string => {
    const text = JSON.stringify(value)
    const hash = sha256Hex(Buffer.from(text))
    log.payloads.set(hash, Buffer.from(text))
    return hash
  }

  test('that leaves a long record makes the same rows from it as its answer did', async () => {
    const log = new MemoryLog()
    const agent = streamId.parse(streamOf(1))
    const payload = sealed(log, recordOf('q'.repeat(wholeMaxBytes), 'a'))
    log.append({ stream: `${agent}/answers`, type: 'AgentAnswered', data: { ...factsOf(agent), payload } })
    log.append(erased('answer', payload))
    const database = await memoryDatabase()
    const connection = await database.connect()
    const follow = async (until: number) => {
      await replay({ events: log, payloads: log, database, until })
      const answers = await rowsOf(connection, 'SELECT * FROM ledger.answers')
      return { answers, steps: await rowsOf(connection, 'SELECT * FROM ledger.answer_steps ORDER BY step') }
    }
    const before = await follow(1)
    expect(before.answers).toMatchObject([{ question: `${'q'.repeat(textMaxChars)}…`, readable: true }])
    expect(await follow(2)).toEqual(before)
    connection.closeSync()
    database.closeSync()
  })

  test('keeps rows of others whole, however many they are', async () => {
    const log = new MemoryLog()
    const input = { text: 'x'.repeat(wholeMaxBytes) }
    const payload = sealed(log, [{ request: 'r', row: 0, input, output: {} }])
    const requests = [{ request: 'r', rows: 1 }]
    const served = { model: streamOf(2), version: 1, rows: 1, statement: null, read_at: 1, requests, payload }
    log.append({ stream: `${streamOf(2)}/predictions`, type: 'PredictionsServed', data: served })
    log.append(erased('request', payload))
    const database = await memoryDatabase()
    await replay({ events: log, payloads: log, database })
    const connection = await database.connect()
    expect(await rowsOf(connection, 'SELECT input, readable FROM ledger.predictions')).toEqual([{ input, readable: true }])
    connection.closeSync()
    database.closeSync()
  })

  test.each(['documents', 'secrets'])('of %s, which are in no table, reads no payload', async (what) => {
    const log = new MemoryLog()
    log.append(erased(what, sealed(log, { vectors: [0.5] })))
    const read: string[] = []
    const payload = (hash: string) => {
      read.push(hash)
      return log.payload(hash)
    }
    const database = await memoryDatabase()
    expect(await replay({ events: log, payloads: { payload }, database })).toBe(1)
    expect(read).toEqual([])
    database.closeSync()
  })
})
