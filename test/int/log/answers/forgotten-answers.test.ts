import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { isBusy } from '../../../../src/basics/concurrency/retry.js'
import { limits } from '../../../../src/basics/limits.js'
import type { Ledger } from '../../../../src/commands/ledger.js'
import type { ServedLog } from '../../../../src/log/contract/log.js'
import { showsRows } from '../../../../src/log/storage/kept-replies-table.js'
import { forgetOldAnswers } from '../../../../src/log/tasks/old-answers.js'
import { startCutProxy } from '../../../support/log/cut-proxy.js'
import { eachLog, logServer } from '../../../support/log/each-log.js'
import { origin, patiently, projectCreated, refusal, writes } from '../../../support/log/log.js'
import { contentsOf, expectSame, newest, rowsIn, runSql, withNodesOf, type Node } from '../../../support/log/nodes.js'
import { until } from '../../../support/until.js'

const { server } = logServer()

const keyed = ({ ledger }: Pick<Node, 'ledger'>, key: string) => ledger.keyed(origin, { idempotency: { key, request: 'r' } })
const keep = (node: { ledger: Ledger; log: ServedLog }, key: string) =>
  node.log.keepReply(keyed(node, key), { status: 200, type: null, etag: null, body: key }, 0)

const soon = () => Date.now() + 60_000
const answersOf = ({ file }: Node) => contentsOf(file).answers
const answersThere = (url: string) => rowsIn(url, 'SELECT key FROM mindledger.answers')

/** Adds answers to the shared log, each from a moment of its own in a year, as if a node had written them. */
const addOldAnswers = (url: string, count: number, year: number) =>
  runSql(
    url,
    `UPDATE mindledger.head SET seq = seq + 1;
     INSERT INTO mindledger.batches SELECT seq, gen_random_uuid(), position, chain, 0 FROM mindledger.head;
     INSERT INTO mindledger.answers
       SELECT 'me', 'k' || n, seq, 'f', '{}', '${year}-01-01T00:00:00.' || lpad(n::text, 9, '0') FROM mindledger.head, generate_series(1, ${count}) AS n`,
  )

/** PostgreSQL counts the answers that each statement removes. */
const countRemovals = (url: string) =>
  runSql(
    url,
    `CREATE TABLE removals (n bigint);
     CREATE FUNCTION count_removed() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN INSERT INTO removals SELECT count(*) FROM removed; RETURN NULL; END $$;
     CREATE TRIGGER counted AFTER DELETE ON mindledger.answers REFERENCING OLD TABLE AS removed
       FOR EACH STATEMENT EXECUTE FUNCTION count_removed()`,
  )

/** PostgreSQL does not remove an answer: a trigger does something else. */
const insteadOfRemoval = (url: string, does: string) =>
  runSql(
    url,
    `CREATE FUNCTION instead() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${does}; END $$;
     CREATE TRIGGER instead BEFORE DELETE ON mindledger.answers FOR EACH ROW EXECUTE FUNCTION instead()`,
  )

eachLog(({ withLog }) => {
  test('forgets all answers up to a time, some at once', () =>
    withLog(async ({ log, ledger }) => {
      for (const key of ['j', 'k']) await keep({ log, ledger }, key)
      expect(await log.forgetSomeAnswers(Date.now() - 60_000)).toBe(false)
      expect(await patiently(() => log.replyTo(keyed({ ledger }, 'k')))).toBeDefined()
      while (await log.forgetSomeAnswers(soon()));
      expect(await log.replyTo(keyed({ ledger }, 'k'))).toBeUndefined()
    }))
})

test('many old answers leave all nodes in bounded batches, while another node writes', () =>
  withNodesOf(server(), 2, async ([a, b], url, another) => {
    const count = 20 * limits.forgottenAnswersPerBatchMax
    await countRemovals(url)
    await keep(b!, 'new')
    const unexpected: unknown[] = []
    // A busy machine may keep a batch waiting too long: it is tried again.
    const onFailed = (error: unknown) => void (isBusy(error) || unexpected.push(error))
    let [rounds, projects, written] = [0, 0, 0]
    // On a busy machine one write may take as long as all batches.
    for (; written < 2 && rounds < 5; rounds++) {
      await addOldAnswers(url, count, 2020 + rounds)
      await Promise.all([newest(a!.log), newest(b!.log)])
      const stop = forgetOldAnswers(a!.log, { now: Date.now, onFailed, everyMs: 1_000 })
      for (written = 0; answersOf(a!)!.length > 1; written++) await patiently(() => b!.log.submit(writes(projectCreated(++projects))))
      await stop()
    }
    expect(unexpected).toEqual([])
    expect(written).toBeGreaterThan(1)
    await expectSame([a!, b!, await another()])
    expect(answersOf(b!)).toHaveLength(1)
    expect(await answersThere(url)).toEqual([{ key: 'new' }])
    const [{ most, sum }] = (await rowsIn<{ most: number; sum: number }>(
      url,
      'SELECT max(n)::int AS most, sum(n)::int AS sum FROM removals',
    )) as [{ most: number; sum: number }]
    expect([most, sum]).toEqual([limits.forgottenAnswersPerBatchMax, rounds * count])
  }))

test('an answer that PostgreSQL does not remove is forgotten by no node', () =>
  withNodesOf(server(), 2, async ([a, b], url, another) => {
    await a!.log.submit(writes(projectCreated(1)))
    await keep(a!, 'old')
    await insteadOfRemoval(url, `RAISE EXCEPTION 'not now'`)
    expect(await refusal(a!.log.forgetSomeAnswers(soon()))).toBe('storage_failed')
    await newest(b!.log)
    for (const node of [a!, b!, await another()]) expect(answersOf(node)).toHaveLength(1)
  }))

test('an answer that was forgotten does not come back with a new node, though PostgreSQL still has it', () =>
  withNodesOf(server(), 1, async ([a], url, another) => {
    await a!.log.submit(writes(projectCreated(1)))
    await keep(a!, 'old')
    await insteadOfRemoval(url, 'RETURN NULL')
    await a!.log.forgetSomeAnswers(soon())
    expect(await answersThere(url)).toHaveLength(1)
    const other = await another()
    for (const node of [a!, other]) expect(answersOf(node)).toEqual([])
  }))

test('PostgreSQL has no forgotten answer, also when the answer to the batch was lost', async () => {
  const proxy = await startCutProxy(server().postgres.port)
  await withNodesOf(
    server(),
    1,
    async ([a], url) => {
      await keep(a!, 'old')
      const cut = proxy.cutAt('answers_forgotten', 'answers')
      await a!.log.forgetSomeAnswers(soon())
      await cut
      expect(await answersThere(url.replace(`:${proxy.port}/`, `:${server().postgres.port}/`))).toEqual([])
    },
    (url) => url.replace(/:\d+\//, `:${proxy.port}/`),
  )
  await proxy.stop()
})

test('a log that cannot forget ends nothing: it is tried again', async () => {
  const failed: unknown[] = []
  const answers = [new Error('away'), true, true, false] as const
  let asked = 0
  const forgetSomeAnswers = async () => {
    const answer = answers[Math.min(asked++, 3)]!
    if (answer instanceof Error) throw answer
    return answer
  }
  const stop = forgetOldAnswers({ forgetSomeAnswers }, { now: Date.now, onFailed: (error) => failed.push(error), everyMs: 10 })
  await until(() => asked > 5)
  await stop()
  const before = asked
  await sleep(50)
  expect([failed, asked]).toEqual([[new Error('away')], before])
})

test('old answers, and those that an erasure removes, are found by an index', () =>
  withNodesOf(server(), 1, async ([a]) => {
    const db = new Database(a!.file, { readonly: true })
    const planOf = (statement: string) => db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${statement}`).all()
    const plans = [`DELETE FROM answers WHERE answered_at <= 'x'`, `UPDATE answers SET answer = 'x' WHERE ${showsRows}`].map(planOf)
    db.close()
    const [old, withRows] = plans.map((plan) => plan.map(({ detail }) => detail).join())
    expect(old).toContain('answers_by_age')
    expect(withRows).toContain('answers_with_rows')
  }))
