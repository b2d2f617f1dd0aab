import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { TestLedger } from '../../support/log/ledger.js'
import { shopLedger } from '../../support/sql/shop.js'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await shopLedger()
  await ledger.history('views', {
    stream: 'v-asker',
    project: 'p-shop',
    name: 'asker',
    query: 'SELECT user, session_user',
    database: 'shop',
    from: 30,
  })
  await ledger.lock()
})
afterAll(() => ledger.close())

const ada = 'ada@localhost'

const statements: [statement: string, rows: unknown[][]][] = [
  ['SELECT current_user AS a, session_user AS b, user AS c, current_role AS d', [[ada, ada, ada, ada]]],
  ['SELECT CURRENT_USER AS a, User AS b', [[ada, ada]]],
  ['SELECT current_user() AS a, upper(user()) AS b, session_user() AS c, system_user() AS d', [[ada, 'ADA@LOCALHOST', ada, ada]]],
  [`SELECT 1 AS n WHERE current_user = '${ada}' AND user <> 'duckdb'`, [[1]]],
  ['WITH w AS (SELECT user AS u) SELECT u, (SELECT current_user) FROM w', [[ada, ada]]],
  ['SELECT user, count(*) FROM range(3) GROUP BY user', [[ada, 3]]],
  ['SELECT * FROM asker', [[ada, ada]]],
  ['SELECT user, t.user FROM (SELECT 7 AS user) AS t', [[7, 7]]],
  ['SELECT t.current_user FROM (SELECT 8 AS current_user) AS t', [[8]]],
  ['SELECT user, count(predicted) FROM (SELECT m.rental_price AS predicted FROM files.rentals AS r JOIN rent AS m)', [[ada, 60]]],
  ['SELECT user, user()', [[ada, ada]]],
  ['SELECT user(), current_user, user, current_user()', [[ada, ada, ada, ada]]],
  ['SELECT User, user() FROM (SELECT 7 AS user) AS t', [[7, ada]]],
  ['SELECT "user"', [['user']]],
  ['SELECT "user" AS user, 1 AS n', [['user', 1]]],
  ['SELECT "User" AS a, user AS b, "current_user" AS c', [['User', ada, 'current_user']]],
  ['SELECT "user", user(), user', [['user', ada, ada]]],
  ['SELECT "user" FROM (SELECT 7 AS user) AS t', [[7]]],
  ['SELECT "user" AS a, u.* FROM asker AS u', [['user', ada, ada]]],
  [`SELECT count(*) FROM range(3) WHERE "user" = 'user' AND user = '${ada}'`, [[3]]],
]

test.each(statements)('%s', async (statement, rows) => {
  expect((await ledger.select(statement, { user: 'ada' })).data).toEqual(rows)
})

test('the same statement answers another user by another name', async () => {
  for (const user of ['ada', 'bo', `o'neill`])
    expect((await ledger.select('SELECT current_user, user() FROM asker', { user })).data).toEqual([
      [`${user}@localhost`, `${user}@localhost`],
    ])
})

test('items have the names that were written', async () => {
  expect((await ledger.select('SELECT user, Current_User, session_user(), 1 AS n')).names).toEqual([
    'user',
    'Current_User',
    'session_user',
    'n',
  ])
  expect((await ledger.select('SELECT user AS user, 1 AS n')).names).toEqual(['user', 'n'])
  expect((await ledger.select('SELECT user, user(), "user" AS t, "User"')).names).toEqual(['user', 'user', 't', 'User'])
})

test('many of them do not block the process for long', async () => {
  const blocked = async (names: number) => {
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    const { data } = await ledger.select(`SELECT 'nobody' IN (${'user, '.repeat(names)}user) AS a`, { user: 'ada' })
    delay.disable()
    expect(data).toEqual([[false]])
    return delay.max / 1e6
  }
  const most = 1_000 + 5 * (await blocked(10_000))
  let many = await blocked(40_000)
  // A busy machine may have stopped the whole process meanwhile.
  for (let tries = 0; tries < 10 && many >= most; tries++) many = await blocked(40_000)
  expect(many).toBeLessThan(most)
})
