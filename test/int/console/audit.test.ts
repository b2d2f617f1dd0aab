import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import type { Page, Route } from 'playwright-core'
import { holdRequests, openPage, violationsOf } from '../../support/console/browser.js'
import { expectRefusals, seenAtAllSizes, startConsole } from '../../support/console/console.js'
import { send, sql } from '../../support/service.js'

const at = startConsole(async (url) => {
  for (const statement of [
    'CREATE PROJECT shop',
    `CREATE SKILL shop.rents USING type = 'sql', database = 'files', tables = ['homes']`,
    `CREATE AGENT shop.broker USING model = 'gpt-4o', skills = ['rents'], openai_api_key = 'sk-1'`,
    'ALTER AGENT shop.broker SET temperature = 0.2',
    'CREATE VIEW shop.one AS (SELECT 1 AS a)',
    'DROP VIEW shop.one',
    `CREATE VIEW shop.long AS (SELECT ${Array.from({ length: 400 }, (_, i) => `'value of the column ${i}' AS column_${i}`).join(', ')})`,
  ])
    expect((await sql(url, statement)).type).not.toBe('error')
})

const head = async (): Promise<number> => ((await send(at.url, 'GET', '/api/events?limit=1')).body as { head: number }).head
const grow = async (): Promise<void> => {
  await sql(at.url, `ALTER AGENT shop.broker SET temperature = ${Math.random().toFixed(6)}`)
}

test.each([
  ['audit', '#/audit?event=3', 'Audit', 'Proven'],
  ['a long event', '#/audit?event=8', 'Audit', 'value of the column 399'],
  ['comparison', '#/compare?from=2', 'Compare', 'broker'],
] as const)('%s is shown without an error or a request to elsewhere, and anybody can use it', async (_, hash, title, content) => {
  await seenAtAllSizes(at, hash, async (page) => {
    await page.locator('h1', { hasText: title }).waitFor()
    await page.locator('main').getByText(content).first().waitFor()
  })
})

test('every event of logs of many sizes is proven by the page itself', async () => {
  const { page } = await openPage(at.browser, at.url, '#/audit')
  for (let rounds = 0; rounds < 6; rounds++) {
    const size = await head()
    for (const position of new Set([1, 2, 3, size - 1, size])) {
      await page.goto(`${at.url}/#/audit?event=${position}`)
      await page.getByLabel('An event').getByText(`the event at position ${position} of the log with ${size} events`).waitFor()
      expect(await page.getByLabel('An event').getByText('Proven').count()).toBe(1)
    }
    await grow()
    await page.reload()
  }
  await page.context().close()
})

/** A page with a kept head, over a log that has grown since by so many events. */
const withKeptHead = async (growth: number): Promise<{ page: Page; size: number }> => {
  const { page } = await openPage(at.browser, at.url, '#/audit')
  const size = await head()
  await page.getByRole('button', { name: 'Keep this head' }).click()
  await page.getByText(`The first ${size} events are those of then`).waitFor()
  for (let i = 0; i < growth; i++) await grow()
  return { page, size }
}

test('a kept head holds while the log grows, in a later visit, and as a file', async () => {
  for (const growth of [1, 2, 5]) {
    const { page, size } = await withKeptHead(growth)
    await page.reload()
    await page.getByText(`The first ${size} events are those of then`).waitFor()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save as a file' }).click()
    const file = await (await saved).path()
    await page.getByRole('button', { name: /^Forget/ }).click()
    await page.getByText('No head is kept').waitFor()
    await page.getByLabel('Take from a file').setInputFiles(file)
    await page.getByText(`The first ${size} events are those of then`).waitFor()
    await page.context().close()
  }
})

test('an event is proven against a kept head that has it, and a later one against the newest head', async () => {
  const { page, size } = await withKeptHead(1)
  const proof = page.getByLabel('An event')
  for (const [position, against] of [
    [2, 'Checked against a head that this browser keeps.'],
    [size + 1, 'Checked against the newest head of the service.'],
  ] as const) {
    await page.goto(`${at.url}/#/audit?event=${position}`)
    await page.reload()
    await proof.getByText(against).waitFor()
    expect(await proof.getByText('Proven').count()).toBe(1)
  }
  await page.context().close()
})

test('an event is proven by the bytes that the service has now, and not by those that the browser kept', async () => {
  const { page } = await openPage(at.browser, at.url, '#/audit')
  await page.evaluate(`fetch('api/events/3', { headers: { Accept: 'application/json' } }).then((response) => response.text())`)
  await page.goto(`${at.url}/#/audit?event=3`)
  await page.getByLabel('An event').getByText('Proven').waitFor()
  // A browser transfers nothing for an answer that it kept.
  const sizes = `performance.getEntriesByName(new URL('api/events/3', location.href).href).map(({ transferSize }) => transferSize > 0)`
  expect(await page.evaluate(sizes)).toEqual([true, true])
  await page.context().close()
})

test('an auditor gets the export, the verifier and the key as files', async () => {
  const { page } = await openPage(at.browser, at.url, '#/audit')
  const taken = async (name: string): Promise<[string, string]> => {
    const saved = page.waitForEvent('download')
    await page.getByRole('link', { name, exact: true }).click()
    const file = await saved
    return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')]
  }
  const of = async (path: string) => (await fetch(`${at.url}/api/log/${path}`)).text()
  expect(await taken('Key')).toEqual(['key.txt', await of('key')])
  expect(await taken('Verifier')).toEqual(['verifier.mjs', await of('verifier')])
  const [name, lines] = await taken('Export of everything')
  expect(name).toBe('export.jsonl')
  for (const type of ['AgentCreated', 'ViewDeleted']) expect(lines).toContain(type)
  await page.context().close()
})

test('windows share their kept heads, and an entry that cannot be read costs no other', async () => {
  const { page, size } = await withKeptHead(1)
  const broken = { note: 'no head', key: '', keptAt: '' }
  await page.evaluate(
    `localStorage.setItem('mindledger.heads', JSON.stringify([${JSON.stringify(broken)}, ...JSON.parse(localStorage.getItem('mindledger.heads'))]))`,
  )
  await page.reload()
  await page.getByText(`The first ${size} events are those of then`).waitFor()
  const other = await page.context().newPage()
  await other.goto(`${at.url}/#/audit`)
  await other.getByText(`The first ${size} events are those of then`).waitFor()
  const later = await head()
  await other.getByRole('button', { name: 'Keep this head' }).click()
  // The first window was opened before, and sees the head of the other one.
  await page.getByRole('button', { name: `Forget the head of ${later} events` }).waitFor()
  await page.getByRole('button', { name: `Forget the head of ${size} events` }).click()
  await page.reload()
  await page.getByText(`The first ${later} events are those of then`).waitFor()
  expect(await page.getByRole('button', { name: /^Forget/ }).count()).toBe(1)
  expect(await page.evaluate(`JSON.parse(localStorage.getItem('mindledger.heads')).length`)).toBe(2)
  await page.context().close()
})

test('a head that is newer than the page is proven by the log of now', async () => {
  const { page } = await openPage(at.browser, at.url, '#/audit')
  await page.getByRole('button', { name: 'Keep this head' }).waitFor()
  await grow()
  const note = await (await fetch(`${at.url}/api/log/checkpoint`, { headers: { Accept: 'text/plain' } })).text()
  await page.getByLabel('Take from a file').setInputFiles({ name: 'heads.txt', mimeType: 'text/plain', buffer: Buffer.from(note) })
  await page
    .getByLabel('Heads')
    .getByText(/Proven|BROKEN/)
    .waitFor()
  await page.getByText(`The first ${await head()} events are those of then`).waitFor()
  await page.context().close()
})

const answerOf = async (route: Route) => {
  const response = await route.fetch()
  return { response, text: await response.text() }
}
const flip = (base64: string): string => {
  const bytes = Buffer.from(base64, 'base64')
  bytes[5] = (bytes[5] ?? 0) ^ 1
  return bytes.toString('base64')
}

test.each([
  ['the text of the event', '**/api/events/3', (text: string) => text.replace('"rents"', '"Rents"')],
  ['a space in it', '**/api/events/3', (text: string) => text.replace(',', ', ')],
  [
    'a hash of the way',
    '**/api/log/proofs/inclusion?*',
    (text: string) =>
      JSON.stringify({
        ...JSON.parse(text),
        hashes: (JSON.parse(text) as { hashes: string[] }).hashes.map((hash, i) => (i === 1 ? flip(hash) : hash)),
      }),
  ],
  [
    'the length of the way',
    '**/api/log/proofs/inclusion?*',
    (text: string) => JSON.stringify({ ...JSON.parse(text), hashes: (JSON.parse(text) as { hashes: string[] }).hashes.slice(1) }),
  ],
  ['no way at all', '**/api/log/proofs/inclusion?*', (text: string) => JSON.stringify({ ...JSON.parse(text), hashes: [] })],
])('an event that is not what the head says is told: %s', async (_, address, change) => {
  const { page } = await openPage(at.browser, at.url, '#/audit')
  await page.route(address, async (route) => {
    const { response, text } = await answerOf(route)
    const changed = change(text)
    expect(changed).not.toBe(text)
    await route.fulfill({ response, body: changed })
  })
  await page.goto(`${at.url}/#/audit?event=3`)
  await page.getByLabel('An event').getByText('BROKEN').waitFor()
  await page.context().close()
})

test('a past that was changed is told by a kept head, also when everything after it was made again', async () => {
  const { page, size } = await withKeptHead(3)
  // Another log of the same name: the service signs a root that does not go on from the kept one.
  await page.evaluate(
    `(() => { const kept = JSON.parse(localStorage.getItem('mindledger.heads')); kept[0].note = kept[0].note.replace(/\\n([A-Za-z0-9+/]{10})/, (all, some) => '\\n' + [...some].reverse().join('')); localStorage.setItem('mindledger.heads', JSON.stringify(kept)) })()`,
  )
  await page.reload()
  await page.getByText(`The first ${size} events are not those of then: the past was changed.`).waitFor()
  await page.context().close()
})

test('a log that became shorter is told, and so is one that took the place of another', async () => {
  const { page, size } = await withKeptHead(0)
  await page.evaluate(
    `(() => { const kept = JSON.parse(localStorage.getItem('mindledger.heads')); kept[0].note = kept[0].note.replace('\\n${size}\\n', '\\n${size + 900}\\n'); localStorage.setItem('mindledger.heads', JSON.stringify(kept)) })()`,
  )
  await page.reload()
  await page.getByText('events are gone').waitFor()
  await page.evaluate(
    `(() => { const kept = JSON.parse(localStorage.getItem('mindledger.heads')); kept[0].note = 'mindledger/other' + kept[0].note.slice(kept[0].note.indexOf('\\n')); localStorage.setItem('mindledger.heads', JSON.stringify(kept)) })()`,
  )
  await page.reload()
  await page.getByLabel('Heads', { exact: true }).getByText('BROKEN This address had the log mindledger/other').waitFor()
  await page.goto(`${at.url}/#/audit?event=3`)
  await page.getByLabel('An event').getByText('is of another log: this one took its place').waitFor()
  // A file may have the heads of other logs.
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save as a file' }).click()
  const file = await (await saved).path()
  await page.getByRole('button', { name: /^Forget/ }).click()
  await page.getByText('No head is kept').waitFor()
  await page.getByLabel('Take from a file').setInputFiles(file)
  await page.getByText('It is the head of another log').waitFor()
  expect(await page.getByText('took its place').count()).toBe(0)
  await page.context().close()
})

test('a head with a signature of somebody else is told', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.route('**/api/log/checkpoint', async (route) => {
    const { response, text } = await answerOf(route)
    const [, signature = ''] = /^— \S+ (\S+)$/m.exec(text) ?? []
    await route.fulfill({ response, body: text.replace(signature, flip(signature)) })
  })
  await page.goto(`${at.url}/#/audit`)
  await page.getByText('It is NOT of the key of this service.').waitFor()
  await page.context().close()
})

test('a comparison lists what was created, changed and deleted, with what differs', async () => {
  const created = ((await sql(at.url, `SELECT min(position) FROM log.events WHERE type = 'AgentCreated'`)).data[0]?.[0] ?? 0) as number
  const { page } = await openPage(at.browser, at.url, `#/compare?from=${created}`)
  const agent = page.locator('details', { hasText: 'shop.broker' })
  await agent.getByText('agent changed').waitFor()
  expect(await page.getByText('shop.rents').count()).toBe(0)
  await agent.locator('summary').click()
  await agent.getByText('temperature').first().waitFor()
  // Who gets the address sees the same line open.
  const sent = await openPage(at.browser, at.url, new URL(page.url()).hash)
  await sent.page.locator('details[open]', { hasText: 'shop.broker' }).getByText('temperature').first().waitFor()
  await sent.page.context().close()
  await page.getByLabel(/^From/).fill('1')
  await page.getByLabel(/^To/).fill(String(created))
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByText('agent created').waitFor()
  await page.getByText('skill created').waitFor()
  expect(new URL(page.url()).hash).toContain(`to=${created}`)
  await page.context().close()
})

test('a comparison counts the events of what it lists, and refuses moments in the wrong order', async () => {
  const { page } = await openPage(at.browser, at.url, '#/compare?from=1')
  const told = page.getByRole('status').filter({ hasText: 'changed, by' })
  await told.waitFor()
  const lines = await page.locator('.changes summary').allInnerTexts()
  const events = lines.map((line) => Number(/(\d+) events?\s*$/.exec(line)?.[1]))
  expect(await told.innerText()).toBe(`${lines.length} resources changed, by ${events.reduce((sum, n) => sum + n, 0)} events.`)
  // It came and went between the moments.
  expect(lines.filter((line) => line.includes('shop.one'))).toEqual([expect.stringMatching(/view created and deleted\s*2 events/)])
  await page.getByLabel(/^From/).fill('5')
  await page.getByLabel(/^To/).fill('2')
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('alert').getByText('Exchange the two moments.').waitFor()
  await page.context().close()
})

test('a comparison tells a deleted resource from another one that got its name', async () => {
  expect((await sql(at.url, 'CREATE VIEW shop.again AS (SELECT 1 AS first_column)')).type).not.toBe('error')
  const from = await head()
  for (const statement of ['DROP VIEW shop.again', 'CREATE VIEW shop.again AS (SELECT 1 AS second_column)'])
    expect((await sql(at.url, statement)).type).not.toBe('error')
  const { page } = await openPage(at.browser, at.url, `#/compare?from=${from}`)
  const line = (became: string) => page.locator('details', { hasText: `view ${became}` }).filter({ hasText: 'shop.again' })
  await line('created').locator('summary').click()
  await line('created').getByText('second_column').first().waitFor()
  await line('deleted').waitFor()
  expect(await page.locator('details[open]').count()).toBe(1)
  await line('deleted').locator('summary').click()
  await line('deleted').getByText('first_column').first().waitFor()
  await page.context().close()
})

test('the slider shows everything as of a position, by keys, and now again', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/skill')
  await page.locator('th', { hasText: 'rents' }).waitFor()
  await page.getByRole('button', { name: 'Now' }).click()
  await page.getByRole('slider').focus()
  await page.keyboard.press('Home')
  await page.getByText('As of 1').waitFor()
  await page.getByText('No skills here').waitFor()
  await page.getByRole('slider').focus()
  await page.keyboard.press('End')
  await page.locator('th', { hasText: 'rents' }).waitFor()
  await page.context().close()
})

test('data is erased after it was shown how much that is, and not without a word of consent', async () => {
  expectRefusals()
  await sql(at.url, 'CREATE TABLE files.people (SELECT * FROM range(3) AS t(i))')
  const { page } = await openPage(at.browser, at.url, '#/audit')
  await page.getByText('Erase data of a person').click()
  await page.getByRole('combobox', { name: /^What/ }).selectOption('file')
  await page.getByLabel('name', { exact: true }).fill('nobody')
  await page.getByRole('button', { name: 'What would be erased' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('name', { exact: true }).fill('people')
  await page.getByLabel(/^Reason/).fill('Article 17')
  await page.getByRole('button', { name: 'What would be erased' }).click()
  const asked = page.getByRole('group', { name: 'What would be erased' })
  await asked.getByText('1 content.').waitFor()
  const sent = await openPage(at.browser, at.url, new URL(page.url()).hash)
  const theirs = sent.page.getByRole('group', { name: 'What would be erased' })
  await theirs.getByText('1 content.').waitFor()
  expect(await sent.page.getByLabel('name', { exact: true }).inputValue()).toBe('people')
  expect(await theirs.getByRole('button', { name: 'Erase it' }).isDisabled()).toBe(true)
  await sent.page.context().close()
  expect(await asked.getByRole('button', { name: 'Erase it' }).isDisabled()).toBe(true)
  expect(await violationsOf(page)).toEqual([])
  await asked.getByLabel('I know that nobody can bring it back').check()
  await asked.getByRole('button', { name: 'Erase it' }).click()
  await page.getByText('Erased: files.people').waitFor()
  await page.getByRole('region', { name: 'Erasures' }).getByText('Article 17').waitFor()
  expect((await sql(at.url, 'SELECT * FROM files.people')).type).toBe('error')
  await page.context().close()
})

test('only the data whose amount was shown is erased, also when its amount arrives late', async () => {
  for (const name of ['first', 'second']) await sql(at.url, `CREATE TABLE files.${name}_people (SELECT '${name}' AS who)`)
  const { page } = await openPage(at.browser, at.url, '#/audit')
  const answer = await holdRequests(page, '**/api/log/erasures')
  await page.getByText('Erase data of a person').click()
  await page.getByRole('combobox', { name: /^What/ }).selectOption('file')
  const name = page.getByLabel('name', { exact: true })
  const ask = page.getByRole('button', { name: 'What would be erased' })
  await name.fill('first_people')
  const [asking, answered] = [page.waitForRequest('**/api/log/erasures'), page.waitForResponse('**/api/log/erasures')]
  await ask.click()
  await asking
  await name.fill('second_people')
  answer()
  await (await answered).finished()
  await page.locator('button:enabled', { hasText: 'What would be erased' }).waitFor()
  expect(await page.getByRole('group', { name: 'What would be erased' }).count()).toBe(0)
  await ask.click()
  const asked = page.getByRole('group', { name: 'What would be erased' })
  await asked.getByText('and 1 content.').waitFor()
  await asked.getByLabel('I know that nobody can bring it back').check()
  // Data that the subject gets after the plan are erased with the others, and counted in the result.
  await sql(at.url, `INSERT INTO files.second_people (SELECT 'later' AS who)`)
  await asked.getByRole('button', { name: 'Erase it' }).click()
  const done = page.getByRole('status').filter({ hasText: 'Erased: files.second_people' })
  await done.getByText('and 2 contents.').waitFor()
  expect((await sql(at.url, 'SELECT who FROM files.first_people')).data).toEqual([['first']])
  await page.context().close()
})
