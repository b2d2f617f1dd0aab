import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isProblem } from '../../src/errors.js'
import { Twins, type Answer } from '../support/twins.js'
import { Draw } from './select/expressions.js'
import { Queries } from './select/queries.js'
import { randomTables, tableSources } from './select/tables.js'

/** `SELECTS=20000 SEED=7` for a long run. */
const count = Number(process.env['SELECTS'] ?? 1_500)
const seed = Number(process.env['SEED'] ?? 1)

let twins: Twins
beforeAll(async () => {
  twins = await Twins.create(tableSources)
})
afterAll(() => twins.close())

type Outcome = { answer: Answer } | { error: string; refusal: boolean }

const outcomeOf = async (run: Promise<Answer>): Promise<Outcome> => {
  try {
    return { answer: await run }
  } catch (error) {
    return { error: String(Reflect.get(Object(error), 'message')), refusal: isProblem(error) && error.code !== 'internal' }
  }
}

const comparable = (outcome: Outcome, ordered: boolean) =>
  'answer' in outcome ? { ...outcome.answer, rows: ordered ? outcome.answer.rows : [...outcome.answer.rows].sort() } : { refused: true }

test(
  `of ${count} random SELECTs each is answered as DuckDB answers it, or refused where it refuses`,
  async () => {
    let ran = 0
    for (let i = 0; i < count; i++) {
      const { sql, ordered } = new Queries(new Draw(seed * 1_000_003 + i), randomTables).statement()
      const [plain, ours] = [await outcomeOf(twins.plain.select(sql)), await outcomeOf(twins.ours(sql))]
      if ('answer' in plain) ran++
      expect({ sql, ...comparable(ours, ordered) }).toEqual({ sql, ...comparable(plain, ordered) })
      if ('error' in ours) expect({ sql, ...ours }).toMatchObject({ refusal: true })
    }
    expect(ran / count).toBeGreaterThan(0.8)
  },
  count * 200,
)
