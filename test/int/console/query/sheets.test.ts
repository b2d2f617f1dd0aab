import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { atFirstSight, holdRequests, openPage, violationsOf } from '../../../support/console/browser.js'
import { runByKeys, startConsole } from '../../../support/console/console.js'
import { send, sql } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const at = startConsole(async (url) => {
  await sql(url, 'CREATE TABLE files.numbers (SELECT i, i * 2 AS twice FROM range(5) AS t(i))')
  await sql(url, 'CREATE VIEW large AS (SELECT * FROM files.numbers WHERE i > 2)')
  await sql(url, `CREATE SKILL lookup USING type = 'sql', database = 'files', tables = ['numbers']`)
})

const queryPage = (text: string) => `#/query?${new URLSearchParams({ sql: text }).toString()}`

test('several statements are written side by side, keep their answers, and are there again after the page was closed', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT 1 AS one'))
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('1 row ').waitFor()
  await page.getByRole('button', { name: 'New statement' }).click()
  // Without a text there is nothing to run.
  await page.getByRole('button', { name: 'Run', disabled: true }).waitFor()
  await page.getByLabel('SQL').click()
  await page.keyboard.type('SELECT range AS n FROM range(7)')
  await runByKeys(page, page.getByText('7 rows'))
  await page.getByRole('button', { name: 'SELECT 1 AS one', exact: true }).click()
  await page.getByText('1 row ').waitFor()
  await page.locator('.cm-content', { hasText: 'SELECT 1 AS one' }).waitFor()
  await page.goto(`${at.url}/#/`)
  await page.locator('h1', { hasText: /./ }).first().waitFor()
  await page.reload()
  await page.goto(`${at.url}/#/query`)
  await page.getByRole('button', { name: /^SELECT range/ }).click()
  await page.locator('.cm-content', { hasText: 'FROM range(7)' }).waitFor()
  await page.getByRole('button', { name: /^Close SELECT range/ }).click()
  await page.locator('.cm-content', { hasText: 'SELECT 1 AS one' }).waitFor()
  expect(await page.getByRole('button', { name: /^Close/ }).count()).toBe(0)
  expect(await violationsOf(page)).toEqual([])
  await page.context().close()
})

test('what is typed in one window is there in another one, and is not lost when that one writes', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT 1 AS one'))
  await page.locator('.cm-content', { hasText: 'SELECT 1 AS one' }).waitFor()
  const other = await page.context().newPage()
  await other.goto(`${at.url}/${queryPage('SELECT 2 AS two')}`)
  await other.locator('.cm-content', { hasText: 'SELECT 2 AS two' }).waitFor()
  await page.getByRole('button', { name: 'SELECT 2 AS two', exact: true }).waitFor()
  await page.getByLabel('SQL').click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(', 11 AS eleven')
  // Windows are processes of their own: what one of them keeps takes a moment to the other.
  await other.locator('.sheets [title$="11 AS eleven"]').waitFor()
  await other.getByLabel('SQL').click()
  await other.keyboard.press('Control+End')
  await other.keyboard.type(' ')
  // The text of the first window is still there, for a third one and for the second.
  await other
    .getByRole('button', { name: /^SELECT 1 AS one, 11 AS/ })
    .first()
    .waitFor()
  const third = await page.context().newPage()
  await third.goto(`${at.url}/#/query`)
  await third
    .getByRole('button', { name: /^SELECT 1 AS one, 11 AS/ })
    .first()
    .click()
  await third.locator('.cm-content', { hasText: '11 AS eleven' }).waitFor()
  // Two windows with the same statement see the same text.
  await third.getByLabel('SQL').click()
  await third.keyboard.press('Control+End')
  await third.keyboard.type(', 3 AS three')
  await page.locator('.cm-content', { hasText: '11 AS eleven, 3 AS three' }).waitFor()
  // One that is closed is closed in all of them.
  await third.getByRole('button', { name: /^Close SELECT 2/ }).click()
  await until(async () => (await page.getByRole('button', { name: /^Close/ }).count()) === 0)
  await other.locator('.cm-content', { hasText: '3 AS three' }).waitFor()
  await page.context().close()
})

test('what is typed right before and right after another statement is chosen is lost in neither of them', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT 1 AS one'))
  await page.getByRole('button', { name: 'New statement' }).click()
  await page.getByLabel('SQL').click()
  await page.keyboard.type('SELECT 2 AS two')
  await page.getByRole('button', { name: 'SELECT 1 AS one', exact: true }).click()
  await page.locator('.cm-content', { hasText: 'SELECT 1 AS one' }).waitFor()
  await page.getByLabel('SQL').click()
  await page.keyboard.press('Control+End')
  // All of it happens within one frame, as the keys of a quick writer do on a busy machine.
  await page.evaluate(`(async () => {
    const type = async (text) => {
      document.execCommand('insertText', false, text)
      for (let i = 0; i < 20; i++) await Promise.resolve()
    }
    await type(', 11 AS eleven')
    document.querySelector('.sheets [title="SELECT 2 AS two"]').click()
    await type('/* here */ ')
  })()`)
  await page.locator('.cm-content', { hasText: '/* here */' }).waitFor()
  await page.locator('.cm-content', { hasText: 'SELECT 2 AS two' }).waitFor()
  await page.getByRole('button', { name: /^SELECT 1/ }).click()
  await page.locator('.cm-content', { hasText: /^SELECT 1 AS one, 11 AS eleven$/ }).waitFor()
  await page.context().close()
})

test('each statement keeps its dry run, its database and its parameters, also when another one is closed', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT 1 AS one'))
  await page.getByRole('button', { name: 'SELECT 1 AS one', exact: true }).waitFor()
  await page.goto(`${at.url}/${queryPage('CREATE VIEW wanted AS (SELECT :size AS size)')}`)
  const created = page.getByRole('button', { name: /^CREATE VIEW/ })
  await created.waitFor()
  const settings = async () => ({
    isDry: await page.getByLabel('Dry run').isChecked(),
    db: await page.locator('.tools select').inputValue(),
    size: await page.getByLabel(':size').inputValue(),
  })
  await page.getByLabel('Dry run').check()
  await page.locator('.tools select').selectOption('files')
  await page.getByLabel(':size').fill('12')
  const chosen = { isDry: true, db: 'files', size: '12' }
  await created.click()
  expect(await settings()).toEqual(chosen)
  await page.getByRole('button', { name: 'SELECT 1 AS one', exact: true }).click()
  await page.locator('.cm-content', { hasText: 'SELECT 1 AS one' }).waitFor()
  expect(await page.getByLabel('Dry run').isChecked()).toBe(false)
  await created.click()
  await page.getByLabel(':size').waitFor()
  expect(await settings()).toEqual(chosen)
  await page.getByRole('button', { name: 'Close SELECT 1 AS one' }).click()
  await page.getByRole('button', { name: /^Close/ }).waitFor({ state: 'detached' })
  expect(await settings()).toEqual(chosen)
  // The menu leads to the same statement.
  await page.getByRole('link', { name: 'Query' }).click()
  await page.waitForURL(/dry=1/)
  expect(await settings()).toEqual(chosen)
  await page.context().close()
})

test('steps back and forward show each statement in its sheet, with its database, and keep what did not run', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT 1 AS one'))
  const shows = (text: string) => page.locator('.cm-content', { hasText: text }).waitFor()
  const closers = page.getByRole('button', { name: /^Close/ })
  const type = async (text: string) => {
    await page.getByLabel('SQL').click()
    await page.keyboard.press('Control+A')
    await page.keyboard.type(text)
  }
  // A statement whose rows still come has not run: its sheet would stay beside the one of the step back.
  const hasRun = (rows: string) => page.locator('.answer [role=status][aria-busy=false]', { hasText: rows }).waitFor()
  await page.getByRole('button', { name: 'Run' }).click()
  await hasRun('1 row ')
  await type('SELECT i FROM numbers')
  await page.locator('.tools select').selectOption('files')
  await page.getByRole('button', { name: 'Run' }).click()
  await hasRun('5 rows')
  await page.goBack()
  await shows('SELECT 1 AS one')
  expect(await closers.count()).toBe(0)
  await page.goForward()
  await shows('FROM numbers')
  expect(await page.locator('.tools select').inputValue()).toBe('files')
  expect(await closers.count()).toBe(0)
  await type('SELECT 3 AS unsaved')
  await page.goBack()
  await shows('SELECT 1 AS one')
  await page.getByRole('button', { name: 'SELECT 3 AS unsaved', exact: true }).click()
  await shows('AS unsaved')
  // A step back in the text does not lead to the text of another sheet.
  await page.getByLabel('SQL').click()
  await page.keyboard.press('Control+Z')
  await page.keyboard.press('Control+End')
  await page.keyboard.type(', 4')
  await shows('SELECT 3 AS unsaved, 4')
  await page.context().close()
})

test('a statement from My queries takes no place of one that has not run, and leaves the dry run of its own sheet', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT 1 AS one'))
  const sheet = (text: string) => page.locator('.sheets').getByRole('button', { name: text, exact: true })
  const choosePast = async (text: string) => {
    await page.getByRole('tab', { name: 'My queries' }).click()
    await page.locator('.past').getByRole('button', { name: text, exact: true }).click()
    await page.locator('.cm-content', { hasText: text }).waitFor()
  }
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('1 row ').waitFor()
  await page.getByLabel('SQL').click()
  await page.keyboard.press('Control+A')
  await page.keyboard.type('SELECT 2 AS unsaved')
  await choosePast('SELECT 1 AS one')
  await sheet('SELECT 2 AS unsaved').waitFor()
  await page.getByLabel('Dry run').check()
  await sheet('SELECT 2 AS unsaved').click()
  await page.locator('.cm-content', { hasText: 'SELECT 2 AS unsaved' }).waitFor()
  expect(await page.getByLabel('Dry run').isChecked()).toBe(false)
  await choosePast('SELECT 1 AS one')
  expect(await page.getByLabel('Dry run').isChecked()).toBe(true)
  expect(await page.getByRole('button', { name: /^Close/ }).count()).toBe(2)
  await page.context().close()
})

test('a link that is opened while the page is just drawn is not overwritten', async () => {
  const { page } = await openPage(at.browser, at.url, '#/query')
  await page.locator('.cm-content').waitFor()
  for (let n = 1; n <= 5; n++) {
    await page.goto(`${at.url}/#/audit`)
    await page.locator('h1', { hasText: 'Audit' }).waitFor()
    const text = `SELECT ${n} AS linked`
    await page.evaluate(`new Promise((resolve) => {
      const seen = new MutationObserver(() => document.querySelector('.query') && resolve(seen.disconnect()))
      seen.observe(document.body, { childList: true, subtree: true })
      location.hash = '#/query'
    }).then(() => { location.hash = ${JSON.stringify(queryPage(text))} })`)
    await page.locator('.cm-content', { hasText: text }).waitFor()
    expect(new URLSearchParams(page.url().split('?')[1]).get('sql')).toBe(text)
  }
  await page.context().close()
})

test('the first click on a page that is just drawn finds its statement, and the first key its editor', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT 1 AS kept'))
  await page.locator('.cm-content', { hasText: 'SELECT 1 AS kept' }).waitFor()
  await page.goto(`${at.url}/#/audit`)
  await page.locator('h1', { hasText: 'Audit' }).waitFor()
  const text = await atFirstSight<string | undefined>(
    page,
    `location.hash = '#/query'`,
    '.query',
    `(query) => {
      const text = query.querySelector('.editor').shadowRoot?.querySelector('.cm-content').textContent
      query.querySelector('[aria-label="New statement"]').click()
      return text
    }`,
  )
  expect(text).toBe('SELECT 1 AS kept')
  expect(await page.getByRole('button', { name: /^Close/ }).count()).toBe(2)
  await page.context().close()
})

test('a statement that did not run is not dropped for a new one, one that ran is', async () => {
  const { page } = await openPage(at.browser, at.url, '#/query')
  const titles = page.locator('.sheet > button:first-child')
  const reload = async () => {
    await page.goto(`${at.url}/#/`)
    await page.reload()
    await page.goto(`${at.url}/${queryPage('SELECT 99')}`)
    await page.locator('.cm-content', { hasText: 'SELECT 99' }).waitFor()
  }
  const drafts = Array.from({ length: 20 }, (_, i) => ({ id: i + 1, sql: `SELECT ${i + 1}`, db: 'mindsdb' }))
  await page.getByLabel('SQL').waitFor()
  await page.evaluate(`localStorage.setItem('sheets', ${JSON.stringify(JSON.stringify(drafts))})`)
  await reload()
  const texts = [...drafts.map(({ sql }) => sql), 'SELECT 99']
  expect(await titles.allInnerTexts()).toEqual(texts)
  await page.evaluate(`localStorage.setItem('sheets', ${JSON.stringify(JSON.stringify(drafts))})`)
  await page.evaluate(`localStorage.setItem('queries', '[{"sql":"SELECT 7","db":"mindsdb","at":"","ended":"done","ms":1}]')`)
  await reload()
  expect(await titles.allInnerTexts()).toEqual(texts.filter((text) => text !== 'SELECT 7'))
  await page.context().close()
})

test('rows of another moment than the shown one say so, until the query runs again', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT count(*) AS n FROM log.events'))
  const run = async () => {
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByText('1 row ').waitFor()
    return Number(await page.getByRole('gridcell').first().innerText())
  }
  expect(await run()).toBeGreaterThan(2)
  const notice = page.getByText('These rows')
  expect(await notice.count()).toBe(0)
  await page.getByRole('button', { name: 'Now' }).click()
  await page.getByLabel('A position of the log').fill('2')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await notice.getByText('Run it again for those as of 2.').waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Run' }).click()
  await notice.waitFor({ state: 'detached' })
  expect(await run()).toBe(2)
  await page.context().close()
})

test('what is beside the list of databases stays in its place when their names come', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  const answer = await holdRequests(page, '**/api/sql/query')
  await page.getByRole('link', { name: 'Query' }).click()
  const box = page.getByLabel('Dry run')
  await box.waitFor()
  const before = await box.boundingBox()
  answer()
  await page.getByRole('option', { name: 'information_schema' }).waitFor({ state: 'attached' })
  expect(await box.boundingBox()).toEqual(before)
  await page.context().close()
})

test('a dry run shows the events that would be recorded, and writes nothing', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage(`CREATE SKILL never USING type = 'sql', database = 'files'`))
  await page.getByLabel('Dry run').check()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('Nothing was written').waitFor()
  await page.locator('.planned', { hasText: 'Skill created' }).getByText('never').waitFor()
  expect((await send(at.url, 'GET', '/api/projects/mindsdb/skills/never')).status).toBe(404)
  expect(await violationsOf(page)).toEqual([])
  await page.context().close()
})

test('the answer is saved as JSON, each row an object, and no number loses a digit', async () => {
  const query = `SELECT i, 9007199254740993 AS large, ['a,b', '"]'] AS texts, NULL AS large FROM files.numbers WHERE i < 2 ORDER BY i`
  const { page } = await openPage(at.browser, at.url, queryPage(query))
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'JSON' }).click()
  const file = await saved
  expect(file.suggestedFilename()).toBe('answer.json')
  const line = (i: number) => `{"i":${i},"large":9007199254740993,"texts":["a,b","\\"]"],"large_1":null}`
  expect(readFileSync(await file.path(), 'utf8')).toBe(`[\n${line(0)},\n${line(1)}\n]\n`)
  await page.context().close()
})

test('the answer is saved as Parquet', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT i FROM files.numbers'))
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Parquet' }).click()
  const file = await saved
  expect(file.suggestedFilename()).toBe('answer.parquet')
  expect(readFileSync(await file.path(), 'latin1')).toMatch(/^PAR1[^]*PAR1$/)
  await page.context().close()
})

test('a resource says who set what, and what mentions it before it is deleted', async () => {
  await send(at.url, 'PUT', '/api/projects/mindsdb/skills/lookup', { skill: { params: { description: 'numbers' } } })
  const { page } = await openPage(at.browser, at.url, '#/resources/skill/mindsdb/lookup')
  await page.getByLabel('Who set what').check()
  await page.locator('.fields > div', { hasText: 'params' }).getByText('Skill updated').first().waitFor()
  await page.locator('.fields > div', { hasText: /^name/ }).getByText('Skill created').waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.goto(`${at.url}/#/resources/file/-/numbers`)
  await page.getByRole('button', { name: 'Delete…' }).click()
  const asked = page.getByRole('group', { name: 'Delete numbers' })
  await asked.getByText('File deleted').waitFor()
  await asked.getByRole('link', { name: 'mindsdb.large' }).waitFor()
  await asked.getByRole('link', { name: 'mindsdb.lookup' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  expect((await send(at.url, 'GET', '/api/files/numbers')).status).toBe(200)
  await asked.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.locator('h1', { hasText: 'Files' }).waitFor()
  expect((await send(at.url, 'GET', '/api/files/numbers')).status).toBe(404)
  await page.context().close()
})
