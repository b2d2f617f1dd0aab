import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { contentOf } from '../../support/agents/scripted-model.js'
import { AgentShop } from '../../support/agents/shop.js'
import { temporaryDirectory } from '../../support/service.js'
import { until } from '../../support/until.js'

const shop = new AgentShop()
const place = temporaryDirectory()
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const columns = (of: string) => numbers(20).map((i) => `${i} AS ${of}_${i}_of_some_long_name`)

beforeAll(async () => {
  const crm = new Database(join(place.path, 'crm.db'))
  for (const i of numbers(42)) crm.exec(`CREATE TABLE a_${i} (id INTEGER)`)
  crm.exec('CREATE TABLE subscriptions (id INTEGER, churned_at TEXT)')
  crm.close()
  await shop.start({ CONNECTION_FILES: place.path })
  await shop.run(`CREATE DATABASE crm WITH ENGINE = 'sqlite', PARAMETERS = {"path": "crm.db"}`)
  for (const i of numbers(12)) await shop.run(`CREATE VIEW shop.a_${i} AS (SELECT ${columns(`value_${i}`).join(', ')})`)
  await shop.run(`CREATE VIEW shop.base AS (SELECT ${columns('item').join(', ')}, 7 AS pallets)`)
  await shop.run('CREATE VIEW shop.z_stock AS (SELECT * FROM shop.base)')
  await shop.agent('narrow', { data: { tables: ['shop.a_*', 'shop.z_stock'] }, params: { max_prompt_tokens: 3_000 } })
  await shop.agent('clerk', { data: { tables: ['crm.*'] } })
})
afterAll(async () => {
  await shop.stop()
  place.remove()
})
beforeEach(() => {
  shop.model.asked.length = 0
})

const promptFor = async (agent: string, question: string): Promise<string> => {
  await shop.ask(agent, question)
  return contentOf(shop.model.asked[0]?.messages[0] ?? { content: '' })
}

test('of tables that do not all fit into the prompt, those are described that the question is about, also by a column of a view', async () => {
  expect(await promptFor('narrow', 'How many pallets are there?')).toMatch(/table shop\.z_stock\n[^]*"?pallets"? INTEGER/)
  shop.model.asked.length = 0
  const other = await promptFor('narrow', 'What is value 11?')
  expect(other).toMatch(/table shop\.a_11\n/)
  expect(other).not.toMatch(/table shop\.z_stock\n/)
})

test('of more tables than are described, those are that the question is about, also by a column of a connected table', async () => {
  let prompt = ''
  // On a busy machine the process of the file may be too late for some of them.
  await until(async () => {
    shop.model.asked.length = 0
    prompt = await promptFor('clerk', 'How many churned last month?')
    return !prompt.includes('cannot be read now')
  })
  expect(prompt).toMatch(/\btable crm\.subscriptions\n/)
  expect(prompt).not.toMatch(/\btable crm\.a_9\n/)
  expect(prompt).not.toContain('cannot be read now')
})
