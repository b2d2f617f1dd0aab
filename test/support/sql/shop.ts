import { fakeArtefact } from '../models/fake-model.js'
import { TestLedger } from '../log/ledger.js'

/** A project with resources of all kinds, as in the recorded answers: 40 positions, one per minute. */
export const shopLedger = async (): Promise<TestLedger> => {
  const ledger = await TestLedger.create()
  await ledger.history('projects', { stream: 'p-mindsdb', name: 'mindsdb', from: 1 })
  await ledger.history('projects', { stream: 'p-shop', name: 'shop', from: 2 })
  await ledger.history('databases', {
    stream: 'd-slack',
    name: 'slack_db',
    engine: 'slack',
    parameters: { token: { $secret: 'f00' }, team: 'x' },
    from: 3,
  })
  await ledger.history('skills', {
    stream: 's-sales',
    project: 'p-shop',
    name: 'sales_skill',
    type: 'text2sql',
    params: { database: 'd', key: { $secret: 'f00' } },
    from: 4,
    to: 10,
  })
  await ledger.history('skills', {
    stream: 's-sales',
    id: 4,
    project: 'p-shop',
    name: 'Sales_Skill',
    type: 'sql',
    params: { database: 'e' },
    from: 10,
  })
  await ledger.history('skills', { stream: 's-other', project: 'p-mindsdb', name: 'other', type: 'sql', params: {}, from: 5 })
  const agent = {
    stream: 'a-helper',
    project: 'p-shop',
    name: 'helper',
    model_name: 'gpt-4o',
    provider: 'openai',
    skills: [{ skill: 's-sales', params: {} }],
  }
  await ledger.history('agents', { ...agent, params: { api_key: { $secret: 'f00' }, j: 2 }, from: 6 })
  await ledger.history('chatbots', {
    stream: 'c-bot',
    project: 'p-shop',
    name: 'bot',
    agent: 'a-helper',
    model_name: null,
    database: 'd-slack',
    is_running: false,
    params: {},
    from: 7,
  })
  await ledger.file(
    'rentals',
    `SELECT 300 + i AS sqft, ['good', 'great', 'poor'][i % 3 + 1] AS location, i % 4 AS rooms, 1600 + i * 10 AS rental_price FROM range(60) AS t(i)`,
    8,
  )
  await ledger.history('views', {
    stream: 'v-good',
    project: 'p-shop',
    name: 'good_ones',
    query: 'SELECT * FROM rentals WHERE location = "good"',
    database: 'files',
    from: 11,
  })
  await ledger.history('views', {
    stream: 'v-two',
    project: 'p-shop',
    name: 'v2',
    query: 'SELECT count(*) FROM good_ones',
    database: 'shop',
    from: 12,
  })
  await ledger.history('views', {
    stream: 'v-a',
    project: 'p-shop',
    name: 'loop_a',
    query: 'SELECT * FROM shop.loop_b',
    database: 'shop',
    from: 13,
  })
  await ledger.history('views', {
    stream: 'v-b',
    project: 'p-shop',
    name: 'loop_b',
    query: 'SELECT * FROM shop.loop_a',
    database: 'shop',
    from: 14,
  })
  await models(ledger)
  await ledger.events(40)
  return ledger
}

const models = async (ledger: TestLedger): Promise<void> => {
  const inputs = [
    { name: 'sqft', type: 'number' as const, weight: 4 },
    { name: 'location', type: 'text' as const, categories: { good: 100, great: 200, poor: 0 } },
    { name: 'rooms', type: 'number' as const, weight: 10 },
  ]
  const first = await ledger.blob(fakeArtefact({ target: 'rental_price', inputs }))
  const second = await ledger.blob(fakeArtefact({ target: 'rental_price', inputs: inputs.map((input) => ({ ...input, weight: 1 })) }))
  const classes = await ledger.blob(
    fakeArtefact({ target: 'tier', inputs: [{ name: 'sqft', type: 'number', weight: 1 }], classes: ['low', "hi'gh"] }),
  )
  const report = {
    inputs: inputs.map(({ name, type }) => ({ name, type })),
    target: { name: 'rental_price', type: 'number' },
    engine: { version: '1.0.0' },
  }
  const version = {
    stream: 'm-rent',
    engine: 'lightwood',
    target: 'rental_price',
    database: 'files',
    query: 'SELECT * FROM rentals',
    options: { key: { $secret: 'x' } },
    status: 'complete',
    accuracy: 0.99,
    report,
    seconds: 1.5,
  }
  await ledger.history('models', { stream: 'm-rent', project: 'p-shop', name: 'rent', active: 1, from: 20, to: 25 })
  await ledger.history('models', { stream: 'm-rent', id: 20, project: 'p-shop', name: 'rent', active: 2, from: 25 })
  await ledger.history('model_versions', { ...version, version: 1, artefact: first, requested_at: '2026-01-01 00:20:00', from: 20 })
  await ledger.history('model_versions', { ...version, version: 2, artefact: second, requested_at: '2026-01-01 00:25:00', from: 25 })
  await ledger.history('models', { stream: 'm-tier', project: 'p-shop', name: 'tier', active: 1, from: 26 })
  await ledger.history('model_versions', {
    stream: 'm-tier',
    version: 1,
    engine: 'boosted_trees',
    target: 'tier',
    query: 'SELECT 1',
    status: 'complete',
    artefact: classes,
    options: {},
    from: 26,
  })
  await ledger.history('models', { stream: 'm-bad', project: 'p-shop', name: 'bad', active: null, from: 27 })
  await ledger.history('model_versions', {
    stream: 'm-bad',
    version: 1,
    engine: 'boosted_trees',
    target: 'x',
    query: 'SELECT 1',
    status: 'error',
    error: 'no rows',
    options: {},
    from: 27,
  })
}
