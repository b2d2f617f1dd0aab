import { expect, test } from '@jest/globals'
import type { Page, Request } from 'playwright-core'
import { atFirstSight, holdRequests, openPage, untilDrawn, violationsOf } from '../../../support/console/browser.js'
import { startConsole } from '../../../support/console/console.js'
import { send, sql } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const at = startConsole(async (url) => {
  for (const statement of [
    `CREATE SKILL rents USING type = 'sql', database = 'files', tables = ['homes']`,
    `CREATE AGENT clerk USING model = 'gpt-4o', skills = ['rents']`,
    `CREATE KNOWLEDGE_BASE papers USING storage = 'vectors.rents'`,
    `CREATE AGENT broker USING model = 'gpt-4o'`,
    `CREATE AGENT spare USING model = 'gpt-4o'`,
  ])
    expect((await sql(url, statement)).type).not.toBe('error')
})

/** Waits until a page has got a later answer, and has drawn what it got before. */
const afterwards = async (page: Page): Promise<void> => {
  await page.evaluate(`fetch('api/status').then((answer) => answer.text())`)
  await untilDrawn(page)
}

const statusOf = async (path: string): Promise<number> => (await send(at.url, 'GET', `/api/projects/mindsdb/${path}`)).status

test('the plan of a deletion has an address, which deletes nothing', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/skill/mindsdb/rents')
  await page.getByRole('button', { name: 'Delete…' }).click()
  const plan = page.getByRole('group', { name: 'Delete rents' })
  await plan.getByText('Skill deleted').waitFor()
  for (const name of ['clerk', 'papers']) await plan.getByRole('link', { name: `mindsdb.${name}` }).waitFor()
  const sent = await openPage(at.browser, at.url, new URL(page.url()).hash)
  await sent.page.getByRole('group', { name: 'Delete rents' }).getByText('Skill deleted').waitFor()
  expect(await statusOf('skills/rents')).toBe(200)
  expect(await violationsOf(sent.page)).toEqual([])
  await sent.page.context().close()
  await plan.getByRole('button', { name: 'Keep it' }).click()
  await page.getByRole('button', { name: 'Delete…' }).waitFor()
  await page.waitForURL((address) => !address.hash.includes('plan='))
  await page.context().close()
})

test('what has the same name in another project is among those that mention it', async () => {
  for (const statement of [
    'CREATE PROJECT other',
    'CREATE VIEW mindsdb.large AS (SELECT 1 AS n)',
    'CREATE VIEW other.large AS (SELECT n FROM mindsdb.large)',
  ])
    expect((await sql(at.url, statement)).type).toBe('ok')
  const { page } = await openPage(at.browser, at.url, '#/resources/view/mindsdb/large')
  await page.getByRole('button', { name: 'Delete…' }).click()
  const plan = page.getByRole('group', { name: 'Delete large' })
  await plan.getByRole('link', { name: 'other.large' }).waitFor()
  expect(await plan.getByRole('link', { name: 'mindsdb.large' }).count()).toBe(0)
  await page.context().close()
})

test('the plan of a deletion stays with its resource: another page begins without one', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/skill/mindsdb/rents')
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByRole('group', { name: 'Delete rents' }).getByRole('link', { name: 'mindsdb.clerk' }).click()
  await page.locator('h1', { hasText: 'clerk' }).waitFor()
  expect(await page.getByText('This would be recorded').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Delete…' }).waitFor()
  await page.context().close()
})

test('a plan that arrives after its page was left is shown nowhere', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/skill/mindsdb/rents')
  const answer = await holdRequests(page, '**/skills/rents', (request) => request.method() === 'DELETE')
  const isDeletion = (request: Request) => request.method() === 'DELETE'
  const [asking, answered] = [page.waitForRequest(isDeletion), page.waitForResponse((response) => isDeletion(response.request()))]
  await page.getByRole('button', { name: 'Delete…' }).click()
  await asking
  await page.goto(`${at.url}/#/resources/agent/mindsdb/broker`)
  await page.locator('h1', { hasText: 'broker' }).waitFor()
  answer()
  await (await answered).finished()
  await afterwards(page)
  expect(await page.getByText('This would be recorded').count()).toBe(0)
  await page.context().close()
})

test('a deletion that ends after its page was left does not lead away from the next page', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/agent/mindsdb/broker')
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByRole('group', { name: 'Delete broker' }).waitFor()
  const answer = await holdRequests(page, '**/agents/broker', (request) => request.method() === 'DELETE')
  const answered = page.waitForResponse((response) => response.request().method() === 'DELETE')
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.goto(`${at.url}/#/resources/skill/mindsdb/rents`)
  await page.locator('h1', { hasText: 'rents' }).waitFor()
  answer()
  await (await answered).finished()
  await afterwards(page)
  expect(new URL(page.url()).hash).toBe('#/resources/skill/mindsdb/rents')
  expect(await statusOf('agents/broker')).toBe(404)
  await page.context().close()
})

test('a deletion that ends just when the next page is drawn does not lead away from it', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/agent/mindsdb/spare')
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByRole('group', { name: 'Delete spare' }).waitFor()
  // Its answer is there, and takes no time when it is let go on.
  await page.evaluate(`{
    const { fetch } = window
    window.fetch = async (to, asked) => {
      const answer = await fetch(to, asked)
      if (asked?.method !== 'DELETE') return answer
      const bytes = new Uint8Array(await answer.arrayBuffer())
      await new Promise((resolve) => (window.goOn = resolve))
      const body = new ReadableStream({ start: (all) => (bytes.length > 0 && all.enqueue(bytes), all.close()) })
      return new Response(bytes.length === 0 ? null : body, { status: answer.status, headers: answer.headers })
    }
  }`)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await until(() => page.evaluate<boolean>('window.goOn !== undefined'))
  const next = '#/resources/skill/mindsdb/rents'
  const shown = await atFirstSight<string>(
    page,
    `location.hash = '${next}'`,
    '#content > .busy',
    `async () => {
      window.goOn()
      for (let step = 0; step < 1_000; step++) await undefined
      return location.hash
    }`,
  )
  expect(shown).toBe(next)
  expect(await statusOf('agents/spare')).toBe(404)
  await page.context().close()
})
