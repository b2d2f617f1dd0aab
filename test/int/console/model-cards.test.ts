import { expect, test } from '@jest/globals'
import { openPage, violationsOf } from '../../support/console/browser.js'
import { builtWith } from '../../support/console/built.js'
import { expectRefusals, startConsole } from '../../support/console/console.js'
import { send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const homes = Array.from(
  { length: 300 },
  (_, i) => `${20 + (i % 90)},${['north', 'south', 'west'][i % 3]},${300 + 9 * (i % 90) + 40 * (i % 3)}`,
)

const at = startConsole(async (url) => {
  const form = new FormData()
  form.append('file', new Blob([`size,district,rent\n${homes.join('\n')}\n`]), 'homes.csv')
  await send(url, 'PUT', '/api/files/homes', form)
  for (const [model, using, columns] of [
    ['fee', 'PREDICT rent', '*'],
    ['place', 'PREDICT district', '*'],
    ['slow', `PREDICT rent USING engine = 'constant'`, '*'],
    ['noisy', 'PREDICT rent', '* REPLACE (rent + size * 37 % 50 AS rent)'],
  ] as const) {
    expect((await sql(url, `CREATE MODEL ${model} FROM files (SELECT ${columns} FROM homes) ${using}`)).type).not.toBe('error')
    await until(async () => (await status(model)) === 'complete')
  }
})

const status = async (model: string): Promise<unknown> =>
  (await sql(at.url, `SELECT STATUS FROM information_schema.models WHERE NAME = '${model}' ORDER BY VERSION DESC LIMIT 1`)).data[0]?.[0]

test('a training tells how far it is and how long that takes, and is cancelled from its page', async () => {
  // Enough rows to be looked at several times.
  const rows = `SELECT a.size + b.i % 7 AS x, a.district, b.i AS z, (a.size * b.i) % 97 AS w, a.rent + b.i % 13 AS rent FROM homes AS a, range(1000) AS b(i)`
  const begun = await sql(at.url, `RETRAIN slow FROM files (${rows}) PREDICT rent USING engine = 'auto', preset = 'best'`)
  expect(begun.error_message).toBeUndefined()
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/slow?version=2')
  const training = page.getByRole('region', { name: 'Training' })
  await training.getByText('Version 2 is training: folds').waitFor()
  await training.getByText('Version 1 took').waitFor()
  await training.getByText(/^About [\d,]+ s are left of this phase/).waitFor()
  await training.getByRole('progressbar', { name: 'Progress of this phase' }).waitFor()
  let [done, total] = [0, 0]
  // Both at once, because the next phase may begin in between, and that begins at 0.
  await until(async () => {
    ;[done = 0, total = 0] = await page.evaluate<number[]>(
      `[...document.querySelectorAll('progress')].flatMap((bar) => ['value', 'max'].map((name) => Number(bar.getAttribute(name))))`,
    )
    return done > 0
  })
  expect(done).toBeGreaterThan(0)
  expect(total).toBeGreaterThanOrEqual(done)
  expect(await violationsOf(page)).toEqual([])
  await training.getByRole('button', { name: 'Cancel the training' }).click()
  // The page goes back to the version that answers.
  await page.getByText('version 1, active').waitFor()
  expect(await status('slow')).toBe('error')
  await page.getByRole('tab', { name: 'Versions' }).click()
  await page
    .getByRole('row', { name: /Compare version 2/ })
    .getByText('cancelled')
    .waitFor()
  await page.context().close()
})

/** Trains a model whose first version answers, and whose second one failed. */
const trainWithFailure = async (name: string): Promise<void> => {
  for (const [statement, ended] of [
    [`CREATE MODEL ${name} FROM files (SELECT * FROM homes) PREDICT rent USING engine = 'constant'`, 'complete'],
    [`RETRAIN ${name} USING engine = 'auto', include = ['size'], exclude = ['size']`, 'error'],
  ] as const) {
    expect([statement, (await sql(at.url, statement)).error_message]).toEqual([statement, undefined])
    await until(async () => (await status(name)) === ended)
  }
}

test('a training that fails stays on its page with the reason, and not on that of the version that answers', async () => {
  await trainWithFailure('unlucky')
  const { page } = await openPage(at.browser, at.url, '#/models')
  // The training is long over, and seems to be under way until the page has shown its progress.
  let isEnded = false
  await page.route('**/models/unlucky*', async (route) => {
    const response = await route.fetch()
    const record = (await response.json()) as object
    await route.fulfill({ response, json: isEnded ? record : { ...record, status: 'training', error: null } })
  })
  await page.route('**/sql/query', async (route) => {
    if (isEnded || route.request().postData()?.includes('.jobs') !== true) return route.continue()
    const response = await route.fetch()
    const [head = '', ...lines] = (await response.text()).split('\n')
    await route.fulfill({ response, body: [head, ...lines.map((line) => line.replaceAll('"error"', '"training"'))].join('\n') })
  })
  await page.goto(`${at.url}/#/models/mindsdb/unlucky?version=2`)
  await page.getByRole('region', { name: 'Training' }).getByText('Version 2 is training').waitFor()
  isEnded = true
  await page.getByRole('alert').getByText('"size" stands in include and in exclude').waitFor()
  await page.locator('.title', { hasText: 'version 2 ' }).waitFor()
  expect(new URL(page.url()).hash).toContain('version=2')
  expect(await page.getByText('version 1, active').count()).toBe(0)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().close()
})

test('the list of models shows the version that answers, and says that a newer one failed', async () => {
  await trainWithFailure('spare')
  const { page } = await openPage(at.browser, at.url, '#/resources/model')
  const row = page.getByRole('row', { name: /^spare / })
  await row.waitFor()
  const [project, state, predicted, , version] = await row.getByRole('cell').allInnerTexts()
  expect([project, state, predicted, version]).toEqual(['mindsdb', 'complete, version 2 failed', 'rent', '1'])
  await page.context().close()
})

test('a card shows which class is taken for which, whether intervals hold, and how far predictions are off', async () => {
  const told = async (part: string) => {
    const { column_names: names, data } = await sql(at.url, `DESCRIBE ${part}`)
    return data.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])))
  }
  const percents = (share: unknown) => `${(100 * Number(share)).toFixed(1)} %`
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/place')
  const confusion = page.getByRole('region', { name: 'Confusion' })
  await confusion.waitFor()
  const [, ...classes] = await confusion.locator('thead th').allInnerTexts()
  const lines = await confusion.locator('tbody tr').allInnerTexts()
  const shown = lines.flatMap((line) => {
    const [actual = '', ...counts] = line.trim().split(/\s+/)
    return classes.map((predicted, i) => [actual, predicted, Number(counts[i])] as const)
  })
  const confused = await told('place.confusion')
  expect(shown.filter(([, , count]) => count > 0).sort()).toEqual(
    confused
      .map(({ actual, predicted, rows }) => [actual, predicted, Number(rows)])
      .filter(([, , count]) => Number(count) > 0)
      .sort(),
  )
  expect(await page.getByRole('region', { name: 'Classes' }).locator('tbody tr').count()).toBe(3)

  await page.goto(`${at.url}/#/models/mindsdb/fee?version=1`)
  const coverage = page.getByRole('region', { name: 'Coverage' }).locator('tbody tr')
  await coverage.first().waitFor()
  const held = await coverage.allInnerTexts()
  const covered = await told('fee.1.coverage')
  expect(held).toHaveLength(covered.length)
  for (const [i, one] of covered.entries()) {
    expect(held[i]).toContain(percents(one['confidence']))
    expect(held[i]).toContain(percents(one['coverage']))
  }
  const residuals = await told('fee.1.residuals')
  const against = page.getByRole('img', { name: 'What was true of rent, by what was predicted' })
  await against.locator('circle').first().waitFor({ state: 'attached' })
  expect(await against.locator('circle').count()).toBe(residuals.length)
  const off = page.getByRole('img', { name: 'How far predictions of rent are off on average, by what was predicted' })
  await off.locator('g[stroke="var(--accent)"] line').first().waitFor({ state: 'attached' })
  expect(await off.locator('g[stroke="var(--accent)"] line').count()).toBe(residuals.length)
  await page.context().close()
})

test.each([
  ['between which numbers it lies', 'noisy'],
  ['that it is exactly so', 'fee'],
])('a slider sets its input, and the prediction says in how many of such cases, and %s', async (_, model) => {
  const { page } = await openPage(at.browser, at.url, `#/models/mindsdb/${model}?version=1&tab=try`)
  const slider = page.getByRole('slider', { name: 'size, from 20 to 109' })
  await slider.focus()
  await page.keyboard.press('End')
  expect(await page.getByLabel('size', { exact: true }).inputValue()).toBe('109')
  await page.getByLabel('district').selectOption('north')
  await page.getByRole('button', { name: 'Predict rent' }).click()
  const prediction = page.getByRole('region', { name: 'Prediction' })
  const said = await prediction.getByText(/ in [\d.]+ of 100 such cases$/).innerText()
  if (model === 'fee') expect(said).toMatch(/^exactly so in /)
  else {
    const [, least = '', greatest = ''] = /^between ([\d,.]+) and ([\d,.]+) in /.exec(said) ?? []
    const [value, low, high] = [await prediction.locator('output').innerText(), least, greatest].map((text) =>
      Number(text.replaceAll(',', '')),
    )
    expect(low).toBeLessThanOrEqual(value ?? NaN)
    expect(high).toBeGreaterThanOrEqual(value ?? NaN)
  }
  await page.context().close()
})

test('a picture whose library cannot be loaded says so, and is drawn once it can', async () => {
  expectRefusals()
  const { page } = await openPage(at.browser, at.url, '#/models')
  const model = page.getByRole('region', { name: 'Models' }).getByRole('link', { name: 'fee', exact: true })
  await model.waitFor()
  const files = builtWith('crosshairX')
  expect(files).not.toEqual([])
  for (const file of files) await page.route(`**/assets/${file}`, (route) => route.abort())
  await model.click()
  const notice = page.getByRole('alert').filter({ hasText: 'could not be loaded' })
  await notice.first().waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.unrouteAll()
  await notice.first().getByRole('button', { name: 'Try again' }).click()
  await page.locator('.picture svg').first().waitFor({ state: 'attached' })
  await page.context().close()
})

const sizesThen = Array.from({ length: 300 }, (_, i) => 20 + (i % 90))
const sizesLater = sizesThen.map((size) => size + 1_000)

/** Uploads a file with homes of these sizes, which takes the place of its earlier content. */
const upload = async (file: string, sizes: readonly number[]): Promise<void> => {
  const form = new FormData()
  form.append('file', new Blob([`size,rent\n${sizes.map((size) => `${size},${300 + 9 * size}`).join('\n')}\n`]), `${file}.csv`)
  expect((await send(at.url, 'PUT', `/api/files/${file}`, form)).status).toBeLessThan(300)
}

/** Trains a model on a file that gets other rows afterwards. */
const trainOnEarlierRows = async (name: string): Promise<void> => {
  await upload(name, sizesThen)
  expect((await sql(at.url, `CREATE MODEL ${name} FROM files (SELECT * FROM ${name}) PREDICT rent`)).error_message).toBeUndefined()
  await until(async () => (await status(name)) === 'complete')
  await upload(name, sizesLater)
}

test('inputs are compared with the rows of the training, and its ranges are theirs, also after its file got other rows', async () => {
  await trainOnEarlierRows('flats')
  const asked = sizesLater.slice(0, 90).map((size) => ({ size }))
  expect((await send(at.url, 'POST', '/api/projects/mindsdb/models/flats/predict', asked)).status).toBe(200)
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/flats?tab=since')
  const drift = page.getByRole('list', { name: 'Distance of each input from the training' }).getByRole('listitem')
  const [, percent = '0'] = /(\d+) %/.exec(await drift.first().innerText()) ?? []
  expect(Number(percent)).toBeGreaterThan(50)
  await page.goto(`${at.url}/#/models/mindsdb/flats?tab=try`)
  await page.getByRole('slider', { name: 'size, from 20 to 109' }).waitFor()
  await page.goto(`${at.url}/#/models/mindsdb/flats?tab=dependence`)
  await page.getByRole('img', { name: 'rent by size' }).locator('path').first().waitFor({ state: 'attached' })
  expect(await page.getByText('are read as they are now').count()).toBe(0)
  // The same statement gives the same in the query page, at the moment of the rows.
  await page.getByRole('link', { name: 'Query it' }).click()
  await page.getByRole('button', { name: 'Run' }).click()
  const first = page.locator('.grid-row').first().getByRole('gridcell')
  await first.nth(1).waitFor()
  expect(await first.nth(0).innerText()).toBe('20')
  expect(await first.nth(1).innerText()).not.toBe('NULL')
  await page.context().close()
})

test('inputs that are times are compared as times, however they are written, once there are enough of them', async () => {
  const days = Array.from({ length: 40 }, (_, i) => new Date(Date.UTC(2024, 0, 1 + i)).toISOString().slice(0, 10))
  const moment = `TIMESTAMP '2024-01-01 06:00:00' + to_days((i % 40)::INTEGER)`
  for (const statement of [
    `CREATE TABLE files.visits (SELECT ${moment} AS moment, CAST(${moment} AS DATE) AS day, i % 40 AS visits FROM range(200) AS t(i))`,
    `CREATE MODEL visits FROM files (SELECT * FROM visits) PREDICT visits USING engine = 'linear'`,
  ])
    expect([statement, (await sql(at.url, statement)).error_message]).toEqual([statement, undefined])
  await until(async () => (await status('visits')) === 'complete')
  const ask = async () => {
    const rows = days.map((day) => ({ day, moment: `${day}T06:00:00` }))
    expect((await send(at.url, 'POST', '/api/projects/mindsdb/models/visits/predict', rows)).status).toBe(200)
  }
  await ask()
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/visits?tab=since')
  await page.getByText(/^40 inputs of this version are recorded\..* when there are 50/).waitFor()
  const drift = page.getByRole('list', { name: 'Distance of each input from the training' }).getByRole('listitem')
  expect(await drift.count()).toBe(0)
  await ask()
  await page.reload()
  await drift.first().waitFor()
  const told = (await drift.allInnerTexts()).map((text) => text.trim().split(/\s+/).join(' '))
  expect(told.sort()).toEqual(['day 0 %', 'moment 0 %'])
  await page.context().close()
})

test('the rows of a connected database are those of now, and the page says so', async () => {
  await trainOnEarlierRows('rooms')
  const { page } = await openPage(at.browser, at.url, '#/models')
  const moments: unknown[] = []
  await page.route('**/sql/query', async (route) => {
    const { query = '', context } = route.request().postDataJSON() as { query?: string; context?: { as_of?: unknown } }
    if (query.includes('rows_of_training')) moments.push(context?.as_of)
    if (!query.endsWith('`rooms`.1.data')) return route.continue()
    const response = await route.fetch()
    const [head = '', rows = '', ...rest] = (await response.text()).split('\n')
    const read = ['connection', 'shop_db', 'Version 1 of a connection.']
    const body = [head, JSON.stringify([...(JSON.parse(rows) as unknown[]), read]), ...rest].join('\n')
    await route.fulfill({ status: 200, contentType: 'application/jsonlines', body })
  })
  await page.goto(`${at.url}/#/models/mindsdb/rooms?tab=try`)
  await page.getByRole('slider', { name: 'size, from 1,020 to 1,109' }).waitFor()
  await page.getByText('because shop_db is a connected database and has no past').waitFor()
  expect(moments.length).toBeGreaterThan(0)
  expect(moments.filter((moment) => moment !== undefined)).toEqual([])
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().close()
})

test('the rows of a training are found under the names of their time', async () => {
  for (const statement of [
    'CREATE PROJECT early',
    'CREATE VIEW early.all_homes AS (SELECT * FROM files.homes)',
    'CREATE MODEL early.lasting FROM early (SELECT * FROM all_homes) PREDICT rent',
  ])
    expect([statement, (await sql(at.url, statement)).error_message]).toEqual([statement, undefined])
  await until(async () => (await status('lasting')) === 'complete')
  expect((await sql(at.url, `ALTER DATABASE early NAME = 'late'`)).error_message).toBeUndefined()
  const { page } = await openPage(at.browser, at.url, '#/models/late/lasting?tab=try')
  await page.getByRole('slider', { name: 'size, from 20 to 109' }).waitFor()
  await page.context().close()
})

test('a part of a card that cannot be read is no missing part: the page says why, and reads it again', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models')
  const message = 'the query needs more memory than it may take'
  await page.route('**/sql/query', async (route) => {
    if (route.request().postData()?.includes('.importances') !== true) return route.continue()
    const body = `${JSON.stringify({ type: 'error', error_code: 0, error_message: message, context: {} })}\n`
    await route.fulfill({ status: 200, contentType: 'application/jsonlines', body })
  })
  await page.goto(`${at.url}/#/models/mindsdb/fee`)
  const refusal = page.getByRole('alert').filter({ hasText: message })
  await refusal.waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await refusal.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('What it uses').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.context().close()
})
