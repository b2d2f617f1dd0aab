import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage } from '../../support/console/browser.js'
import { startConsole } from '../../support/console/console.js'
import { send } from '../../support/service.js'

/** Ways in which a text becomes code where it is taken for markup, an address, a style or a piece of a script. Each marks the page. */
const ways = (n: number): string[] => [
  `<img src=x onerror="window.ran=${n}">`,
  `<script>window.ran=${n}</script>`,
  `"><svg onload="window.ran=${n}">`,
  `'><iframe srcdoc="<script>parent.ran=${n}</script>"></iframe>`,
  `javascript:window.ran=${n}`,
  `</textarea><script>window.ran=${n}</script>`,
  `<a href="javascript:window.ran=${n}">x</a>`,
  `\${window.ran=${n}}`,
  `{{constructor.constructor('window.ran=${n}')()}}`,
  `<style>@import 'http://elsewhere.example/x.css'</style>`,
  `<link rel=stylesheet href=http://elsewhere.example/${n}>`,
  `<math><mi xlink:href="javascript:window.ran=${n}">`,
  `<details open ontoggle="window.ran=${n}">`,
  `<input autofocus onfocus="window.ran=${n}">`,
  `</title><script>window.ran=${n}</script>`,
  `<object data="javascript:window.ran=${n}">`,
  `<form action="javascript:window.ran=${n}"><button>x</button></form>`,
  `<meta http-equiv=refresh content="0;url=javascript:window.ran=${n}">`,
  `--><script>window.ran=${n}</script><!--`,
  `\u2028<img src=x onerror=window.ran=${n}>`,
]
const payloads = Array.from({ length: 5 }, (_, n) => ways(n)).flat()

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
const csvField = (text: string): string => `"${text.replaceAll('"', '""')}"`

const at = startConsole(async (url) => {
  const header = payloads.slice(0, 20).map((text, i) => csvField(`${i} ${text.replace(/[\u2028]/g, '')}`))
  const lines = payloads.map((text) =>
    payloads
      .slice(0, 20)
      .map(() => csvField(text))
      .join(','),
  )
  const form = new FormData()
  form.append('file', new Blob([`${header.join(',')}\n${lines.join('\n')}\n`]), 'hostile.csv')
  expect((await send(url, 'PUT', '/api/files/hostile', form)).status).toBe(200)
  for (const [i, text] of payloads.slice(0, 20).entries()) {
    await send(url, 'POST', '/api/projects/mindsdb/skills', {
      skill: { name: `${i} ${text}`.slice(0, 60), type: 'sql', params: { description: text, database: 'files' } },
    })
    await send(url, 'POST', '/api/projects/mindsdb/agents', {
      agent: { name: `agent_${i}`, model_name: text, skills: [], params: { prompt_template: text } },
    })
  }
})

/** Nothing ran: no mark, no element of theirs, no dialog. */
const nothingRan = async (page: Page, misdeeds: { errors: string[]; elsewhere: string[] }): Promise<void> => {
  expect(await page.evaluate('window.ran')).toBeUndefined()
  expect(await page.locator('main :is(img, iframe, script, object, link, style, form[action], math)').count()).toBe(0)
  expect(misdeeds).toEqual({ errors: [], elsewhere: [] })
}

test('a hundred texts that would be code are shown as texts, as names, headers and cells', async () => {
  expect(payloads).toHaveLength(100)
  const { page, misdeeds } = await openPage(
    at.browser,
    at.url,
    `#/query?${new URLSearchParams({ sql: 'SELECT * FROM files.hostile' }).toString()}`,
  )
  page.on('dialog', (dialog) => misdeeds.errors.push(dialog.message()))
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('100 rows').first().waitFor()
  await page.locator('.grid-row', { hasText: '<script>window.ran=0' }).first().waitFor()
  for (const view of ['Columns', 'Chart', 'My queries', 'Rows']) {
    await page.getByRole('tab', { name: view }).click()
    await nothingRan(page, misdeeds)
  }
  await page.context().close()
})

test.each(payloads.slice(0, 20).map((text, i) => [i, text] as const))(
  'way %i: as a literal, an error, a filter and an address: %s',
  async (_, text) => {
    const { page, misdeeds } = await openPage(
      at.browser,
      at.url,
      `#/query?${new URLSearchParams({ sql: `SELECT ${quoted(text)} AS a`, at: text }).toString()}`,
    )
    page.on('dialog', (dialog) => misdeeds.errors.push(dialog.message()))
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('alert').first().waitFor()
    await page.goto(
      `${at.url}/#/query?${new URLSearchParams({ sql: `SELECT ${quoted(text)} AS a, nosuch FROM "${text.replaceAll('"', '""')}"` }).toString()}`,
    )
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('alert').first().waitFor()
    for (const hash of [
      `#/resources/${encodeURIComponent(text)}`,
      `#/resources/agent/mindsdb/${encodeURIComponent(text)}`,
      `#/models/${encodeURIComponent(text)}/${encodeURIComponent(text)}`,
      `#/answers/${encodeURIComponent(text)}/a/b`,
      `#/audit?event=${encodeURIComponent(text)}`,
      `#/compare?from=${encodeURIComponent(text)}`,
      `#/events?actor=${encodeURIComponent(text)}`,
    ]) {
      await page.goto(`${at.url}/${hash}`)
      await page.locator('main').locator('h1, h2, .empty').first().waitFor()
    }
    // A refusal of the service is no fault of the page: the browser writes each into its console.
    misdeeds.errors = misdeeds.errors.filter((error) => !error.startsWith('Failed to load resource'))
    await nothingRan(page, misdeeds)
    await page.context().close()
  },
)

test('names and records of resources, events, histories and the jump menu show them as texts', async () => {
  const { page, misdeeds } = await openPage(at.browser, at.url, '#/resources/skill')
  page.on('dialog', (dialog) => misdeeds.errors.push(dialog.message()))
  for (const hash of [
    '#/',
    '#/resources/skill',
    '#/resources/agent',
    '#/resources/agent/mindsdb/agent_1',
    '#/resources/agent/mindsdb/agent_1?tab=history',
    '#/events',
    '#/compare?from=1',
    '#/models/new?table=files.hostile',
    '#/health',
  ]) {
    await page.goto(`${at.url}/${hash}`)
    await page.locator('main').locator('h1').first().waitFor()
    await page.locator('.busy').first().waitFor({ state: 'detached' })
    for (const one of await page.locator('main details > summary').all()) if (await one.isVisible()) await one.click()
    await nothingRan(page, misdeeds)
  }
  await page.keyboard.press('Control+k')
  await page.keyboard.type('script')
  await nothingRan(page, misdeeds)
  await page.context().close()
})
