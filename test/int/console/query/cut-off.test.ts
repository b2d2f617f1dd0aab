import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { APIResponse, Route } from 'playwright-core'
import { openPage, violationsOf } from '../../../support/console/browser.js'
import { expectRefusals, startConsole } from '../../../support/console/console.js'
import { sql } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const at = startConsole()

/** A statement with this in it gets no answer, however long a test takes: the service itself would end it after a minute. */
const unanswered = '-- never answered'

/** Passes requests on to the service, and cuts off an answer with many rows in its middle. */
const passOn: Server = createServer((asked, reply) => {
  const pass = (body: Buffer): void => {
    if (body.includes(unanswered)) return
    const target = new URL(asked.url ?? '/', at.url)
    const passed = request(target, { method: asked.method, headers: { ...asked.headers, 'accept-encoding': 'identity' } }, (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers)
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        reply.write(chunk)
        bytes += chunk.length
        if (asked.method === 'POST' && bytes > 2_000_000) {
          answer.destroy()
          reply.destroy()
        }
      })
      answer.on('end', () => reply.end())
    })
    passed.on('error', () => reply.destroy())
    passed.end(body)
  }
  buffer(asked).then(pass, () => reply.destroy())
})
let url = ''
beforeAll(async () => {
  passOn.listen(0, '127.0.0.1')
  await once(passOn, 'listening')
  url = `http://127.0.0.1:${(passOn.address() as AddressInfo).port}`
})
afterAll(() => {
  passOn.closeAllConnections()
  passOn.close()
})

const queryPage = (sql: string) => `#/query?${new URLSearchParams({ sql }).toString()}`

test('the rows of an answer that the network cuts off stay, and the page says that they are not all', async () => {
  expectRefusals()
  const { page } = await openPage(at.browser, url, queryPage(`SELECT range AS i, repeat('x', 100) AS t FROM range(200000)`))
  await page.getByRole('button', { name: 'Run' }).click()
  const notice = page.getByRole('alert')
  await notice.getByText(/^The answer was cut off after [\d,]+ rows/).waitFor()
  expect(await notice.innerText()).toContain('the connection to the service broke off')
  expect(await notice.innerText()).toContain('Run it again')
  expect(await page.locator('body').innerText()).not.toContain('fault of the console')
  await page.locator('.answer').getByText('· cut off').waitFor()
  expect(await page.locator('.grid-row').count()).toBeGreaterThan(3)
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'CSV' }).click()
  await page.getByText('the connection to the service broke off').nth(1).waitFor()
  expect(await page.locator('body').innerText()).not.toContain('fault of the console')
  await page.context().close()
})

test('four statements run at a time, so that the connections of the browser are left for other requests', async () => {
  const { page } = await openPage(at.browser, url, '#/health')
  const run = page.getByRole('button', { name: 'Run' })
  for (let i = 0; i < 5; i++) {
    const sql = `SELECT sum(a.range * b.range) AS s${i} FROM range(10000000) AS a, range(10000000) AS b ${unanswered}`
    await page.goto(`${url}/${queryPage(sql)}`)
    await page.locator('.cm-content', { hasText: `s${i}` }).waitFor()
    if (i === 4) break
    await run.click()
    await page.getByRole('button', { name: 'Cancel' }).waitFor()
  }
  expect(await run.isDisabled()).toBe(true)
  expect(await run.getAttribute('title')).toContain('4 statements run')
  await page.getByRole('link', { name: 'Health' }).click()
  await page.locator('h1', { hasText: 'Health' }).waitFor()
  await page.context().close()
})

test('a statement that is cancelled before its first row says so', async () => {
  const sql = 'SELECT sum(a.range * b.range) AS s FROM range(10000000) AS a, range(10000000) AS b'
  const { page } = await openPage(at.browser, at.url, queryPage(sql))
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('Waiting for the first rows').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Cancelled before the first row.').waitFor()
  expect(await page.locator('body').innerText()).not.toContain('Ask anything')
  await page.context().close()
})

test('a statement goes on while another page is shown, and its answer is there when its user is back', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT range AS i FROM range(3)'))
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const isOurs = (sent: string | null) => sent?.includes('range(3)') === true
  let aborted = 0
  page.on('requestfailed', (request) => isOurs(request.postData()) && aborted++)
  await page.route('**/sql/query', async (route) => {
    if (isOurs(route.request().postData())) await released
    await route.continue()
  })
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('Waiting for the first rows').waitFor()
  await page.getByRole('link', { name: 'Events' }).click()
  await page.locator('h1', { hasText: 'Events' }).waitFor()
  release()
  await page.getByRole('link', { name: 'Query' }).click()
  await page.getByText('3 rows ').waitFor()
  expect(aborted).toBe(0)
  await page.getByRole('tab', { name: 'My queries' }).click()
  await page.locator('.past > li', { hasText: 'range(3)' }).waitFor()
  await page.context().close()
})

test('a statement that is cancelled, or whose tab is closed, ends, and is listed as cancelled', async () => {
  const endless = (n: number) => `SELECT ${n} + sum(a.range * b.range) AS s FROM range(10000000) AS a, range(10000000) AS b`
  const { page } = await openPage(at.browser, at.url, queryPage(endless(1)))
  const past = (n: number) => page.locator('.past > li', { hasText: `SELECT ${n} +` }).locator('span')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('Waiting for the first rows').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('tab', { name: 'My queries' }).click()
  expect(await past(1).innerText()).toMatch(/^cancelled · /)
  await page.getByRole('button', { name: 'New statement' }).click()
  await page.getByLabel('SQL').click()
  await page.keyboard.type(endless(2))
  const ended = page.waitForEvent('requestfailed', (request) => request.postData()?.includes('SELECT 2') === true)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('Waiting for the first rows').waitFor()
  await page.getByRole('button', { name: 'Close SELECT 2' }).click()
  await ended
  await page.getByRole('tab', { name: 'My queries' }).click()
  expect(await past(2).innerText()).toMatch(/^cancelled · /)
  await page.context().close()
})

test('the rows that came before an error of the statement stay beside it', async () => {
  const sql = `SELECT range AS i, CASE WHEN range < 150000 THEN 1 ELSE CAST('none' || range AS INTEGER) END AS n FROM range(200000)`
  const { page } = await openPage(at.browser, at.url, queryPage(sql))
  await page.getByRole('button', { name: 'Run' }).click()
  const notice = page.getByRole('alert')
  await notice.getByText(/^The answer was cut off after [\d,]+ rows/).waitFor()
  expect(await notice.innerText()).toContain('none1')
  expect(await page.locator('.grid-row').count()).toBeGreaterThan(3)
  await page.context().close()
})

test('a statement that writes is run by a double click, and one that nobody waits for may have been carried out', async () => {
  expectRefusals()
  await sql(at.url, 'CREATE TABLE files.kept (SELECT 1 AS i)')
  const { page } = await openPage(at.browser, at.url, queryPage('INSERT INTO files.kept VALUES (2)'))
  const rows = async () => (await sql(at.url, 'SELECT i FROM files.kept ORDER BY i')).data.flat()
  /** Carries out an INSERT, and then does something with its answer. */
  const insertsAre = async (then: (route: Route, response: APIResponse) => Promise<void>) => {
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.route('**/sql/query', async (route) => {
      if (route.request().postData()?.includes('INSERT') === true) await then(route, await route.fetch())
      else await route.continue()
    })
  }
  const write = async (i: number) => {
    await page.goto(`${at.url}/${queryPage(`INSERT INTO files.kept VALUES (${i})`)}`)
    await page.locator('.cm-content', { hasText: `(${i})` }).waitFor()
  }
  const run = page.getByRole('button', { name: 'Run' })
  await insertsAre(async (route, response) => {
    await page.getByRole('button', { name: 'Cancel' }).waitFor()
    await route.fulfill({ response })
  })
  await run.dblclick()
  await page.getByText('This statement answers no rows.').waitFor()
  expect(await rows()).toEqual([1, 2])

  await insertsAre(async () => undefined)
  await write(3)
  await run.click()
  await until(async () => (await rows()).length === 3)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('The statement may have been carried out.').waitFor()
  expect(await page.locator('.answer').innerText()).not.toMatch(/cancelled|asks again/i)
  expect(await violationsOf(page)).toEqual([])

  await insertsAre((route) => route.abort())
  await write(4)
  await run.click()
  await page.getByRole('alert').getByText('The statement may have been carried out.').waitFor()
  expect(await rows()).toEqual([1, 2, 3, 4])
  await page.context().close()
})

test('a statement that may change something is not given up for another text, and is never listed as cancelled', async () => {
  await sql(at.url, 'CREATE TABLE files.counted (SELECT 1 AS i)')
  const { page } = await openPage(at.browser, at.url, queryPage('INSERT INTO files.counted VALUES (2)'))
  const rows = async () => (await sql(at.url, 'SELECT i FROM files.counted ORDER BY i')).data.flat()
  const isInsert = (sent: string | null) => sent?.includes('INSERT') === true
  let aborted = 0
  page.on('requestfailed', (request) => isInsert(request.postData()) && aborted++)
  await page.route('**/sql/query', async (route) => {
    // It is carried out, and its answer never comes.
    if (isInsert(route.request().postData())) await route.fetch()
    else await route.continue()
  })
  await page.getByRole('button', { name: 'Run' }).click()
  await until(async () => (await rows()).length === 2)
  await page.getByLabel('SQL').click()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText('SELECT 7 AS seven')
  await page.keyboard.press('Control+Enter')
  const notice = page.getByRole('alert').getByText('The statement before still runs, and may change something.')
  await notice.waitFor()
  expect(aborted).toBe(0)
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('The statement may have been carried out.').waitFor()
  await until(() => aborted === 1)
  expect(await notice.count()).toBe(0)
  await page.getByLabel('SQL').click()
  await page.keyboard.press('Control+Enter')
  await page.locator('.grid-row', { hasText: '7' }).waitFor()
  await page.getByRole('tab', { name: 'My queries' }).click()
  const listed = page.locator('.past > li', { hasText: 'INSERT' }).locator('span')
  expect(await listed.allInnerTexts()).toEqual([expect.stringMatching(/^may have been carried out · /)])
  expect(await rows()).toEqual([1, 2])
  await page.context().close()
})

test.each([
  ['SELECT * FROM shop_db (INSERT INTO notes VALUES (1) RETURNING id)', 'The statement may have been carried out.'],
  ['SELECT id FROM shop_db (WITH x AS (SELECT 1) UPDATE notes SET a = 1 RETURNING id) AS n', 'The statement may have been carried out.'],
  ["SELECT (replace(a, 'insert into x', 'b')) FROM files.kept", 'Cancelled'],
])('%s is cancelled: %s', async (statement, said) => {
  const { page } = await openPage(at.browser, at.url, queryPage(statement))
  let asked = false
  await page.route('**/sql/query', (route) => {
    if (route.request().postData()?.includes(statement.slice(0, 20)) !== true) return route.continue()
    // The answer never comes.
    asked = true
    return undefined
  })
  await page.getByRole('button', { name: 'Run' }).click()
  await until(() => asked)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.locator('.answer').getByText(said).first().waitFor()
  await page.context().close()
})
