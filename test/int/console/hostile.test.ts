import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser, Locator, Page } from 'playwright-core'
import { undoAll } from '../../../src/basics/undo.js'
import { questionOf } from '../../support/agents/scripted-model.js'
import { AgentShop } from '../../support/agents/shop.js'
import { closeBrowser, openBrowser, openPage } from '../../support/console/browser.js'
import { checkMisdeeds, expectRefusals } from '../../support/console/console.js'
import { asShown, payloads } from '../../support/console/payloads.js'
import { send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
const csvField = (text: string): string => `"${text.replaceAll('"', '""')}"`
/** Names are a segment of a path: the service refuses slashes. */
const nameOf = (text: string): string => text.replaceAll('/', '∕').replace(/^\s+/, '')

const shop = new AgentShop()
const undo: (() => unknown)[] = []
let browser: Browser

const upload = async (name: string, lines: readonly string[]): Promise<void> => {
  const form = new FormData()
  form.append('file', new Blob([`${lines.join('\n')}\n`]), `${name}.csv`)
  const { status, body } = await send(shop.url, 'PUT', `/api/files/${name}`, form)
  expect([status, body]).toMatchObject([200, {}])
}

beforeAll(async () => {
  undo.push(() => shop.stop())
  await shop.start()
  browser = await openBrowser()
  undo.push(() => closeBrowser(browser))
  await upload('cells', ['i,said,n', ...payloads.map((text, i) => `${i},${csvField(text)},${1 + (i % 7)}`)])
  await upload('heads', [payloads.map(csvField).join(','), payloads.map((_, i) => i).join(',')])
  for (const text of payloads) {
    const skill = { name: nameOf(text), type: 'sql', params: { description: text, database: 'files' } }
    expect([text, (await send(shop.url, 'POST', '/api/projects/shop/skills', { skill })).status]).toEqual([text, 201])
  }
  await shop.agent('talker', { data: { tables: ['files.cells'] } })
})
afterAll(() => undoAll(undo))
checkMisdeeds()

const open = (hash: string): Promise<{ page: Page }> => openPage(browser, shop.url, hash, { viewport: { width: 1280, height: 900 } })

const queryHash = (statement: string, more: Record<string, string> = {}): string =>
  `#/query?${new URLSearchParams({ sql: statement, ...more }).toString()}`

const runIn = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Run', exact: true }).click()
}

/** Shows another statement in the query page. Until it is drawn, Run would run the one before. */
const showStatement = async (page: Page, statement: string, more: Record<string, string> = {}): Promise<void> => {
  await page.goto(`${shop.url}/${queryHash(statement, more)}`)
  await until(async () => (await page.locator('.sheets [aria-pressed=true]').getAttribute('title')) === statement)
}

/** Nothing ran: no mark, and no element of theirs. A dialog, or a request to elsewhere, is a misdeed of the page. */
const nothingRan = async (page: Page): Promise<void> => {
  expect(await page.evaluate('window.ran')).toBeUndefined()
  const theirs = ':is(img, iframe, script, object, link, style, form[action], math, base, meta, video, animate, a[href^="javascript" i])'
  expect(await page.locator(`body ${theirs}`).count()).toBe(0)
}

/** The texts of what a locator finds, as they stand in the page. */
const textsOf = async (found: Locator): Promise<string[]> => (await found.allTextContents()).map(asShown)

/** The texts of a column of a grid with a hundred rows. Only rows in sight are in the page. */
const textsInGrid = async (page: Page, column: number): Promise<Set<string>> => {
  const seen = new Set<string>()
  for (let row = 0; row < 100; row += 5) {
    await page.evaluate(`document.querySelector('.grid').scrollTop = ${row} * 28`)
    for (const at of [row, row + 4]) await page.locator(`.grid-row[aria-rowindex="${at + 2}"]`).waitFor({ state: 'attached' })
    for (const text of await page.locator(`.grid-row > [aria-colindex="${column}"]`).allTextContents()) seen.add(text)
  }
  return seen
}

test('there are a hundred different texts', () => {
  expect(new Set(payloads).size).toBe(100)
  expect(new Set(payloads.map(nameOf)).size).toBe(100)
})

test('cells: each text is in the grid as it is', async () => {
  const { page } = await open(queryHash('SELECT i, said, n FROM files.cells ORDER BY i'))
  await runIn(page)
  await page.getByText('100 rows').first().waitFor()
  const seen = await textsInGrid(page, 2)
  expect(payloads.filter((text) => !seen.has(text))).toEqual([])
  for (const view of ['Columns', 'My queries', 'Rows']) {
    await page.getByRole('tab', { name: view }).click()
    await nothingRan(page)
  }
  await page.context().close()
})

test.each([0, 50])('charts: each text from %i on is a name on the axis, and some are the names of colours', async (from) => {
  const { page } = await open(
    queryHash(`SELECT said, n FROM files.cells WHERE i >= ${from} AND i < ${from + 50} ORDER BY i`, { view: 'chart', kind: 'bar' }),
  )
  await runIn(page)
  const drawn = page.getByRole('img', { name: 'n by said' })
  await drawn.locator('rect').nth(10).waitFor({ state: 'attached' })
  const texts = await textsOf(drawn.locator('text'))
  expect(payloads.slice(from, from + 50).filter((text) => !texts.includes(asShown(text)))).toEqual([])
  await nothingRan(page)
  const first = `SELECT said, n, i FROM files.cells WHERE i >= ${from} AND i < ${from + 10} ORDER BY i`
  await showStatement(page, first, { view: 'chart', kind: 'dots', by: 'said' })
  await runIn(page)
  const coloured = page.locator('.picture')
  await coloured.locator('.plot-swatch').nth(9).waitFor()
  const legend = await textsOf(coloured.locator('.plot-swatch'))
  expect(payloads.slice(from, from + 10).filter((text) => !legend.includes(asShown(text)))).toEqual([])
  await nothingRan(page)
  await page.context().close()
})

test('headers: each text is the name of a column, in the grid and among the columns', async () => {
  const { page } = await open(queryHash('SELECT * FROM files.heads'))
  await runIn(page)
  await page.getByText('1 row').first().waitFor()
  const heads = await textsOf(page.locator('.grid-head button'))
  expect(payloads.filter((text) => !heads.includes(asShown(text)))).toEqual([])
  await page.getByRole('tab', { name: 'Columns' }).click()
  await page.locator('.columns h2').nth(99).waitFor()
  const columns = await textsOf(page.locator('.columns h2'))
  expect(payloads.filter((text) => !columns.some((one) => one.startsWith(asShown(text))))).toEqual([])
  await nothingRan(page)
  await page.goto(`${shop.url}/#/models/new?table=files.heads`)
  await page.locator('.columns h2').nth(99).waitFor()
  await nothingRan(page)
  await page.context().close()
})

test.each(payloads.slice(0, 20).map((text, i) => [i, text] as const))(
  'way %i: as a literal, an error, a filter and an address: %s',
  async (_, text) => {
    const { page } = await openPage(
      browser,
      shop.url,
      `#/query?${new URLSearchParams({ sql: `SELECT ${quoted(text)} AS a`, at: text }).toString()}`,
    )
    expectRefusals()
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('alert').first().waitFor()
    await page.goto(
      `${shop.url}/#/query?${new URLSearchParams({ sql: `SELECT ${quoted(text)} AS a, nosuch FROM "${text.replaceAll('"', '""')}"` }).toString()}`,
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
      await page.goto(`${shop.url}/${hash}`)
      await page.locator('main').locator('h1, h2, .empty').first().waitFor()
    }
    await nothingRan(page)
    await page.context().close()
  },
)

test('names: each text is in the list, in the log and in its own record; a slash is refused', async () => {
  const slashed = payloads.filter((text) => text.includes('/'))
  expect(slashed.length).toBeGreaterThan(20)
  for (const text of slashed) {
    const skill = { name: text, type: 'sql', params: {} }
    expect((await send(shop.url, 'POST', '/api/projects/shop/skills', { skill })).status).toBe(400)
  }
  const { page } = await open('#/resources/skill')
  await page.locator('tbody a').nth(99).waitFor()
  const names = await page.locator('tbody a').allTextContents()
  expect(payloads.filter((text) => !names.includes(nameOf(text)))).toEqual([])
  await page.goto(`${shop.url}/#/events?kind=skill`)
  await page.locator('.events > li').nth(99).waitFor()
  const events = await page.locator('.events pre').allTextContents()
  expect(payloads.filter((text) => !events.some((one) => one.includes(JSON.stringify(text))))).toEqual([])
  await nothingRan(page)
  for (const text of payloads) {
    await page.goto(`${shop.url}/#/resources/skill/shop/${encodeURIComponent(nameOf(text))}`)
    await page.locator('h1', { hasText: nameOf(text) }).waitFor()
    expect(await page.locator('h1').textContent()).toBe(nameOf(text))
    await page
      .locator('.fields pre', { hasText: JSON.stringify(text) })
      .first()
      .waitFor()
  }
  await nothingRan(page)
  await page.keyboard.press('Control+k')
  for (const text of payloads.slice(0, 25)) {
    await page.getByLabel('Name of a page or a resource').fill(nameOf(text))
    await page
      .getByRole('option')
      .filter({ hasText: nameOf(text) })
      .first()
      .waitFor()
  }
  await nothingRan(page)
  await page.context().close()
})

/** A text as the name of a request can have it: in ASCII without spaces. Markup takes a slash in their place. */
const headerOf = (text: string): string => text.replaceAll(/[^!-~]+/g, '/')

const missingIn = (texts: readonly string[]): string[] => payloads.filter((text) => !texts.includes(asShown(text)))

test('agents: each text is shown as a question, an answer, a comment and a name of a request', async () => {
  const all = payloads.join('\n')
  shop.model.script = () => all
  const { page } = await open('#/playground?agent=shop/talker')
  await page.getByLabel('Question').fill(all)
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.locator('article[aria-busy=false] footer').waitFor()
  for (const shown of ['.question', '.said .text']) {
    const [text = ''] = await textsOf(page.locator(shown))
    expect(payloads.filter((one) => !text.includes(asShown(one)))).toEqual([])
  }
  await nothingRan(page)
  await page.getByRole('link', { name: 'Its record' }).click()
  await page.locator('.answer-text').waitFor()
  const [recorded = ''] = await textsOf(page.locator('.answer-text'))
  expect(payloads.filter((one) => !recorded.includes(asShown(one)))).toEqual([])
  await page.locator('.busy').first().waitFor({ state: 'detached' })
  for (const step of await page.locator('.events.changes > li > details > summary').all()) await step.click()
  await nothingRan(page)

  shop.model.script = questionOf
  const ids: string[] = []
  for (const text of payloads) {
    const { body } = await shop.ask('talker', text, { 'X-Request-Id': headerOf(text) })
    ids.push((body as { message: { trace_id: string } }).message.trace_id)
  }
  await page.goto(`${shop.url}/#/playground?agent=shop/talker&answers=${ids.join('.')}`)
  await page.locator('.rounds .said .text').nth(99).waitFor()
  for (const shown of ['.question', '.said .text']) expect(missingIn(await textsOf(page.locator(shown)))).toEqual([])
  await nothingRan(page)
  await page.goto(`${shop.url}/#/answers`)
  await page.locator('main table a').nth(99).waitFor()
  expect(missingIn(await textsOf(page.locator('main table a')))).toEqual([])
  await nothingRan(page)

  for (const [i, comment] of payloads.entries()) {
    const path = `/api/projects/shop/agents/talker/answers/${ids[i] ?? ''}/feedback`
    const { status } = await send(shop.url, 'POST', path, { verdict: 'bad', comment }, { 'X-Request-Id': headerOf(comment) })
    expect([comment, status]).toEqual([comment, 200])
  }
  await page.goto(`${shop.url}/${queryHash('SELECT comment, request FROM log.answer_judgements ORDER BY position')}`)
  await runIn(page)
  await page.getByText('100 rows').first().waitFor()
  const comments = await textsInGrid(page, 1)
  expect(payloads.filter((text) => !comments.has(text))).toEqual([])
  const requests = await textsInGrid(page, 2)
  expect(payloads.filter((text) => !requests.has(headerOf(text)))).toEqual([])
  await nothingRan(page)
  await page.goto(`${shop.url}/#/events?type=AnswerJudged`)
  await page.locator('.events > li').nth(99).waitFor()
  const events = await page.locator('.events pre').allTextContents()
  expect(payloads.filter((text) => !events.some((one) => one.includes(JSON.stringify(headerOf(text)))))).toEqual([])
  await nothingRan(page)
  await page.context().close()
})

test('conversations: each text is a message to a chatbot, its answer, and the name of who wrote it', async () => {
  shop.model.script = questionOf
  const chatbot = {
    ...{ name: 'desk', agent_name: 'talker', is_running: true },
    ...{ db_engine: 'webhook', db_params: { secret: 'a-secret-of-the-test' } },
  }
  expect((await send(shop.url, 'POST', '/api/projects/shop/chatbots', { chatbot })).status).toBe(201)
  let conversation: string | undefined
  for (const text of payloads) {
    const said = { text, user: text, ...(conversation !== undefined && { conversation }) }
    const { status, body } = await send(shop.url, 'POST', '/api/projects/shop/chatbots/desk/messages', said)
    expect([text, status]).toEqual([text, 200])
    conversation = (body as { conversation: string }).conversation
  }
  const { page } = await open('#/conversations/shop/desk')
  await page.getByRole('region', { name: 'Conversations' }).getByRole('link').first().click()
  await page.locator('.conversation > .said').nth(199).waitFor()
  const [asked, answered] = [await textsOf(page.locator('.said:not(.ours) > p')), await textsOf(page.locator('.said.ours > p'))]
  expect(missingIn(asked)).toEqual([])
  expect(payloads.filter((text) => !answered.some((one) => one.includes(asShown(text))))).toEqual([])
  const senders = await textsOf(page.locator('.said:not(.ours) > small'))
  expect(payloads.filter((text) => !senders.some((one) => one.startsWith(asShown(text))))).toEqual([])
  await nothingRan(page)
  await page.context().close()
})

test('errors: the service repeats each text in a refusal, and it is shown as it is', async () => {
  const { page } = await open('#/query')
  for (const text of payloads) {
    const statement = `SELECT CAST(${quoted(text)} AS INTEGER)`
    await showStatement(page, statement)
    await runIn(page)
    await page
      .getByRole('alert')
      .locator('pre', { hasText: asShown(text) })
      .first()
      .waitFor()
  }
  await page.getByRole('tab', { name: 'My queries' }).click()
  await page.locator('.past > li').first().waitFor()
  await nothingRan(page)
  await page.context().close()
})

test('pages that list and compare show them without running them', async () => {
  const { page } = await open('#/')
  for (const hash of ['#/', '#/resources/file/-/cells?tab=rows', '#/resources/file/-/heads?tab=types', '#/compare?from=1', '#/health']) {
    await page.goto(`${shop.url}/${hash}`)
    await page.locator('main').locator('h1').first().waitFor()
    await page.locator('.busy').first().waitFor({ state: 'detached' })
    for (const one of await page.locator('main details > summary').all()) if (await one.isVisible()) await one.click()
    await nothingRan(page)
  }
  expect((await sql(shop.url, `SELECT count(*) FROM log.resources WHERE kind = 'skill'`)).data).toEqual([[100]])
  await page.context().close()
})
