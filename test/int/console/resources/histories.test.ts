import { expect, test } from '@jest/globals'
import type { Locator, Page } from 'playwright-core'
import { openPage, untilDrawn } from '../../../support/console/browser.js'
import { expectRefusals, expectUsable, seenAtAllSizes, startConsole } from '../../../support/console/console.js'
import { record } from '../../../support/log/log.js'
import { send } from '../../../support/service.js'

const skill = '/api/projects/mindsdb/skills/busy'
const versions = 2_150

const at = startConsole(async (url) => {
  await send(url, 'POST', '/api/projects/mindsdb/skills', { skill: { name: 'busy', type: 'sql', params: { description: 'state 1' } } })
  const [made] = await at.log.resources.list('skill')
  if (!made) throw new Error('there is no skill')
  const changed = (version: number) => ({ type: 'SkillUpdated' as const, data: { params: { description: `state ${version}` } } })
  await record(
    at.log,
    Array.from({ length: versions - 1 }, (_, i) => ({ stream: made.stream, event: changed(i + 2) })),
  )
})

const open = async (query: string): Promise<Page> =>
  (await openPage(at.browser, at.url, `#/resources/skill/mindsdb/busy?${query}`, { viewport: { width: 1_280, height: 800 } })).page

/** The text of an element. The page lays out only those in sight. */
const textInSight = async (one: Locator): Promise<string> => {
  await one.scrollIntoViewIfNeeded()
  await untilDrawn(one.page())
  return one.innerText()
}

test('a history of more changes than a page of the API has begins with the newest, and goes back to the first', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/skill/mindsdb/busy?tab=history')
  const changes = page.locator('.history > li')
  await changes.first().getByText('version 2150').waitFor()
  expect(await changes.first().innerText()).toContain('state 2149 → state 2150')
  expect(await changes.count()).toBe(1_000)
  expect(await textInSight(changes.last())).toContain('state 1150 → state 1151')
  for (const [last, count] of [
    ['version 151', 2_000],
    ['version 1', versions],
  ] as const) {
    await page.getByRole('button', { name: 'Earlier changes' }).click()
    await changes
      .nth(count - 1)
      .getByText(last, { exact: false })
      .waitFor()
    expect(await changes.count()).toBe(count)
  }
  expect(await textInSight(changes.last())).toContain('Skill created')
  await page.getByRole('button', { name: 'Earlier changes' }).waitFor({ state: 'detached' })
  await page.context().close()
})

test('who set a member is said of the newest change, and what is not loaded is told until it is', async () => {
  const page = await open('blame=1')
  const member = (name: RegExp) => page.locator('.fields > div', { hasText: name })
  await member(/^params/)
    .getByText('version 2150')
    .waitFor()
  await member(/^type/).getByText('by no change after version 1150').waitFor()
  await expectUsable(page)
  const earlier = page.getByRole('button', { name: 'Earlier changes' })
  await earlier.click()
  await member(/^type/).getByText('by no change after version 150').waitFor()
  await earlier.click()
  await member(/^type/).getByText('version 1,').waitFor()
  await page.context().close()
})

test('a resource goes back to a late version, and to what it was at a moment whose history is long, too', async () => {
  const page = await open('tab=history')
  await page.locator('.history > li').nth(1).getByRole('button', { name: 'Go back to this…' }).click()
  await page.locator('.preview').getByText('state 2149').waitFor()
  await page.getByRole('button', { name: 'Go back to version 2149' }).click()
  await page.locator('.history > li').first().getByText('version 2151').waitFor()
  const { body } = await send(at.url, 'GET', skill)
  expect(body).toMatchObject({ params: { description: 'state 2149' } })
  const history = (await send(at.url, 'GET', `${skill}/history?after=1500&limit=1`)).body as { changes: { position: number }[] }
  await page.goto(`${at.url}/#/resources/skill/mindsdb/busy?tab=history&at=${history.changes[0]?.position ?? 0}`)
  await page.locator('.history > li').first().getByText('version 1501').waitFor()
  await page.context().close()
})

test('a resource that went back is shown at once, under the name that it has now', async () => {
  expectRefusals()
  const skills = '/api/projects/mindsdb/skills'
  const change = async (name: string, to: object) =>
    expect((await send(at.url, 'PUT', `${skills}/${name}`, { skill: to })).status).toBe(200)
  const description = async (name: string) =>
    ((await send(at.url, 'GET', `${skills}/${name}`)).body as { params: { description: string } }).params.description
  await send(at.url, 'POST', skills, { skill: { name: 'early', type: 'sql', params: { description: 'one' } } })
  await change('early', { params: { description: 'two' } })
  await change('early', { name: 'late' })
  const { page } = await openPage(at.browser, at.url, '#/resources/skill/mindsdb/late?tab=history')
  const changes = page.locator('.history > li')
  const goBack = async (version: number) => {
    await changes
      .filter({ hasText: `· version ${version}` })
      .getByRole('button', { name: 'Go back to this…' })
      .click()
    await page.getByRole('button', { name: `Go back to version ${version}` }).click()
  }
  await goBack(2)
  await page.locator('h1', { hasText: 'early' }).waitFor()
  await changes.first().getByText('version 4').waitFor()
  await goBack(1)
  await changes.first().getByText('version 5').waitFor()
  expect(await page.locator('.preview').count()).toBe(0)
  expect(await description('early')).toBe('one')
  // The plan was made for another version than the one of now.
  await changes.filter({ hasText: '· version 2' }).getByRole('button', { name: 'Go back to this…' }).click()
  await page.locator('.preview').waitFor()
  await change('early', { params: { description: 'three' } })
  await page.getByRole('button', { name: 'Go back to version 2' }).click()
  await page.getByRole('alert').waitFor()
  expect(await description('early')).toBe('three')
  await page.context().close()
})

test('each change says what there was before it, in lists and of what was removed, and so does a comparison', async () => {
  const change = async (params: object) => {
    const { status } = await send(at.url, 'PUT', '/api/projects/mindsdb/agents/small', { agent: { params } })
    expect(status).toBe(200)
  }
  const first = { prompt_template: 'Answer\nshortly', rules: ['a', 'b', 'c'], openai_api_key: 'k1', level: { of: 1 } }
  const agent = { name: 'small', model_name: 'gpt-4o', provider: 'openai', params: first }
  const { body } = await send(at.url, 'POST', '/api/projects/mindsdb/agents', { agent })
  await change({ rules: ['b', 'x'], level: { of: { more: 2 } } })
  await change({ prompt_template: 'Answer', openai_api_key: 'k2', level: { of: { more: 3 } } })
  const { page } = await openPage(at.browser, at.url, '#/resources/agent/mindsdb/small?tab=history')
  const changes = page.locator('.history > li')
  await changes.nth(2).waitFor()
  const said = async (n: number) => (await changes.nth(n).locator('.diff li').allInnerTexts()).map((line) => line.replaceAll(/\s+/g, ' '))
  expect((await said(0)).sort()).toEqual([
    '~ params › level › of › more changed 2 → 3',
    '~ params › openai_api_key changed ****** → ******',
    '~ params › prompt_template changed Answer shortly → Answer',
  ])
  expect(await said(1)).toEqual([
    '− params › rules › 0 removed a',
    '~ params › rules › 1 changed c → x',
    '~ params › level › of changed 1 → { "more": 2 }',
  ])
  await expectUsable(page)
  const created = (body as { id: number }).id
  await page.goto(`${at.url}/#/compare?from=${created}`)
  await page.locator('summary', { hasText: 'mindsdb.small' }).click()
  await page.locator('.diff del', { hasText: 'shortly' }).waitFor()
  const compared = (await page.locator('.diff li').allInnerTexts()).map((line) => line.replaceAll(/\s+/g, ' '))
  expect(compared).toContain('~ prompt_template changed Answer shortly → Answer')
  expect(compared).toContain('~ params › rules changed [ "a", "b", "c" ] → [ "b", "x" ]')
  await expectUsable(page)
  await page.context().close()
})

test('a long history fits all screens', async () => {
  await seenAtAllSizes(at, '#/resources/skill/mindsdb/busy?blame=1', async (page) => {
    await page.getByRole('button', { name: 'Earlier changes' }).waitFor()
  })
})
