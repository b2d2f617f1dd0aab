import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage, requestsOf, setVisibility } from '../../support/console/browser.js'
import { seenAtAllSizes, startConsole } from '../../support/console/console.js'
import { projectCreated, record, writes } from '../../support/log/log.js'
import { send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const changes = 2_000

const at = startConsole(async (url) => {
  await sql(url, 'CREATE PROJECT shop')
  const skill = { name: 'rents', type: 'sql', params: { database: 'files', tables: ['t0'] } }
  expect((await send(url, 'POST', '/api/projects/shop/skills', { skill })).status).toBe(201)
  const [made] = await at.log.resources.list('skill')
  if (!made) throw new Error('there is no skill')
  const changed = (table: string) => ({ type: 'SkillUpdated' as const, data: { params: { ...skill.params, tables: [table] } } })
  await record(
    at.log,
    Array.from({ length: changes - 1 }, (_, i) => ({ stream: made.stream, event: changed(`t${i + 1}`) })),
  )
})

const positionsOf = async (page: Page): Promise<number[]> => (await page.locator('.events .position').allInnerTexts()).map(Number)

/** Waits for the page whose newest event is at a position. */
const beginsAt = (page: Page, position: number) =>
  page.locator('.events > li:first-child .position', { hasText: new RegExp(`^${position}$`) }).waitFor()

test('a reader pages back to the first event, each page has an address, and no event is left out', async () => {
  const { page } = await openPage(at.browser, at.url, '#/events')
  const earlier = page.getByRole('link', { name: 'Earlier' })
  await earlier.waitFor()
  const seen = await positionsOf(page)
  const head = seen[0] ?? 0
  expect(head).toBeGreaterThanOrEqual(changes)
  let middle = ''
  while ((seen.at(-1) ?? 0) > 1) {
    const next = (seen.at(-1) ?? 0) - 1
    await earlier.focus()
    await page.keyboard.press('Enter')
    await beginsAt(page, next)
    expect(await page.locator('main').evaluate('document.activeElement.id')).toBe('content')
    seen.push(...(await positionsOf(page)))
    if (middle === '' && next < head / 2) middle = new URL(page.url()).hash
  }
  expect(seen).toEqual(Array.from({ length: head }, (_, i) => head - i))
  await page.getByText('The log begins here.').waitFor()
  expect(await earlier.count()).toBe(0)
  const colleague = await openPage(at.browser, at.url, middle)
  await beginsAt(colleague.page, Number(/position=(\d+)/.exec(middle)?.[1]))
  await page.goBack()
  await earlier.waitFor()
  await page.getByRole('button', { name: 'Go on to now' }).click()
  await beginsAt(page, head)
  await page.context().close()
  await colleague.page.context().close()
})

test('the line of an event has room for who caused it, however wide the page is', async () => {
  const { page } = await openPage(at.browser, at.url, '#/events', { viewport: { width: 820, height: 1_180 } })
  const cause = page.locator('.events summary > :nth-child(3)').first()
  await cause.waitFor()
  for (const width of [1_440, 1_100, 820, 760]) {
    await page.setViewportSize({ width, height: 1_180 })
    expect((await cause.boundingBox())?.width).toBeGreaterThanOrEqual(100)
  }
  await page.context().close()
})

test('events of one type alone are shown, also of those that arrive, beside the other filters', async () => {
  const { page } = await openPage(at.browser, at.url, '#/events')
  const names = page.locator('.events summary strong')
  const type = page.getByRole('combobox', { name: 'Type' })
  await type.locator('option', { hasText: 'Project created' }).waitFor({ state: 'attached' })
  await type.selectOption('SkillCreated')
  await page.getByText('No earlier event fits.').waitFor()
  expect(await names.allInnerTexts()).toEqual(['Skill created'])
  await type.selectOption('ProjectCreated')
  await names.getByText('Project created').first().waitFor()
  await page.locator('h1 ~ [role=status]').getByText('Live').waitFor()
  const before = await names.count()
  await send(at.url, 'PUT', '/api/projects/shop/skills/rents', { skill: { params: { tables: ['unseen'] } } })
  await sql(at.url, 'CREATE PROJECT seen')
  await page.locator('.events pre', { hasText: '"seen"' }).first().waitFor({ state: 'attached' })
  expect(await names.allInnerTexts()).toEqual(Array(before + 1).fill('Project created'))

  const colleague = await openPage(at.browser, at.url, `${new URL(page.url()).hash}&kind=project&actor=nobody`)
  await colleague.page.getByText('No event fits').waitFor()
  expect(await colleague.page.getByRole('combobox', { name: 'Type' }).inputValue()).toBe('ProjectCreated')
  await colleague.page.getByRole('combobox', { name: 'Kind' }).selectOption('skill')
  expect(await colleague.page.getByRole('combobox', { name: 'Type' }).inputValue()).toBe('')
  await colleague.page.getByRole('textbox', { name: 'By' }).fill('')
  await colleague.page.keyboard.press('Enter')
  await colleague.page.locator('.events summary strong', { hasText: 'Skill updated' }).first().waitFor()
  await colleague.page.getByRole('link', { name: 'Earlier' }).click()
  await colleague.page.getByText(/^Up to \d+$/).waitFor()
  expect(new URL(colleague.page.url()).hash).toMatch(/kind=skill.*position=\d+/)
  await page.context().close()
  await colleague.page.context().close()
})

test('what the first event changed is compared with the empty log', async () => {
  const { page } = await openPage(at.browser, at.url, '#/events?position=1')
  await page.locator('.events summary').click()
  await page.getByRole('link', { name: 'What it changed' }).click()
  await page.getByText('1 resource changed, by 1 event.').waitFor()
  const first = page.locator('.changes details', { hasText: 'project created' })
  await first.locator('summary').click()
  await first.locator('.inside').getByText('mindsdb').first().waitFor()
  await page.context().close()
})

test('what is being written in a filter stays while events arrive', async () => {
  const { page } = await openPage(at.browser, at.url, '#/events?kind=project')
  await page.locator('h1 ~ [role=status]').getByText('Live').waitFor()
  const by = page.getByRole('textbox', { name: 'By' })
  await by.click()
  await page.keyboard.type('som')
  await sql(at.url, 'CREATE PROJECT meanwhile')
  await page.locator('.events pre', { hasText: '"meanwhile"' }).first().waitFor({ state: 'attached' })
  await page.keyboard.type('ebody')
  expect(await by.inputValue()).toBe('somebody')
  await page.keyboard.press('Enter')
  await page.waitForURL(/actor=somebody/)
  await page.context().close()
})

test('what is written in a filter as soon as it is seen stays', async () => {
  const { page } = await openPage(at.browser, at.url, '#/audit')
  await page.locator('h1', { hasText: 'Audit' }).waitFor()
  await page.evaluate(`(() => {
    const seen = new MutationObserver(() => {
      const by = document.querySelector('input[placeholder=anybody]')
      if (!by) return
      seen.disconnect()
      by.value = 'ann'
      by.dispatchEvent(new Event('input', { bubbles: true }))
    })
    seen.observe(document.body, { childList: true, subtree: true })
    location.hash = '#/events'
  })()`)
  await page.locator('h1 ~ [role=status]').getByText('Live').waitFor()
  expect(await page.getByRole('textbox', { name: 'By' }).inputValue()).toBe('ann')
  await page.context().close()
})

test('an event whose text has separators of lines arrives like any other', async () => {
  const { page } = await openPage(at.browser, at.url, '#/events?kind=skill')
  await page.locator('h1 ~ [role=status]').getByText('Live').waitFor()
  const separated = 'one\u2028two\u2029three\u0085four\nfive'
  await send(at.url, 'PUT', '/api/projects/shop/skills/rents', { skill: { params: { description: separated } } })
  await page.locator('.events pre', { hasText: 'three' }).first().waitFor({ state: 'attached' })
  await page.context().close()
})

test('a page of earlier events is as wide as its screen, and anybody can use it', async () => {
  await seenAtAllSizes(at, '#/events?position=1500&type=SkillUpdated', async (page) => {
    await beginsAt(page, 1_500)
    await page.locator('option', { hasText: 'Project created' }).waitFor({ state: 'attached' })
  })
})

test('events of one project alone are shown, also of those that arrive', async () => {
  await sql(at.url, 'CREATE PROJECT apart')
  await sql(at.url, 'CREATE VIEW apart.first_view AS (SELECT 1 AS a)')
  const { page } = await openPage(at.browser, at.url, '#/events')
  await page.getByText('Live').waitFor()
  await page.getByLabel('Project', { exact: true }).fill('apart')
  await page.keyboard.press('Tab')
  await page.waitForURL(/project=apart/)
  const events = (text: string) => page.locator('.events > li', { has: page.locator('pre', { hasText: text }) })
  await events('t1999').first().waitFor({ state: 'detached' })
  await events('first_view').first().waitFor()
  await sql(at.url, 'CREATE VIEW mindsdb.of_another AS (SELECT 1 AS a)')
  await sql(at.url, 'CREATE VIEW apart.second_view AS (SELECT 1 AS a)')
  await events('second_view').first().waitFor()
  expect(await events('of_another').count()).toBe(0)
  await page.context().close()
})

test('new events wait while the reader pauses, or does not see the page, and none of them is lost', async () => {
  const { page } = await openPage(at.browser, at.url, '#/events?kind=project')
  const { page: beside } = await openPage(at.browser, at.url, '#/events?kind=project')
  const status = page.locator('h1 ~ [role=status]')
  const eventOf = (of: Page, name: string) => of.locator('.events > li', { has: of.locator('pre', { hasText: `"${name}"` }) })
  const streams = requestsOf(page, '/api/events/stream')
  const isSeenBesideAlone = async (name: string) => {
    await until(() => streams.open.size === 0)
    const before = streams.count
    await sql(at.url, `CREATE PROJECT ${name}`)
    await eventOf(beside, name).first().waitFor({ state: 'attached' })
    expect([await eventOf(page, name).count(), streams.count]).toEqual([0, before])
  }
  for (const one of [page, beside]) await one.locator('h1 ~ [role=status]').getByText('Live').waitFor()
  // A stream that is counted from its beginning.
  await page.reload()
  await until(() => streams.open.size > 0)
  await status.getByText('Live').waitFor()
  const pause = page.getByRole('button', { name: 'Pause' })
  await pause.click()
  await status.getByText('Paused').waitFor()
  expect(await pause.getAttribute('aria-pressed')).toBe('true')
  await isSeenBesideAlone('while_paused')
  await pause.click()
  await eventOf(page, 'while_paused').first().waitFor({ state: 'attached' })
  await status.getByText('Live').waitFor()
  await setVisibility(page, 'hidden')
  await status.getByText('Not connected').waitFor()
  await isSeenBesideAlone('while_hidden')
  await setVisibility(page, 'visible')
  await eventOf(page, 'while_hidden').first().waitFor({ state: 'attached' })
  await status.getByText('Live').waitFor()
  for (const name of ['while_paused', 'while_hidden']) expect([name, await eventOf(page, name).count()]).toEqual([name, 1])
  for (const one of [page, beside]) await one.context().close()
})

test('of a long event a closed line has the beginning alone, and an open one has all', async () => {
  const description = `${'long '.repeat(4_000)} and this is the end`
  const changed = await send(at.url, 'PUT', '/api/projects/shop/skills/rents', { skill: { params: { description } } })
  expect(changed.status).toBe(200)
  const { page } = await openPage(at.browser, at.url, '#/events?kind=skill')
  const text = page.locator('.events > li:first-child pre')
  await text.waitFor({ state: 'attached' })
  expect(((await text.textContent()) ?? '').length).toBe(2_000)
  await page.locator('.events > li:first-child summary').click()
  await page.locator('.events > li:first-child pre', { hasText: 'and this is the end' }).waitFor()
  await page.locator('.events > li:first-child summary').click()
  await until(async () => (await text.textContent())?.length === 2_000)
  await page.context().close()
})

/** Records new projects at once. */
const recordProjects = async (from: number, count: number): Promise<void> => {
  const projects = Array.from({ length: count }, (_, i) => projectCreated(from + i, `many_${from + i}`))
  await at.log.submit(writes(...projects))
}

/** The positions of the newest events of projects. */
const newestOfProjects = async (limit: number): Promise<number[]> => {
  const { body } = (await send(at.url, 'GET', `/api/events?kind=project&order=desc&limit=${limit}`)) as {
    body: { events: { position: number }[] }
  }
  return body.events.map(({ position }) => position)
}

test('many events that came during a pause are drawn in a few steps, and of too many the newest page is loaded', async () => {
  await recordProjects(1, 150)
  const { page } = await openPage(at.browser, at.url, '#/events?kind=project')
  const status = page.locator('h1 ~ [role=status]')
  await status.getByText('Live').waitFor()
  const pause = page.getByRole('button', { name: 'Pause' })
  await pause.click()
  await status.getByText('Paused').waitFor()
  await recordProjects(1_000, 600)
  await page.evaluate(`window.draws = 0
    new MutationObserver(() => window.draws++).observe(document.querySelector('.events'), { childList: true })`)
  await pause.click()
  await page.locator('.events pre', { hasText: '"many_1599"' }).first().waitFor({ state: 'attached' })
  const kept = 100 + 600
  expect(await positionsOf(page)).toEqual(await newestOfProjects(kept))
  expect(await page.evaluate<number>('window.draws')).toBeLessThan(300)

  await pause.click()
  await status.getByText('Paused').waitFor()
  await recordProjects(2_000, 600)
  await recordProjects(3_000, 600)
  await pause.click()
  await page.locator('.events > li:first-child pre', { hasText: '"many_3599"' }).waitFor({ state: 'attached' })
  await status.getByText('Live').waitFor()
  const newest = await newestOfProjects(200)
  expect(await positionsOf(page)).toEqual(newest.slice(0, 100))
  await page.getByRole('link', { name: 'Earlier' }).click()
  await beginsAt(page, newest[100] ?? 0)
  expect(await positionsOf(page)).toEqual(newest.slice(100))
  await page.context().close()
})
