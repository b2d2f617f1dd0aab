import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Twins, type Answer } from '../../support/sql/twins.js'
import { vegaTables } from '../../support/vega.js'
import { dates } from './analysts/dates.js'
import { forms } from './analysts/forms.js'
import { grouping } from './analysts/grouping.js'
import { joins } from './analysts/joins.js'
import { json } from './analysts/json.js'
import { lists } from './analysts/lists.js'
import { pivots } from './analysts/pivots.js'
import { sales, salesTable } from './analysts/sales.js'
import { statistics } from './analysts/statistics.js'
import { texts } from './analysts/texts.js'
import { windows } from './analysts/windows.js'

const groups = { grouping, windows, pivots, dates, texts, lists, joins, statistics, json, forms, sales }

let twins: Twins
beforeAll(async () => {
  twins = await Twins.create({ ...vegaTables, sales: salesTable })
})
afterAll(() => twins.close())

/** Rows count in their order where the statement gives them one. */
const comparable = (sql: string, { types, rows }: Answer) => ({ types, rows: sql.includes('ORDER BY') ? rows : [...rows].sort() })

for (const [group, statements] of Object.entries(groups)) {
  describe(`${group}: the answer is DuckDB's own`, () => {
    test.each(statements)('%s', async (sql) => {
      const [plain, ours] = [await twins.plain.select(sql), await twins.ours(sql)]
      expect(plain.rows.length).toBeGreaterThan(0)
      expect(comparable(sql, ours)).toEqual(comparable(sql, plain))
      // A call that is not named gets another name than DuckDB gives.
      expect(ours.names).toEqual(plain.names.map((name, i) => (/[(]|^CASE|^col\d/.test(name) ? ours.names[i] : name)))
    })
  })
}

test('there are more than three hundred', () => expect(Object.values(groups).flat().length).toBeGreaterThan(300))
