import { expect, test } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { streamId } from '../../../../events/common.js'
import { openPage } from '../../../support/console/browser.js'
import { seenAtAllSizes, startConsole } from '../../../support/console/console.js'
import { record } from '../../../support/log/log.js'
import { sql } from '../../../support/service.js'

const views = 1_500

const at = startConsole(async (url) => {
  for (const statement of [
    ...['CREATE PROJECT shop', 'CREATE PROJECT workshop', 'CREATE PROJECT bare'],
    `CREATE SKILL shop.rents USING type = 'sql', database = 'files', tables = ['homes']`,
    `CREATE AGENT shop.broker USING model = 'gpt-4o', skills = ['rents'], openai_api_key = 'sk-1'`,
    `CREATE DATABASE channel WITH ENGINE = 'slack', PARAMETERS = {"token": "x"}`,
    `CREATE CHATBOT shop.talker USING database = 'channel', agent = 'broker', is_running = false`,
    'CREATE KNOWLEDGE_BASE shop.papers',
    `CREATE JOB shop.nightly (SELECT 1) START '2099-01-01 00:00:00' EVERY 1 day`,
    'CREATE TABLE files.homes (SELECT range AS size, 9 * range AS rent FROM range(100))',
    'CREATE MODEL shop.rent FROM files (SELECT * FROM homes) PREDICT rent',
    'CREATE VIEW workshop.other AS (SELECT 1 AS n)',
  ])
    expect(await sql(url, statement)).not.toHaveProperty('error_message')
  const shop = await at.log.resources.one('project', 'shop')
  if (!shop) throw new Error('there is no project')
  const created = (name: string) => ({
    type: 'ViewCreated' as const,
    data: { project: shop.stream, name, query: 'SELECT 1 AS n', database: '' },
  })
  await record(
    at.log,
    Array.from({ length: views }, (_, n) => ({ stream: streamId.parse(uuidv7()), event: created(`v${String(n).padStart(4, '0')}`) })),
  )
})

test('the page of a project lists what is in it by kind, with counts, and leads to each of it', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/project/-/shop')
  const section = (title: string) => page.getByRole('region', { name: title })
  for (const [title, count, name] of [
    ['Skills', '1', 'rents'],
    ['Agents', '1', 'broker'],
    ['Chatbots', '1', 'talker'],
    ['Models', '1', 'rent'],
    ['Knowledge bases', '1', 'papers'],
    ['Jobs', '1', 'nightly'],
    ['Views', '1,500', 'v0000'],
  ] as const) {
    await section(`${title} ${count}`).getByRole('link', { name, exact: true }).waitFor()
  }
  expect(await section('Views').getByRole('listitem').count()).toBe(12)
  await section('Agents').getByRole('link', { name: 'broker' }).click()
  await page.locator('h1', { hasText: 'broker' }).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'All 1,500 views' }).click()
  await page.locator('h1', { hasText: 'Views of shop' }).waitFor()
  // A long list begins with its first rows.
  for (const shown of [500, 1_000]) {
    await page.getByText(`The first ${shown.toLocaleString('en')} of 1,500 are here.`).waitFor()
    expect(await page.locator('tbody tr').count()).toBe(shown)
    await page.getByRole('button', { name: 'Show more' }).click()
  }
  await page.getByRole('link', { name: 'v1499', exact: true }).waitFor()
  // Another project whose name ends as this one's is not among them.
  expect(await page.locator('tbody tr').count()).toBe(views)
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Views of all projects' }).click()
  await page.getByLabel('Filter').fill('other')
  await page.getByRole('link', { name: 'other', exact: true }).waitFor()
  await page.context().close()
})

test('a project with nothing in it says so, and one in the past lists what was in it', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/project/-/bare')
  await page.getByText('Nothing is in this project yet').waitFor()
  const made = await sql(at.url, `SELECT created_at, id FROM log.resources WHERE kind = 'skill' AND name = 'rents'`)
  await page.goto(`${at.url}/#/resources/project/-/shop?at=${String(made.data[0]?.[1])}`)
  await page.getByRole('region', { name: 'Skills 1' }).waitFor()
  expect(await page.locator('.contents section').count()).toBe(1)
  await page.context().close()
})

test('the page of a project fits all screens', async () => {
  await seenAtAllSizes(at, '#/resources/project/-/shop', async (page) => {
    await page.getByRole('link', { name: 'All 1,500 views' }).waitFor()
  })
})
