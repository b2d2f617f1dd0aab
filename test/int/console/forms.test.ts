import { expect, test } from '@jest/globals'
import type { Page, Request } from 'playwright-core'
import { holdRequests, openPage, untilDrawn, violationsOf } from '../../support/console/browser.js'
import { expectRefusals, seenAtAllSizes, startConsole } from '../../support/console/console.js'
import { send, sql } from '../../support/service.js'

const at = startConsole(async (url) => {
  for (const statement of [
    'CREATE PROJECT shop',
    `CREATE SKILL shop.rents USING type = 'sql', database = 'files', tables = ['homes']`,
    `CREATE AGENT shop.broker USING model = 'gpt-4o', skills = ['rents'], openai_api_key = 'sk-planted-1'`,
    `CREATE DATABASE far WITH ENGINE = 'slack', PARAMETERS = {"token": "xoxb-planted-2"}`,
    'CREATE VIEW shop.one AS (SELECT 1 AS a)',
  ])
    expect((await sql(url, statement)).type).not.toBe('error')
  const chatbot = { name: 'desk', agent_name: 'broker', database_name: 'far', is_running: false }
  expect((await send(url, 'POST', '/api/projects/shop/chatbots', { chatbot })).status).toBe(201)
})

test.each([
  ['project', { name: 'office' }, '/api/projects/office', { name: 'office' }],
  [
    'skill',
    { name: 'prices', type: 'sql', params: '{"database": "files"}' },
    '/api/projects/shop/skills/prices',
    { params: { database: 'files' } },
  ],
  [
    'agent',
    { name: 'helper', 'model name': 'gpt-4o', skills: 'rents', params: '{"temperature": 0.3}' },
    '/api/projects/shop/agents/helper',
    { params: { temperature: 0.3 } },
  ],
  ['view', { name: 'two', query: 'SELECT 2 AS b' }, '/api/projects/shop/views/two', { query: 'SELECT 2 AS b' }],
  ['job', { name: 'nightly', query: 'SELECT 1', 'schedule str': 'every day' }, '/api/projects/shop/jobs/nightly', { query: 'SELECT 1' }],
  ['knowledge_base', { name: 'papers' }, '/api/projects/shop/knowledge_bases/papers', { name: 'papers' }],
  [
    'chatbot',
    { name: 'bot', 'agent name': 'broker', 'database name': 'far', 'is running': false },
    '/api/projects/shop/chatbots/bot',
    { name: 'bot' },
  ],
] as const)('a form makes a %s, and shows before what it would record', async (kind, fields, path, expected) => {
  expectRefusals()
  const { page } = await openPage(at.browser, at.url, `#/resources/${kind}`)
  await page.getByRole('link', { name: 'New' }).click()
  await page.locator('h1', { hasText: 'New' }).waitFor()
  await page.locator('form').waitFor()
  if (kind !== 'project') await page.getByLabel('Project', { exact: false }).selectOption('shop')
  for (const [label, value] of Object.entries(fields)) {
    const control = page.getByLabel(new RegExp(`^${label}( required)?`)).first()
    if (typeof value === 'boolean') await control.selectOption(String(value))
    else await control.fill(String(value))
  }
  await page.getByRole('button', { name: 'What would happen' }).click()
  await page.getByText('would be recorded').waitFor()
  expect((await send(at.url, 'GET', path)).status).toBe(404)
  await page.getByRole('button', { name: 'Create' }).click()
  // The title of the form has the name of the bot in it, too: "New: chatbot".
  await page
    .locator('h1', { hasText: new RegExp(`^${fields.name}$`) })
    .or(page.getByRole('region', { name: 'The address of its webhook' }))
    .waitFor()
  expect((await send(at.url, 'GET', path)).body).toMatchObject(expected)
  await page.context().close()
})

test('what is new belongs to the project whose list led to its form, also after a reload', async () => {
  await sql(at.url, 'CREATE TABLE files.flats (SELECT i AS size, 3 * i AS rent FROM range(40) AS t(i))')
  const { page } = await openPage(at.browser, at.url, '#/resources/view?project=shop')
  await page.getByRole('link', { name: 'New' }).click()
  const project = page.getByRole('combobox', { name: /^Project/ })
  await project.waitFor()
  expect(await project.inputValue()).toBe('shop')
  await page.reload()
  await project.waitFor()
  expect(await project.inputValue()).toBe('shop')
  await page.getByLabel(/^name/).fill('of_the_shop')
  await page.getByLabel(/^query/).fill('SELECT 3 AS c')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.locator('h1', { hasText: 'of_the_shop' }).waitFor()
  expect((await send(at.url, 'GET', '/api/projects/shop/views/of_the_shop')).status).toBe(200)

  await page.goto(`${at.url}/#/resources/model?project=shop`)
  await page.getByRole('link', { name: 'New' }).click()
  await page.getByLabel('Table').selectOption('files.flats')
  await page.locator('.columns > li', { hasText: 'rent' }).getByRole('button', { name: 'Predict this' }).click()
  await page.locator('.statement', { hasText: 'CREATE MODEL `shop`.`rent`' }).waitFor()
  await page.context().close()
})

test('the address of the webhook of a chatbot is shown once when it is made, and can be replaced', async () => {
  const { page } = await openPage(at.browser, at.url, '#/new/chatbot')
  await page.getByLabel('Project', { exact: false }).selectOption('shop')
  for (const [label, text] of [
    ['name', 'hooked'],
    ['agent name', 'broker'],
    ['database name', 'far'],
  ] as const)
    await page
      .getByLabel(new RegExp(`^${label}`))
      .first()
      .fill(text)
  await page.getByRole('button', { name: 'Create' }).click()
  const once = page.getByRole('region', { name: 'The address of its webhook' })
  const statusOf = async (address: string) => (await fetch(address, { method: 'POST', body: '{}' })).status
  const first = await once.locator('pre').innerText()
  const unknown = await statusOf(`${at.url}/api/webhooks/chatbots/unknown`)
  expect(first).toContain(`${at.url}/api/webhooks/chatbots/`)
  expect(await statusOf(first)).not.toBe(unknown)
  await once.getByRole('link', { name: 'Go on to the chatbot' }).click()
  await page.getByText('New webhook address…').click()
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Replace the address' }).click()
  const second = await once.locator('pre').innerText()
  expect(await statusOf(first)).toBe(unknown)
  expect(await statusOf(second)).not.toBe(unknown)
  expect(await violationsOf(page)).toEqual([])
  await page.context().close()
})

test('an edit sends what was changed alone, keeps secrets, and tells of a change in between', async () => {
  expectRefusals()
  const { page } = await openPage(at.browser, at.url, '#/resources/agent/shop/broker?tab=edit')
  await page.getByLabel(/^model name/).fill('gpt-5')
  expect(await page.getByLabel(/^params/).inputValue()).not.toContain('sk-planted-1')
  const isReading = (request: Request) => request.method() === 'GET' && request.url().endsWith('/agents/broker')
  const answer = await holdRequests(page, '**/agents/broker', isReading)
  const reading = page.waitForRequest(isReading)
  const save = page.getByRole('button', { name: 'Save' })
  await save.click()
  await reading
  await untilDrawn(page)
  // Until the new version is there, nothing is sent for the old one, and nothing is typed into it.
  expect(await save.isDisabled()).toBe(true)
  expect(await page.getByLabel(/^model name/).isDisabled()).toBe(true)
  answer()
  await page.locator('button:enabled', { hasText: 'Save' }).waitFor()
  const agent = async () => (await send(at.url, 'GET', '/api/projects/shop/agents/broker')).body as { model_name: string; params: object }
  await expect(agent()).resolves.toMatchObject({ model_name: 'gpt-5', params: { openai_api_key: '******' } })
  await sql(at.url, 'ALTER AGENT shop.broker SET temperature = 0.9')
  await page.getByLabel(/^model name/).fill('gpt-6')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').waitFor()
  expect(await violationsOf(page)).toEqual([])
  expect(await page.getByLabel(/^model name/).inputValue()).toBe('gpt-6')
  await expect(agent()).resolves.toMatchObject({ model_name: 'gpt-5' })
  await page.context().close()
})

const saved = async (page: Page): Promise<void> => {
  const answered = page.waitForResponse((response) => response.request().method() === 'PUT')
  await page.getByRole('button', { name: 'Save' }).click()
  expect((await answered).status()).toBe(200)
  await page.locator('button:enabled', { hasText: 'Save' }).waitFor()
}

test.each([
  [
    'skill',
    '#/resources/skill/shop/rents?tab=edit',
    /^params/,
    '{"database": "files", "tables": ["homes", "people"]}',
    '/api/projects/shop/skills/rents',
    { params: { tables: ['homes', 'people'] } },
  ],
  ['chatbot', '#/resources/chatbot/shop/desk?tab=edit', /^name/, 'robot', '/api/projects/shop/chatbots/robot', { name: 'robot' }],
] as const)('a %s is changed by its form, and its history says so', async (kind, hash, label, text, path, expected) => {
  const { page } = await openPage(at.browser, at.url, hash)
  await page.getByLabel(label).first().fill(text)
  await saved(page)
  expect((await send(at.url, 'GET', path)).body).toMatchObject(expected)
  await page.getByRole('tab', { name: 'History' }).click()
  await page.locator('.history > li').nth(1).waitFor()
  expect((await page.locator('.history > li').first().innerText()).toLowerCase()).toContain(kind)
  await page.context().close()
})

test("an agent's own params for its skills survive an edit of the list, and so do the secrets of the skills", async () => {
  for (const name of ['prices', 'fees'])
    await send(at.url, 'POST', '/api/projects/shop/skills', {
      skill: { name, type: 'sql', params: { database: 'files', tables: ['homes', 'people'], api_key: 'sk-planted-3' } },
    })
  const skills = ['rents', 'fees', { name: 'prices', tables: ['homes'], token: 'planted-4' }]
  await send(at.url, 'POST', '/api/projects/shop/agents', { agent: { name: 'narrow', model_name: 'gpt-4o', skills } })
  const { page } = await openPage(at.browser, at.url, '#/resources/agent/shop/narrow?tab=edit')
  const lines = page.getByLabel(/^skills/)
  await lines.waitFor()
  expect((await lines.inputValue()).split('\n')).toEqual(['rents', 'fees', '{"name":"prices","tables":["homes"],"token":"******"}'])
  expect(await page.getByLabel('Add to skills').count()).toBe(0)
  await lines.fill((await lines.inputValue()).replace('rents\n', ''))
  await saved(page)
  expect((await send(at.url, 'GET', '/api/projects/shop/agents/narrow')).body).toMatchObject({
    skills: [{ name: 'fees' }, { name: 'prices' }],
    skills_extra_parameters: { fees: {}, prices: { tables: ['homes'], token: '******' } },
  })
  await lines.fill('')
  await saved(page)
  expect((await send(at.url, 'GET', '/api/projects/shop/agents/narrow')).body).not.toHaveProperty('skills')
  await page.context().close()
})

test('what is taken out of a form is taken out of the resource, or the form says that it cannot be', async () => {
  expectRefusals()
  const agent = {
    ...{ name: 'bare', model_name: 'gpt-4o', data: { tables: ['files.homes'] }, prompt_template: 'Answer briefly.' },
    params: { temperature: 0.3, max_tokens: 100, openai_api_key: 'sk-planted-5' },
  }
  await send(at.url, 'POST', '/api/projects/shop/agents', { agent })
  const { page } = await openPage(at.browser, at.url, '#/resources/agent/shop/bare?tab=edit')
  const now = async () => (await send(at.url, 'GET', '/api/projects/shop/agents/bare')).body as Record<string, unknown>
  await page.getByLabel(/^params/).fill('{"max_tokens": 50, "openai_api_key": "******"}')
  await page.getByLabel(/^prompt template/).fill('')
  await saved(page)
  expect(await now()).toMatchObject({ data: { tables: ['files.homes'] }, params: { max_tokens: 50, openai_api_key: '******' } })
  expect((await now())['params']).not.toHaveProperty('temperature')
  expect(await now()).not.toHaveProperty('prompt_template')
  await page.getByLabel(/^params/).fill('')
  await page.getByLabel(/^data/).fill('')
  await saved(page)
  expect(await now()).not.toHaveProperty('params')
  expect(await now()).not.toHaveProperty('data')
  await page.getByLabel(/^model name/).fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').getByText('model_name cannot be empty').waitFor()
  expect(await now()).toMatchObject({ model_name: 'gpt-4o' })
  await page.context().close()
})

test('an agent with skills has its model, its data and its prompt in their own fields, as one without skills', async () => {
  const model = { provider: 'openai', model_name: 'gpt-4o', api_key: 'sk-planted-9' }
  const agent = { name: 'skilled', model, data: { tables: ['files.homes'] }, prompt_template: 'Answer briefly.', skills: ['rents'] }
  expect((await send(at.url, 'POST', '/api/projects/shop/agents', { agent: { ...agent, params: { max_tokens: 90 } } })).status).toBe(201)
  const { page } = await openPage(at.browser, at.url, '#/resources/agent/shop/skilled?tab=edit')
  const now = async () => (await send(at.url, 'GET', '/api/projects/shop/agents/skilled')).body as Record<string, unknown>
  await page.getByLabel(/^prompt template/).fill('')
  expect(JSON.parse(await page.getByLabel(/^params/).inputValue())).toEqual({ max_tokens: 90 })
  expect(JSON.parse(await page.getByLabel(/^data/).inputValue())).toEqual(agent.data)
  const typed = await page.getByLabel(/^model(?! name)/).inputValue()
  expect(JSON.parse(typed)).toEqual({ ...model, api_key: '******' })
  await page.getByLabel(/^model(?! name)/).fill(typed.replace('gpt-4o', 'gpt-5'))
  await saved(page)
  expect(await now()).toMatchObject({
    params: { model: { ...model, model_name: 'gpt-5', api_key: '******' }, data: agent.data, max_tokens: 90 },
  })
  expect((await now())['params']).not.toHaveProperty('prompt_template')
  await page.context().close()
})

test('the parameters of a connection and the reranking model of a knowledge base are taken out, too', async () => {
  await sql(at.url, `CREATE DATABASE near WITH ENGINE = 'slack', PARAMETERS = {"token": "xoxb-planted-6", "app_token": "xapp-planted-7"}`)
  const reranking_model = { provider: 'openai', model_name: 'rank', api_key: 'sk-planted-8' }
  const knowledge_base = { name: 'letters', metadata_columns: ['author'], reranking_model }
  expect((await send(at.url, 'POST', '/api/projects/shop/knowledge_bases', { knowledge_base })).status).toBe(201)
  const { page } = await openPage(at.browser, at.url, '#/resources/database/-/near?tab=edit')
  await page.getByLabel(/^parameters/).fill('{"token": "******"}')
  await saved(page)
  expect((await send(at.url, 'GET', '/api/databases/near')).body).toMatchObject({ connection_data: { token: '******' } })
  expect(((await send(at.url, 'GET', '/api/databases/near')).body as { connection_data: object }).connection_data).not.toHaveProperty(
    'app_token',
  )
  await page.goto(`${at.url}/#/resources/knowledge_base/shop/letters?tab=edit`)
  await page.getByLabel(/^reranking model/).fill('')
  await page.getByLabel(/^metadata columns/).fill('')
  await saved(page)
  expect((await send(at.url, 'GET', '/api/projects/shop/knowledge_bases/letters')).body).toMatchObject({
    reranking_model: null,
    metadata_columns: [],
  })
  await page.context().close()
})

test('the events of a dry run are shown only beside the texts that they come from', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/view/shop/one?tab=edit')
  await page.getByLabel(/^query/).fill('SELECT 2 AS a')
  await page.getByRole('button', { name: 'What would happen' }).click()
  await page.getByText('would be recorded').waitFor()
  await page.getByLabel(/^query/).fill('SELECT 3 AS a')
  expect(await page.getByText('would be recorded').count()).toBe(0)
  const answer = await holdRequests(page, '**/views/one')
  const answered = page.waitForResponse('**/views/one')
  await page.getByRole('button', { name: 'What would happen' }).click()
  await page.getByLabel(/^query/).fill('SELECT 4 AS a')
  answer()
  await (await answered).finished()
  await page.locator('button:enabled', { hasText: 'What would happen' }).waitFor()
  expect(await page.getByText('would be recorded').count()).toBe(0)
  await page.context().close()
})

test('a form proposes the resources that a field can refer to, and what the API knows by name', async () => {
  await sql(at.url, `CREATE SKILL elsewhere USING type = 'sql', database = 'files', tables = ['homes']`)
  const { page } = await openPage(at.browser, at.url, '#/new/agent')
  const proposed = (name: string) =>
    page.evaluate<string[]>(`[...document.querySelectorAll('#choices-${name} option')].map(({ value }) => value)`)
  await page.getByLabel('Project', { exact: false }).selectOption('shop')
  expect(await page.getByLabel(/^provider/).getAttribute('list')).toBe('choices-provider')
  expect(await proposed('provider')).toEqual(expect.arrayContaining(['openai', 'anthropic', 'ollama']))
  const adding = page.getByLabel('Add to skills')
  await adding.locator('option', { hasText: 'rents' }).waitFor({ state: 'attached' })
  await adding.locator('option', { hasText: 'elsewhere' }).waitFor({ state: 'detached' })
  await adding.selectOption('rents')
  expect(await page.getByLabel(/^skills/).inputValue()).toBe('rents')
  await page.goto(`${at.url}/#/new/database`)
  await page.getByLabel(/^engine/).waitFor()
  expect(await proposed('engine')).toEqual(expect.arrayContaining(['postgres', 'slack']))
  await page.context().close()
})

test('what is no JSON, and what the service refuses, is said at its field, and nothing that was written is lost', async () => {
  expectRefusals()
  const { page } = await openPage(at.browser, at.url, '#/new/skill')
  await page.getByLabel(/^name/).fill('broken')
  await page.getByLabel(/^type/).fill('sql')
  await page.getByLabel(/^params/).fill('{"database": files}')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('alert').getByText('params is no JSON').waitFor()
  expect(await page.getByLabel(/^params/).getAttribute('aria-invalid')).toBe('true')
  expect(await page.getByLabel(/^params/).inputValue()).toBe('{"database": files}')
  await page.getByLabel(/^params/).fill('{"database": "files", "id": 9007199254740993}')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('alert').getByText('the number 9007199254740993 is too large').waitFor()
  expect(await page.getByLabel(/^params/).getAttribute('aria-invalid')).toBe('true')
  await page.context().close()
})

test.each(['skill', 'agent', 'chatbot', 'job', 'knowledge_base', 'view'])('anybody can use the form of a new %s', async (kind) => {
  await seenAtAllSizes(at, `#/new/${kind}`, async (page) => {
    await page.locator('form').waitFor()
  })
})
