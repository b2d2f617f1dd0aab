import type { ModelEvent, TrainingRequest, TrainingResult } from '../../../events/model.js'
import type { LedgerEvent } from '../../../events/catalogue/catalogue.js'
import type { StreamId } from '../../../events/common.js'
import type { NewEvent } from '../../../src/log/contract/log.js'
import { stream } from '../../support/log/log.js'

export const [shop, office, sales, stock, helper, bot, slack, churn, monthly, table] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(stream) as [
  StreamId,
  StreamId,
  StreamId,
  StreamId,
  StreamId,
  StreamId,
  StreamId,
  StreamId,
  StreamId,
  StreamId,
]
export const hash = 'ab'.repeat(32)
export const otherHash = 'cd'.repeat(32)
export const secret = { $secret: hash }

export const at = (where: StreamId, event: LedgerEvent): NewEvent => ({ stream: where, event })

export const shopCreated = at(shop, { type: 'ProjectCreated', data: { name: 'Shop' } })
export const officeCreated = at(office, { type: 'ProjectCreated', data: { name: 'office' } })
export const salesCreated = (params = {}) =>
  at(sales, { type: 'SkillCreated', data: { project: shop, name: 'Sales', type: 'sql', params } })
export const stockCreated = at(stock, { type: 'SkillCreated', data: { project: shop, name: 'stock', type: 'sql', params: {} } })
export const agentData = (changes = {}) => ({
  project: shop,
  name: 'Helper',
  model_name: 'gpt-4o',
  provider: 'openai',
  skills: [],
  params: {},
  ...changes,
})
export const helperCreated = (changes = {}) => at(helper, { type: 'AgentCreated', data: agentData(changes) })
export const slackCreated = (parameters = {}) =>
  at(slack, { type: 'DatabaseCreated', data: { name: 'Slack', engine: 'slack', parameters } })
export const botData = (changes = {}) => ({
  project: shop,
  name: 'Bot',
  agent: helper,
  model_name: 'gpt-4o',
  database: slack,
  is_running: false,
  params: {},
  ...changes,
})
export const botCreated = (changes = {}) => at(bot, { type: 'ChatbotCreated', data: botData(changes) })
export const monthlyCreated = at(monthly, {
  type: 'ViewCreated',
  data: { project: shop, name: 'Monthly', query: 'SELECT 1', database: 'files' },
})
export const content = { content: hash, bytes: 10, row_count: 1, columns: [{ name: 'a', type: 'BIGINT' }], original_name: null }
export const tableCreated = at(table, { type: 'FileCreated', data: { name: 'Table', ...content } })

export const request: Omit<TrainingRequest, 'version'> = {
  engine: 'lightwood',
  target: 'y',
  database: 'files',
  query: 'SELECT 1 AS y',
  using: {},
  seed: 7,
  activate: true,
  tag: null,
}
export const result = (version: number): TrainingResult => ({
  version,
  artefact: hash,
  matrix: hash,
  read_at: 1,
  rows: 10,
  accuracy: null,
  report: {},
  runtime: {},
  seconds: 0.1,
})
export const churnHad = (...events: ModelEvent[]): NewEvent[] =>
  [{ type: 'ModelCreated', data: { project: shop, name: 'Churn' } } satisfies ModelEvent, ...events].map((event) => at(churn, event))
export const requested = (version: number, changes = {}): ModelEvent => ({
  type: 'ModelTrainingRequested',
  data: { version, ...request, ...changes },
})
export const started = (version: number): ModelEvent => ({ type: 'ModelTrainingStarted', data: { version } })
export const trained = (version: number): ModelEvent => ({ type: 'ModelTrained', data: result(version) })
export const failed = (version: number): ModelEvent => ({ type: 'ModelTrainingFailed', data: { version, error: 'no rows' } })
export const activated = (version: number): ModelEvent => ({ type: 'ModelVersionActivated', data: { version } })

/** A stream that nothing else of these has. */
export const stream7 = stream(77)
