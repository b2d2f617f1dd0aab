import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { send, sql } from '../../support/service.js'
import { readConfig } from '../../../src/setup/config.js'
import { openPage, requestsOf, setVisibility, untilDrawn } from '../../support/console/browser.js'
import { builtWith } from '../../support/console/built.js'
import { expectRefusals, expectUsable, seenAtAllSizes, startConsole } from '../../support/console/console.js'
import { jobWithRuns } from '../../support/jobs/job-runs.js'
import { writes } from '../../support/log/log.js'
import { until } from '../../support/until.js'

const at = startConsole(undefined, { VAULT_KEY: 'ab'.repeat(32) })

test('settings are told with what they are for, and no secret', async () => {
  const { body } = (await send(at.url, 'GET', '/api/settings')) as { body: { name: string; value: string | null; is_default: boolean }[] }
  const of = (name: string) => body.find((setting) => setting.name === name)
  expect(of('VAULT_KEY')).toMatchObject({ value: '******', is_default: false })
  expect(of('AUTH_PASSWORD')).toMatchObject({ value: null, is_default: true })
  expect(of('HOST')).toMatchObject({ value: '127.0.0.1', is_default: true })
  expect(JSON.stringify(body)).not.toMatch(/abab/)
  const keys = { VAULT_KEY: 'ab'.repeat(32), HEAD_KEY: 'cd'.repeat(32) }
  const { settings } = readConfig({
    LOG_URL: 'postgres://user:hidden@db:5432/ledger?sslpassword=hidden',
    OPENAI_API_BASE: 'https://gateway.example/v1?key=hidden',
    AZURE_OPENAI_ENDPOINT: 'https://azure.example/?code=hidden',
    EGRESS_ALLOW: 'db.corp:5432',
    ...keys,
  })
  expect(settings.find(({ name }) => name === 'LOG_URL')).toMatchObject({ value: 'postgres://db:5432/ledger' })
  expect(settings.find(({ name }) => name === 'OPENAI_API_BASE')).toMatchObject({ value: 'https://gateway.example/v1' })
  expect(settings.find(({ name }) => name === 'EGRESS_ALLOW')).toMatchObject({ value: 'db.corp:5432' })
  expect(JSON.stringify(settings)).not.toMatch(/hidden|abab|cdcd/)
})

test('health draws its lines, and tells of limits that were hit and of settings', async () => {
  const long = `SELECT '${'x'.repeat(3_000_000)}'`
  const { error_message: refusal } = await sql(at.url, long)
  const metrics = await (await fetch(`${at.url}/metrics`)).text()
  const [, limit = 'none'] = /mindledger_limits_hit_total\{limit="(\w+)"\} 1/.exec(metrics) ?? []
  expect(limit).toBe('statementMaxChars')
  expect(refusal).toContain(limit)
  await seenAtAllSizes(at, '#/health', async (page) => {
    await page.locator('.time-line canvas').nth(2).waitFor()
    await page.getByRole('list', { name: 'Refusals by limit' }).getByText(limit).first().waitFor()
    const setting = page.locator('.fields > div', { has: page.getByText('VAULT_KEY', { exact: true }) }).getByText('set by the environment')
    // The page is looked at several times, and a second click would close the settings again.
    if (!(await setting.isVisible())) await page.getByText('Settings', { exact: true }).click()
    await setting.waitFor()
  })
})

test('a run of a job is shown without looking again', async () => {
  const { page } = await openPage(at.browser, at.url, '#/health')
  await page.getByText('No job has run.').waitFor()
  await sql(at.url, 'CREATE JOB once (SELECT 1) START now')
  await page.getByRole('region', { name: 'The last runs of jobs' }).getByRole('link', { name: 'mindsdb.once' }).waitFor()
  await page.context().close()
})

test('the page of a job has its own runs alone, the newest first, and leads to earlier ones', async () => {
  await sql(at.url, 'CREATE JOB other_job (SELECT 1) START now')
  const positions = async () =>
    (await sql(at.url, `SELECT position FROM log.job_runs WHERE job = 'often' ORDER BY position`)).data.flat().map(Number)
  const project = await at.log.resources.one('project', 'mindsdb')
  if (!project) throw new Error('there is no project')
  await at.log.submit(writes(...jobWithRuns(project.stream, 'often', { chars: 1, runs: 22 })))
  await until(async () => (await positions()).length === 22)
  const { page } = await openPage(at.browser, at.url, '#/health')
  await page.getByText('The page of a job has all its runs.').waitFor()
  await page.getByRole('region', { name: 'The last runs of jobs' }).getByRole('link', { name: 'mindsdb.often' }).first().click()
  await page.getByRole('tab', { name: 'Runs' }).click()
  const runs = page.getByRole('region', { name: 'Runs of the job' }).getByRole('link')
  await runs.nth(19).waitFor()
  await expectUsable(page)
  await page.getByRole('link', { name: 'Earlier' }).click()
  await page.getByText('There is no earlier run.').waitFor()
  expect(await runs.last().getAttribute('href')).toBe(`#/events?position=${(await positions())[0]}`)
  await page.context().close()
})

test('the cards tell the head of the log, and on a node that shares it how far the node is behind', async () => {
  const { head } = (await send(at.url, 'GET', '/api/events?limit=1')).body as { head: number }
  const { page } = await openPage(at.browser, at.url, '#/query')
  await page.getByLabel('SQL', { exact: true }).waitFor()
  const ready = (await send(at.url, 'GET', '/api/ready')).body as Record<string, object>
  const shared = { state: 'following', lag: { batches: 2, events: 1_234 } }
  await page.route('**/api/ready', (route) => route.fulfill({ json: { ...ready, log: { ...ready['log'], position: head, shared } } }))
  await page.getByRole('link', { name: 'Health' }).click()
  const card = (name: string) => page.locator('.card', { has: page.getByText(name, { exact: true }) })
  await card('Shared log').getByText('1,234 events behind').waitFor()
  await card('Shared log').getByText('following').waitFor()
  await card('Head').getByText(head.toLocaleString('en'), { exact: true }).waitFor()
  await card('Queue')
    .getByText(/wait: \d+ commands, \d+ queries, \d+ trainings/)
    .waitFor()
  expect(await card('Server process').locator('.count').innerText()).toMatch(/^[\d.,]+ (?:bytes|[KMGT]B)$/)
  expect(await card('Disk').locator('.quiet').innerText()).toMatch(/ free$/)
  await expectUsable(page)
  await page.context().close()
})

test('the settings are open where the address says so', async () => {
  const { page } = await openPage(at.browser, at.url, '#/health')
  await page.getByText('Settings', { exact: true }).click()
  await page.waitForURL(/settings=1/)
  await page.reload()
  await page.locator('.fields').getByText('VAULT_KEY', { exact: true }).waitFor()
  await page.getByText('Settings', { exact: true }).click()
  await page.waitForURL((address) => !address.hash.includes('settings'))
  await page.context().close()
})

/** Pixels in the colour of the line, and how far to the right they stand. */
const drawn = `(() => {
  const canvas = document.querySelector('.time-line canvas')
  const probe = document.createElement('canvas').getContext('2d')
  probe.fillStyle = getComputedStyle(canvas.closest('[role=img]')).outlineColor
  probe.fillRect(0, 0, 1, 1)
  const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  let rightmost = -1
  for (let i = 0; i < data.length; i += 4)
    if (data[i] === red && data[i + 1] === green && data[i + 2] === blue && data[i + 3] === 255) rightmost = Math.max(rightmost, ((i / 4) % canvas.width) / canvas.width)
  return rightmost
})()`

/** Waits until a line is drawn up to now, and something else in the page is so. */
const untilLine = (page: Page, alsoHolds = 'true'): Promise<void> => until(() => page.evaluate<boolean>(`${alsoHolds} && ${drawn} > 0.9`))

test('the first look is drawn at once, at the end of the last minute', async () => {
  const { page } = await openPage(at.browser, at.url, '#/health')
  const canvas = page.locator('.time-line canvas').first()
  await canvas.waitFor()
  await untilLine(page)
  await page.context().close()
})

test('lines have the colours of the theme, also after the system or the reader changed it', async () => {
  const { page } = await openPage(at.browser, at.url, '#/health', { colorScheme: 'light' })
  await page.locator('.time-line canvas').first().waitFor()
  const colour = `getComputedStyle(document.querySelector('.time-line [role=img]')).outlineColor`
  const light = await page.evaluate<string>(colour)
  await untilLine(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await untilLine(page, `${colour} !== '${light}'`)
  await page.getByRole('button', { name: /^Theme: system/ }).click()
  await untilLine(page, `${colour} === '${light}'`)
  await page.context().close()
})

test('a line whose library cannot be loaded says so, and is drawn once it can', async () => {
  expectRefusals()
  const { page } = await openPage(at.browser, at.url, '#/query')
  await page.getByLabel('SQL', { exact: true }).waitFor()
  const files = builtWith('u-legend')
  expect(files).not.toEqual([])
  for (const file of files) await page.route(`**/assets/${file}`, (route) => route.abort())
  await page.getByRole('link', { name: 'Health' }).click()
  const notice = page.getByRole('alert').filter({ hasText: 'could not be loaded' })
  await notice.nth(2).waitFor()
  await expectUsable(page)
  // Without the service a page that is loaded again would be an error of the browser, and all that is in it would be lost.
  await page.route('**/api/health', (route) => route.abort())
  await page.evaluate(`document.body.dataset.here = 'yes'`)
  const looked = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/health'))
  await notice.first().getByRole('button', { name: 'Try again' }).click()
  await looked
  // A second try during the look of the first one would share it, and find the service away.
  await untilDrawn(page)
  await page.getByText('The service cannot be reached.').waitFor({ state: 'detached' })
  expect([await page.locator('body[data-here]').count(), await notice.count()]).toEqual([1, 3])
  await page.unrouteAll()
  await notice.first().getByRole('button', { name: 'Try again' }).click()
  await page.locator('.time-line canvas').first().waitFor()
  await page.context().close()
})

test('the first seconds say what is waited for, and nothing is told as a fault', async () => {
  expectRefusals()
  const { page } = await openPage(at.browser, at.url, '#/query')
  await page.getByLabel('SQL', { exact: true }).waitFor()
  const ready = (await send(at.url, 'GET', '/api/ready')).body as Record<string, object>
  const reason = 'The tables are being built: 0 of 7 events.'
  const starting = { ...ready, sql: { ...ready['sql'], ready: false, reason, state: 'building', position: 0, lag: 7 } }
  let letThrough: () => void = () => undefined
  const held = new Promise<void>((resolve) => (letThrough = resolve))
  let goOn: () => void = () => undefined
  const seen = new Promise<void>((resolve) => (goOn = resolve))
  let looks = 0
  await page.route('**/api/ready', async (route) => {
    // The second look ends what is said of the first one, so it waits until that was seen.
    await (looks++ === 0 ? held : seen)
    await route.fulfill({ status: 503, json: starting })
  })
  await page.route('**/metrics', async (route) => {
    const text = await (await route.fetch()).text()
    await route.fulfill({ body: text.replace(/^mindledger_analytics_resident_memory_bytes.*$/m, '') })
  })
  await page.getByRole('link', { name: 'Health' }).click()
  await page.getByText('Waiting for the first numbers…').waitFor()
  letThrough()
  const sqlCard = page.locator('.card', { has: page.getByText('SQL', { exact: true }) })
  await sqlCard.getByText('starting…').waitFor()
  await sqlCard.getByText(reason).waitFor()
  await page.getByText('waiting until it has started…').waitFor()
  await page.locator('figure', { hasText: 'Requests a second' }).getByText('after the next look…').waitFor()
  await page.getByText('Waiting for SQL…').waitFor()
  expect(await page.locator('main .bad, main [role=alert]').count()).toBe(0)
  expect(await page.locator('main').innerText()).not.toMatch(/NaN|undefined/)
  await expectUsable(page)
  goOn()
  await page.unroute('**/api/ready')
  await page.unroute('**/metrics')
  await sqlCard.getByText('ready', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'Runs of jobs' }).locator('.busy').waitFor({ state: 'detached' })
  await page.context().close()
})

test('the numbers rest while the reader pauses, or does not see the page', async () => {
  const watched = async () => {
    const { page } = await openPage(at.browser, at.url, '#/health')
    const looks = requestsOf(page, '/api/ready')
    await until(() => looks.count > 0)
    return { page, looks }
  }
  /** Waits until the page has done what it began, and the looks that were under way have ended. */
  const isAtRest = async ({ page, looks }: Awaited<ReturnType<typeof watched>>): Promise<void> => {
    await untilDrawn(page)
    await until(() => looks.open.size === 0)
    await untilDrawn(page)
  }
  const [paused, hidden, shown] = [await watched(), await watched(), await watched()]
  const pause = paused.page.getByRole('button', { name: 'Pause' })
  await pause.click()
  await setVisibility(hidden.page, 'hidden')
  await expectUsable(paused.page)
  for (const one of [paused, hidden]) await isAtRest(one)
  const before = [paused.looks.count, hidden.looks.count]
  const looked = shown.looks.count
  await until(() => shown.looks.count > looked + 1)
  expect([paused.looks.count, hidden.looks.count]).toEqual(before)
  await pause.click()
  await setVisibility(hidden.page, 'visible')
  await until(() => paused.looks.count > (before[0] ?? 0) && hidden.looks.count > (before[1] ?? 0))
  for (const { page } of [paused, hidden, shown]) await page.context().close()
})
