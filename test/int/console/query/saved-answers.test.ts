import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openPage, violationsOf } from '../../../support/console/browser.js'
import { startConsole } from '../../../support/console/console.js'
import { send, type SqlReply } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const at = startConsole()

/** Answers each request with a file that never ends: the service itself would end the query after a minute. */
const endless = createServer((_, reply) => {
  reply.writeHead(200, { 'content-type': 'text/csv' }).write('1\r\n'.repeat(1_000_000))
})
beforeAll(async () => {
  endless.listen(0, '127.0.0.1')
  await once(endless, 'listening')
})
afterAll(() => {
  endless.closeAllConnections()
  endless.close()
})

const queryPage = (sql: string, more: Record<string, string> = {}) => `#/query?${new URLSearchParams({ sql, ...more }).toString()}`

const ask = async (query: string, context: object) =>
  (await send(at.url, 'POST', '/api/sql/query', { query, context })).body as SqlReply & { error_message: string }

test('a dry run is saved as the events that there would be, and writes nothing', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('CREATE PROJECT made_by_file', { dry: '1' }))
  for (const format of ['CSV', 'JSON']) {
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: format }).click()
    expect(readFileSync(await (await saved).path(), 'utf8')).toContain('ProjectCreated')
  }
  expect(await page.getByRole('button', { name: 'Parquet' }).isDisabled()).toBe(true)
  expect((await send(at.url, 'GET', '/api/projects/made_by_file')).status).toBe(404)
  await page.context().close()
})

test('the answer of a statement that writes is not offered as a file, and says why', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('-- makes one\nCREATE PROJECT made_by_file'))
  // At first there is no statement, which is another reason.
  await page.locator('.cm-content', { hasText: 'CREATE PROJECT made_by_file' }).waitFor()
  for (const format of ['CSV', 'JSON', 'Parquet']) {
    const button = page.getByRole('button', { name: format })
    expect(await button.isDisabled()).toBe(true)
    expect(await button.getAttribute('title')).toContain('statement that reads')
  }
  await page.context().close()
})

test('a file is asked for so that the service refuses what writes, whatever the statement looks like', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT 1 AS n'))
  const contexts: unknown[] = []
  page.on('request', (request) => {
    const sent = request.postData() ?? ''
    if (sent.includes('SELECT 1 AS n')) contexts.push((JSON.parse(sent) as { context: unknown }).context)
  })
  for (const format of ['CSV', 'JSON', 'Parquet']) {
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: format }).click()
    await saved
  }
  expect(contexts).toEqual(Array.from({ length: 3 }, () => ({ db: 'mindsdb', read_only: true })))
  await page.context().close()
})

test('an answer that is on the screen is saved as it is, and as the service would write it', async () => {
  const values = `1, 'a "b", c', NULL, 12345678901234567890::HUGEINT, [1, NULL], {'k': 'v, w'}, DATE '2024-01-01', '', 0.1::DOUBLE, 1.10::DECIMAL(9,2), true, 'two\nlines', 'é😀'`
  const query = `SELECT range AS "the, ""n""", ${values}, random() AS chance FROM range(3000)`
  const { page } = await openPage(at.browser, at.url, queryPage(query))
  const csv = page.getByRole('button', { name: 'CSV' })
  await page.locator('.cm-content', { hasText: 'AS chance' }).waitFor()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('status').getByText('3,000 rows').waitFor()
  await until(async () => (await csv.getAttribute('title')) === 'Saves the answer that is here.')
  const asked: string[] = []
  page.on('request', (request) => request.url().includes('sql/query') && asked.push(request.postData() ?? ''))
  const save = async (format: string): Promise<string> => {
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: format }).click()
    return readFileSync(await (await saved).path(), 'utf8')
  }
  const [first, again, objects] = [await save('CSV'), await save('CSV'), await save('JSON')]
  expect(asked).toEqual([])
  expect(again).toBe(first)
  const rows = JSON.parse(objects) as Record<string, unknown>[]
  expect(rows).toHaveLength(3_000)
  const without = (text: string) => text.replaceAll(/,[^,]*\r\n/g, '\r\n')
  const body = JSON.stringify({ query, response_format: 'csv' })
  const service = await fetch(`${at.url}/api/sql/query`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect(without(first)).toBe(without(await service.text()))
  expect(first.match(/(?<=,)[\d.e-]+(?=\r\n)/)?.[0]).toBe(String(rows[0]?.['chance']))
  // Another statement than the one of the answer is run for its file.
  await page.getByLabel('SQL').click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' LIMIT 1')
  await until(async () => (await csv.getAttribute('title')) === 'Runs the statement for the file.')
  expect((await save('CSV')).split('\r\n')).toHaveLength(3)
  expect(asked.length).toBeGreaterThan(0)
  await page.context().close()
})

test('a file that is being saved says so, also after a look at another page, is saved once, and can be cancelled', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT range AS i FROM range(100000000000)'))
  const asked: string[] = []
  let cancelled = 0
  const isCsv = (sent: string | null) => sent?.includes('"response_format":"csv"') === true
  page.on('request', (request) => isCsv(request.postData()) && asked.push(request.url()))
  page.on('requestfailed', (request) => isCsv(request.postData()) && cancelled++)
  page.on('download', () => asked.push('saved'))
  const address = `http://127.0.0.1:${(endless.address() as AddressInfo).port}/`
  await page.route('**/sql/query', (route) => route.continue(isCsv(route.request().postData()) ? { url: address } : {}))
  const csv = page.getByRole('button', { name: 'CSV' })
  await csv.dblclick()
  await page.getByText('Saving CSV…').waitFor()
  await page.getByText(/^[\d.]+ [kMG]?B$/).waitFor()
  expect(await page.getByRole('button', { name: 'JSON' }).isDisabled()).toBe(true)
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('link', { name: 'Events' }).click()
  await page.locator('h1', { hasText: 'Events' }).waitFor()
  await page.getByRole('link', { name: 'Query' }).click()
  await page.getByText('Saving CSV…').waitFor()
  expect(await csv.isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Cancel the file' }).click()
  await page.getByText('Saving CSV…').waitFor({ state: 'hidden' })
  expect(await csv.isEnabled()).toBe(true)
  await until(() => cancelled === 1)
  expect(asked).toHaveLength(1)
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.context().close()
})

test('an answer that has no Parquet is not saved under that name', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('EXPLAIN CREATE PROJECT a'))
  await page.getByRole('button', { name: 'Parquet' }).click()
  await page.getByText('this statement has no answer as parquet').waitFor()
  await page.context().close()
})

test('a statement with read_only in its context is refused if it writes', async () => {
  const refused = await ask('CREATE PROJECT made_by_file', { read_only: true })
  expect(refused).toMatchObject({ type: 'error', error_message: expect.stringContaining('only statements that read') })
  expect((await send(at.url, 'GET', '/api/projects/made_by_file')).status).toBe(404)
  expect(await ask('SELECT 1 AS n', { read_only: true })).toMatchObject({ type: 'table', data: [[1]], context: { db: 'mindsdb' } })
  const wrong = await send(at.url, 'POST', '/api/sql/query', { query: 'SELECT 1', context: { read_only: 'yes' } })
  expect(wrong).toMatchObject({ status: 400, body: { detail: '"read_only" in "context" must be true or false' } })
})
