import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { contentOf, queries, questionOf } from '../../support/agents/scripted-model.js'
import { AgentShop } from '../../support/agents/shop.js'
import { atFirstSight, closeBrowser, openBrowser, openPage, untilDrawn, violationsOf } from '../../support/console/browser.js'
import { checkMisdeeds, expectRefusals, expectUsable, screenWidths } from '../../support/console/console.js'
import { send } from '../../support/service.js'
import { until } from '../../support/until.js'
import { undoAll } from '../../../src/basics/undo.js'

const shop = new AgentShop()
const undo: (() => unknown)[] = []
let browser: Browser

beforeAll(async () => {
  undo.push(() => shop.stop())
  await shop.start()
  browser = await openBrowser()
  undo.push(() => closeBrowser(browser))
  await shop.run(
    `CREATE TABLE files.homes (SELECT i AS id, ['north', 'south'][i % 2 + 1] AS district, 300 + i AS rent FROM range(20) AS t(i))`,
  )
  await shop.agent('broker', { data: { tables: ['files.homes'] } })
  await shop.agent('other', { data: { tables: ['files.homes'] } })
  shop.model.script = queries(() => 'SELECT district, count(*) AS n FROM files.homes GROUP BY ALL ORDER BY ALL', 'Ten in each of the two.')
})
afterAll(() => undoAll(undo))
checkMisdeeds()

test('an agent is asked: its work, its answer, a verdict, and the record, which gives the same again', async () => {
  const { page } = await openPage(browser, shop.url, '#/playground')
  await page.getByRole('combobox', { name: /^Agent/ }).selectOption('shop/broker')
  await page.getByLabel('Question').fill('How many homes are in each district?')
  await page.waitForURL(/question=/)
  const sent = await openPage(browser, shop.url, new URL(page.url()).hash)
  await expect(sent.page.getByLabel('Question').inputValue()).resolves.toBe('How many homes are in each district?')
  await sent.page.context().close()
  await page.keyboard.press('Enter')
  await page.getByText('Ten in each of the two.').waitFor()
  await page.locator('.step summary').click()
  await page.getByRole('region', { name: 'Rows of the query' }).getByText('south').waitFor()
  const chosen = (verdict: string) => page.locator('button[aria-pressed=true]', { hasText: verdict }).waitFor()
  await page.getByRole('button', { name: 'Good answer' }).click()
  await chosen('Good answer')
  await page.getByLabel('Comment on the answer').fill('Both <b>districts</b>.')
  await page.getByRole('button', { name: 'Bad answer' }).click()
  await chosen('Bad answer')
  const given = await shop.run('SELECT verdict, comment FROM log.answer_judgements ORDER BY position')
  expect(given).toEqual([
    ['good', null],
    ['bad', 'Both <b>districts</b>.'],
  ])
  await page.waitForURL(/answers=/)
  await page.reload()
  await chosen('Bad answer')
  await page.getByRole('list', { name: 'Verdicts' }).getByText('Both <b>districts</b>.').waitFor()
  await page.getByRole('link', { name: 'Its record' }).click()
  await page.locator('h1', { hasText: 'How many homes' }).waitFor()
  await page.getByRole('list', { name: 'Verdicts' }).getByText('Both <b>districts</b>.').waitFor()
  await page.getByRole('button', { name: 'Good answer' }).click()
  await chosen('Good answer')
  await page.getByRole('region', { name: 'Rows of query 1' }).getByText('south').waitFor()
  await expectUsable(page)
  for (const step of await page.locator('.events.changes > li > details > summary').all()) await step.click()
  await expectUsable(page)
  const asked = shop.model.asked.length
  await page.getByRole('button', { name: 'Ask again from the record' }).click()
  await page.locator('section pre', { hasText: 'Ten in each of the two.' }).waitFor()
  expect(shop.model.asked).toHaveLength(asked)
  await page.context().close()
})

test('a link to another question that is opened on the page itself is followed, and one without a question takes nothing away', async () => {
  const hash = (question: string) =>
    `#/playground?${new URLSearchParams({ agent: 'shop/broker', ...(question && { question }) }).toString()}`
  const { page } = await openPage(browser, shop.url, hash('First?'))
  const field = page.getByLabel('Question')
  await field.waitFor()
  expect(await field.inputValue()).toBe('First?')
  await page.goto(`${shop.url}/${hash('Second?')}`)
  await until(async () => (await field.inputValue()) === 'Second?')
  await field.fill('Third?')
  await page.waitForURL(/question=Third/)
  expect(await field.inputValue()).toBe('Third?')
  await page.goto(`${shop.url}/${hash('')}`)
  await page.waitForURL((address) => !address.hash.includes('question='))
  await untilDrawn(page)
  expect(await field.inputValue()).toBe('Third?')
  await page.goto(`${shop.url}/${hash('First?')}`)
  await until(async () => (await field.inputValue()) === 'First?')
  await page.context().close()
})

test('what is typed as soon as a link to another question is opened stays', async () => {
  const hash = (question: string) => `#/playground?${new URLSearchParams({ agent: 'shop/broker', question }).toString()}`
  const { page } = await openPage(browser, shop.url, hash('First?'))
  const field = page.getByLabel('Question')
  await field.waitFor()
  await atFirstSight(
    page,
    `location.hash = ${JSON.stringify(hash('Second?'))}`,
    '.ask textarea',
    `(field) => {
      field.value = 'Third?'
      field.dispatchEvent(new Event('input', { bubbles: true }))
    }`,
  )
  await untilDrawn(page)
  expect(await field.inputValue()).toBe('Third?')
  await page.context().close()
})

test('nothing is asked in a conversation whose earlier answers are still to come', async () => {
  const { page } = await openPage(browser, shop.url, '#/playground?agent=shop/broker')
  await page.getByLabel('Question').fill('How many?')
  await page.keyboard.press('Enter')
  await page.waitForURL(/answers=/)
  const begun = `${new URL(page.url()).hash}&question=And+now%3F`
  await page.context().close()
  const other = await openPage(browser, shop.url, '#/playground?agent=shop/other&question=And+now%3F')
  await other.page.getByRole('button', { name: 'Ask', disabled: false }).waitFor()
  const open = `location.hash = ${JSON.stringify(begun)}`
  expect(await atFirstSight<boolean>(other.page, open, '.ask button', '(ask) => ask.disabled')).toBe(true)
  await other.page.getByText('Ten in each of the two.').waitFor()
  await other.page.getByRole('button', { name: 'Ask', disabled: false }).waitFor()
  await other.page.context().close()
})

test('a comment on an answer is there again after a reload, until it is sent', async () => {
  const { page } = await openPage(browser, shop.url, '#/playground?agent=shop/broker')
  const comment = page.getByLabel('Comment on the answer')
  const restored = page.getByText('What you typed before is here again.')
  await page.getByLabel('Question').fill('Again?')
  await page.keyboard.press('Enter')
  await comment.fill('Too short')
  await page.waitForURL(/answers=/)
  await page.reload()
  await restored.waitFor()
  expect(await comment.inputValue()).toBe('Too short')
  await expectUsable(page)
  await page.getByRole('button', { name: 'Bad answer' }).click()
  await restored.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('list', { name: 'Verdicts' }).getByText('Too short').waitFor()
  expect([await restored.count(), await comment.inputValue()]).toEqual([0, 'Too short'])
  await page.context().close()
})

test('an answer and its record lead to the event that records it, also after a reload', async () => {
  const { page } = await openPage(browser, shop.url, '#/playground?agent=shop/broker')
  await page.getByLabel('Question').fill('By which event?')
  await page.keyboard.press('Enter')
  const link = page.locator('main').getByRole('link', { name: /^event \d+$/ })
  await link.waitFor()
  const [[position]] = (await shop.run('SELECT max(position) FROM log.answers')) as [[number]]
  const isEvent = async () => {
    expect(await link.innerText()).toBe(`event ${position}`)
    await link.click()
    await page.locator('h1', { hasText: 'Events' }).waitFor()
    const first = page.locator('.events > li').first()
    await first.locator('.position', { hasText: new RegExp(`^${position}$`) }).waitFor()
    await page.goBack()
    await link.waitFor()
  }
  await isEvent()
  await page.waitForURL(/answers=/)
  await page.reload()
  await link.waitFor()
  await isEvent()
  await page.getByRole('link', { name: 'Its record' }).click()
  await page.locator('h1', { hasText: 'By which event?' }).waitFor()
  await link.waitFor()
  await isEvent()
  await page.context().close()
})

test('what was said to a chatbot is read as a conversation, with the record of each answer', async () => {
  await send(shop.url, 'POST', '/api/projects/shop/chatbots', {
    chatbot: {
      name: 'desk',
      agent_name: 'broker',
      is_running: true,
      db_engine: 'webhook',
      db_params: { secret: 'a-long-secret-of-the-test' },
    },
  })
  await send(shop.url, 'POST', '/api/projects/shop/chatbots/desk/messages', { text: 'How many <b>homes</b>?', user: 'ann' })
  for (const width of screenWidths) {
    const { page } = await openPage(browser, shop.url, '#/resources/chatbot/shop/desk', {
      viewport: { width, height: 900 },
    })
    await page.getByRole('link', { name: 'Conversations' }).click()
    await page.getByRole('region', { name: 'Conversations' }).getByRole('link').first().waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('region', { name: 'Conversations' }).getByRole('link').first().click()
    await page.getByText('How many <b>homes</b>?').waitFor()
    await page.locator('.said.ours', { hasText: 'Ten in each of the two.' }).waitFor()
    await expectUsable(page)
    await page.getByRole('link', { name: 'What is behind it' }).click()
    await page.getByRole('region', { name: 'Rows of query 1' }).getByText('south').waitFor()
    await page.context().close()
  }
})

test('two agents are asked the same, and each is told what it said before', async () => {
  const { page } = await openPage(browser, shop.url, '#/playground?agent=shop/broker&beside=shop/other')
  for (const question of ['First?', 'Second?']) {
    await page.getByLabel('Question').fill(question)
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.locator('.rounds > li', { hasText: question }).locator('article[aria-busy=false] footer').nth(1).waitFor()
  }
  expect(await page.getByText('Ten in each of the two.').count()).toBe(4)
  expect(
    shop.model.asked
      .at(-1)
      ?.messages.filter(({ role }) => role === 'user')
      .map(({ content }) => content),
  ).toEqual(['First?', 'Second?'])
  await page.context().close()
})

test('a conversation has an address: it is there after a reload, with its steps, and each agent still knows what it said', async () => {
  const { page } = await openPage(browser, shop.url, '#/playground?agent=shop/broker&beside=shop/other')
  const ask = async (question: string) => {
    await page.getByLabel('Question').fill(question)
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.locator('.rounds > li', { hasText: question }).locator('article[aria-busy=false] footer').nth(1).waitFor()
  }
  await ask('Once?')
  await ask('Twice?')
  await page.waitForURL(/answers=[^&.]+\.[^&.]+/)
  await page.reload()
  for (const question of ['Once?', 'Twice?'])
    await page.locator('.rounds > li', { hasText: question }).locator('article[aria-busy=false] footer').nth(1).waitFor()
  expect(await page.getByText('Ten in each of the two.').count()).toBe(4)
  await page.locator('.step summary').first().click()
  await page.getByRole('region', { name: 'Rows of the query' }).first().getByText('south').waitFor()
  await ask('Thrice?')
  expect(
    shop.model.asked
      .at(-1)
      ?.messages.filter(({ role }) => role === 'user')
      .map(({ content }) => content),
  ).toEqual(['Once?', 'Twice?', 'Thrice?'])
  await page.getByRole('button', { name: 'New conversation' }).click()
  await page.waitForURL((address) => !address.hash.includes('answers='))
  expect(await page.locator('.rounds > li').count()).toBe(0)
  await page.context().close()
})

test('an answer in the address of a conversation that cannot be read says why', async () => {
  expectRefusals()
  const gone = '01a217d3-e86f-7997-8b30-ec8ae24ca12a'
  const { page } = await openPage(browser, shop.url, `#/playground?agent=shop/broker&answers=${gone}`)
  await page.getByRole('article', { name: 'broker says' }).getByRole('alert').waitFor()
  expect(await page.getByText('fault of the console').count()).toBe(0)
  await expectUsable(page)
  await page.context().close()
})

test('two versions of an agent answer side by side, with their tokens and their cost', async () => {
  await shop.agent('changing', { prompt_template: 'First words.' })
  const [[then]] = (await shop.run('SELECT max(position) FROM log.events')) as [[number]]
  await send(shop.url, 'PUT', '/api/projects/shop/agents/changing', { agent: { prompt_template: 'Second words.' } })
  await send(shop.url, 'PUT', '/api/config', { llm_prices: { scripted: { input: 10, output: 20 } } })
  const script = shop.model.script
  shop.model.script = () => ({ content: 'It depends.', usage: { prompt_tokens: 300, completion_tokens: 5 } })
  const { page } = await openPage(browser, shop.url, '#/playground?agent=shop/changing')
  await page.getByRole('button', { name: 'Another version of it' }).click()
  await page.locator('[aria-label="The version of changing beside it"]:focus').waitFor()
  const version = page.getByRole('combobox', { name: /^Its version/ })
  const first = version.locator('option', { hasText: 'version 1,' })
  await first.waitFor({ state: 'attached' })
  expect(await version.locator('option').allInnerTexts()).toEqual([
    'now',
    expect.stringMatching(/^version 2, .*, as of \d+$/),
    expect.stringMatching(new RegExp(`^version 1, .*, as of ${then}$`)),
  ])
  await version.selectOption((await first.getAttribute('value')) ?? '')
  await page.waitForURL(new RegExp(`beside_at=${then}`))
  await page.getByLabel('Question').fill('Which one?')
  await page.keyboard.press('Enter')
  const answers = page.getByRole('article', { name: 'changing says' })
  await answers.filter({ hasText: `shop.changing as of ${then}` }).waitFor()
  for (const one of [answers.first(), answers.last()]) {
    await one.getByText('It depends.').waitFor()
    await one.getByText('300 tokens read, 5 written').waitFor()
    await one.getByText('cost 0.0031').waitFor()
  }
  const prompts = shop.model.asked.slice(-2).map(({ messages: [first] }) => contentOf(first ?? { content: '' }))
  for (const words of ['First words.', 'Second words.']) expect(prompts.filter((prompt) => prompt.includes(words))).toHaveLength(1)
  await answers.last().getByRole('button', { name: 'Bad answer' }).click()
  await answers.last().locator('button[aria-pressed=true]', { hasText: 'Bad answer' }).waitFor()
  expect(await shop.run(`SELECT version, verdict FROM log.answers WHERE agent = 'changing' ORDER BY version`)).toEqual([
    [1, 'bad'],
    [2, null],
  ])
  await expectUsable(page)
  shop.model.script = script
  await page.context().close()
})

test('beside an agent of a past, the same agent answers as it is now', async () => {
  const [[then]] = (await shop.run(`SELECT min(VALID_FROM) FROM information_schema.agents_history WHERE NAME = 'changing'`)) as [[number]]
  const { page } = await openPage(browser, shop.url, `#/playground?at=${then}&agent=shop/changing&beside=shop/changing`)
  const version = page.getByRole('combobox', { name: /^Its version/ })
  expect(await version.locator('option:checked').innerText()).toBe(`as of ${then}, like the page`)
  await version.selectOption('now')
  await page.waitForURL(/beside_at=now/)
  await page.getByLabel('Question').fill('And now?')
  await page.keyboard.press('Enter')
  const answers = page.getByRole('article', { name: 'changing says' })
  await answers.locator('footer').nth(1).waitFor()
  expect(await answers.filter({ hasText: `as of ${then}` }).count()).toBe(1)
  await page.context().close()
})

test('an answer is stopped, and a model that fails is told with what to do', async () => {
  expectRefusals()
  let goOn = (): void => undefined
  const waiting = new Promise<void>((resolve) => (goOn = resolve))
  const script = shop.model.script
  shop.model.script = async () => {
    await waiting
    return 'Too late.'
  }
  const { page } = await openPage(browser, shop.url, '#/playground?agent=shop/broker')
  await page.getByLabel('Question').fill('Slowly?')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stopped.').waitFor()
  goOn()
  shop.model.script = () => ({ error: { message: 'no such key', type: 'invalid_request_error' }, status: 401 })
  await page.getByLabel('Question').fill('Refused?')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').innerText()).not.toContain('fault of the console')
  shop.model.script = script
  await page.context().close()
})

test('a question that the service refuses is in its field again, and in the address', async () => {
  expectRefusals()
  await shop.agent('leaving', {})
  const { page } = await openPage(browser, shop.url, '#/playground?agent=shop/leaving')
  const question = page.getByLabel('Question')
  await question.fill('Still there?')
  await shop.run('DROP AGENT shop.leaving')
  await page.keyboard.press('Enter')
  await page.getByRole('article', { name: 'leaving says' }).getByRole('alert').waitFor()
  await until(async () => (await question.inputValue()) === 'Still there?')
  await page.waitForURL(/question=Still/)
  await page.reload()
  await question.waitFor()
  expect(await question.inputValue()).toBe('Still there?')
  await page.context().close()
})

test('a question goes on while another page is shown, and its answer is there on the way back', async () => {
  let goOn = (): void => undefined
  const waiting = new Promise<void>((resolve) => (goOn = resolve))
  const script = shop.model.script
  shop.model.script = async () => {
    await waiting
    return 'At last.'
  }
  const { page } = await openPage(browser, shop.url, '#/playground?agent=shop/broker')
  const leave = async () => {
    await page.getByRole('link', { name: 'Answers so far' }).click()
    await page.locator('h1', { hasText: 'Answers' }).waitFor()
  }
  await page.getByLabel('Question').fill('Meanwhile?')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  await leave()
  await page.goBack()
  await page.locator('.rounds .question', { hasText: 'Meanwhile?' }).waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  await leave()
  goOn()
  await page.getByRole('navigation').getByRole('link', { name: 'Agents' }).click()
  await page.locator('.said .text', { hasText: 'At last.' }).waitFor()
  await page.waitForURL(/agent=.*answers=/)
  await page.reload()
  await page.locator('.said .text', { hasText: 'At last.' }).waitFor()
  await page.getByRole('button', { name: 'New conversation' }).click()
  await page.locator('.rounds .question').waitFor({ state: 'detached' })
  shop.model.script = script
  await page.context().close()
})

test('another moment has a conversation of its own, and the answers of both stay with the version that gave them', async () => {
  const [[then]] = (await shop.run(`SELECT min(VALID_FROM) FROM information_schema.agents_history WHERE NAME = 'changing'`)) as [[number]]
  let goOn = (): void => undefined
  const waiting = new Promise<void>((resolve) => (goOn = resolve))
  const script = shop.model.script
  shop.model.script = async (asked) => {
    if (questionOf(asked) === 'Slowly, now?') await waiting
    return `Said to ${questionOf(asked)}`
  }
  const { page } = await openPage(browser, shop.url, '#/playground?agent=shop/changing')
  const ask = async (text: string) => {
    await page.getByLabel('Question').fill(text)
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
  }
  const isSaidTo = (text: string) => page.locator('.said .text', { hasText: `Said to ${text}` }).waitFor()
  const questions = page.locator('.rounds .question')
  const goThen = async () => {
    await page.getByRole('button', { name: 'Now', exact: true }).click()
    await page.getByLabel('A position of the log').fill(String(then))
    await page.getByRole('button', { name: 'Show', exact: true }).click()
  }
  await ask('Today?')
  await isSaidTo('Today?')
  await page.waitForURL(/answers=/)
  await ask('Slowly, now?')
  await page.getByRole('button', { name: 'Stop' }).waitFor()

  await goThen()
  await questions.first().waitFor({ state: 'detached' })
  await ask('And then?')
  await isSaidTo('And then?')
  const asked = shop.model.asked.find((one) => questionOf(one) === 'And then?')
  expect(contentOf(asked?.messages[0] ?? { content: '' })).toContain('First words.')
  expect(asked?.messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['And then?'])
  await page.waitForURL(/answers_at=/)

  await page.getByRole('button', { name: `As of ${then}`, exact: true }).click()
  await page.getByRole('button', { name: 'Now', exact: true }).click()
  await isSaidTo('Today?')
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  goOn()
  await isSaidTo('Slowly, now?')
  expect(await questions.allInnerTexts()).toEqual(['Today?', 'Slowly, now?'])

  await goThen()
  await isSaidTo('And then?')
  await page.waitForURL(/answers_at=/)
  await page.reload()
  await page.getByText(`shop.changing as of ${then}, version 1`).waitFor()
  expect(await questions.allInnerTexts()).toEqual(['And then?'])
  shop.model.script = script
  await page.context().close()
})

test('what agents say is shown as text', async () => {
  const script = shop.model.script
  const markup = '<img src=x onerror="window.ran = 1"> [a](javascript:window.ran=1) <script>window.ran = 1</script>'
  shop.model.script = () => markup
  const { page } = await openPage(browser, shop.url, '#/playground?agent=shop/broker')
  await page.getByLabel('Question').fill(markup)
  await page.keyboard.press('Enter')
  await page.locator('.said .text', { hasText: markup }).waitFor()
  await page.getByRole('link', { name: 'Its record' }).click()
  await page.locator('.answer-text', { hasText: markup }).waitFor()
  expect(await page.evaluate('window.ran')).toBeUndefined()
  expect(await page.locator('main img, main script').count()).toBe(0)
  shop.model.script = script
  await page.context().close()
})

test.each([
  ['a conversation', '#/playground?agent=shop/broker', 'Ask an agent', 'Question'],
  ['the answers', '#/answers', 'Answers', 'How many homes'],
] as const)('%s is shown without an error or a request to elsewhere, and anybody can use it', async (_, hash, title, content) => {
  for (const width of screenWidths) {
    const { page } = await openPage(browser, shop.url, hash, { viewport: { width, height: 900 } })
    await page.locator('h1', { hasText: title }).waitFor()
    await page.locator('main').getByText(content).first().waitFor()
    if (title === 'Ask an agent') {
      await page.getByLabel('Question').fill('How many homes are in each district?')
      await page.keyboard.press('Enter')
      await page.getByText('Ten in each of the two.').waitFor()
    } else await page.getByText('shop.broker').first().waitFor()
    await expectUsable(page)
    await page.context().close()
  }
})

test('the newest conversations and answers come first, messages in their order, and all lead page by page to the first ones', async () => {
  const write = (text: string, conversation?: string) =>
    send(shop.url, 'POST', '/api/projects/shop/chatbots/desk/messages', {
      text,
      user: 'ann',
      ...(conversation !== undefined && { conversation }),
    })
  // Of so many answers only the order matters, so none of them needs a query.
  const script = shop.model.script
  shop.model.script = () => 'Ten in each of the two.'
  const { conversation } = (await write('message 0')).body as { conversation: string }
  for (let i = 1; i <= 100; i++) await write(`message ${i}`, conversation)
  for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 10 }, () => write('another conversation')))
  shop.model.script = script
  const { page } = await openPage(browser, shop.url, `#/conversations/shop/desk/${encodeURIComponent(conversation)}`)
  const asked = page.locator('.said:not(.ours) > p')
  await asked.nth(99).waitFor()
  expect(await asked.allInnerTexts()).toEqual(Array.from({ length: 100 }, (_, i) => `message ${i + 1}`))
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('link', { name: 'Earlier' }).click()
  await page.getByText('The conversation begins here.').waitFor()
  expect(await asked.allInnerTexts()).toEqual(['message 0'])
  await page.getByRole('link', { name: 'Newest' }).click()
  await asked.nth(99).waitFor()

  await page.getByRole('link', { name: 'Conversations of shop.desk' }).click()
  const listed = page.getByRole('region', { name: 'Conversations' }).getByRole('row')
  await listed.nth(100).waitFor()
  await page.getByRole('link', { name: 'Earlier' }).click()
  await page.getByText('There is no earlier conversation.').waitFor()
  // The conversation of 101 messages, and the one of another test.
  expect(await listed.count()).toBe(3)
  expect(await listed.nth(1).innerText()).toContain('101')

  await page.goto(`${shop.url}/#/resources/agent/shop/other`)
  await page.getByRole('link', { name: 'Answers' }).click()
  await page.getByText('No earlier answer fits.').waitFor()
  const answers = page.getByRole('region', { name: 'Answers' }).getByRole('row')
  const others = (await shop.run(`SELECT count(*) FROM log.answers WHERE agent = 'other'`)).flat()
  expect(await answers.count()).toBe(Number(others[0]) + 1)
  expect((await answers.allInnerTexts()).slice(1).filter((text) => !text.includes('shop.other'))).toEqual([])
  expect(await violationsOf(page)).toEqual([])
  await page.getByLabel('Agent').selectOption('shop/broker')
  for (const last of ['message 100', 'message 0']) {
    await page.getByRole('link', { name: 'Earlier' }).click()
    await answers.nth(1).getByRole('link', { name: last, exact: true }).waitFor()
  }
  await page.getByText('No earlier answer fits.').waitFor()
  await answers.getByText('How many homes are in each district?').first().waitFor()
  await page.goto(`${shop.url}/#/conversations/shop/desk`)
  await listed.nth(100).waitFor()
  // What is said meanwhile moves no conversation from one page to the next one.
  await write('another conversation')
  await page.getByRole('link', { name: 'Earlier' }).click()
  await page.getByText('There is no earlier conversation.').waitFor()
  expect(await listed.count()).toBe(3)

  await page.goto(`${shop.url}/#/answers?at=1`)
  await page.getByText('Nobody has asked yet').waitFor()
  expect(await page.getByText('No earlier answer fits.').count()).toBe(0)
  await page.context().close()
})
