import { expect, test } from '@jest/globals'
import { openPage, violationsOf } from '../../support/console/browser.js'
import { expectRefusals, startConsole } from '../../support/console/console.js'
import { send, sql } from '../../support/service.js'

const at = startConsole()

test('an address that was cut off or changed by hand leads back, and is no fault of the console', async () => {
  await sql(at.url, 'CREATE TABLE files.homes (SELECT i AS size, i * 3 AS rent FROM range(40) AS r(i)); ')
  const { page } = await openPage(at.browser, at.url, '#/resources/agent/shop/%E0%A4%A')
  await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor()
  await page.goto(`${at.url}/#/resources/nothing`)
  await page.getByRole('heading', { level: 1, name: 'There is no kind nothing' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.goto(`${at.url}/#/models/new?table=files.homes&target=rent&without=[`)
  await page.locator('.columns > li', { hasText: 'size' }).waitFor()
  expect(await page.getByText('fault of the console').count()).toBe(0)
  await page.context().close()
})

test('a statement of an address waits for its reader', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  const sent: string[] = []
  page.on('request', (request) => sent.push(request.postData() ?? ''))
  await page.goto(`${at.url}/#/models/new?${new URLSearchParams({ query: 'SELECT 17 AS size', target: 'size' }).toString()}`)
  const show = page.getByRole('button', { name: 'Show its rows' })
  await show.waitFor()
  await page.goto(`${at.url}/#/query?${new URLSearchParams({ sql: '/* so */ ANALYZE SELECT 17 AS size', view: 'plan' }).toString()}`)
  await page.locator('.plan pre', { hasText: '17' }).first().waitFor()
  expect(sent.filter((body) => /17/.test(body)).map((body) => (JSON.parse(body) as { query: string }).query)).toEqual([
    'EXPLAIN  SELECT 17 AS size',
  ])
  await page.goBack()
  await show.click()
  await page.locator('.statement', { hasText: 'PREDICT `size`' }).waitFor()
  await page.context().close()
})

test('the title of the tab says where the reader is', async () => {
  await sql(at.url, "CREATE SKILL rents USING type = 'sql', database = 'files'")
  const { page } = await openPage(at.browser, at.url, '#/resources/skill/mindsdb/rents')
  await page.locator('h1', { hasText: 'rents' }).waitFor()
  expect(await page.title()).toBe('rents · Resources · Mindledger')
  await page.goto(`${at.url}/#/query`)
  await page.getByLabel('SQL').waitFor()
  expect(await page.title()).toBe('Query · Mindledger')
  await page.context().close()
})

test('a project may have every name, also that of the sign for kinds without a project', async () => {
  expect((await send(at.url, 'POST', '/api/projects', { project: { name: '-' } })).status).toBeLessThan(300)
  const skill = { name: 'of_dash', type: 'sql', params: { database: 'files', description: 'in a project with a short name' } }
  expect((await send(at.url, 'POST', '/api/projects/-/skills', { skill })).status).toBeLessThan(300)
  const { page } = await openPage(at.browser, at.url, '#/resources/project/-/-')
  await page.getByRole('link', { name: 'of_dash' }).click()
  await page.locator('.fields').getByText('in a project with a short name').waitFor()
  await page.context().close()
})

test('the form of a connection has its parameters, and that of a chatbot its agent', async () => {
  const parameters = { host: 'db.example.com', port: 5432, user: 'reader', password: 'hidden', database: 'shop' }
  await send(at.url, 'POST', '/api/databases', { database: { name: 'shop_db', engine: 'postgres', parameters } })
  await send(at.url, 'POST', '/api/databases', {
    database: { name: 'hook', engine: 'webhook', parameters: { secret: 'a secret of some length' } },
  })
  await send(at.url, 'POST', '/api/projects/mindsdb/agents', { agent: { name: 'seller' } })
  const bot = { name: 'bot', database_name: 'hook', agent_name: 'seller' }
  expect((await send(at.url, 'POST', '/api/projects/mindsdb/chatbots', { chatbot: bot })).status).toBe(201)
  const { page } = await openPage(at.browser, at.url, '#/resources/database/-/shop_db?tab=edit')
  const shown = page.getByLabel('parameters')
  await shown.waitFor()
  expect(JSON.parse(await shown.inputValue())).toMatchObject({ host: 'db.example.com', password: '******' })
  await page.goto(`${at.url}/#/resources/chatbot/mindsdb/bot?tab=edit`)
  await page.getByLabel('agent name').waitFor()
  expect([await page.getByLabel('agent name').inputValue(), await page.getByLabel('database name').inputValue()]).toEqual([
    'seller',
    'hook',
  ])
  await page.context().close()
})

test('what is typed for long stays, and is in the address at the end', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/skill')
  // Chrome has such a limit, too, but not under the control of a test.
  await page.addInitScript(`{
    const { replaceState } = History.prototype
    const times = []
    History.prototype.replaceState = function (...given) {
      times.push(performance.now())
      if (times.filter((time) => time > performance.now() - 30_000).length > 100) throw new DOMException('too often', 'SecurityError')
      return replaceState.apply(this, given)
    }
  }`)
  await page.reload()
  const filter = page.getByRole('searchbox')
  const text = 'a text of many keys '.repeat(15)
  await filter.pressSequentially(text)
  expect(await filter.inputValue()).toBe(text)
  await page.waitForURL((url) => new URLSearchParams(url.hash.split('?')[1]).get('filter') === text)
  await page.reload()
  expect(await filter.inputValue()).toBe(text)
  await page.context().close()
})

test('a statement that is too long for an address runs, and steps back go on', async () => {
  const { page } = await openPage(at.browser, at.url, `#/query?${new URLSearchParams({ sql: 'SELECT 7 AS seven' }).toString()}`)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('1 row ').waitFor()
  await page.getByLabel('SQL').click()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(`SELECT length('${'ü'.repeat(450_000)}') AS long`)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('gridcell', { name: '450000' }).waitFor()
  await page.getByRole('link', { name: 'Events' }).click()
  await page.locator('h1', { hasText: 'Events' }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'SELECT 7 AS seven', exact: true }).waitFor()
  await page.context().close()
})

test('a version that failed is not called active', async () => {
  await sql(at.url, 'CREATE TABLE files.few (SELECT 1 AS a, 2 AS b)')
  await sql(at.url, 'CREATE MODEL bad FROM files (SELECT * FROM few) PREDICT b')
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/bad')
  await page.getByText('predicts b').waitFor()
  await page.getByText('error').first().waitFor()
  expect(await page.getByText(', active').count()).toBe(0)
  await page.context().close()
})

test('a stream of events that is refused for a moment is asked for again', async () => {
  expectRefusals()
  const { page } = await openPage(at.browser, at.url, '#/')
  let asked = 0
  await page.route('**/events/stream*', (route) => (asked++ < 2 ? route.fulfill({ status: 503, body: '' }) : route.continue()))
  await page.goto(`${at.url}/#/events`)
  await page.getByText('Live').waitFor()
  expect(asked).toBe(3)
  await page.context().close()
})
