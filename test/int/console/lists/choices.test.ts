import { expect, test } from '@jest/globals'
import type { Locator, Page } from 'playwright-core'
import { holdRequests, openPage, violationsOf } from '../../../support/console/browser.js'
import { expectUsable, screenWidths, startConsole } from '../../../support/console/console.js'
import { created, manyNames, projectNamed, recordMany } from '../../../support/console/many.js'
import { send, sql } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const many = 1_205
const versions = 260

const at = startConsole(async (url) => {
  for (const statement of ['CREATE PROJECT shop', 'CREATE VIEW shop.origin AS (SELECT 1 AS n)'])
    expect((await sql(url, statement)).type).not.toBe('error')
  const shop = await projectNamed(at.log, 'shop')
  const agents = created('agent', shop, manyNames('agent', many))
  await recordMany(at.log, [...created('skill', shop, manyNames('skill', many)), ...agents])
  await recordMany(at.log, created('view', shop, manyNames('view', many)))
  await recordMany(at.log, created('project', shop, manyNames('project', many)))
  const changed = Array.from({ length: versions }, (_, n) => ({
    stream: agents[0]?.stream ?? shop,
    event: { type: 'AgentUpdated' as const, data: { params: { temperature: n / versions } } },
  }))
  await recordMany(at.log, changed)
})

/** Types into a field that searches, and takes the one option that fits by keys. */
const take = async (page: Page, field: Locator, text: string): Promise<void> => {
  await field.focus()
  await page.keyboard.type(text)
  await page.getByRole('option', { name: text }).and(page.locator('[aria-selected=true]')).waitFor()
  await until(async () => (await page.getByRole('option').count()) === 1)
  await page.keyboard.press('Enter')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
}

test('of many skills, the last one is added to an agent by keys, and the options go on to their end', async () => {
  const { page } = await openPage(at.browser, at.url, '#/new/agent?project=shop')
  const adding = page.getByRole('combobox', { name: 'Add to skills' })
  await adding.and(page.locator('input')).focus()
  await page.keyboard.press('ArrowDown')
  await page.getByText(`50 of ${many.toLocaleString('en')} are shown.`).waitFor()
  expect(await violationsOf(page)).toEqual([])
  const chosen = page.locator('main [role=option][aria-selected=true]')
  for (const name of manyNames('skill', 120).slice(0, -1)) {
    await chosen.getByText(name, { exact: true }).waitFor()
    // At the end of the options the key is pressed until more are there.
    await until(async () => {
      await page.keyboard.press('ArrowDown')
      return !(await chosen.innerText()).includes(name)
    })
  }
  await chosen.getByText('skill_0119', { exact: true }).waitFor()
  const { y = -1, height = 0 } = (await chosen.boundingBox()) ?? {}
  const list = (await page.getByRole('listbox').boundingBox()) ?? { y: 0, height: 0 }
  expect([y >= list.y - 1, y + height <= list.y + list.height + 1]).toEqual([true, true])
  await page.keyboard.press('Escape')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
  await take(page, adding, 'skill_1204')
  expect(await page.getByLabel(/^skills/).inputValue()).toBe('skill_1204')
  await page.getByLabel(/^name/).first().fill('handy')
  await page.getByLabel(/^model name/).fill('gpt-4o')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.locator('h1', { hasText: 'handy' }).waitFor()
  const { body } = await send(at.url, 'GET', '/api/projects/shop/agents/handy')
  expect(body).toMatchObject({ skills: [{ name: 'skill_1204' }] })
  await page.context().close()
})

test('a field that takes any text proposes what the service finds, and keeps what is typed', async () => {
  const { page } = await openPage(at.browser, at.url, '#/new/chatbot?project=shop')
  const agent = page.getByRole('combobox', { name: /^agent name/ }).and(page.locator('input[aria-expanded]'))
  await agent.focus()
  await page.keyboard.type('agent_12')
  await page.getByRole('option', { name: 'agent_1204' }).waitFor()
  expect(await agent.inputValue()).toBe('agent_12')
  for (const name of ['agent_1200', 'agent_1201']) {
    await page.keyboard.press('ArrowDown')
    await page.locator('[role=option][aria-selected=true]', { hasText: name }).waitFor()
  }
  await page.keyboard.press('Enter')
  expect(await agent.inputValue()).toBe('agent_1201')
  await agent.fill('no_such_agent')
  await page.getByText('Nothing has this name.').waitFor()
  await page.getByLabel(/^name/).first().focus()
  expect(await agent.inputValue()).toBe('no_such_agent')
  await page.context().close()
})

test('an option that is gone to is taken, and a late answer leaves no place that is not there', async () => {
  const { page } = await openPage(at.browser, at.url, '#/new/chatbot?project=shop')
  const agent = page.getByRole('combobox', { name: /^agent name/ }).and(page.locator('input[aria-expanded]'))
  const goTo = async (name: string): Promise<void> => {
    for (let n = 0; n < 5; n++) await page.keyboard.press('ArrowDown')
    await page.locator('[role=option][aria-selected=true]', { hasText: name }).waitFor()
  }
  await agent.focus()
  await page.keyboard.type('agent_12')
  await page.getByRole('option', { name: 'agent_1204' }).waitFor()
  const answer = await holdRequests(page, `${at.url}/api/sql/query`)
  await page.keyboard.type('03')
  await goTo('agent_1204')
  answer()
  await page.getByRole('option', { name: 'agent_1204' }).waitFor({ state: 'detached' })
  expect(await agent.getAttribute('aria-activedescendant')).toBeNull()
  await agent.fill('agent_12')
  await page.getByRole('option', { name: 'agent_1204' }).waitFor()
  const laterAnswer = await holdRequests(page, `${at.url}/api/sql/query`)
  await page.keyboard.type('03')
  await goTo('agent_1204')
  await page.keyboard.press('Enter')
  laterAnswer()
  await page.getByRole('listbox').waitFor({ state: 'detached' })
  expect(await agent.inputValue()).toBe('agent_1204')
  await page.context().close()
})

test('an option that is there before the service answers is taken at once', async () => {
  const { page } = await openPage(at.browser, at.url, '#/playground?agent=shop/agent_0000&beside=shop/agent_0001')
  const beside = page.getByRole('combobox', { name: /^Beside/ }).and(page.locator('input'))
  await beside.focus()
  const answer = await holdRequests(page, `${at.url}/api/sql/query`)
  await page.keyboard.press('ArrowDown')
  await page.locator('[role=option][aria-selected=true]', { hasText: 'nobody' }).waitFor()
  await page.keyboard.press('Enter')
  answer()
  await page.getByRole('listbox').waitFor({ state: 'detached' })
  expect(new URL(page.url()).hash).not.toContain('beside=')
  await page.context().close()
})

test.each([
  ['the project of a new view', '#/new/view', /^Project/, 'project_1204', 'project=project_1204'],
  ['an agent to ask', '#/playground', /^Agent/, 'shop.agent_1204', `agent=${encodeURIComponent('shop/agent_1204')}`],
  ['the table of a training', '#/models/new', /^Table/, 'shop.view_1204', 'table=shop.view_1204'],
  ['the database of a statement', '#/query?sql=SELECT+1', /^in/, 'project_1204', 'db=project_1204'],
] as const)('%s is found among many, and is in the address', async (_, hash, label, text, address) => {
  const { page } = await openPage(at.browser, at.url, hash)
  const field = page.getByRole('combobox', { name: label }).and(page.locator('input'))
  await take(page, field, text)
  await page.waitForURL((url) => url.hash.includes(address))
  expect(await field.inputValue()).toBe(text)
  const colleague = await openPage(at.browser, at.url, new URL(page.url()).hash)
  await colleague.page.getByRole('combobox', { name: label }).and(colleague.page.locator('input')).waitFor()
  expect(await colleague.page.getByRole('combobox', { name: label }).inputValue()).toBe(text)
  for (const one of [page, colleague.page]) await one.context().close()
})

test('an early version of an agent with many is asked beside the one of now', async () => {
  const { page } = await openPage(at.browser, at.url, '#/playground?agent=shop/agent_0000&beside=shop/agent_0000')
  const version = page.getByRole('combobox', { name: /^Its version/ }).and(page.locator('input'))
  await take(page, version, 'version 3,')
  const { data } = await sql(at.url, `SELECT position FROM log.events WHERE type = 'AgentUpdated' ORDER BY position LIMIT 1 OFFSET 1`)
  await page.waitForURL((url) => url.hash.includes(`beside_at=${String(data[0]?.[0])}`))
  expect(await version.inputValue()).toContain('version 3,')
  await page.context().close()
})

test.each(screenWidths)('a field with many options and its open list are usable %i pixels wide', async (width) => {
  const { page } = await openPage(at.browser, at.url, '#/new/view', { viewport: { width, height: 900 } })
  const field = page.getByRole('combobox', { name: /^Project/ }).and(page.locator('input'))
  await field.click()
  await page.getByRole('option').nth(49).waitFor()
  await expectUsable(page)
  await page.getByRole('option', { name: 'project_0010' }).click()
  await page.waitForURL(/project=project_0010/)
  await page.context().close()
})

test('the jump menu goes on beyond the entries that it shows at first', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.locator('h1').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('skill_')
  await page.getByText(`30 of ${many.toLocaleString('en')} are shown.`).waitFor()
  const chosen = page.locator('.jump-menu [aria-selected=true]')
  for (const name of manyNames('skill', 75).slice(0, -1)) {
    await chosen.getByText(name).waitFor()
    await until(async () => {
      await page.keyboard.press('ArrowDown')
      return !(await chosen.innerText()).includes(name)
    })
  }
  await chosen.getByText('skill_0074').waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.locator('h1', { hasText: 'skill_0074' }).waitFor()
  await page.context().close()
})
