import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { AgentShop } from '../../../support/agents/shop.js'
import { openPage } from '../../../support/console/browser.js'
import { expectUsable, startBrowser } from '../../../support/console/console.js'

const shop = new AgentShop()
const at = startBrowser()

beforeAll(async () => {
  at.undo(() => shop.stop())
  await shop.start()
  shop.model.script = () => 'What was said.'
  await shop.agent('broker', {})
})

const ask = async (page: Page): Promise<void> => {
  await page.getByLabel('Question').fill('What do you say?')
  await page.keyboard.press('Enter')
}

test('the end of an answer is announced, but not when the answer is loaded again', async () => {
  const { page } = await openPage(at.browser, shop.url, '#/playground?agent=shop/broker')
  await ask(page)
  const announced = page.getByRole('status').filter({ hasText: 'broker has answered.' })
  await announced.waitFor()
  await expectUsable(page)
  await page.waitForURL(/answers=/)
  await page.reload()
  await page.getByText('What was said.').waitFor()
  expect(await announced.count()).toBe(0)
  await page.context().close()
})

test('the record of an answer that the agent of a past moment gave is found', async () => {
  const [[then]] = (await shop.run('SELECT max(position) FROM log.events')) as [[number]]
  const { page } = await openPage(at.browser, shop.url, `#/playground?at=${then}&agent=shop/broker`)
  await ask(page)
  await page.getByRole('link', { name: 'Its record' }).click()
  await page.locator('.answer-text', { hasText: 'What was said.' }).waitFor()
  await page.context().close()
})
