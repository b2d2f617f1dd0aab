import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from '@jest/globals'
import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import { sha256Hex } from '../../events/stored/chain.js'
import { streamId } from '../../events/common.js'
import { replay, replaySettings } from '../../projections/replay.js'
import { limits } from '../../src/basics/limits.js'
import { factsOf, recordOf } from '../support/agents/answer-maker.js'
import { MemoryLog, streamOf } from '../support/log/memory-log.js'
import { rowsOf } from '../support/log/states.js'
import { temporaryDirectory } from '../support/log/log.js'

const agent = streamId.parse(streamOf(1))
const room = limits.payloadMaxBytes - 4_096
const times = (text: string, bytes = room): string => text.repeat(Math.floor(bytes / text.length))
const listed = (item: string, bytes = room): string => `[${times(`${item},`, bytes)}${item}]`
/** Of the smallest values there are so many that reading them takes the time of this test. */
const some = room / 8

/** Payloads of the largest size there may be, in shapes that no agent writes. */
const hostile: Record<string, string> = {
  'one long text': `{"question":"${times('x')}","answer":"a","exchanges":[],"tools":[]}`,
  'one long text of escapes': `{"question":"${times('\\u0000')}"}`,
  'lists in lists': `{"question":"q","tools":[${times('[', some)}${times(']', some)}],"answer":"a"}`,
  'objects in objects': `{"question":${times('{"a":', room / 2)}1${times('}', Math.floor(room / 2 / 5))}}`,
  'as many tools as fit': `{"question":"q","answer":"a","tools":${listed('{}', some)}}`,
  'as many exchanges as fit': `{"question":"q","answer":"a","exchanges":${listed('1')}}`,
  'as many members as fit': `{${times('"a":1,')}"question":"q"}`,
  'rows of a query': `{"question":"q","answer":"a","tools":[{"call":{"input":"i"},"output":"o","sql":"SELECT 1","rows":${listed('[1,"x",null]')}}]}`,
  'a long list': listed('1'),
  'no JSON': times('{'),
}

test('payloads of the largest size, whatever their shape, neither stop the tables nor the answers beside them', async () => {
  const log = new MemoryLog()
  const answer = (text: string, facts = {}): number => {
    const payload = sha256Hex(Buffer.from(text))
    log.payloads.set(payload, Buffer.from(text))
    const data = { ...factsOf(agent, { answer: uuidv7(), ...facts }), payload }
    return log.append({ stream: `${agent}/answers`, type: 'AgentAnswered', data })
  }
  const usual = JSON.stringify(recordOf('as usual?', 'Yes.'))
  const beside: number[] = []
  const names = new Map<number, string>()
  for (const [name, text] of Object.entries(hostile)) {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.payloadMaxBytes)
    names.set(answer(text), name)
    beside.push(answer(usual))
  }
  const { path, remove } = temporaryDirectory()
  const database = await DuckDBInstance.create(join(path, 'tables.duckdb'), replaySettings)
  try {
    expect(await replay({ events: log, payloads: log, database })).toBe(log.head())
    const connection = await database.connect()
    const rows = await rowsOf(connection, 'SELECT position, question, content, readable FROM ledger.answers ORDER BY position')
    expect(rows.filter(({ content }) => content === 'Yes.').map(({ position }) => position)).toEqual(beside)
    expect(rows).toHaveLength(2 * names.size)
    const unreadable = rows.filter(({ readable }) => readable === false).map(({ position }) => names.get(Number(position)))
    expect(unreadable).toEqual(['a long list', 'no JSON'])
    // Each has the steps that its event names, and no more.
    expect(await rowsOf(connection, 'SELECT count(*) AS n FROM ledger.answer_steps')).toEqual([{ n: 3 * 2 * names.size }])
    connection.closeSync()
  } finally {
    database.closeSync()
    remove()
  }
})
