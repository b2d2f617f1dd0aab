import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { repository } from '../../support/cli.js'
import { openPage, violationsOf } from '../../support/console/browser.js'
import { expectRefusals, expectUsable, runByKeys, seenAtAllSizes, startConsole } from '../../support/console/console.js'
import { send, sql, startTestService } from '../../support/service.js'
import { until } from '../../support/until.js'

const csv = `size,district,rent\n${Array.from({ length: 300 }, (_, i) => `${20 + (i % 90)},${['north', 'south'][i % 2]},${300 + 9 * (i % 90)}`).join('\n')}\n`

const at = startConsole(async (url) => {
  const form = new FormData()
  form.append('file', new Blob([csv]), 'homes.csv')
  await send(url, 'PUT', '/api/files/homes', form)
  for (const statement of [
    'CREATE PROJECT shop',
    `CREATE SKILL shop.rents USING type = 'sql', database = 'files', tables = ['homes']`,
    ...Array.from({ length: 40 }, (_, i) => `CREATE SKILL shop.many_${i} USING type = 'sql', database = 'files'`),
    `CREATE AGENT shop.broker USING model = 'gpt-4o', skills = ['rents'], openai_api_key = 'sk-1'`,
    'ALTER AGENT shop.broker SET temperature = 0.2',
    'CREATE VIEW shop.large AS (SELECT * FROM files.homes WHERE size > 80)',
    'CREATE MODEL rent FROM files (SELECT * FROM homes) PREDICT rent',
  ])
    expect((await sql(url, statement)).type).not.toBe('error')
})

const pages = [
  ['home', '#/', 'Mindledger'],
  ['query', '#/query', 'Query'],
  ['resources', '#/resources', 'Resources'],
  ['a kind', '#/resources/agent', 'Agents'],
  ['a record', '#/resources/agent/shop/broker', 'broker'],
  ['a history', '#/resources/agent/shop/broker?tab=history', 'broker'],
  ['events', '#/events', 'Events'],
  ['health', '#/health', 'Health'],
  ['a connection', '#/connect', 'Connect a database'],
] as const

test.each(pages)('%s is shown without an error or a request to elsewhere, and anybody can use it', async (_, hash, title) => {
  await seenAtAllSizes(at, hash, async (page) => {
    await page.locator('h1', { hasText: title }).first().waitFor()
    await page.locator('.busy').first().waitFor({ state: 'detached' })
  })
})

test('a query is run, its rows are sorted and filtered, and its address shows them to a colleague', async () => {
  const { page } = await openPage(at.browser, at.url, '#/query')
  const editor = page.getByLabel('SQL')
  await editor.click()
  await page.keyboard.type('SELECT district, size, rent FROM files.homes')
  await runByKeys(page, page.getByText('300 rows'))
  await page.getByRole('button', { name: /^rent/ }).click()
  await page.locator('[aria-sort=ascending]').waitFor()
  await page.getByRole('button', { name: /^rent/ }).click()
  await page.locator('[aria-sort=descending]').waitFor()
  await page.locator('.grid-row', { hasText: '1101' }).first().waitFor()
  expect((await page.locator('.grid-row').first().innerText()).split(/\s+/).at(-1)).toBe('1101')
  await page.getByLabel('Filter').fill('north')
  await page.getByText('150 of 300 rows').waitFor()
  const { page: other } = await openPage(at.browser, at.url, new URL(page.url()).hash)
  await other.getByRole('button', { name: 'Run' }).click()
  await other.getByText('150 of 300 rows').waitFor()
  await other.locator('[aria-sort=descending]').waitFor()
  expect((await other.locator('.grid-row').first().innerText()).split(/\s+/)).toContain('north')
  await other.getByRole('tab', { name: 'Columns' }).click()
  await other.getByText(/^1 distinct/).waitFor()
  await other.getByLabel('Filter').fill('')
  await other.getByText('2 distinct').waitFor()
  await page.context().close()
  await other.context().close()
})

const isInEditor = `document.activeElement?.classList.contains('editor') === true`

/**
 * Leaves the editor by keys. A Tab leaves it for two seconds after an Escape. A busy machine may need longer for the two keys: then they
 * are pressed again.
 */
const leaveEditor = async (page: Page): Promise<void> => {
  for (;;) {
    const from = performance.now()
    for (const key of ['Escape', 'Tab']) await page.keyboard.press(key)
    if (!(await page.evaluate<boolean>(isInEditor))) return
    expect(performance.now() - from).toBeGreaterThan(2_000)
  }
}

test('a grid is sorted by keys alone, and the editor says how Tab leaves it', async () => {
  const { page } = await openPage(at.browser, at.url, `#/query?${new URLSearchParams({ sql: 'SELECT * FROM files.homes' }).toString()}`)
  const editor = page.getByLabel('SQL', { exact: true })
  await editor.click()
  await runByKeys(page, page.getByText('300 rows').first())
  expect(await editor.getAttribute('aria-description')).toContain('press Escape, then Tab')
  await page.keyboard.press('Tab')
  expect(await page.evaluate(isInEditor)).toBe(true)
  await leaveEditor(page)
  const grid = page.getByRole('grid')
  await grid.focus()
  for (const key of ['ArrowUp', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key)
  const head = page.locator(`#${(await grid.getAttribute('aria-activedescendant')) ?? 'none'}`)
  expect([await head.getAttribute('role'), (await head.innerText()).trim()]).toEqual(['columnheader', 'rent'])
  await page.keyboard.press('Enter')
  await page.locator('[aria-sort=ascending]', { hasText: 'rent' }).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('[aria-sort=descending]', { hasText: 'rent' }).waitFor()
  await page.locator('.grid-row', { hasText: '1101' }).first().waitFor()
  await expectUsable(page)
  await page.context().close()
})

test('an error stands under the place that it names', async () => {
  const { page } = await openPage(
    at.browser,
    at.url,
    `#/query?${new URLSearchParams({ sql: 'SELECT nosuch\nFROM files.homes' }).toString()}`,
  )
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.cm-lintRange-error', { hasText: 'nosuch' }).waitFor()
  expect(await page.getByRole('alert').innerText()).toContain('line 1, column 8')
  await page.context().close()
})

test('a history is followed, and a resource goes back to a version after it was seen what that does', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/agent/shop/broker?tab=history')
  await page.getByText('params › temperature').waitFor()
  await page.getByRole('button', { name: 'Go back to this…' }).click()
  await page.getByText('would be recorded').waitFor()
  const sent = await openPage(at.browser, at.url, new URL(page.url()).hash)
  await sent.page.getByText('It would be as it was in version 1').waitFor()
  expect(await violationsOf(sent.page)).toEqual([])
  await sent.page.context().close()
  expect((await send(at.url, 'GET', '/api/projects/shop/agents/broker/history')).body).toMatchObject({ version: 2 })
  await page.getByRole('button', { name: 'Go back to version 1' }).click()
  await page.locator('.when', { hasText: 'version 3' }).waitFor()
  expect((await send(at.url, 'GET', '/api/projects/shop/agents/broker')).body).toMatchObject({ params: { openai_api_key: '******' } })
  await page.context().close()
})

test('everything is shown as it was at a position', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.getByText('broker').first().waitFor()
  await page.getByRole('button', { name: 'Now' }).click()
  await page.getByLabel('A position of the log').fill('1')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('As of 1').waitFor()
  await page.getByText('Nothing is here yet').waitFor()
  await page.context().close()
})

test('the jump menu finds a resource by keys alone', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.locator('h1').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('brok')
  await page.getByRole('option', { name: 'broker', selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('h1', { hasText: 'broker' }).waitFor()
  expect(page.url()).toContain('#/resources/agent/shop/broker')
  await page.context().close()
})

test('a name that is typed quickly is followed once it is found', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.locator('h1').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('agent of shop broker')
  await page.keyboard.press('Enter')
  await page.locator('h1', { hasText: 'broker' }).waitFor()
  await page.context().close()
})

test('the jump menu finds the pages while SQL is away', async () => {
  expectRefusals()
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.locator('h1').waitFor()
  await page.route('**/api/sql/query', (route) => route.abort())
  await page.keyboard.press('Control+k')
  await page.keyboard.type('heal')
  await page.getByRole('option', { name: 'Health', selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('h1', { hasText: 'Health' }).waitFor()
  await page.context().close()
})

test('the jump menu shows the whole name first, then names that begin with the text', async () => {
  await sql(at.url, 'CREATE PROJECT jumps')
  for (const name of ['a_tall_house', 'tall_b', 'tall']) await sql(at.url, `CREATE VIEW jumps.${name} AS (SELECT 1 AS n)`)
  const { page } = await openPage(at.browser, at.url)
  await page.locator('h1').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('tall')
  const options = page.getByRole('option')
  await until(async () => (await options.count()) === 3)
  expect((await options.allInnerTexts()).map((text) => text.split(' ')[0])).toEqual(['tall', 'tall_b', 'a_tall_house'])
  await page.context().close()
})

test('the entry that keys choose in the jump menu is in sight, and the menu says that there are more', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.locator('h1').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('option').nth(29).waitFor()
  const isInSight = () =>
    page.evaluate<boolean>(`(() => {
      const list = document.querySelector('.jump-menu ul').getBoundingClientRect()
      const entry = document.querySelector('.jump-menu [aria-selected=true]').getBoundingClientRect()
      return entry.top >= list.top - 1 && entry.bottom <= list.bottom + 1
    })()`)
  for (let presses = 0; presses < 29; presses++) await page.keyboard.press('ArrowDown')
  await page.getByRole('option', { selected: true }).and(page.locator('#jump-29')).waitFor()
  expect(await isInSight()).toBe(true)
  await page.keyboard.type('many_')
  await page.getByText('30 of 40 are shown. More words narrow the search.').waitFor()
  expect(await isInSight()).toBe(true)
  expect(await violationsOf(page)).toEqual([])
  await page.keyboard.type('39')
  await page.getByText('are shown').waitFor({ state: 'detached' })
  await page.context().close()
})

test('pages that only count the resources do not load them all', async () => {
  const rows: number[] = []
  const read: Promise<void>[] = []
  for (const [hash, ready] of [
    ['#/', 'Newest'],
    ['#/resources', 'Resources'],
  ] as const) {
    const { page } = await openPage(at.browser, at.url, '#/connect')
    page.on('response', (response) => {
      if (!response.url().endsWith('/sql/query')) return
      const all = response.text().then((text) => {
        for (const line of text.split('\n')) if (line.startsWith('[')) rows.push((JSON.parse(line) as unknown[]).length)
      })
      // A body may be gone with its page, but not all of them.
      read.push(all.catch(() => undefined))
    })
    await page.locator('h1', { hasText: 'Connect' }).waitFor()
    await page.goto(`${at.url}/${hash}`)
    await page.locator('h1, h2', { hasText: ready }).waitFor()
    await page.locator('a.card', { hasText: 'Skills' }).getByText('41', { exact: true }).waitFor()
    await Promise.all(read)
    await page.context().close()
  }
  expect(rows.length).toBeGreaterThan(1)
  expect(Math.max(...rows)).toBeLessThan(20)
})

/** Presses Tab until an expression about the focused element is true. */
const tabTo = async (page: Page, focused: string): Promise<void> => {
  const isThere = `(({ activeElement }) => ${focused})(document) === true`
  for (let presses = 0; presses < 80 && !(await page.evaluate<boolean>(isThere)); presses++) await page.keyboard.press('Tab')
  expect([focused, await page.evaluate<boolean>(isThere)]).toEqual([focused, true])
}

const jumpTo = async (page: Page, words: string, name: RegExp): Promise<void> => {
  await page.keyboard.press('Control+k')
  await page.keyboard.type(words)
  await page.getByRole('option', { name, selected: true }).waitFor()
  await page.keyboard.press('Enter')
}

test('a table is queried and drawn, and a skill is made, by keys alone', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.locator('h1').waitFor()
  await jumpTo(page, 'query', /^Query/)
  await page.getByLabel('SQL', { exact: true }).waitFor()
  await tabTo(page, `activeElement?.matches('.editor')`)
  await page.keyboard.type('SELECT size, rent FROM files.homes')
  await runByKeys(page, page.getByText('300 rows').first())
  // It closes proposals, if there are any.
  await page.keyboard.press('Escape')
  await leaveEditor(page)
  await tabTo(page, `activeElement?.matches('[role=tab][aria-selected=true]')`)
  for (const name of ['Columns', 'Chart']) {
    await page.keyboard.press('ArrowRight')
    await page.getByRole('tab', { name, selected: true }).waitFor()
  }
  await page.getByRole('img', { name: 'rent by size' }).locator('circle').first().waitFor({ state: 'attached' })

  await jumpTo(page, 'new skill', /^New skill/)
  await page.locator('form.resource-form').waitFor()
  for (const [label, text] of [
    ['name', 'by_keys'],
    ['type', 'sql'],
    ['params', '{"database": "files"}'],
  ] as const) {
    await tabTo(page, `activeElement?.closest('.resource-form label')?.textContent.trim().startsWith('${label}')`)
    await page.keyboard.type(text)
  }
  await tabTo(page, `activeElement?.matches('.resource-form button[type=submit]')`)
  await page.keyboard.press('Enter')
  await page.locator('h1', { hasText: 'by_keys' }).waitFor()
  expect((await send(at.url, 'GET', '/api/projects/mindsdb/skills/by_keys')).body).toMatchObject({ params: { database: 'files' } })
  await page.context().close()
})

test('everything that the first screen loads has at most 250 KB when it is sent', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.locator('h1', { hasText: 'Mindledger' }).waitFor()
  const loaded = await page.evaluate<string[]>(`performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`)
  const files = ['/index.html', ...new Set(loaded)].filter((path) => !path.startsWith('/api/'))
  expect(files.length).toBeGreaterThan(3)
  const sizes = files.map((path) => statSync(join(repository, 'dist/console', `${path}.gz`)).size)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(250 * 1024)
  await page.context().close()
})

test('new events arrive by themselves', async () => {
  // No other event comes meanwhile.
  const statuses = 'SELECT DISTINCT STATUS FROM information_schema.models'
  await until(async () => (await sql(at.url, statuses)).data.flat().join() === 'complete')
  const { page } = await openPage(at.browser, at.url, '#/events')
  await page.getByText('Live').waitFor()
  await sql(at.url, 'CREATE PROJECT other')
  await page.locator('.events > li:first-child summary', { hasText: 'Project created' }).waitFor()
  expect(await page.locator('.events li').first().innerText()).toContain('Project created')
  await page.context().close()
})

test('nothing that is typed is taken back, however fast it comes', async () => {
  const { page } = await openPage(at.browser, at.url, '#/query')
  const statement = 'SELECT size, rent FROM files.homes WHERE size > 20 AND rent < 900'
  await page.getByLabel('SQL').click()
  await page.keyboard.type(statement)
  await page.locator('.cm-content', { hasText: statement }).waitFor()
  expect(await page.getByLabel('SQL').innerText()).toBe(statement)
  await page.context().close()
})

test('names and values that look like markup are shown as text', async () => {
  const markup = '<img src=x onerror=alert(1)>'
  const { page } = await openPage(
    at.browser,
    at.url,
    `#/query?${new URLSearchParams({ sql: `SELECT '${markup}' AS \`${markup}\`` }).toString()}`,
  )
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.grid-row', { hasText: markup }).waitFor()
  await page.getByRole('tab', { name: 'Columns' }).click()
  await page.locator('.columns', { hasText: markup }).waitFor()
  expect(await page.locator('img').count()).toBe(0)
  await page.context().close()
})

test('an upload leads to its file, and what is wrong with one is said', async () => {
  expectRefusals()
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.locator('input[type=file]').setInputFiles({ name: 'My rooms.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await page.locator('h1', { hasText: 'my_rooms' }).waitFor()
  await page.goto(`${at.url}/#/`)
  await page.locator('input[type=file]').setInputFiles({ name: 'broken.parquet', mimeType: 'text/csv', buffer: Buffer.from('no parquet') })
  await page.getByRole('alert').waitFor()
  await page.context().close()
})

test('a service with another default project has it everywhere: in a model, a query and a form', async () => {
  const { url, stop } = await startTestService({ DEFAULT_PROJECT: 'market' })
  try {
    const { page } = await openPage(at.browser, url, '#/')
    await page.getByRole('button', { name: 'Take a sample' }).click()
    await page.locator('.statement', { hasText: 'CREATE MODEL `market`.`rent`' }).waitFor()
    await page.goto(`${url}/#/query?${new URLSearchParams({ sql: 'SELECT count(*) AS n FROM files.homes' }).toString()}`)
    const sent = page.waitForRequest((request) => request.postData()?.includes('count(*) AS n') === true)
    await page.getByRole('button', { name: 'Run' }).click()
    expect((await sent).postDataJSON()).toMatchObject({ context: { db: 'market' } })
    await page.getByText('1 row').waitFor()
    await page.goto(`${url}/#/new/skill`)
    await page.getByLabel(/^name/).fill('prices')
    await page.getByLabel(/^type/).fill('sql')
    await page.getByLabel(/^params/).fill('{"database": "files", "tables": ["homes"]}')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.locator('h1', { hasText: 'prices' }).waitFor()
    expect((await send(url, 'GET', '/api/projects/market/skills/prices')).status).toBe(200)
    await page.context().close()
  } finally {
    await stop()
  }
})

test('a model of a view is made in its project, or in another one that is chosen', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/view/shop/large')
  await page.getByRole('link', { name: 'Train a model' }).click()
  await page.getByRole('combobox', { name: /^Predict/ }).selectOption('rent')
  await page.locator('.statement', { hasText: 'CREATE MODEL `shop`.`rent`' }).waitFor()
  await page.getByRole('combobox', { name: /^Project/ }).selectOption('mindsdb')
  await page.locator('.statement', { hasText: 'CREATE MODEL `mindsdb`.`rent`' }).waitFor()
  await page.getByRole('combobox', { name: /^Project/ }).selectOption('shop')
  await page.getByRole('button', { name: 'Train' }).click()
  await page.getByText('What it uses').waitFor()
  expect((await send(at.url, 'GET', '/api/projects/shop/models/rent')).status).toBe(200)
  await page.context().close()
})
