import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { formOf, settled } from '../../support/models/rentals.js'
import { send, sql, startTestService } from '../../support/service.js'

// What DESCRIBE tells of a model, and what USING asks of its training, through the whole service.

const visits = Array.from({ length: 120 }, (_, row) => {
  const [person, age] = [`p${row % 24}`, 20 + ((row * 7) % 50)]
  return `${person},${age},2025-${String(1 + (row % 12)).padStart(2, '0')}-03,${row % 8 === 0 || age > 62 ? 'yes' : 'no'},${age * 3 + (row % 5)}`
})
const csv = ['person,age,day,came,paid', ...visits].join('\n')

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await send(at.url, 'PUT', '/api/files/visits', formOf(csv, 'visits.csv'))
})
afterAll(() => at.stop())

const created = async (name: string, target: string, using = '') => {
  const statement = `CREATE MODEL ${name} FROM files (SELECT * FROM visits) PREDICT ${target}${using === '' ? '' : ` USING ${using}`}`
  const answer = await sql(at.url, statement)
  expect({ statement, type: answer.type, error: answer.error_message }).toMatchObject({ type: 'table' })
  await settled(at.url, name)
}

const rowsOf = async (statement: string): Promise<Record<string, unknown>[]> => {
  const { column_names: names, data } = await sql(at.url, statement)
  return data.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])))
}

const refused = async (using: string) => {
  const { type, error_message } = await sql(at.url, `CREATE MODEL no FROM files (SELECT * FROM visits) PREDICT came USING ${using}`)
  expect(type).toBe('error')
  return error_message
}

describe('a model of classes', () => {
  beforeAll(() =>
    created(
      'comes',
      'came',
      "engine = 'lightwood', seed = 5, exclude = ['paid'], group_by = 'person', class_weights = {\"yes\": 3}, max_rows = 100, confidence = 0.8",
    ),
  )

  test('its plan says what stands behind the engine, how rows were dealt, and the options', async () => {
    const plan = new Map((await rowsOf('DESCRIBE comes.plan')).map(({ name, value }) => [name, value]))
    expect(plan.get('engine')).toMatch(/^auto [\d.]+, which lightwood stands for$/)
    expect(JSON.parse(String(plan.get('dealt')))).toEqual({ by: 'group_by', columns: ['person'], groups: 24 })
    expect(JSON.parse(String(plan.get('options')))).toEqual({
      exclude: ['paid'],
      group_by: 'person',
      class_weights: { yes: 3 },
      max_rows: 100,
      confidence: 0.8,
    })
    expect([plan.get('seed'), plan.get('rows')]).toEqual(['5', '100'])
  })

  test('its data says what was left out and warned of', async () => {
    const data = await rowsOf('DESCRIBE comes.data')
    expect(data).toContainEqual({ fact: 'excluded', value: 'paid', detail: 'the statement excludes it' })
    expect(data).toContainEqual({ fact: 'excluded', value: 'person', detail: 'it tells the groups that the folds keep together' })
    expect(data).toContainEqual({ fact: 'warning', value: 'sampled', detail: '100 of 120 rows took part, drawn by the seed: max_rows' })
    expect(data.find(({ fact }) => fact === 'rows')?.['value']).toBe('100')
  })

  test('its classes, confusion and calibration speak of the same rows', async () => {
    const sum = async (what: string) => (await rowsOf(`DESCRIBE comes.${what}`)).reduce((total, { rows }) => total + Number(rows), 0)
    expect([await sum('classes'), await sum('confusion'), await sum('calibration')]).toEqual([100, 100, 100])
    expect((await rowsOf('DESCRIBE comes.classes')).map((row) => [row['class'], row['weight']])).toEqual([
      ['no', 1],
      ['yes', 3],
    ])
    const metrics = (await rowsOf('DESCRIBE comes.metrics')).map(({ metric }) => metric)
    expect(metrics).toEqual(['accuracy', 'log_loss', 'auc', 'balanced_accuracy', 'ece'])
  })

  test('REST describes the same', async () => {
    for (const attribute of ['metrics', 'importances', 'data', 'plan', 'jobs', 'classes', 'confusion', 'calibration']) {
      const { body } = await send(at.url, 'GET', `/api/projects/mindsdb/models/comes/describe?attribute=${attribute}`)
      expect({ attribute, body }).toEqual({ attribute, body: await rowsOf(`DESCRIBE comes.${attribute}`) })
    }
  })
})

describe('a model of one learner', () => {
  test('tells its importances, and a constant that it has none', async () => {
    await created('pays', 'paid', "engine = 'linear', include = ['age', 'day'], time_column = 'day'")
    expect((await rowsOf('DESCRIBE pays.importances'))[0]?.['column']).toBe('age')
    const plan = new Map((await rowsOf('DESCRIBE pays.plan')).map(({ name, value }) => [name, value]))
    const dealt = JSON.parse(String(plan.get('dealt'))) as { blocks: { from: string; rows: number; metrics: object | null }[] }
    expect(dealt.blocks[0]).toEqual({ from: '2025-01-03', to: '2025-06-03', rows: 60, metrics: null })
    expect(dealt.blocks.at(-1)).toMatchObject({ to: '2025-12-03', metrics: { mae: expect.any(Number) } })
    const residuals = await rowsOf('DESCRIBE pays.residuals')
    expect(residuals.reduce((total, { rows }) => total + Number(rows), 0)).toBe(60)
    expect((await send(at.url, 'GET', '/api/projects/mindsdb/models/pays/describe?attribute=residuals')).body).toEqual(residuals)
    await created('mean', 'paid', "engine = 'constant'")
    expect((await sql(at.url, 'DESCRIBE mean.importances')).error_message).toContain('has no importances')
    const paid = 'SELECT m.paid, m.paid_min < m.paid AS below FROM files.visits AS v JOIN mean AS m'
    expect(new Set((await sql(at.url, paid)).data.map((row) => JSON.stringify(row))).size).toBe(1)
    expect((await rowsOf('SELECT paid, paid_confidence FROM mean WHERE age = 5'))[0]?.['paid_confidence']).toBe(0.9)
  })

  test('the trainings of a model are told, and options that another engine does not have are left behind', async () => {
    await sql(at.url, "RETRAIN pays USING engine = 'boosted_trees', tag = 'second'")
    await settled(at.url, 'pays.2')
    const jobs = await rowsOf('DESCRIBE pays.jobs')
    expect(jobs.map(({ version, status, engine, tag, rows }) => [version, status, engine, tag, rows])).toEqual([
      [2, 'complete', 'boosted_trees', 'second', 120],
      [1, 'complete', 'linear', null, 120],
    ])
    const [first] = await rowsOf('DESCRIBE pays.2.plan')
    expect(first?.['value']).toMatch(/^boosted_trees /)
    expect((await rowsOf('DESCRIBE pays.2.features')).map(({ column }) => column)).toEqual(['age', 'day', 'paid'])
  })
})

test('what an engine does not take is refused with the statement, and nothing is asked for', async () => {
  expect(await refused('depth = 3')).toMatch(/"depth" is not an option of the engine auto\n.*Its options: confidence, preset, /s)
  expect(await refused("engine = 'constant', exclude = 'age'")).toContain('"exclude" is not an option of the engine constant')
  expect(await refused('confidence = 90')).toContain('"confidence" is 90, expected a number between 0.001 and 0.999')
  expect(await refused("engine = 'prophet'")).toMatch(
    /no engine "prophet"; the engines are auto, boosted_trees, linear, forecast, onnx, constant, lightwood/,
  )
  expect((await sql(at.url, "SELECT name FROM models WHERE name = 'no'")).data).toEqual([])
})

test('a column that an option names and the query does not give is refused with the statement', async () => {
  expect(await refused("exclude = 'agee'")).toMatch(/exclude names "agee".*Did you mean "age"\?/s)
})

test('what does not fit the rows ends the training with the reason', async () => {
  await created('lost', 'came', "include = ['age'], exclude = ['age']")
  const [row] = await rowsOf('DESCRIBE lost.jobs')
  expect(row?.['status']).toBe('error')
  expect(row?.['error']).toMatch(/"age" stands in include and in exclude/)
})
