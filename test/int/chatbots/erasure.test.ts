import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { replay } from '../../../projections/replay.js'
import { copyLog } from '../../../src/backup/log-copy.js'
import { applyErasures, readErasures } from '../../../src/backup/later-erasures.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { Blobs } from '../../../src/files/blobs.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { Vault } from '../../../src/vault/vault.js'
import { origin, temporaryDirectory } from '../../support/log/log.js'
import { openLogReader } from '../../../src/log/sqlite/log-reader.js'
import { masterKeys } from '../../../src/vault/key-files.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { dataPaths } from '../../../src/setup/data-directory.js'
import { startChatting } from '../../support/chatbots/chatting.js'
import { until } from '../../support/until.js'
import { differences } from '../../support/log/states.js'
import { bytesOf, filesUnder } from '../../support/observe/traces.js'
import { send, sql } from '../../support/service.js'

const older = temporaryDirectory()
let at: Awaited<ReturnType<typeof startChatting>>
const path = '/api/projects/mindsdb/chatbots/desk'
beforeAll(async () => {
  at = await startChatting((question) => `You said: ${question}`)
  await at.chatbot('desk', 'webhook', { secret: 'a secret that nobody guesses' })
})
afterAll(async () => {
  await at.stop()
  older.remove()
})

type Answer = { conversation: string; message: string; answer: { id: string } }
const say = async (text: string, conversation?: string, headers = {}) =>
  (await send(at.url, 'POST', `${path}/messages`, { text, user: `user of ${text}`, conversation }, headers)).body as Answer
const erase = (subject: object) => send(at.url, 'POST', '/api/log/erasures', subject)
const texts = async (conversation: string) =>
  (await sql(at.url, `SELECT text, sender, answer, readable FROM log.messages WHERE conversation = '${conversation}'`)).data

/** Whether any file of the data directory holds a text. */
const isAnywhere = (text: string): boolean => filesUnder(at.directory).some((file) => bytesOf(file).includes(text))

test('an erased conversation is gone from the log, the tables and every file, and others stay', async () => {
  const first = await say('planted-one')
  await say('planted-two', first.conversation)
  const other = await say('kept-here')
  expect(await texts(first.conversation)).toHaveLength(2)
  expect(await erase({ conversation: first.conversation, dry_run: true })).toMatchObject({ status: 200, body: { payloads: 6, rows: 4 } })
  expect(await erase({ conversation: first.conversation })).toMatchObject({
    status: 200,
    body: { payloads: 6, rows: 4, positions: [expect.any(Number)] },
  })

  expect(await texts(first.conversation)).toEqual([
    [null, null, null, false],
    [null, null, null, false],
  ])
  expect(await texts(other.conversation)).toEqual([['kept-here', 'user of kept-here', 'You said: kept-here', true]])
  const of = `${path}/conversations/${first.conversation}`
  expect((await send(at.url, 'GET', `${of}/messages/${first.message}`)).status).toBe(410)
  expect(await send(at.url, 'GET', of)).toMatchObject({
    status: 200,
    body: { messages: [{ text: null, sender: null, status: 'answered', erased: true, answer: { text: null } }, { erased: true }] },
  })
  expect(['planted-one', 'planted-two'].filter(isAnywhere)).toEqual([])
  expect(await erase({ conversation: first.conversation })).toMatchObject({ status: 200, body: { positions: [], already_erased: 6 } })
  expect((await erase({ conversation: '00000000-0000-7000-8000-000000000000' })).status).toBe(404)
})

test('a message that is sent again with its key after an erasure is told to be erased, also as a stream', async () => {
  const key = { 'idempotency-key': 'k-erased' }
  const { conversation } = await say('once', undefined, key)
  await erase({ conversation })
  const again = (rest: string) => send(at.url, 'POST', `${path}/messages${rest}`, { text: 'once', user: 'user of once' }, key)
  expect(await again('')).toMatchObject({ status: 410, body: { code: 'erased' } })
  const { body } = await again('/stream')
  expect(String(body)).toMatch(/"type":"error","content":"the message [^"]* was erased"/)
})

test('a conversation has no secrets, and keeps its messages when those of resources are erased', async () => {
  const { conversation } = await say('no-secret')
  const secrets = { kind: 'conversation', name: conversation }
  expect(await erase({ secrets })).toMatchObject({ status: 200, body: { payloads: 0, already_erased: 0, positions: [] } })
  expect(await texts(conversation)).toEqual([['no-secret', 'user of no-secret', 'You said: no-secret', true]])
})

test('an erased conversation goes on, and its agent is not told what was erased', async () => {
  const { conversation } = await say('before')
  await erase({ conversation })
  let told: readonly string[] = ['nothing']
  at.agent.says((question, earlier) => {
    told = earlier
    return `You said: ${question}`
  })
  await say('after', conversation)
  expect(told).toEqual([])
})

test('the answer of an agent takes the message with it, and the request that brought a message its answer', async () => {
  const one = await say('by answer')
  await say('beside it', one.conversation)
  await erase({ answer: one.answer.id })
  expect(await texts(one.conversation)).toEqual([
    [null, null, null, false],
    ['beside it', 'user of beside it', 'You said: beside it', true],
  ])
  const two = await say('by request', undefined, { 'x-request-id': 'asked-once' })
  await erase({ request: 'asked-once' })
  expect(await texts(two.conversation)).toEqual([[null, null, null, false]])
  const { data } = await sql(at.url, `SELECT readable FROM log.answers WHERE conversation = '${two.conversation}'`)
  expect(data).toEqual([[false]])
})

test('the answers after an erased one lose its turns, and keep the others', async () => {
  const first = await say('planted-turn-one')
  const second = await say('turn-two', first.conversation)
  const third = await say('turn-three', first.conversation)
  const rerun = await send(at.url, 'POST', `/api/projects/mindsdb/agents/helper/answers/${third.answer.id}/rerun`, { replay: 'nothing' })
  expect(rerun.status).toBe(200)
  const readAnswer = async ({ answer }: Answer) => {
    const { body } = await send(at.url, 'GET', `/api/projects/mindsdb/agents/helper/answers/${answer.id}`)
    type Said = { role: string; content: string }[]
    const { history, exchanges } = body as { history: Said; exchanges: { new: Said }[] }
    const sent = exchanges[0]?.new.slice(1) ?? []
    return [history.map(({ content }) => content), sent.map(({ content }) => content)]
  }
  const turn = (text: string) => [text, `You said: ${text}`]
  expect(await readAnswer(third)).toEqual([
    [...turn('planted-turn-one'), ...turn('turn-two')],
    [...turn('planted-turn-one'), ...turn('turn-two'), 'turn-three'],
  ])
  const copy = join(older.path, 'copy.sqlite')
  copyLog(dataPaths(at.directory).log, copy)
  const { status, body } = await erase({ answer: first.answer.id })
  expect({ status, body }).toMatchObject({ status: 200, body: { rows: 2 } })
  expect(isAnywhere('planted-turn-one')).toBe(false)
  expect(await readAnswer(second)).toEqual([[], ['turn-two']])
  expect(await readAnswer(third)).toEqual([turn('turn-two'), [...turn('turn-two'), 'turn-three']])
  const steps = await sql(at.url, `SELECT count(*) FROM log.answer_steps WHERE input LIKE '%turn-two%' AND NOT readable`)
  expect(steps.data).toEqual([[0]])
  expect(await erase({ answer: first.answer.id })).toMatchObject({ status: 200, body: { positions: [] } })

  // A backup from before loses the same when it is restored.
  const [position = 0] = (body as { positions: number[] }).positions
  const list = join(older.path, 'erasures.jsonl')
  writeFileSync(list, `${(await at.service.log.readAll(position - 1, 1))[0]?.text ?? ''}\n`)
  const vault = new Vault(...masterKeys(dataPaths(at.directory), []))
  const log = new SqliteLog({ file: copy, vault })
  const target = { ledger: new Ledger(log, vault), log, blobs: new Blobs(join(older.path, 'blobs')) }
  await applyErasures(target, await readErasures(list), origin)
  const records = async (id: string) => {
    const [[payload] = []] = (
      await sql(at.url, `SELECT data->>'payload' FROM log.events WHERE data->>'answer' = '${id}' AND type = 'AgentAnswered'`)
    ).data
    return String(await log.payload(String(payload)))
  }
  expect(JSON.parse(await records(third.answer.id))).toMatchObject({ history: [{ content: 'turn-two' }, {}], history_erased: true })
  expect(await records(second.answer.id)).not.toContain('planted-turn-one')
  await log.close()
})

test('a message that is erased while it waits is marked as failed', async () => {
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  at.agent.says(async (question) => {
    if (question === 'slow') await held
    return question
  })
  const { conversation } = await say('begins')
  const slow = say('slow', conversation)
  await until(() => at.agent.asked.at(-1) === 'slow')
  const late = send(at.url, 'POST', `${path}/messages`, { text: 'erased', conversation }, { 'x-request-id': 'waits' })
  await until(async () => (await texts(conversation)).length === 3)
  await erase({ request: 'waits' })
  release()
  await slow
  expect(await late).toMatchObject({ status: 502, body: { reason: 'erased' } })
})

test('a conversation that is erased while its agent answers is not written into the log again', async () => {
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const { conversation } = await say('planted-turn')
  at.agent.says(async (question) => {
    await held
    return `You said: ${question}`
  })
  const late = send(at.url, 'POST', `${path}/messages`, { text: 'planted-late', conversation })
  await until(() => at.agent.asked.at(-1) === 'planted-late')
  expect((await erase({ conversation })).status).toBe(200)
  release()
  expect(await late).toMatchObject({ status: 502, body: { reason: 'erased' } })
  const { data } = await sql(at.url, `SELECT readable FROM log.answers WHERE conversation = '${conversation}'`)
  expect(data).toEqual([[false]])
  expect(['planted-turn', 'planted-late'].filter(isAnywhere)).toEqual([])
})

test('what was said before a time also leaves the answers after it', async () => {
  const { conversation } = await say('planted-old')
  const time = Date.now() + 10
  await until(() => Date.now() > time)
  const later = await say('said later', conversation)
  expect(await erase({ before: new Date(time).toISOString() })).toMatchObject({ status: 200 })
  expect(isAnywhere('planted-old')).toBe(false)
  const { body } = await send(at.url, 'GET', `/api/projects/mindsdb/agents/helper/answers/${later.answer.id}`)
  expect(body).toMatchObject({ question: 'said later', history: [], history_erased: true })
})

test('tables that were built anew are those that followed, and the log holds what it says', async () => {
  const { position } = await at.service.head()
  await sql(at.url, 'SELECT 1 FROM log.events LIMIT 1')
  const { log, tablesFile } = dataPaths(at.directory)
  const reader = openLogReader(at.directory, masterKeys(dataPaths(at.directory), []))
  const database = await DuckDBInstance.create(':memory:')
  await replay({ events: reader, payloads: reader, database, until: position })
  reader.close()
  await at.service.close()
  expect(await differences(database, tablesFile)).toEqual({})
  expect((await verifyLog({ logFile: log })).findings).toEqual([])
})
