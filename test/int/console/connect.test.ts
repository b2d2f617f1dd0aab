import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openPage, violationsOf } from '../../support/console/browser.js'
import { startConsole } from '../../support/console/console.js'
import { password, startPostgres, type Postgres } from '../../support/connections/postgres.js'
import { send } from '../../support/service.js'
import { until } from '../../support/until.js'

const at = startConsole()

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
  await postgres.run('CREATE TABLE homes (size int, rent int); INSERT INTO homes SELECT i, 9 * i FROM generate_series(1, 40) AS i')
})
afterAll(() => postgres.stop())

test('a database is connected, its rows are queried where they are, and the plan shows what is sent to it', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.getByRole('link', { name: 'Connect a database' }).click()
  for (const [label, text] of [
    ['Name', 'shop_db'],
    ['Host', '127.0.0.1'],
    ['Port', String(postgres.port)],
    ['Database', 'postgres'],
    ['User', 'postgres'],
    ['Password', password],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(text)
  await page.getByRole('button', { name: 'Try it, and keep it' }).click()
  await page.locator('h1', { hasText: 'shop_db' }).waitFor()
  await page.locator('.fields').getByText('******').first().waitFor()
  expect(await page.locator('main').innerText()).not.toContain(password)
  await page.getByRole('link', { name: 'Query it' }).click()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.grid-row', { hasText: 'homes' }).waitFor()
  const statement = 'SELECT sum(rent) AS rents FROM shop_db.homes WHERE size <= 10'
  await page.goto(`${at.url}/#/query?${new URLSearchParams({ sql: statement }).toString()}`)
  await until(async () => (await page.locator('.sheets [aria-pressed=true]').getAttribute('title')) === statement)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.grid-row', { hasText: '495' }).waitFor()
  await page.getByRole('tab', { name: 'Plan' }).click()
  await page.locator('.plan pre', { hasText: 'FROM "homes" WHERE "size" <=' }).first().waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.context().close()
})

test('a form makes a connection of another kind, and keeps its secret', async () => {
  const { page } = await openPage(at.browser, at.url, '#/new/database')
  await page.getByLabel(/^name/).fill('talks')
  await page.getByLabel(/^engine/).fill('slack')
  await page.getByLabel(/^parameters/).fill('{"token": "xoxb-planted-9"}')
  await page.getByRole('button', { name: 'What would happen' }).click()
  await page.getByText('would be recorded').waitFor()
  expect((await send(at.url, 'GET', '/api/databases/talks')).status).toBe(404)
  await page.getByRole('button', { name: 'Create' }).click()
  await page.locator('h1', { hasText: 'talks' }).waitFor()
  expect((await send(at.url, 'GET', '/api/databases/talks')).body).toMatchObject({ engine: 'slack', connection_data: { token: '******' } })
  expect(await page.locator('main').innerText()).not.toContain('xoxb-planted-9')
  await page.context().close()
})
