import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { undoAll } from '../../../../src/basics/undo.js'
import { queries } from '../../../support/agents/scripted-model.js'
import { AgentShop } from '../../../support/agents/shop.js'
import { closeBrowser, openBrowser, openPage } from '../../../support/console/browser.js'
import { checkMisdeeds, seenAtAllSizes } from '../../../support/console/console.js'
import { eachOf } from '../../../support/each-of.js'
import { rowsNow, sql, temporaryDirectory } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const shop = new AgentShop()
const undo: (() => unknown)[] = []
let browser: Browser

/** Records are written a little after the answers. */
const recorded = (condition: string, least: number) =>
  until(async () => Number((await rowsNow(shop.url, `SELECT count(*) FROM log.database_queries WHERE ${condition}`))[0]?.[0] ?? 0) >= least)

beforeAll(async () => {
  const place = temporaryDirectory()
  undo.push(() => place.remove())
  const lite = new Database(join(place.path, 'plant.db'))
  lite.exec(
    `CREATE TABLE lots AS WITH n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 99) SELECT i AS size, 9 * i AS rent FROM n`,
  )
  lite.close()
  undo.push(() => shop.stop())
  await shop.start({ CONNECTION_FILES: place.path })
  browser = await openBrowser()
  undo.push(() => closeBrowser(browser))
  for (const name of ['plant', 'spare', 'other'])
    await shop.run(`CREATE DATABASE ${name} WITH ENGINE = 'sqlite', PARAMETERS = {"path": "plant.db"}`)
  await shop.run('SELECT size FROM other.lots WHERE size > 97')
  await shop.run('CREATE MODEL shop.fee FROM plant (SELECT size, rent FROM lots) PREDICT rent')
  await recorded("purpose = 'training'", 1)
  await shop.agent('keeper', { data: { tables: ['plant.lots'] } })
  shop.model.script = queries(() => 'SELECT max(rent) AS most FROM plant.lots')
  expect((await shop.ask('keeper', 'What is the highest rent?')).status).toBe(200)
  await recorded("purpose = 'skill'", 1)
  expect((await sql(shop.url, 'SELECT * FROM plant (SELECT nowhere FROM lots)')).type).toBe('error')
  for (let n = 0; n < 3; n++) await shop.run(`SELECT * FROM plant (SELECT ${n} AS n, '${'long '.repeat(80)}' AS text)`)
  await recorded("statement LIKE '%long%'", 3)
  await recorded("statement LIKE '%nowhere%'", 1)
})
afterAll(() => undoAll(undo))
checkMisdeeds()

const hash = '#/resources/database/-/plant?tab=sent'

test('the page of a database lists what was sent to it: when, what, how many rows, how it ended, and for what', async () => {
  const { page } = await openPage(browser, shop.url, hash)
  const lines = page.getByRole('region', { name: 'Statements that were sent' }).locator('tbody tr')
  await lines.first().waitFor()
  expect(await lines.first().innerText()).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s.*SELECT 2 AS n, 'long.*\s1\s.*complete\squery of anonymous$/s,
  )
  expect(await lines.filter({ hasText: 'nowhere' }).first().innerText()).toMatch(/failed/)
  expect(await lines.filter({ hasText: '> 97' }).count()).toBe(0)
  const training = lines.filter({ hasText: 'training of' }).first().getByRole('link', { name: 'fee, version 1' })
  expect(await training.getAttribute('href')).toBe('#/models/shop/fee')
  await lines.filter({ hasText: 'of keeper' }).first().getByRole('link', { name: 'answer' }).click()
  await page.getByText('What is the highest rent?').first().waitFor()
  await page.context().close()
})

test('the newest statements are shown, and a query has all of them with their whole texts', async () => {
  const send = (n: number) => shop.run(`SELECT * FROM spare (SELECT ${n} AS nth, '${'whole '.repeat(50)}end' AS text)`)
  await eachOf([...Array(54).keys()], send, 4)
  await recorded("database = 'spare'", 54)
  await send(54)
  await recorded("database = 'spare'", 55)
  const { page } = await openPage(browser, shop.url, '#/resources/database/-/spare?tab=sent')
  await page.getByText('The newest 50 are shown.').waitFor()
  const lines = page.locator('tbody tr')
  expect(await lines.count()).toBe(50)
  expect(await lines.first().innerText()).toContain('54 AS nth')
  expect(await lines.first().innerText()).not.toContain('end')
  await page.getByRole('link', { name: 'Earlier' }).click()
  await page.getByText('Nothing was sent before.').waitFor()
  expect(await lines.count()).toBeGreaterThan(0)
  const [[first]] = (await rowsNow(shop.url, "SELECT min(position) FROM log.database_queries WHERE database = 'spare'")) as [[number]]
  expect(await lines.last().getByRole('link').first().getAttribute('href')).toBe(`#/events?position=${first}`)
  await page.getByRole('link', { name: 'Newest' }).click()
  await page.getByText('The newest 50 are shown.').waitFor()
  await page.getByRole('link', { name: 'Query all of them' }).click()
  await page.getByRole('button', { name: 'Run' }).click()
  const count = (await rowsNow(shop.url, "SELECT count(*) FROM log.database_queries WHERE database = 'spare'"))[0]?.[0]
  await page
    .getByText(`${String(count)} rows`)
    .first()
    .waitFor()
  await page.locator('.grid-row', { hasText: 'whole end' }).first().waitFor()
  await page.context().close()
})

test('anybody can read the list at all sizes, also where nothing was sent yet', async () => {
  await shop.run(`CREATE DATABASE idle WITH ENGINE = 'sqlite', PARAMETERS = {"path": "plant.db"}`)
  const at = { browser, url: shop.url }
  await seenAtAllSizes(at, hash, async (page) => {
    await page.locator('tbody tr').first().waitFor()
  })
  await seenAtAllSizes(at, '#/resources/database/-/idle?tab=sent', async (page) => {
    await page.getByText('Nothing was sent to it yet').waitFor()
  })
})
