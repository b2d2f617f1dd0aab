import { expect, test } from '@jest/globals'
import { kinds, type Kind } from '../../../../events/catalogue/catalogue.js'
import { openPage } from '../../../support/console/browser.js'
import { expectUsable, seenAtAllSizes, startConsole } from '../../../support/console/console.js'
import { send, sql } from '../../../support/service.js'
import { until } from '../../../support/until.js'

/** A resource, and of each member of its record the version that gave it what it has; null where no change did. */
type Known = { api: string; page: string; set: Record<string, number | null> }

const knownOf = {
  project: [{ api: 'projects/shop', page: 'project/-/shop', set: { name: 1 } }],
  skill: [
    {
      ...{ api: 'projects/shop/skills/rents', page: 'skill/shop/rents' },
      set: { id: 1, name: 3, project_id: 1, agent_ids: null, type: 1, params: 2, created_at: 1 },
    },
  ],
  agent: [
    {
      ...{ api: 'projects/shop/agents/plain', page: 'agent/shop/plain' },
      set: {
        ...{ id: 1, name: 1, project_id: 1, updated_at: 4, created_at: 1, model_name: 1, provider: 1 },
        ...{ data: 3, model: 1, prompt_template: 2, params: 4 },
      },
    },
    {
      ...{ api: 'projects/shop/agents/skilled', page: 'agent/shop/skilled' },
      set: {
        ...{ id: 1, name: 1, project_id: 1, updated_at: 3, created_at: 1, model_name: 1, provider: 1 },
        ...{ skills: 2, skills_extra_parameters: 2, params: 3 },
      },
    },
  ],
  chatbot: [
    {
      ...{ api: 'projects/shop/chatbots/talker', page: 'chatbot/shop/talker' },
      set: {
        ...{ id: 1, name: 1, project: 1, agent: 3, database_id: 1, database: 1, model_name: 1, params: 2 },
        ...{ created_at: 1, is_running: 1, last_error: null, webhook_token: null },
      },
    },
  ],
  knowledge_base: [
    {
      ...{ api: 'projects/shop/knowledge_bases/papers', page: 'knowledge_base/shop/papers' },
      set: {
        ...{ id: 1, name: 1, project_id: 1, updated_at: 3, created_at: 1, query_id: null },
        ...{ vector_database: 1, vector_database_table: 1, embedding_model: 1, reranking_model: 1 },
        ...{ metadata_columns: 1, content_columns: 3, id_column: 1, preprocessing: 2, params: 1 },
      },
    },
  ],
  view: [{ api: 'projects/shop/views/large', page: 'view/shop/large', set: { id: 1, name: 1, query: 2 } }],
  job: [
    {
      ...{ api: 'projects/shop/jobs/nightly', page: 'job/shop/nightly' },
      set: {
        ...{ id: 1, name: 1, project: 1, start_at: 1, end_at: 1, next_run_at: 1 },
        ...{ schedule_str: 3, query: 2, if_query: 1, variables: null },
      },
    },
  ],
  file: [
    {
      ...{ api: 'files/homes', page: 'file/-/homes' },
      set: { name: 1, row_count: 2, columns: 1, bytes: 2, content: 2, original_name: 1, created_at: 1 },
    },
  ],
  database: [
    {
      ...{ api: 'databases/away', page: 'database/-/away' },
      set: {
        ...{ id: 1, name: 1, type: null, class_type: null, engine: 1, permanent: null },
        ...{ date_last_update: 2, connection_data: 2 },
      },
    },
  ],
  model: [
    {
      ...{ api: 'projects/shop/models/rent', page: 'model/shop/rent' },
      set: {
        ...{ id: 1, name: 1, version: 9, is_active: null, predict: 6, status: 8, problem_definition: 6, current_phase: null, accuracy: 8 },
        ...{ data_source: 6, update: null, active: 9, mindsdb_version: null, error: 6, created_at: 1, fetch_data_query: 6 },
        ...{ training_time: 8, recording: 10, engine: 6, engine_name: 6 },
      },
    },
  ],
} satisfies Partial<Record<Kind, Known[]>>

/** Kinds without a page of their own here. */
const elsewhere: readonly Kind[] = ['config', 'conversation', 'engine']

const homes = (from: number) => `size,district,rent\n${Array.from({ length: 100 }, (_, i) => `${from + i},north,${9 * i}`).join('\n')}\n`

const at = startConsole(async (url) => {
  const call = async (method: string, path: string, body: unknown) => {
    const { status, body: said } = await send(url, method, `/api/${path}`, body)
    expect(status < 300 ? '' : `${path}: ${JSON.stringify(said)}`).toBe('')
  }
  const upload = async (text: string) => {
    const form = new FormData()
    form.append('file', new Blob([text]), 'homes.csv')
    await call('PUT', 'files/homes', form)
  }
  const status = async () => (await send(url, 'GET', '/api/projects/shop/models/rent')).body as { status: string; version: number }
  const trained = (version: number) =>
    until(async () => {
      const now = await status()
      return now.version === version && now.status === 'complete'
    })
  await call('POST', 'projects', { project: { name: 'shop' } })
  await upload(homes(20))
  await upload(`${homes(30)}500,south,100\n`)
  await call('POST', 'projects/shop/skills', { skill: { name: 'rental', type: 'sql', params: { database: 'files', tables: ['homes'] } } })
  await call('PUT', 'projects/shop/skills/rental', { skill: { params: { description: 'Rents of homes' } } })
  await call('PUT', 'projects/shop/skills/rental', { skill: { name: 'rents' } })
  const agent = { model_name: 'gpt-4o', provider: 'openai' }
  const params = { data: { tables: ['files.homes'] }, model: { model_name: 'gpt-4o' }, prompt_template: 'Answer {{question}}', verbose: 1 }
  await call('POST', 'projects/shop/agents', { agent: { name: 'plain', ...agent, params } })
  await call('PUT', 'projects/shop/agents/plain', { agent: { params: { prompt_template: 'Answer shortly: {{question}}' } } })
  await call('PUT', 'projects/shop/agents/plain', { agent: { params: { data: { tables: ['files.*'] } } } })
  await call('PUT', 'projects/shop/agents/plain', { agent: { params: { verbose: 2 } } })
  await call('POST', 'projects/shop/agents', { agent: { name: 'skilled', ...agent, params: { prompt_template: 'Answer' } } })
  await call('PUT', 'projects/shop/agents/skilled', { agent: { skills_to_add: ['rents'] } })
  await call('PUT', 'projects/shop/agents/skilled', { agent: { params: { prompt_template: 'Answer shortly' } } })
  await call('POST', 'databases', { database: { name: 'away', engine: 'postgres', parameters: { host: '127.0.0.1', database: 'd' } } })
  await call('PUT', 'databases/away', { database: { parameters: { port: 5_433 } } })
  await call('POST', 'databases', { database: { name: 'channel', engine: 'slack', parameters: { token: 'x' } } })
  const chatbot = { name: 'talker', agent_name: 'plain', database_id: 'channel', is_running: false, params: { a: 1 } }
  await call('POST', 'projects/shop/chatbots', { chatbot })
  await call('PUT', 'projects/shop/chatbots/talker', { chatbot: { params: { a: 2 } } })
  await call('PUT', 'projects/shop/chatbots/talker', { chatbot: { agent_name: 'skilled' } })
  await call('POST', 'projects/shop/knowledge_bases', { knowledge_base: { name: 'papers' } })
  const papers = 'projects/shop/knowledge_bases/papers'
  await call('PUT', papers, { knowledge_base: { preprocessing: { chunk_size: 500, chunk_overlap: 20 } } })
  await call('PUT', papers, { knowledge_base: { content_columns: ['text'] } })
  await call('POST', 'projects/shop/views', { view: { name: 'large', query: 'SELECT * FROM files.homes WHERE size > 80' } })
  await call('PUT', 'projects/shop/views/large', { view: { query: 'SELECT * FROM files.homes WHERE size > 90' } })
  const job = { name: 'nightly', query: 'SELECT 1', start_at: '2099-01-01 00:00:00', schedule_str: 'every 1 days' }
  await call('POST', 'projects/shop/jobs', { job })
  await call('PUT', 'projects/shop/jobs/nightly', { job: { query: 'SELECT 2' } })
  await call('PUT', 'projects/shop/jobs/nightly', { job: { schedule_str: 'every 2 days' } })
  const made = await sql(url, 'CREATE MODEL shop.rent FROM files (SELECT * FROM homes) PREDICT rent')
  expect(made).toMatchObject({ type: 'table' })
  await trained(1)
  expect((await sql(url, 'RETRAIN shop.rent')).type).not.toBe('error')
  await trained(2)
  await call('PUT', 'projects/shop/models/rent', { model: { recording: 'off' } })
})

test('the resources of these tests are of every kind that has a page', () => {
  expect(Object.keys(knownOf).sort()).toEqual(kinds.filter((kind) => !elsewhere.includes(kind)).sort())
})

test.each(Object.values(knownOf).flat())('the record of $page names the change behind each member', async ({ api, page: place, set }) => {
  const { body } = await send(at.url, 'GET', `/api/${api}`)
  expect(Object.keys(body as object).sort()).toEqual(Object.keys(set).sort())
  const { page } = await openPage(at.browser, at.url, `#/resources/${place}?blame=1`)
  await page.locator('.fields small').first().waitFor()
  const said = await page.evaluate<[name: string, by: string | undefined][]>(
    `[...document.querySelectorAll('.fields > div')].map((one) => [one.querySelector('dt').textContent, one.querySelector('small')?.textContent])`,
  )
  const versions = said.map(([name, by]) => [name.replaceAll(' ', '_'), by ? Number(/version (\d+)/.exec(by)?.[1]) : null])
  expect(Object.fromEntries(versions)).toEqual(set)
  await expectUsable(page)
  await page.context().close()
})

test('each part of a member that another change set has its own change, at any depth, and an entry of a list keeps it', async () => {
  const skills = '/api/projects/shop/skills'
  const most = { rows: 5, columns: 3 }
  const rules = [
    { allowed: ['homes', 'people'], most },
    { allowed: ['flats', 'homes', 'people'], most },
    { allowed: ['flats', 'homes', 'people'], most: { ...most, rows: 9 } },
  ] as const
  const skill = { name: 'deep', type: 'sql', params: { rules: rules[0], database: 'files' } }
  expect((await send(at.url, 'POST', skills, { skill })).status).toBe(201)
  for (const next of rules.slice(1))
    expect((await send(at.url, 'PUT', `${skills}/deep`, { skill: { params: { rules: next } } })).status).toBe(200)
  await seenAtAllSizes(at, '#/resources/skill/shop/deep?blame=1', async (page) => {
    const parts = page.locator('.fields > div', { hasText: /^params/ }).locator('.parts > li')
    await parts.first().waitFor()
    const said = await Promise.all((await parts.all()).map((part) => Promise.all([part.locator('b').innerText(), part.innerText()])))
    expect(said.map(([name, text]) => [name, Number(/version (\d+)/.exec(text)?.[1])])).toEqual([
      ['rules › allowed › 0', 2],
      ['rules › allowed › 1', 1],
      ['rules › allowed › 2', 1],
      ['rules › most › rows', 3],
      ['rules › most › columns', 1],
      ['database', 1],
    ])
    expect(await page.locator('.fields > div', { hasText: /^type/ }).locator('.parts').count()).toBe(0)
  })
})

test('the history of a model offers no going back to a change: its card activates a version', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/model/shop/rent?tab=history')
  await page.locator('.history > li').nth(9).waitFor()
  expect(await page.getByRole('button', { name: 'Go back to this…' }).count()).toBe(0)
  await page.context().close()
})
