import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage, untilDrawn } from '../../support/console/browser.js'
import { expectRefusals, expectUsable, startConsole } from '../../support/console/console.js'
import { secretKeys } from '../../support/secret-keys.js'
import { send, sql, startTestService } from '../../support/service.js'
import { until } from '../../support/until.js'

const login = { AUTH_USERNAME: 'ann', AUTH_PASSWORD: 'a password of some length' }
const at = startConsole(async (url) => {
  for (const statement of [
    `CREATE SKILL rents USING type = 'sql', database = 'files'`,
    `CREATE VIEW homes AS (SELECT 1 AS size)`,
    `CREATE AGENT broker USING model = 'gpt-4o', skills = ['rents']`,
  ])
    expect((await sql(url, statement)).type).not.toBe('error')
})

/** All that the browser keeps for the page: its storage, and its address. */
const keptBy = (page: Page): Promise<string> =>
  page.evaluate<string>('JSON.stringify({ ...localStorage }) + decodeURIComponent(location.hash)')

const restored = (page: Page) => page.getByText('What you typed before is here again.')

test('what was typed in a form is there again after a reload, without its secrets, until it is sent or discarded', async () => {
  const { page } = await openPage(at.browser, at.url, '#/new/skill')
  const name = page.getByLabel(/^name/)
  const params = page.getByLabel(/^params/)
  await name.fill('prices')
  await params.fill('{"database": "files", "api_key": "sk-planted", "tables": ["homes"]}')
  await until(async () => (await keptBy(page)).includes('prices'))
  expect(await keptBy(page)).not.toContain('sk-planted')
  await page.reload()
  await restored(page).waitFor()
  await page.getByText('Secrets are not kept in the browser').waitFor()
  expect([await name.inputValue(), JSON.parse(await params.inputValue())]).toEqual([
    'prices',
    { database: 'files', api_key: '******', tables: ['homes'] },
  ])
  await expectUsable(page)
  await page.getByRole('button', { name: 'Discard it' }).click()
  expect([await name.inputValue(), await params.inputValue()]).toEqual(['', ''])
  expect(await keptBy(page)).not.toContain('prices')

  await name.fill('fees')
  await page.getByLabel(/^type/).fill('sql')
  await page.getByRole('link', { name: 'Events' }).click()
  await page.locator('h1', { hasText: 'Events' }).waitFor()
  await page.goto(`${at.url}/#/new/skill`)
  await restored(page).waitFor()
  await params.fill('{"database": "files"}')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.locator('h1', { hasText: 'fees' }).waitFor()
  await page.goto(`${at.url}/#/new/skill`)
  await name.waitFor()
  expect([await name.inputValue(), await restored(page).count()]).toEqual(['', 0])
  await page.context().close()
})

test('a draft of an edit says that the resource was changed since it was typed', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/view/mindsdb/homes?tab=edit')
  const query = page.getByLabel(/^query/)
  await query.fill('SELECT 2 AS size')
  await page.reload()
  await restored(page).waitFor()
  expect([await query.inputValue(), await page.getByText('It was changed since then').count()]).toEqual(['SELECT 2 AS size', 0])
  await send(at.url, 'PUT', '/api/projects/mindsdb/views/homes', { view: { query: 'SELECT 3 AS size' } })
  await page.reload()
  await page.getByText('It was changed since then').waitFor()
  expect(await query.inputValue()).toBe('SELECT 2 AS size')
  await page.getByRole('button', { name: 'Discard it' }).click()
  expect(await query.inputValue()).toBe('SELECT 3 AS size')
  await page.context().close()
})

test('a connection is kept without its password, and a question to an agent until it is asked', async () => {
  const { page } = await openPage(at.browser, at.url, '#/connect')
  await page.getByLabel('Name', { exact: true }).fill('shop')
  await page.getByLabel('Kind').selectOption('mysql')
  expect(await keptBy(page)).not.toContain('5432')
  await page.getByLabel('Host').fill('db.example')
  await page.getByLabel('Password').fill('planted-1')
  expect(await keptBy(page)).not.toContain('planted-1')
  await page.reload()
  await restored(page).waitFor()
  const fields = ['input[name=name]', 'select[name=engine]', 'input[name=host]', 'input[name=password]']
  expect(await Promise.all(fields.map((field) => page.locator(field).inputValue()))).toEqual(['shop', 'mysql', 'db.example', ''])
  await page.getByText('The password is not kept in the browser').waitFor()
  await page.getByRole('button', { name: 'Discard it' }).click()
  await restored(page).waitFor({ state: 'detached' })
  expect([await page.getByLabel('Host').inputValue(), await page.getByLabel('Kind').inputValue()]).toEqual(['', 'postgres'])
  await page.getByLabel('Password').fill('planted-1')
  expect(await keptBy(page)).toContain('"drafts":"[]"')

  await page.goto(`${at.url}/#/playground?agent=mindsdb/broker`)
  await page.getByLabel('Question').fill('how many homes?')
  await page.getByRole('link', { name: 'Health' }).click()
  await page.locator('h1', { hasText: 'Health' }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'Agents' }).click()
  await page.getByLabel('Question').waitFor()
  expect(await page.getByLabel('Question').inputValue()).toBe('how many homes?')
  await page.context().close()
})

test('a statement is kept without its secrets, whatever they are called', async () => {
  const { page } = await openPage(at.browser, at.url, '#/query')
  const statement = `CREATE DATABASE far WITH ENGINE = 'postgres', PARAMETERS = ${JSON.stringify(
    Object.fromEntries([...secretKeys.map((key, i) => [key, `planted-${i}`]), ['host', 'db.example'], ['max_tokens', 7]]),
  )}`
  await page.getByLabel('SQL').click()
  await page.keyboard.insertText(statement)
  await until(async () => (await keptBy(page)).includes('CREATE DATABASE far'))
  await page.getByLabel('Dry run').check()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.waitForURL(/CREATE/)
  await page.getByRole('tab', { name: 'My queries' }).click()
  await page
    .getByRole('button', { name: /^CREATE DATABASE/ })
    .first()
    .waitFor()
  const kept = await keptBy(page)
  expect(kept).not.toContain('planted-')
  expect(kept).toContain('db.example')
  // The window itself still has them.
  await page.locator('.cm-content', { hasText: 'planted-1' }).waitFor()
  await page.reload()
  await page.locator('.cm-content', { hasText: '******' }).waitFor()
  expect(await page.locator('.cm-content').innerText()).not.toContain('planted-')
  await page.context().close()
})

test('a statement whose secret was not kept does not run until it is typed again or meant, and a mask that was typed runs', async () => {
  await sql(at.url, `CREATE TABLE files.logins (SELECT 'ann' AS name, 'old' AS word)`)
  const statement = `INSERT INTO files.logins VALUES ('ben', 'password: planted-1')`
  const { page } = await openPage(at.browser, at.url, '#/query')
  const run = page.getByRole('button', { name: 'Run' })
  const told = (of: Page) => of.getByText('Secrets are kept neither in the browser nor in an address.')
  const words = async () => (await sql(at.url, 'SELECT word FROM files.logins ORDER BY word')).data.flat()
  const type = async (text: string) => {
    await page.getByLabel('SQL').click()
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText(text)
  }
  const sent: string[] = []
  page.on('request', (request) => void (request.postData()?.includes('INSERT') === true && sent.push(request.url())))
  await type(statement)
  await run.click()
  await page.getByText('This statement answers no rows.').waitFor()
  await page.reload()
  await told(page).waitFor()
  await page.getByText(`VALUES ('ben', 'password: ******'`).last().waitFor()
  await expectUsable(page)
  expect([await run.isDisabled(), await page.getByRole('button', { name: 'CSV' }).isDisabled()]).toEqual([true, true])
  await page.getByLabel('SQL').click()
  await page.keyboard.press('Control+Enter')
  await untilDrawn(page)
  expect(sent).toHaveLength(1)
  await type(statement)
  await told(page).waitFor({ state: 'detached' })
  await run.click()
  await until(async () => (await words()).length === 3)
  expect(await words()).toEqual(['old', 'password: planted-1', 'password: planted-1'])

  await page.reload()
  await told(page).waitFor()
  await type('SELECT 1 AS one')
  await told(page).waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'My queries' }).click()
  await page
    .locator('.past')
    .getByRole('button', { name: /^INSERT/ })
    .click()
  await told(page).waitFor()
  await page.waitForURL(/INSERT/)
  const { page: colleague } = await openPage(at.browser, at.url, new URL(page.url()).hash)
  await told(colleague).waitFor()
  expect(await run.isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'I mean ******' }).click()
  await told(page).waitFor({ state: 'detached' })
  expect(await run.isEnabled()).toBe(true)

  await page.getByRole('button', { name: 'New statement' }).click()
  await type(`SELECT '******' AS stars`)
  await run.click()
  await page.locator('.grid-row', { hasText: '******' }).waitFor()
  await page.reload()
  await page.locator('.cm-content', { hasText: 'stars' }).waitFor()
  expect([await told(page).count(), await run.isEnabled()]).toEqual([0, true])
  for (const one of [page, colleague]) await one.context().close()
})

test('values of parameters that are secrets, and secrets in a question or in the query of a training, are nowhere but in the page', async () => {
  const { page } = await openPage(
    at.browser,
    at.url,
    `#/query?${new URLSearchParams({ sql: 'SELECT :password AS p, :size AS s' }).toString()}`,
  )
  await page.getByLabel(':password', { exact: true }).fill('planted-1')
  await page.getByLabel(':size', { exact: true }).fill('12')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.grid-row', { hasText: 'planted-1' }).waitFor()
  await until(async () => (await keptBy(page)).includes('"size":"12"'))
  expect(await keptBy(page)).not.toContain('planted-1')
  await page.reload()
  await page.getByLabel(':size', { exact: true }).waitFor()
  const fields = [':password', ':size'].map((name) => page.getByLabel(name, { exact: true }).inputValue())
  expect(await Promise.all(fields)).toEqual(['', '12'])

  await page.goto(`${at.url}/#/playground?agent=mindsdb/broker`)
  await page.getByLabel('Question').fill('why is the password: planted-2 refused?')
  await page.waitForURL(/question=/)
  expect(await keptBy(page)).not.toContain('planted-2')

  await page.goto(`${at.url}/#/models/new?${new URLSearchParams({ query: 'SELECT 1 AS size', db: 'files' }).toString()}`)
  await page.getByRole('button', { name: 'Show its rows' }).click()
  await page.getByRole('button', { name: 'Predict this' }).waitFor()
  await page.getByLabel(/^Query/).fill(`SELECT 'host=h password=planted-3' AS text, 2 AS size`)
  await page.getByRole('button', { name: 'Show its rows' }).click()
  // The page itself asks with the secret.
  await page.locator('main').getByText('planted-3').last().waitFor()
  await page.getByRole('button', { name: 'Predict this' }).nth(1).waitFor()
  expect(await keptBy(page)).not.toContain('planted-3')
  await page.context().close()
})

test('a draft that is here again says that secrets are missing, also after another field was changed', async () => {
  const { page } = await openPage(at.browser, at.url, '#/new/skill')
  await page.getByLabel(/^name/).fill('prices')
  await page.getByLabel(/^params/).fill('{"api_key": "planted"}')
  await page.reload()
  await restored(page).waitFor()
  await page.getByLabel(/^name/).fill('fees')
  await page.reload()
  await page.getByText('Secrets are not kept in the browser').waitFor()
  expect(await page.getByLabel(/^name/).inputValue()).toBe('fees')
  await page.getByRole('button', { name: 'Discard it' }).click()
  await page.context().close()
})

test('a form that is sent in one window keeps the text of the same form in another one', async () => {
  const { page } = await openPage(at.browser, at.url, '#/new/project')
  const other = await page.context().newPage()
  await other.goto(`${at.url}/#/new/project`)
  // Windows are processes of their own: what one of them keeps takes a moment to the other.
  const sees = (one: Page, text: string) => until(async () => (await keptBy(one)).includes(text))
  await page.getByLabel(/^name/).fill('first_office')
  await sees(other, 'first_office')
  await other.getByLabel(/^name/).fill('second_office')
  await sees(page, 'second_office')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.locator('h1', { hasText: 'first_office' }).waitFor()
  await other.reload()
  await restored(other).waitFor()
  expect(await other.getByLabel(/^name/).inputValue()).toBe('second_office')
  await other.getByRole('button', { name: 'Create' }).click()
  await other.locator('h1', { hasText: 'second_office' }).waitFor()
  expect(await keptBy(page)).not.toContain('second_office')
  await page.context().close()
})

test('a session that ends keeps what was typed, also after a reload', async () => {
  expectRefusals()
  const { url, stop } = await startTestService({ AUTH: 'session', ...login })
  try {
    const { page } = await openPage(at.browser, url, '#/new/project')
    const logIn = async () => {
      await page.getByLabel('User name').fill(login.AUTH_USERNAME)
      await page.getByLabel('Password').fill(login.AUTH_PASSWORD)
      await page.getByRole('button', { name: 'Log in' }).click()
    }
    await logIn()
    await page.getByLabel(/^name/).fill('office')
    await page.context().clearCookies()
    await page.reload()
    await logIn()
    await restored(page).waitFor()
    expect(await page.getByLabel(/^name/).inputValue()).toBe('office')
    await page.context().close()
  } finally {
    await stop()
  }
})

const forbid = `for (const name of ['localStorage', 'sessionStorage'])
  Object.defineProperty(window, name, { get() { throw new DOMException('The operation is insecure.', 'SecurityError') } })`
const fill = `for (let size = 2 ** 22; size > 0; size = Math.floor(size / 2))
  try { for (let i = 0; ; i++) localStorage.setItem('filler ' + size + ' ' + i, 'x'.repeat(size)) } catch {}`

test.each([
  ['forbidden', forbid, 'The browser forbids this page its storage'],
  ['full', fill, "The browser's storage for this page is full"],
])('a storage of the browser that is %s loses no function, and is told once', async (how, spoil, said) => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.addInitScript(spoil)
  await page.reload()
  await page.getByRole('link', { name: 'Query' }).click()
  await page.getByLabel('SQL').click()
  await page.keyboard.type('SELECT 41 + 1 AS answer')
  await page.keyboard.press('Control+Enter')
  await page.locator('.grid-row', { hasText: '42' }).waitFor()
  await page.getByText(said).waitFor()
  await expectUsable(page)
  await page.getByRole('button', { name: 'I know' }).click()
  await page.getByRole('button', { name: 'New statement' }).click()
  await page.getByLabel('SQL').click()
  await page.keyboard.type('SELECT 2')
  await page.getByRole('button', { name: 'SELECT 41 + 1 AS answer', exact: true }).waitFor()
  await page.goto(`${at.url}/#/new/project`)
  const name = `office_${how}`
  await page.getByLabel(/^name/).fill(name)
  await page.getByRole('button', { name: 'Create' }).click()
  await page.locator('h1', { hasText: name }).waitFor()
  await page.goto(`${at.url}/#/audit`)
  await page.getByRole('button', { name: 'Keep this head' }).click()
  await page.getByText('the browser did not store this').waitFor()
  await page.getByText('No head is kept in this browser yet.').waitFor()
  await page.getByRole('button', { name: /^Theme/ }).click()
  expect(await page.getByText(said).count()).toBe(0)
  await page.context().close()
})
