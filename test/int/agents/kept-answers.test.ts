import { expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyErasures, readErasures } from '../../../src/backup/later-erasures.js'
import { copyLog } from '../../../src/backup/log-copy.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { Erasures } from '../../../src/erasure/erasures.js'
import type { StepBounds } from '../../../src/erasure/plan/older-steps.js'
import { keepFor } from '../../../src/erasure/retention.js'
import { Blobs } from '../../../src/files/blobs.js'
import type { Log } from '../../../src/log/contract/log.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { readConfig } from '../../../src/setup/config.js'
import { AnswerMaker, recordOf } from '../../support/agents/answer-maker.js'
import { startWithAgent } from '../../support/agents/agent-service.js'
import { commandHere } from '../../support/command-here.js'
import { origin, stream, testKey, withLog } from '../../support/log/log.js'

const agent = stream(7)
const payloadsOf = async (log: Log): Promise<string[]> =>
  (await log.readAll(0, 100)).flatMap(({ text }) => (JSON.parse(text) as { data: { payload?: string | null } }).data.payload ?? [])
const readable = async (log: Log): Promise<boolean[]> =>
  Promise.all((await payloadsOf(log)).map(async (hash) => (await log.payload(hash)) !== undefined))

test.each<[string, StepBounds | undefined, number[]]>([
  ['at once', undefined, [8]],
  ['in steps of one', { payloads: 1, positions: 1 }, [8, 9, 10, 11]],
])(
  'answers that are older than their retention go by themselves %s, with what was said of them, and younger ones stay',
  (_, stepBounds, positions) =>
    withLog(async ({ log, ledger, directory }) => {
      const maker = new AnswerMaker(log, testKey)
      const old = await maker.answer(agent, recordOf('old', 'a'))
      await maker.judge({ agent, ...old }, 'good', 'of the old')
      await new Promise((resolve) => setTimeout(resolve, 10))
      const since = Date.now()
      const young = await maker.answer(agent, recordOf('young', 'b'))
      await maker.judge({ agent, ...young }, 'bad', 'of the young')
      await maker.judge({ agent, ...old }, 'bad', 'of the old, later')
      await maker.evaluate(agent, [{ question: 'old', expected: null, answer: 'a', of: old, gave: null, scores: {} }])
      await maker.evaluate(agent, [{ question: 'young', expected: null, answer: 'b', of: young, gave: null, scores: {} }])
      const blobs = new Blobs(join(directory, 'blobs'))
      const erasures = new Erasures({ ledger, log, blobs, purge: async () => undefined, stepBounds })
      const erased = new Promise<object>((resolve, reject) => {
        const logger = { info: resolve, error: ({ err }: { err?: unknown }) => reject(new Error('not erased', { cause: err })) }
        const stop = keepFor(1_000_000, { what: 'answers', erasures, clock: { now: () => since + 1_000_000 }, logger })
        stop()
      })
      expect(await erased).toMatchObject({ rows: 1, positions })
      expect(await readable(log)).toEqual([false, false, true, true, false, false, true])
      const told = JSON.parse((await log.readAll(7, 1))[0]?.text ?? '') as { data: object }
      expect(told.data).toMatchObject({ what: 'before', reason: 'ANSWER_RETENTION' })
      // Rows of predictions have a retention of their own.
      expect(await erasures.eraseOlder('rows', new Date(since + 1_000_000), origin)).toMatchObject({ positions: [] })
      await erasures.stop()
    }),
)

test('ANSWER_RETENTION is a time with its unit', () => {
  expect(readConfig({ ANSWER_RETENTION: '30d' }).answerRetentionMs).toBe(30 * 86_400_000)
  expect(readConfig({}).answerRetentionMs).toBeUndefined()
  expect(() => readConfig({ ANSWER_RETENTION: '30' })).toThrow(/^ANSWER_RETENTION: must be a number and a unit/)
})

test('an answer that was erased after a backup is erased in it again', () =>
  withLog(async ({ log, ledger, file, directory }) => {
    const maker = new AnswerMaker(log, testKey)
    const gone = await maker.answer(agent, recordOf('gone', 'a'))
    await maker.answer(agent, recordOf('stays', 'b'))
    await maker.judge({ agent, ...gone }, 'good', 'so it was')
    const [copyFile, list] = [join(directory, 'copy.sqlite'), join(directory, 'log.jsonl')]
    copyLog(file, copyFile)
    const blobs = new Blobs(join(directory, 'blobs'))
    const erasures = new Erasures({ ledger, log, blobs, purge: async () => undefined })
    await erasures.erase({ subject: { what: 'answer', of: gone.answer }, reason: null, shared: false, dryRun: false }, origin)
    writeFileSync(list, (await log.readAll(0, 100)).map(({ text }) => `${text}\n`).join(''))
    const copy = new SqliteLog({ file: copyFile, vault: ledger.vault })
    expect(await readable(copy)).toEqual([true, true, true])
    expect(await applyErasures({ ledger: new Ledger(copy, ledger.vault), log: copy, blobs }, await readErasures(list), origin)).toBe(1)
    expect(await readable(copy)).toEqual([false, true, false])
    await copy.close()
    expect(await verifyLog({ logFile: copyFile })).toMatchObject({ findings: [] })
  }))

test('the command erases an answer by its id and by its position', async () => {
  const at = await startWithAgent()
  try {
    const [one, two] = [await at.maker.answer(at.agent, recordOf('one', 'a')), await at.maker.answer(at.agent, recordOf('two', 'b'))]
    const env = { DATA_DIR: at.directory }
    const erased = await commandHere(['erase', 'answer', one.answer, '--dry-run'], env)
    expect(erased).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 payload (1 row of predictions or answers), 0 blobs would be erased'),
    })
    expect(await commandHere(['erase', 'answer', String(two.position)], env)).toMatchObject({
      code: 0,
      out: expect.stringContaining('erased 1 payload'),
    })
    expect(await commandHere(['erase', 'conversation', at.agent], env)).toMatchObject({
      code: 1,
      err: expect.stringContaining('there are no messages in a conversation'),
    })
  } finally {
    await at.stop()
  }
})
