import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { undoAll } from '../../../../src/basics/undo.js'
import { AgentShop } from '../../../support/agents/shop.js'
import { closeBrowser, openBrowser, openPage } from '../../../support/console/browser.js'
import { checkMisdeeds } from '../../../support/console/console.js'
import { send } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const shop = new AgentShop()
const undo: (() => unknown)[] = []
let browser: Browser
/** A position of the log at which all had their first names. */
let before: number

const makeDesk = async (): Promise<void> => {
  const chatbot = { name: 'desk', agent_name: 'helper', is_running: true, database_name: 'hook' }
  expect((await send(shop.url, 'POST', '/api/projects/shop/chatbots', { chatbot })).status).toBe(201)
}

const runsOfJobs = async (): Promise<number> => Number((await shop.run('SELECT count(*) FROM log.job_runs'))[0]?.[0])

/** Records of a project, an agent, a chatbot and a job, all of which are renamed or deleted later. */
beforeAll(async () => {
  undo.push(() => shop.stop())
  await shop.start()
  browser = await openBrowser()
  undo.push(() => closeBrowser(browser))
  shop.model.script = () => 'What was said.'
  await shop.agent('broker', {})
  await shop.agent('helper', {})
  await shop.ask('broker', 'Of the renamed one?')
  await shop.run(`CREATE DATABASE hook WITH ENGINE = 'webhook', PARAMETERS = {"secret": "a-long-secret-of-the-test"}`)
  await makeDesk()
  await send(shop.url, 'POST', '/api/projects/shop/chatbots/desk/messages', { text: 'To the first desk', user: 'ann' })
  await shop.run('CREATE JOB shop.nightly (SELECT 1)')
  await until(async () => (await runsOfJobs()) === 1)
  await shop.run('CREATE VIEW shop.large AS (SELECT 1 AS one)')
  const [[position] = []] = await shop.run('SELECT max(position) FROM log.events')
  before = Number(position)
  await shop.run('DROP JOB IF EXISTS shop.nightly')
  await shop.run("CREATE JOB shop.nightly (SELECT 2) START '2099-01-01'")
  await shop.run('ALTER VIEW shop.large AS (SELECT 2 AS two)')
  await send(shop.url, 'PUT', '/api/projects/shop/chatbots/desk', { chatbot: { name: 'reception' } })
  await makeDesk()
  await send(shop.url, 'PUT', '/api/projects/shop/agents/broker', { agent: { name: 'agent_of_now' } })
  await shop.run('ALTER DATABASE shop NAME = store')
})
afterAll(() => undoAll(undo))
checkMisdeeds()

const opened = async (hash: string, see: (page: Page) => Promise<unknown>): Promise<void> => {
  const { page } = await openPage(browser, shop.url, hash)
  await see(page)
  await page.context().close()
}

test('the record of an answer is found under its list after its agent and its project got other names', () =>
  opened('#/answers', async (page) => {
    await page.getByRole('link', { name: 'Of the renamed one?' }).click()
    await page.locator('.answer-text', { hasText: 'What was said.' }).waitFor()
    await page.getByRole('button', { name: 'Good answer' }).click()
    await page.getByRole('list', { name: 'Verdicts' }).getByText('Good answer').waitFor()
    await page.getByRole('button', { name: 'Ask again from the record' }).waitFor()
  }))

test('conversations belong to the chatbot, and not to its name', async () => {
  await opened('#/conversations/store/reception', (page) => page.getByRole('region', { name: 'Conversations' }).getByRole('link').waitFor())
  await opened('#/conversations/store/desk', (page) => page.getByText('Nobody has written to it yet').waitFor())
})

test('the records of an agent and of a chatbot stay when both are deleted', async () => {
  await send(shop.url, 'POST', '/api/projects/store/chatbots/desk/messages', { text: 'To the second desk', user: 'ann' })
  for (const name of ['reception', 'desk']) await send(shop.url, 'DELETE', `/api/projects/store/chatbots/${name}`)
  expect((await send(shop.url, 'DELETE', '/api/projects/store/agents/helper')).status).toBe(204)
  await opened('#/conversations/store/desk', async (page) => {
    await page.getByRole('region', { name: 'Conversations' }).getByRole('link').click()
    await page.getByText('To the second desk').waitFor()
    await page.getByRole('link', { name: 'What is behind it' }).click()
    await page.locator('.answer-text', { hasText: 'What was said.' }).waitFor()
  })
})

test('runs of another job of the same name are not those of a job', () =>
  opened('#/resources/job/store/nightly?tab=runs', async (page) => {
    await page.getByText('It has not run.').waitFor()
  }))

test('a change is compared across the new name of its project', () =>
  opened(`#/compare?from=${before}`, async (page) => {
    const view = page.locator('details', { hasText: 'store.large' })
    await view.getByText('was shop.large').waitFor()
    await view.locator('summary').click()
    await view.locator('.diff').getByText('two').first().waitFor()
  }))
