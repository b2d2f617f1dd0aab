import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage, violationsOf } from '../../support/console/browser.js'
import { startConsole } from '../../support/console/console.js'
import { password, startPostgres, type Postgres } from '../../support/connections/postgres.js'
import { send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const at = startConsole()

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
  await postgres.run(`CREATE TABLE homes (size int, rent int); INSERT INTO homes SELECT i, 9 * i FROM generate_series(1, 40) AS i;
    CREATE SCHEMA sales; CREATE TABLE sales."Orders" AS SELECT * FROM homes; CREATE TABLE "a.b" AS SELECT * FROM homes`)
})
afterAll(() => postgres.stop())

/** Fills in the form of a connection, and sends it. */
const connect = async (page: Page, name: string): Promise<void> => {
  for (const [label, text] of [
    ['Name', name],
    ['Host', '127.0.0.1'],
    ['Port', String(postgres.port)],
    ['Database', 'postgres'],
    ['User', 'postgres'],
    ['Password', password],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(text)
  await page.getByRole('button', { name: 'Try it, and keep it' }).click()
  await page.locator('h1', { hasText: name }).waitFor()
}

test('a database is connected, its rows are queried where they are, and the plan shows what is sent to it', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.getByRole('link', { name: 'Connect a database' }).click()
  await connect(page, 'shop_db')
  const tables = page.getByRole('region', { name: 'Tables of shop_db' })
  await tables.getByRole('link', { name: 'sales.Orders', exact: true }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('tab', { name: 'Record' }).click()
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

test('the tables of a connection lead to their rows and to a model, whatever their names are', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  const tables = page.getByRole('region', { name: 'Tables of shop_db' })
  const follow = async (name: string) => {
    await page.goto(`${at.url}/#/resources/database/-/shop_db?tab=tables`)
    await tables.getByRole('link', { name, exact: true }).click()
  }
  for (const [name, said] of [
    ['homes', '`shop_db`.`homes`'],
    ['sales.Orders', '`shop_db`.`sales`.`Orders`'],
    ['a.b', '`shop_db`.`a.b`'],
  ] as const) {
    await follow(name)
    await page.locator('.cm-content', { hasText: said }).waitFor()
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('status').getByText('40 rows').waitFor()
    await follow(`Train a model on ${name}`)
    await page.locator('.columns > li', { hasText: 'rent' }).getByRole('button', { name: 'Predict this' }).click()
    await page.locator('.statement', { hasText: said }).waitFor()
  }
  await page.goto(`${at.url}/#/connect`)
  await page.getByRole('link', { name: 'Other kinds of databases' }).click()
  await page.locator('h1', { hasText: 'New' }).waitFor()
  await page.context().close()
})

/**
 * Chooses the table of a training. A list of all tables waits only a short time for each connection, and leaves out the tables of one that
 * did not answer until then: so the page is loaded again.
 */
const chooseTable = async (page: Page, table: string): Promise<void> => {
  const choice = page.getByLabel('Table')
  await until(async () => {
    await choice.waitFor()
    if ((await choice.locator('option').allInnerTexts()).includes(table)) return true
    await page.reload()
    return false
  })
  await choice.selectOption(table)
}

test('a model learns from a table of a connection, in whichever schema, and its page reads the same rows', async () => {
  for (const [table, model, statement] of [
    ['shop_db.homes', 'of_homes', '`shop_db`.`homes`'],
    ['shop_db.sales.Orders', 'of_orders', '`shop_db`.`sales`.`Orders`'],
    ['shop_db.`a.b`', 'of_dots', '`shop_db`.`a.b`'],
  ] as const) {
    const { page } = await openPage(at.browser, at.url, '#/models/new')
    await chooseTable(page, table)
    await page.locator('.columns > li', { hasText: 'rent' }).getByRole('button', { name: 'Predict this' }).click()
    await page.getByLabel('Name of the model').fill(model)
    await page.locator('.statement', { hasText: statement }).waitFor()
    await page.getByRole('button', { name: 'Train' }).click()
    await page.getByText('What it uses').waitFor()
    await page.getByRole('tab', { name: 'Try it' }).click()
    await page.getByLabel('size, from 1 to 40').waitFor()
    await page.context().close()
  }
})

test('the page of a model reads its rows in the language of the database, and such a query is looked at without writing', async () => {
  const native = `SELECT size, rent, to_char(rent, 'FM99999') AS said FROM homes -- in its own language`
  expect((await sql(at.url, `CREATE MODEL there FROM shop_db (${native}\n) PREDICT rent`)).type).not.toBe('error')
  const { page } = await openPage(at.browser, at.url, '#/models/mindsdb/there')
  await page.getByText('What it uses').waitFor()
  await page.getByRole('tab', { name: 'Try it' }).click()
  await page.getByLabel('size, from 1 to 40').waitFor()
  await page.getByRole('tab', { name: 'Dependence' }).click()
  await page
    .getByRole('img', { name: /^rent by/ })
    .locator('path, circle')
    .first()
    .waitFor({ state: 'attached' })
  await page.locator('.title').getByRole('button', { name: 'Query it' }).click()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('status').getByText('40 rows').waitFor()
  await postgres.run('CREATE TABLE notes (id int)')
  const { host, port, user } = { host: '127.0.0.1', port: postgres.port, user: 'postgres' }
  const parameters = { host, port, user, password, database: 'postgres', writable: true }
  await send(at.url, 'POST', '/api/databases', { database: { name: 'open_db', engine: 'postgres', parameters } })
  const query = 'INSERT INTO notes VALUES (1) RETURNING id'
  await page.goto(`${at.url}/#/models/new?${new URLSearchParams({ db: 'open_db', query }).toString()}`)
  await page.getByRole('button', { name: 'Show its rows' }).click()
  await page.getByRole('alert').waitFor()
  const measured = `EXPLAIN ANALYZE SELECT * FROM open_db (${query})`
  await page.goto(`${at.url}/#/query?${new URLSearchParams({ sql: measured, view: 'plan' }).toString()}`)
  await page.getByRole('tab', { name: 'Plan' }).waitFor()
  await page.getByRole('alert').or(page.locator('.plan pre')).first().waitFor()
  expect((await postgres.rows('SELECT count(*) FROM notes'))[0]).toEqual(['0'])
  await page.context().close()
})

test('a database that is connected while a past moment is chosen is shown as it is now', async () => {
  const { page } = await openPage(at.browser, at.url, '#/connect?at=1')
  await connect(page, 'late_db')
  await page.getByRole('region', { name: 'Tables of late_db' }).getByRole('link', { name: 'homes', exact: true }).waitFor()
  expect(new URL(page.url()).hash).toBe('#/resources/database/-/late_db?tab=tables')
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
