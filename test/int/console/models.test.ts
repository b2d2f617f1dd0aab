import { expect, test } from '@jest/globals'
import { atFirstSight, holdRequests, openPage, untilDrawn } from '../../support/console/browser.js'
import { expectUsable, seenAtAllSizes, startConsole } from '../../support/console/console.js'
import { send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const homes = Array.from(
  { length: 300 },
  (_, i) => `${20 + (i % 90)},${['north', 'south', 'west'][i % 3]},${300 + 9 * (i % 90) + 40 * (i % 3)}`,
)
const csv = `size,district,rent\n${homes.join('\n')}\n`

const status = async (model: string): Promise<unknown> =>
  (await sql(at.url, `SELECT STATUS FROM information_schema.models WHERE NAME = '${model}' ORDER BY VERSION DESC LIMIT 1`)).data[0]?.[0]
const trained = async (statement: string, model: string): Promise<void> => {
  expect((await sql(at.url, statement)).type).not.toBe('error')
  await until(async () => (await status(model)) === 'complete')
}

const at = startConsole(async (url) => {
  const form = new FormData()
  form.append('file', new Blob([csv]), 'homes.csv')
  await send(url, 'PUT', '/api/files/homes', form)
  await trained('CREATE MODEL fee FROM files (SELECT * FROM homes) PREDICT rent', 'fee')
  await trained(`RETRAIN fee USING engine = 'linear'`, 'fee')
  const asked = Array.from({ length: 60 }, (_, i) => ({ size: 60 + (i % 50), district: 'north' }))
  const { headers } = await send(url, 'POST', '/api/projects/mindsdb/models/fee.1/predict', asked)
  const position = Number(headers.get('mindledger-position'))
  const outcomes = asked.map(({ size }, row) => ({ position, row, truth: 300 + 9 * size }))
  expect((await send(url, 'POST', '/api/projects/mindsdb/models/fee/outcomes', outcomes)).body).toMatchObject({ rows: 60 })
  await trained('CREATE MODEL place FROM files (SELECT * FROM homes) PREDICT district', 'place')
  await sql(
    url,
    `CREATE TABLE files.sales (SELECT CAST(DATE '2024-01-01' + CAST(i AS INTEGER) AS DATE) AS day, shop, f * (50 + 10 * (i % 7) + i % 3) AS sold
      FROM range(80) AS t(i), (VALUES ('north', 1), ('south', 2)) AS v(shop, f))`,
  )
  await trained('CREATE MODEL sales FROM files (SELECT * FROM sales) PREDICT sold ORDER BY day GROUP BY shop HORIZON 14', 'sales')
})

test('a model is queried from its page, whatever its name is, and one of series for what is to come', async () => {
  await trained('CREATE MODEL `my model` FROM files (SELECT * FROM homes) PREDICT rent', 'my model')
  for (const [hash, rows, tell] of [
    ['#/models/mindsdb/my%20model', '100 rows', 'predicted'],
    ['#/models/mindsdb/sales', '28 rows', 'sold_min'],
  ] as const) {
    const { page } = await openPage(at.browser, at.url, hash)
    await page.locator('.title').getByRole('button', { name: 'Query it' }).click()
    await page.waitForURL(/query/)
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('status').getByText(rows).waitFor()
    await page.getByRole('columnheader', { name: tell }).waitFor()
    expect(await page.locator('.grid-row .null').count()).toBe(0)
    await page.context().close()
  }
})

const pages = [
  ['the list', '#/models', 'Models', 'fee'],
  ['a card of numbers', '#/models/mindsdb/fee', 'fee', 'What it uses'],
  ['a card of classes', '#/models/mindsdb/place', 'place', 'Whether its confidence holds'],
  ['a form', '#/models/mindsdb/fee?tab=try', 'fee', 'Predict rent'],
  ['a dependence of numbers', '#/models/mindsdb/fee?tab=dependence', 'fee', 'The mean over'],
  ['a dependence of classes', '#/models/mindsdb/place?tab=dependence&input=rent', 'place', 'west'],
  ['what became true', '#/models/mindsdb/fee?version=1&tab=since', 'fee', 'promised'],
  ['what nobody said became true', '#/models/mindsdb/place?tab=since', 'place', 'Nobody has reported'],
  ['versions', '#/models/mindsdb/fee?tab=versions&compare=1,2', 'fee', 'Version 1 and version 2'],
  ['a forecast', '#/models/mindsdb/sales?tab=forecast', 'sales', 'south'],
  ['a training', '#/models/new?table=files.homes&target=rent', 'Train a model', 'CREATE MODEL'],
] as const

test.each(pages)('%s is shown without an error or a request to elsewhere, and anybody can use it', async (_, hash, title, content) => {
  await seenAtAllSizes(at, hash, async (page) => {
    await page.locator('h1', { hasText: title }).first().waitFor()
    await page.locator('main').getByText(content).first().waitFor()
    await page.locator('.busy').first().waitFor({ state: 'detached' })
  })
})

test('a model is trained from a picture of a table, watched, tried, and its prediction is in the log', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models')
  await page.getByRole('link', { name: 'Train a model' }).click()
  await page.getByLabel('Table').selectOption('files.homes')
  const rent = page.locator('.columns > li', { hasText: 'rent' })
  await rent.getByRole('button', { name: 'Predict this' }).click()
  await page.locator('.columns > li', { hasText: 'district' }).getByLabel('learn from it').uncheck()
  await page.getByLabel('Name of the model').fill('by_size')
  const statement = await page.locator('.statement').innerText()
  expect(statement).toContain('PREDICT `rent`')
  expect(statement).toContain(`exclude = ['district']`)
  await page.getByRole('button', { name: 'Train' }).click()
  await page.getByText('What it uses').waitFor()
  await page.getByRole('tab', { name: 'Try it' }).click()
  await page.getByLabel('size', { exact: true }).fill('50')
  await page.getByRole('button', { name: 'Predict rent' }).click()
  await page.getByText('What each input added').waitFor()
  await expectUsable(page)
  const predicted = Number((await page.locator('output').innerText()).replaceAll(',', ''))
  expect(predicted).toBeGreaterThan(500)
  expect(predicted).toBeLessThan(720)
  expect((await sql(at.url, `SELECT count(*) FROM log.predictions WHERE model = 'by_size'`)).data).toEqual([[1]])
  await page.context().close()
})

test.each([
  ['a comment', 'SELECT * FROM files.homes -- all of them', 'commented'],
  ['a semicolon', 'SELECT * FROM files.homes;', 'ended'],
])("a query of one's own that ends with %s is shown, and learned from", async (_, query, name) => {
  const { page } = await openPage(at.browser, at.url, `#/models/new?${new URLSearchParams({ query, target: 'rent', name }).toString()}`)
  await page.getByRole('button', { name: 'Show its rows' }).click()
  await page.getByRole('button', { name: 'Train' }).click()
  await page.getByText('What it uses').waitFor()
  await page.getByRole('tab', { name: 'Try it' }).click()
  await page.getByLabel(/^size, from 20 to 109$/).waitFor()
  await page.context().close()
})

test('the number of steps ahead can be emptied and written anew', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models/new?table=files.sales&target=sold&order=day&group=shop')
  const steps = page.getByLabel('Steps ahead')
  await steps.press('End')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('24')
  await page.locator('.statement', { hasText: 'HORIZON 24' }).waitFor()
  await page.context().close()
})

test('a table is shown as a part of itself only if it has more rows than are looked at', async () => {
  for (const [rows, said] of [
    [20_000, '20,000 rows.'],
    [20_001, 'The first 20,000 rows, as they are. A training reads all.'],
  ] as const) {
    await sql(at.url, `CREATE TABLE files.rows_${rows} (SELECT i % 7 AS n FROM range(${rows}) AS t(i))`)
    const { page } = await openPage(at.browser, at.url, `#/models/new?table=files.rows_${rows}`)
    const told = page.getByText(/rows.* Choose what to predict\.$/)
    await told.waitFor()
    expect(await told.innerText()).toBe(`${said} Choose what to predict.`)
    await page.context().close()
  }
})

test('a target in any script gives its model a name of its own', async () => {
  await sql(at.url, 'CREATE TABLE files.offers (SELECT i AS "имя", 2 * i AS "цена, €" FROM range(30) AS t(i))')
  const { page } = await openPage(at.browser, at.url, '#/models/new?table=files.offers')
  for (const [target, name] of [
    ['цена, €', 'цена'],
    ['имя', 'имя'],
  ] as const) {
    await page.getByRole('combobox', { name: /^Predict/ }).selectOption(target)
    await page.locator('.statement', { hasText: `CREATE MODEL \`mindsdb\`.\`${name}\`` }).waitFor()
  }
  await page.context().close()
})

test('an input that nobody touched is not sent, whatever its name is', async () => {
  await sql(at.url, 'CREATE TABLE files.flags (SELECT i AS size, i % 2 = 0 AS constructor, 3 * i AS price FROM range(100) AS t(i))')
  await trained('CREATE MODEL flagged FROM files (SELECT * FROM flags) PREDICT price', 'flagged')
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/flagged?tab=try')
  await page.getByLabel('size', { exact: true }).fill('50')
  const sent = page.waitForRequest('**/predict')
  await page.getByRole('button', { name: 'Predict price' }).click()
  expect((await sent).postDataJSON()).toMatchObject({ data: [{ size: 50 }] })
  expect((await sent).postData()).not.toContain('constructor')
  await page.locator('output').waitFor()
  await page.context().close()
})

test('it is seen how a model misses, what it depends on, and how what it is asked differs from what it learned', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/fee?version=1')
  await page.getByRole('img', { name: 'What was true of rent, by what was predicted' }).locator('circle').first().waitFor()
  await page.getByRole('tab', { name: 'Dependence' }).click()
  await page.getByLabel('Input').selectOption('district')
  const drawn = page.getByRole('img', { name: 'rent by district' })
  await drawn.locator('circle').first().waitFor()
  expect(await drawn.locator('circle').count()).toBe(3)
  await page.getByRole('tab', { name: 'Since then' }).click()
  await page.getByRole('img', { name: 'What became true of rent' }).locator('circle').first().waitFor()
  const drift = page.getByRole('list', { name: 'Distance of each input from the training' }).getByRole('listitem')
  expect(await drift.first().innerText()).toMatch(/district\s+67 % · north: 100 %, was 33 %/)
  await page.context().close()
})

// It records predictions, which the distance of inputs in the test before would count.
test('a prediction says when the form has other inputs by now, also if it comes late', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/fee?version=1&tab=try')
  const changed = page.getByText('The inputs were changed since this prediction.')
  const size = page.getByLabel('size', { exact: true })
  const predict = page.getByRole('button', { name: 'Predict rent' })
  const answer = await holdRequests(page, '**/predict')
  await size.fill('30')
  await predict.click()
  await size.fill('100')
  expect(await predict.isDisabled()).toBe(true)
  answer()
  await page.locator('output').waitFor()
  await changed.waitFor()
  await predict.click()
  await changed.waitFor({ state: 'detached' })
  expect(Number((await page.locator('output').innerText()).replaceAll(',', ''))).toBeGreaterThan(1_000)
  await page.getByRole('button', { name: 'Clear' }).click()
  await changed.waitFor()
  await expectUsable(page)
  await page.context().close()
})

test('a single time on an axis is told as times of day, not as a stamp of a program', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/fee?version=1&tab=since')
  const drawn = page.getByRole('img', { name: 'Mean miss over time' })
  await drawn.locator('path[marker-start], path[marker-mid], circle').first().waitFor({ state: 'attached' })
  const texts = await drawn.locator('text').allInnerTexts()
  expect(texts.length).toBeGreaterThan(3)
  expect(texts.join(' ')).not.toMatch(/\d{4}-\d{2}-\d{2}T/)
  await page.context().close()
})

test('a forecast is drawn after the last values that are known', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/sales?tab=forecast')
  const drawn = page.getByRole('img', { name: 'sold, known and to come of south' })
  for (const color of ['quiet', 'accent']) await drawn.locator(`g[stroke="var(--${color})"] path`).first().waitFor({ state: 'attached' })
  await drawn.locator('g[fill-opacity="0.18"] path').first().waitFor({ state: 'attached' })
  await page.context().close()
})

test('the forms of a version read the rows of its training twice, however many inputs it has, and say why they cannot', async () => {
  await sql(
    at.url,
    `CREATE TABLE files.texts (SELECT i AS n, ['a', 'b'][i % 2 + 1] AS one, ['c', 'd'][i % 2 + 1] AS two FROM range(90) AS t(i))`,
  )
  await trained('CREATE MODEL texts FROM files (SELECT * FROM texts) PREDICT n', 'texts')
  const { page } = await openPage(at.browser, at.url, '#/')
  const read: string[] = []
  page.on('request', (request) => {
    const { query = '' } = (request.url().endsWith('/sql/query') ? request.postDataJSON() : {}) as { query?: string }
    if (query.includes('rows_of_training')) read.push(query)
  })
  const look = async (tab: string) => {
    await page.goto(`${at.url}/#/models/mindsdb/texts?tab=${tab}`)
    await (tab === 'try' ? page.getByRole('combobox', { name: 'two' }) : page.getByRole('combobox', { name: 'Input' })).waitFor()
  }
  await look('try')
  expect(read).toHaveLength(2)
  expect(await page.getByRole('combobox', { name: 'one' }).locator('option').allInnerTexts()).toEqual([expect.any(String), 'a', 'b'])
  await look('dependence')
  await look('try')
  expect(read.filter((query) => /SUMMARIZE|list\(DISTINCT/.test(query))).toHaveLength(2)
  expect((await send(at.url, 'POST', '/api/log/erasures', { file: { name: 'texts' } })).status).toBe(200)
  await page.reload()
  await page.getByText('No input has its range, because the rows of the training cannot be read').waitFor()
  await page.context().close()
})

test('the first of many series are drawn up to their newest known value, and the page tells how many there are', async () => {
  await sql(
    at.url,
    `CREATE TABLE files.many (SELECT CAST(DATE '2024-01-01' + CAST(i AS INTEGER) AS DATE) AS day, if(s = 3, NULL, format('it''s {:02d}', s)) AS shop, 50 + 10 * (i % 7) + s AS sold
      FROM range(60) AS t(i), range(40) AS v(s))`,
  )
  await trained('CREATE MODEL many FROM files (SELECT * FROM many) PREDICT sold ORDER BY day GROUP BY shop HORIZON 14', 'many')
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/many?tab=forecast')
  await page.getByText('The first 12 of 40 series.').waitFor()
  const drawn = page.getByRole('img', { name: /^sold, known and to come/ })
  expect(await drawn.count()).toBe(12)
  // The line of the past ends where the one of the forecast begins: at the newest known value.
  const pathOf = async (nth: number, color: string): Promise<string[]> =>
    ((await drawn.nth(nth).locator(`g[stroke="var(--${color})"] path`).first().getAttribute('d')) ?? '').split(/[ML]/).slice(1)
  for (let nth = 0; nth < 12; nth++) {
    const [past, coming] = [await pathOf(nth, 'quiet'), await pathOf(nth, 'accent')]
    expect([past.length, coming.length]).toEqual([60, 15])
    expect(past.at(-1)).toBe(coming[0])
  }
  await page.context().close()
})

test('the times of a forecast are those of its rows, wherever its reader is', async () => {
  await sql(
    at.url,
    `CREATE TABLE files.visits (SELECT TIMESTAMP '2024-01-01' + to_days(i::INTEGER) AS at, 50 + i % 7 AS n FROM range(80) AS t(i))`,
  )
  await trained('CREATE MODEL visits FROM files (SELECT * FROM visits) PREDICT n ORDER BY at HORIZON 14', 'visits')
  const drawnIn = async (timezoneId: string): Promise<string> => {
    const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/visits?tab=forecast', { timezoneId })
    const drawn = page.getByRole('img', { name: 'n, known and to come' })
    await drawn.locator('g[stroke="var(--accent)"] path').first().waitFor({ state: 'attached' })
    const picture = await drawn.innerHTML()
    await page.context().close()
    return picture
  }
  expect(await drawnIn('Asia/Tokyo')).toBe(await drawnIn('UTC'))
})

test('versions are compared, and another one is activated', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/fee?tab=versions')
  // One SELECT tells which version is active, however many there are.
  const askedAlone: string[] = []
  page.on('request', (request) => {
    if (/\/models\/fee\.\d/.test(request.url())) askedAlone.push(request.url())
  })
  await page.reload()
  await page.getByLabel('Compare version 1').check()
  await page.getByLabel('Compare version 2').check()
  await page.getByRole('region', { name: 'What was measured of both' }).getByText('rmse').waitFor()
  await page
    .getByRole('row', { name: /Compare version 1/ })
    .getByRole('button', { name: 'Activate' })
    .click()
  const plan = page.getByRole('group', { name: 'Activate version 1' })
  await plan.getByText('Model version activated').waitFor()
  await page.locator('[role=group]:focus', { hasText: 'would answer from now on' }).waitFor()
  await expectUsable(page)
  // The plan has an address, which does nothing.
  const { page: colleague } = await openPage(at.browser, at.url, new URL(page.url()).hash)
  await colleague.getByRole('group', { name: 'Activate version 1' }).getByText('Model version activated').waitFor()
  await plan.getByRole('button', { name: 'Leave it' }).click()
  await page.locator('button:focus', { hasText: 'Activate…' }).waitFor()
  const active = `SELECT VERSION FROM information_schema.models WHERE NAME = 'fee' AND ACTIVE`
  expect((await sql(at.url, active)).data).toEqual([[2]])
  await colleague.context().close()
  await page.getByRole('button', { name: 'Activate…' }).click()
  await plan.getByRole('button', { name: 'Activate version 1' }).click()
  await until(
    async () => (await sql(at.url, `SELECT VERSION FROM information_schema.models WHERE NAME = 'fee' AND ACTIVE`)).data[0]?.[0] === 1,
  )
  await page.getByText('version 1, active').waitFor()
  expect(askedAlone).toEqual([])
  await page.context().close()
})

test('the versions show a new training at once, and its end', async () => {
  await trained('CREATE MODEL again FROM files (SELECT * FROM homes) PREDICT rent', 'again')
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/again?tab=versions')
  await page
    .getByRole('row', { name: /Compare version 1/ })
    .getByText('active')
    .waitFor()
  await page.getByRole('button', { name: 'Retrain' }).click()
  await page.getByRole('row', { name: /Compare version 2/ }).waitFor()
  await page
    .getByRole('row', { name: /Compare version 2/ })
    .getByText('active')
    .waitFor()
  await page.getByText('version 2, active').waitFor()
  await page.context().close()
})

test('a training that cannot be is refused with its reason, and nothing of the choice is lost', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models/new?table=files.homes&target=rent&name=fee')
  await page.getByRole('button', { name: 'Train' }).click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByLabel('Name of the model').inputValue()).toBe('fee')
  await page.context().close()
})

test('a model as it was: nothing can be changed there', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/fee?at=8&tab=versions')
  await page.locator('h1', { hasText: 'fee' }).waitFor()
  expect(await page.getByRole('button', { name: /Retrain|Activate/ }).count()).toBe(0)
  await page.context().close()
})

test('a query that is written as soon as a link to another one is opened stays', async () => {
  const hash = (query: string) => `#/models/new?${new URLSearchParams({ query }).toString()}`
  const { page } = await openPage(at.browser, at.url, hash('SELECT 1 AS one'))
  const field = page.getByLabel(/^Query/)
  await field.waitFor()
  await atFirstSight(
    page,
    `location.hash = ${JSON.stringify(hash('SELECT 2 AS two'))}`,
    '.source textarea',
    `(field) => {
      field.value = 'SELECT 3 AS three'
      field.dispatchEvent(new Event('input', { bubbles: true }))
    }`,
  )
  await untilDrawn(page)
  expect(await field.inputValue()).toBe('SELECT 3 AS three')
  await page.context().close()
})

test('the end of a training is seen also when its state comes slowly, and no look is given up for the next one', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/fee')
  await page.locator('.title', { hasText: 'predicts rent' }).waitFor()
  const aborted: string[] = []
  page.on('requestfailed', (request) => {
    const text = request.postData() ?? ''
    if (text.includes('.jobs')) aborted.push(text)
  })
  let isEnded = false
  // The model seems to be under way until its state was looked at three times, each of them slower than the pause between two.
  let looks = 0
  await page.route('**/models/fee', async (route) => {
    const response = await route.fetch()
    const record = (await response.json()) as object
    await route.fulfill({ response, json: isEnded ? record : { ...record, version: 2, status: 'training' } })
  })
  await page.route('**/sql/query', async (route) => {
    if (route.request().postData()?.includes('.jobs') !== true) return route.continue()
    looks += 1
    isEnded = looks > 2
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const response = await route.fetch()
    const text = await response.text()
    await route.fulfill({ response, body: isEnded ? text : text.replaceAll('complete', 'training') }).catch(() => undefined)
  })
  await page.reload()
  await page.getByRole('region', { name: 'Training' }).waitFor()
  await until(() => isEnded || aborted.length > 0)
  expect(aborted).toEqual([])
  await page.getByText('What it uses').waitFor()
  // A last look may be held.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().close()
})
