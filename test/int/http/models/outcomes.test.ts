import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { join } from 'node:path'
import type { ErasureResult } from '../../../../src/erasure/plan/plan.js'
import { Blobs } from '../../../../src/files/blobs.js'
import { hashFile } from '../../../../src/basics/disk.js'
import { FileLog } from '../../../../src/log/sqlite/file-log.js'
import { verifyLog } from '../../../../src/log/verify/verify.js'
import { mindledger } from '../../../support/cli.js'
import { settled, uploadRentals } from '../../../support/models/rentals.js'
import { send, sql, startTestService } from '../../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
const models = '/api/projects/mindsdb/models'
const train = async (name: string, target: string, columns = '*') => {
  await sql(
    at.url,
    `CREATE MODEL mindsdb.${name} FROM files (SELECT ${columns} FROM rentals) PREDICT ${target} USING seed = 7, preset = 'fast'`,
  )
  expect(await settled(at.url, name)).toBe('complete')
}
beforeAll(async () => {
  at = await startTestService()
  await uploadRentals(at.url)
  await train('rent', 'rental_price')
  await train('place', 'location', 'location, rental_price - sqft * 4 AS extra, rooms')
})
afterAll(() => at.stop())

const rowsOf = async (query: string): Promise<unknown[][]> => {
  const answer = await sql(at.url, query)
  expect(answer.error_message).toBeUndefined()
  return answer.data
}
type Predicted = Record<string, number | string | null>
const predict = async (request: string, rows: object[], model = 'rent', params?: object) => {
  const body = params ? { data: rows, params } : rows
  const answer = await send(at.url, 'POST', `${models}/${model}/predict`, body, { 'x-request-id': request })
  expect(answer.status).toBe(200)
  return { position: Number(answer.headers.get('mindledger-position')), rows: answer.body as Predicted[] }
}
const report = async (body: unknown, { model = 'rent', headers = {} }: { model?: string; headers?: Record<string, string> } = {}) => {
  const { status, body: answer } = await send(at.url, 'POST', `${models}/${model}/outcomes`, body, headers)
  return { status, ...(answer as { position: number | null; rows: number; detail?: string; hint?: string; code?: string }) }
}
const erase = async (body: object) => (await send(at.url, 'POST', '/api/log/erasures', body)).body as ErasureResult
const head = async () => (await at.service.head()).position
const home = (sqft: number) => ({ sqft, location: 'good', rooms: 1 })

describe('what became true of numbers', () => {
  test('is reported by position or request, and gives the accuracy and coverage of each version, now and then', async () => {
    const one = await predict('n-1', [home(500), home(900)])
    const two = await predict('n-2', [home(700)], 'rent', { confidence: 0.5 })
    const first = await report([
      { position: one.position, row: 0, truth: 2000 },
      { request: 'n-2', truth: '2950.5' },
    ])
    expect(first).toMatchObject({ status: 200, rows: 2 })
    const then = await head()
    expect(first.position).toBe(then)
    expect(await report({ outcomes: [{ position: one.position, request: 'n-1', row: 1, truth: 99_999 }] })).toMatchObject({ status: 200 })
    expect(await report([{ request: 'n-2', row: 0, truth: 2900 }])).toMatchObject({ status: 200, rows: 1 })

    expect(
      await rowsOf(
        `SELECT model, version, prediction, prediction_request, "row", truth, readable, replaced_by FROM log.outcomes
         WHERE prediction_request LIKE 'n-%' ORDER BY position, prediction`,
      ),
    ).toEqual([
      ['rent', 1, one.position, 'n-1', 0, '2000', true, null],
      ['rent', 1, two.position, 'n-2', 0, '2950.5', true, then + 2],
      ['rent', 1, one.position, 'n-1', 1, '99999', true, null],
      ['rent', 1, two.position, 'n-2', 0, '2900', true, null],
    ])

    const measured = (truths: number[], predicted: Predicted[]) => {
      const errors = truths.map((truth, i) => truth - Number(predicted[i]!['rental_price']))
      const mean = truths.reduce((sum, truth) => sum + truth, 0) / truths.length
      const squares = errors.reduce((sum, error) => sum + error * error, 0)
      const covered = truths.filter(
        (truth, i) => truth >= Number(predicted[i]!['rental_price_min']) && truth <= Number(predicted[i]!['rental_price_max']),
      ).length
      return {
        r2: 1 - squares / truths.reduce((sum, truth) => sum + (truth - mean) * (truth - mean), 0),
        rmse: Math.sqrt(squares / truths.length),
        mae: errors.reduce((sum, error) => sum + Math.abs(error), 0) / truths.length,
        coverage: covered / truths.length,
      }
    }
    const shown = async (moment: string) => {
      const [[outcomes, r2, rmse, mae, coverage, anomaly, accuracy, logLoss, confidence] = []] = await rowsOf(
        `SELECT outcomes, r2, rmse, mae, coverage, anomaly, accuracy, log_loss, confidence FROM log.accuracy ${moment} WHERE model = 'rent' AND version = 1`,
      )
      expect([accuracy, logLoss]).toEqual([null, null])
      expect(Number(anomaly)).toBeCloseTo(1 - Number(coverage), 12)
      return { outcomes, r2, rmse, mae, coverage, confidence }
    }
    const close = (expected: object) =>
      Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, expect.closeTo(Number(value), 8)]))
    expect(await shown(`AT (VERSION => ${then})`)).toEqual({
      ...close(measured([2000, 2950.5], [one.rows[0]!, two.rows[0]!])),
      ...{ outcomes: 2, confidence: expect.closeTo(0.7, 12) },
    })
    expect(await shown('')).toEqual({
      ...close(measured([2000, 99_999, 2900], [...one.rows, two.rows[0]!])),
      ...{ outcomes: 3, confidence: expect.closeTo((0.9 + 0.9 + 0.5) / 3, 12) },
    })
    expect(await rowsOf(`SELECT model FROM log.accuracy AT (VERSION => ${then - 1}) WHERE model = 'rent'`)).toEqual([])
    const [[trained] = []] = await rowsOf(`SELECT trained FROM log.accuracy WHERE model = 'rent'`)
    expect(trained).toBe((await rowsOf(`SELECT accuracy FROM models WHERE name = 'rent'`))[0]?.[0])

    const width = (row: Predicted) => Number(row['rental_price_max']) - Number(row['rental_price_min'])
    expect(await rowsOf(`SELECT confidence, outcomes, mean_width FROM log.coverage WHERE model = 'rent' ORDER BY confidence`)).toEqual([
      [0.5, 1, expect.closeTo(width(two.rows[0]!), 8)],
      [0.9, 2, expect.closeTo((width(one.rows[0]!) + width(one.rows[1]!)) / 2, 8)],
    ])
  })

  test('once for a key, and for show in a dry run', async () => {
    const { position } = await predict('k-1', [home(640)])
    const before = await head()
    const planned = await report([{ position, truth: 1 }], { headers: { prefer: 'dry-run' } })
    expect(planned).toMatchObject({ status: 200, events: [{ type: 'OutcomesReported' }] })
    expect(JSON.stringify(planned)).not.toContain('"truth"')
    expect(await head()).toBe(before)
    const headers = { 'idempotency-key': 'outcome-once' }
    const first = await report([{ position, truth: 2 }], { headers })
    expect(first).toEqual({ status: 200, position: before + 1, rows: 1 })
    expect(await report([{ position, truth: 2 }], { headers })).toEqual(first)
    expect((await report([{ position, truth: 3 }], { headers })).status).toBe(422)
    expect(await head()).toBe(before + 1)
  })

  test.each<[string, (place: { position: number; other: number }) => unknown, number, RegExp]>([
    ['a position that is no prediction', () => [{ position: 1, truth: 1 }], 404, /Outcome 0: model rent predicted nothing at position 1/],
    ['a position beyond the log', () => [{ position: 9_999_999, truth: 1 }], 404, /Outcome 0: .* at position 9999999/],
    ["another model's prediction", ({ other }) => [{ position: other, truth: 1 }], 404, /Outcome 0: model rent predicted nothing/],
    ['a request that was never', () => [{ request: 'never', truth: 1 }], 404, /Outcome 0: .* at request never/],
    [
      'a request of another position',
      ({ position }) => [{ position, request: 'n-2', truth: 1 }],
      404,
      /Outcome 0: .* do not belong to request n-2/,
    ],
    [
      'a row beyond',
      ({ position }) => [
        { position, row: 1, truth: 1 },
        { position, row: 7, truth: 1 },
      ],
      404,
      /Outcome 1: request bad-1 has no row 7/,
    ],
    [
      'no row where there are several',
      ({ position }) => [{ position, truth: 1 }],
      400,
      /Outcome 0: which row is missing, request bad-1 has 2/,
    ],
    ['neither position nor request', () => [{ truth: 1 }], 400, /Outcome 0: says neither "position" nor "request"/],
    [
      'one row twice',
      ({ position }) => [0, 0].map((row) => ({ position, row, truth: 1 })),
      400,
      /Outcome 1: is about the same row as outcome 0/,
    ],
    [
      'a truth of another type',
      ({ position }) => [{ position, row: 0, truth: 'cheap' }],
      400,
      /Outcome 0, "truth" of "rental_price": "cheap" is not usable/,
    ],
    ['a truth that is true', ({ position }) => [{ position, row: 0, truth: true }], 400, /Outcome 0, .*: true is not usable as/],
    ['no truth', ({ position }) => [{ position, row: 0, truth: null }], 400, /outcomes\.0\.truth: must be a number, a text/],
    ['a field that there is not', ({ position }) => [{ position, row: 0, value: 1, truth: 1 }], 400, /outcomes\.0: .*"value"/],
    ['nothing', () => [], 400, /outcomes: the list is empty/],
    ['an object', () => ({ position: 1 }), 400, /outcomes/],
  ])('is refused for %s, which is named, and nothing is recorded', async (_, body, status, detail) => {
    const { position } = await predict('bad-1', [home(500), home(600)])
    const { position: other } = await predict('bad-2', [{ extra: 100, rooms: 1 }], 'place')
    const before = await head()
    const { status: got, detail: said } = await report(body({ position, other }))
    expect({ got, said }).toEqual({ got: status, said: expect.stringMatching(detail) })
    expect(await head()).toBe(before)
  })

  test('is only that of the version that the path names', async () => {
    const { position } = await predict('v-1', [home(500)])
    expect(await report([{ position, truth: 1 }], { model: 'rent.1' })).toMatchObject({ status: 200 })
    expect(await report([{ position, truth: 1 }], { model: 'rent.9' })).toMatchObject({ status: 404 })
    expect(await report([{ position, truth: 1 }], { model: 'gone' })).toMatchObject({
      status: 404,
      detail: 'Model with name gone does not exist',
    })
  })

  test('by request is about the last prediction of that id, which is found without reading all of them', async () => {
    await predict('s-1', [home(505)])
    const { position } = await predict('s-1', [home(515)])
    const reads = jest.spyOn(FileLog.prototype, 'readStream')
    try {
      expect(await report([{ request: 's-1', truth: 1 }])).toMatchObject({ status: 200, rows: 1 })
      expect(reads.mock.calls.filter(([stream]) => stream.endsWith('/predictions'))).toEqual([])
    } finally {
      reads.mockRestore()
    }
    expect(await rowsOf(`SELECT prediction FROM log.outcomes WHERE prediction_request = 's-1'`)).toEqual([[position]])
    expect(await report([{ request: "it's \\ no id", truth: 1 }])).toMatchObject({ status: 404 })
  })

  test('of several requests that share an event is told apart by the request', async () => {
    const together = async (attempt: number): Promise<unknown> => {
      await Promise.all(Array.from({ length: 12 }, (_, i) => predict(`shared-${attempt}-${i}`, [home(500 + i)])))
      const [[found] = []] = await rowsOf(
        `SELECT position FROM log.predictions WHERE request LIKE 'shared-%' GROUP BY position HAVING count(*) > 1 LIMIT 1`,
      )
      return found ?? together(attempt + 1)
    }
    const position = await together(0)
    const [[request] = []] = await rowsOf(`SELECT max(request) FROM log.predictions WHERE position = ${String(position)}`)
    expect(await report([{ position, truth: 1 }])).toMatchObject({
      status: 400,
      hint: expect.stringMatching(/^Say "request", too: shared-/),
    })
    expect(await report([{ position, request, truth: 1 }])).toMatchObject({ status: 200 })
  })

  test('as large as no number is leaves the accuracy of that version unknown, and that of others as it is', async () => {
    await sql(at.url, "CREATE MODEL mindsdb.mean FROM files (SELECT * FROM rentals) PREDICT rental_price USING engine = 'constant'")
    expect(await settled(at.url, 'mean')).toBe('complete')
    const { position } = await predict('n-vast', [home(500), home(600), home(700)], 'mean')
    expect(
      await report(
        [1e300, 1.7e308, 2000].map((truth, row) => ({ position, row, truth })),
        { model: 'mean' },
      ),
    ).toMatchObject({ rows: 3 })
    const others = await rowsOf("SELECT * EXCLUDE (first_outcome, last_outcome) FROM log.accuracy WHERE model <> 'mean'")
    const all = await rowsOf('SELECT * EXCLUDE (first_outcome, last_outcome) FROM log.accuracy')
    expect(all).toEqual(expect.arrayContaining(others))
    expect(await rowsOf("SELECT outcomes, r2, rmse, mae, coverage FROM log.accuracy WHERE model = 'mean'")).toEqual([
      [3, null, null, null, expect.closeTo(1 / 3, 9)],
    ])
  })
})

describe('what became true of classes', () => {
  test('counts as a hit or not, and costs by the probability that the model had given it', async () => {
    const rows = [0, 100, 200].flatMap((extra) => [0, 1].map((rooms) => ({ extra: extra + rooms * 50, rooms })))
    const answer = await predict('c-1', rows, 'place')
    const truths = ['good', 'great', 'poor', 'good', 'nowhere', 'great']
    expect(
      await report(
        truths.map((truth, row) => ({ request: 'c-1', row, truth })),
        { model: 'place' },
      ),
    ).toMatchObject({ status: 200, rows: 6 })
    const explained = answer.rows.map((row) => JSON.parse(String(row['location_explain'])) as Record<string, number>)
    const given = truths.map((truth, i) => explained[i]![`probability_class_${truth}`] ?? 0)
    expect(await rowsOf(`SELECT probability FROM log.outcomes WHERE prediction_request = 'c-1' ORDER BY "row"`)).toEqual(
      given.map((probability) => [expect.closeTo(probability, 12)]),
    )
    const hits = truths.filter((truth, i) => truth === answer.rows[i]!['location']).length
    const loss = given.reduce((sum, probability) => sum - Math.log(Math.max(probability, 1e-15)), 0) / given.length
    const [measured = []] = await rowsOf(
      `SELECT outcomes, accuracy, log_loss, r2, rmse, mae, coverage, confidence FROM log.accuracy WHERE model = 'place'`,
    )
    expect(measured).toEqual([6, expect.closeTo(hits / 6, 12), expect.closeTo(loss, 9), null, null, null, null, null])
    expect(await report([{ request: 'c-1', row: 0, truth: 5 }], { model: 'place' })).toMatchObject({
      status: 400,
      hint: 'Expected a text.',
    })
  })
})

describe('an erasure', () => {
  const truths = (where: string) =>
    rowsOf(`SELECT prediction_request, truth, readable FROM log.outcomes WHERE ${where} ORDER BY prediction_request, position`)
  const verified = async () => {
    const blobs = new Blobs(join(at.directory, 'blobs'))
    const blobHash = async (hash: string) => ((await blobs.has(hash)) ? hashFile(blobs.path(hash)) : undefined)
    return (await verifyLog({ logFile: join(at.directory, 'log.sqlite'), blobHash })).findings
  }
  const equalsReplay = async () => {
    const { code, out } = await mindledger(['diff'], { DATA_DIR: at.directory, PORT: new URL(at.url).port })
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('The tables equal a replay') })
  }

  test('of a request takes the truths of its rows, and leaves those of others in the same report', async () => {
    for (const request of ['e-1', 'e-2', 'e-3']) await predict(request, [home(800)])
    await report(['e-1', 'e-2', 'e-3'].map((request, i) => ({ request, truth: 4_100 + i })))
    await report([{ request: 'e-1', truth: 4_200 }])
    const position = await head()
    expect(await erase({ request: 'e-1' })).toMatchObject({ payloads: 3, rows: 3 })
    const left = [
      ['e-1', null, false],
      ['e-1', null, false],
      ['e-2', '4101', true],
      ['e-3', '4102', true],
    ]
    expect(await truths(`prediction_request LIKE 'e-%'`)).toEqual(left)
    // Neither can the past tell it.
    expect(await rowsOf(`SELECT truth FROM log.outcomes AT (VERSION => ${position}) WHERE prediction_request = 'e-1'`)).toEqual([
      [null],
      [null],
    ])
    expect(await erase({ request: 'e-1' })).toMatchObject({ positions: [], already_erased: 3 })
    expect(await verified()).toEqual([])
    await equalsReplay()
  })

  test('of the request that reported takes its truths, and of a report by position, too', async () => {
    await predict('r-1', [home(810)])
    await predict('r-2', [home(820)])
    await report(
      [
        { request: 'r-1', truth: 1 },
        { request: 'r-2', truth: 2 },
      ],
      { headers: { 'x-request-id': 'reporter' } },
    )
    expect(await erase({ request: 'reporter' })).toMatchObject({ payloads: 1, rows: 2 })
    expect(await truths(`prediction_request LIKE 'r-%'`)).toEqual([
      ['r-1', null, false],
      ['r-2', null, false],
    ])
    const { position } = await report([{ request: 'r-1', truth: 3 }])
    expect(await erase({ prediction: position })).toMatchObject({ payloads: 1, rows: 1 })
    expect(await truths(`position = ${position}`)).toEqual([['r-1', null, false]])
    expect(await rowsOf(`SELECT DISTINCT readable FROM log.predictions WHERE request = 'r-1'`)).toEqual([[true]])
  })

  test('of a prediction takes the truths of it, and no truth is taken of it afterwards', async () => {
    const { position } = await predict('p-1', [home(830), home(840)])
    await predict('p-2', [home(850)])
    await report([
      { position, row: 0, truth: 10 },
      { request: 'p-2', truth: 11 },
      { position, row: 1, truth: 12 },
    ])
    expect(await erase({ prediction: position })).toMatchObject({ payloads: 2, rows: 4 })
    expect(await truths(`prediction_request LIKE 'p-%'`)).toEqual([
      ['p-1', null, false],
      ['p-1', null, false],
      ['p-2', '11', true],
    ])
    expect(
      await report([
        { request: 'p-2', truth: 1 },
        { position, row: 0, truth: 1 },
      ]),
    ).toMatchObject({
      status: 410,
      code: 'erased',
      detail: expect.stringMatching(/^Outcome 1: the prediction at position \d+ was erased/),
    })
  })

  test('by age takes the truths of older rows that were reported since, and leaves the others', async () => {
    await predict('a-1', [home(860)])
    await report([{ request: 'a-1', truth: 1 }])
    await new Promise((resolve) => setTimeout(resolve, 5))
    const time = new Date().toISOString()
    await predict('a-2', [home(870)])
    await report([
      { request: 'a-1', truth: 2 },
      { request: 'a-2', truth: 3 },
    ])
    await erase({ before: time })
    expect(await truths('readable')).toEqual([['a-2', '3', true]])
    expect(await rowsOf(`SELECT outcomes FROM log.accuracy WHERE model = 'rent'`)).toEqual([[1]])
    expect(await verified()).toEqual([])
    await equalsReplay()
  })

  test('beside reports leaves no truth of what it took', async () => {
    const requests = Array.from({ length: 4 }, (_, i) => `beside-${i}`)
    for (const request of requests) await predict(request, [home(880)])
    await Promise.all(requests.flatMap((request) => [report([{ request, truth: 7 }]), erase({ request }), report([{ request, truth: 8 }])]))
    expect(await truths(`readable AND prediction_request LIKE 'beside-%'`)).toEqual([])
    expect(await verified()).toEqual([])
  })
})
