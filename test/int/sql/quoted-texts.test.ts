import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { TestLedger } from '../../support/log/ledger.js'
import { shopLedger } from '../../support/sql/shop.js'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await shopLedger()
  await ledger.file('regions', `SELECT * FROM (VALUES ('good', 'A'), ('great', 'B')) AS v(location, grade)`, 9)
  await ledger.file('marks', `SELECT * FROM (VALUES (1, 'grade'), (2, 'location')) AS v(n, mark)`, 10)
  const view = { project: 'p-shop', database: 'files', from: 15 }
  await ledger.history('views', { ...view, stream: 'v-graded', name: 'graded', query: 'SELECT grade FROM regions' })
  await ledger.history('views', { ...view, stream: 'v-marked', name: 'marked', query: 'SELECT n FROM marks WHERE mark = "grade"' })
  const priced = 'SELECT r.rooms, p.rental_price FROM rentals AS r JOIN shop.rent AS p WHERE r.location = "good"'
  await ledger.history('views', { ...view, stream: 'v-priced', name: 'priced', query: priced })
  ledger.head = 40
  await ledger.lock()
})
afterAll(() => ledger.close())

/** A name in double quotes is a text where no column has that name; elsewhere in the same statement it is the column. */
const statements: [statement: string, rows: unknown[][]][] = [
  ['SELECT grade FROM files.regions UNION ALL SELECT mark FROM files.marks WHERE mark = "grade" ORDER BY 1', [['A'], ['B'], ['grade']]],
  ['SELECT "grade" FROM files.regions UNION ALL SELECT mark FROM files.marks WHERE mark = "grade" ORDER BY 1', [['A'], ['B'], ['grade']]],
  ['WITH k AS (SELECT n FROM files.marks WHERE mark = "grade") SELECT max(grade), max("grade") FROM files.regions, k', [['B', 'B']]],
  ['SELECT n FROM files.marks WHERE mark IN ("grade", "location") AND "mark" <> "grade" AND "n" > 0', [[2]]],
  ['SELECT count(*) FROM files.marks WHERE mark = "grade" AND (SELECT max("grade") FROM files.regions) = "B"', [[1]]],
  [
    'SELECT g.grade, m.n FROM graded AS g, marked AS m ORDER BY 1',
    [
      ['A', 1],
      ['B', 1],
    ],
  ],
  ['SELECT max((SELECT max(n) FROM marked)) FROM graded', [[1]]],
  [`SELECT count(p.rental_price) FROM (SELECT 'poor' AS good) AS g, priced AS p`, [[20]]],
  [
    'SELECT g.grade, m.n FROM marked AS m, graded AS g ORDER BY 1',
    [
      ['A', 1],
      ['B', 1],
    ],
  ],
  ['SELECT max(g.grade) FROM graded AS g, files.marks AS m WHERE m.mark = "grade" AND "grade" = "B"', [[null]]],
  [
    'SELECT "grade" AS a, mark FROM files.marks ORDER BY n',
    [
      ['grade', 'grade'],
      ['grade', 'location'],
    ],
  ],
]

test.each(statements)('%s', async (statement, rows) => {
  expect((await ledger.select(statement)).data).toEqual(rows)
  // The second time, the text of the rewritten statement is known.
  expect((await ledger.select(statement)).data).toEqual(rows)
})

test('a text in double quotes may stand at many places, each of which is found by itself', async () => {
  const statement = `SELECT n FROM files.marks WHERE mark IN (${Array.from({ length: 101 }, () => '"grade"').join(', ')})`
  expect((await ledger.select(statement)).data).toEqual([[1]])
})

test.each(['grade', '`grade`'])('%s without double quotes is no text, although it has them elsewhere', async (name) => {
  const statement = `SELECT mark AS "grade" FROM files.marks UNION ALL SELECT mark FROM files.marks WHERE mark = ${name}`
  await expect(ledger.select(statement)).rejects.toMatchObject({ code: 'bad_statement', detail: expect.stringContaining('grade') })
})
