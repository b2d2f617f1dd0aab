import { describe, expect, test } from '@jest/globals'
import { planImport } from '../../../src/import/import-plan.js'
import { noContents, type Inventory } from '../../../src/import/inventory.js'
import type { Item } from '../../../src/import/items.js'

const nothing: Inventory = { projects: ['mindsdb'], engines: [], connections: [], files: [], contents: new Map(), models: [] }
const inShop = (contents: Partial<typeof noContents>): Inventory => ({
  ...nothing,
  projects: ['shop'],
  contents: new Map([['shop', { ...noContents, ...contents }]]),
})
const skill = { name: 'sales', type: 'sql', params: { database: 'files' } }
const agent = { name: 'helper', skills: [], params: {} }
const job = { name: 'nightly', query: 'SELECT 1; SELECT 2', schedule_str: 'every 1 day', next_run_at: '2030-01-01 00:00:00.000000' }
const model = { name: 'rent', project: 'shop', version: 1, predict: 'price', training_options: '{"target": "price"}' }

const plan = (old: Inventory, here: Inventory = nothing, train = false) => planImport(old, here, [], { isWanted: () => true, train })
const said = (items: readonly Item[]) => items.map(({ kind, name, fate }) => `${kind} ${name}: ${fate.is}`)
const only = (items: readonly Item[], kind: string): Item => {
  const [item, ...more] = items.filter((one) => one.kind === kind)
  if (!item || more.length > 0) throw new Error(`there is not one ${kind}`)
  return item
}
const bodyOf = ({ fate }: Item): unknown => (fate.is === 'create' && fate.make.by === 'request' ? fate.make.body : undefined)

describe('what becomes of a thing', () => {
  test('it is created, or the same, or differs and stays: compared without case of its name', () => {
    const old = inShop({ skills: [skill] })
    expect(said(plan(old))).toEqual(['project shop: create', 'skill sales: create'])
    expect(said(plan(old, inShop({ skills: [{ ...skill, name: 'Sales' }] })))).toEqual(['project shop: same', 'skill sales: same'])
    const other = only(plan(old, inShop({ skills: [{ ...skill, type: 'text2sql' }] })), 'skill')
    expect([other.fate, other.notes]).toEqual([{ is: 'different' }, ['the existing one differs in type, and stays unchanged']])
  })

  test('a name that cannot be one here is not copied, whatever it would do to a path', () => {
    for (const name of ['../x', 'a\0b', '', 'x'.repeat(300)])
      expect(only(plan(inShop({ skills: [{ ...skill, name }] })), 'skill').fate).toEqual({ is: 'not copied' })
  })

  test('things come in the order in which they stand on one another', () => {
    const old = { ...inShop({ skills: [skill], agents: [agent], jobs: [job], views: [{ name: 'v', query: 'SELECT 1' }] }) }
    const files = [{ name: 'homes', row_count: 1, columns: ['a'] }]
    const connections = [{ name: 'crm', engine: 'postgres', connection_data: {} }]
    expect(plan({ ...old, files, connections }).map(({ kind }) => kind)).toEqual([
      'project',
      'connection',
      'file',
      'view',
      'skill',
      'agent',
      'job',
    ])
  })

  test('a project that is not wanted is left out, with what it holds', () => {
    const items = planImport(inShop({ skills: [skill] }), nothing, [{ kind: 'trigger', project: 'shop', name: 't' }], {
      isWanted: (project) => project !== 'shop',
      train: false,
    })
    expect(items).toEqual([])
  })
})

describe('secrets', () => {
  test('those that the old service shows come along; those that it masks are named and left out', () => {
    const params = { openai_api_key: 'sk-none', other_api_key: '******', k: 1 }
    const item = only(plan(inShop({ agents: [{ ...agent, params }] })), 'agent')
    expect(item.notes).toEqual([
      'its secrets come along and are encrypted here: params.openai_api_key',
      'the old service masks params.other_api_key: set it again here',
    ])
    expect(bodyOf(item)).toMatchObject({ agent: { params: { openai_api_key: 'sk-none', k: 1 } } })
    expect(JSON.stringify(bodyOf(item))).not.toContain('***')
  })
})

describe('connections', () => {
  test('a note says whether anything can be read through them here', () => {
    const connections = (engine: string) => [{ name: 'c', engine, connection_data: {} }]
    const notes = (engine: string) => only(plan({ ...nothing, connections: connections(engine) }), 'connection').notes
    for (const engine of ['postgres', 'MariaDB', 'aurora', 'redshift'])
      expect(notes(engine)).toEqual(['statements, agents and jobs can read it here'])
    expect(notes('sqlite')).toEqual([expect.stringContaining('CONNECTION_FILES') as unknown])
    expect(notes('slack')).toEqual([expect.stringContaining('nothing is read through it here') as unknown])
  })
})

describe('agents', () => {
  test('params are the same whether the old service shows them among the others or beside them', () => {
    const lifted = { ...agent, data: { tables: ['files.t'] }, prompt_template: 'Be brief.' }
    const whole = { ...agent, params: { data: { tables: ['files.t'] }, prompt_template: 'Be brief.' } }
    expect(only(plan(inShop({ agents: [lifted] }), inShop({ agents: [whole] })), 'agent').fate).toEqual({ is: 'same' })
  })

  test('an agent keeps its skills with what it adds to them, but for the one that the old service made for it', () => {
    const hidden = { name: 'helper_sql_skill', type: 'sql', params: { description: 'Auto-generated SQL skill for agent helper' } }
    const skills_extra_parameters = { sales: { tables: ['a'] } }
    const items = plan(inShop({ skills: [hidden], agents: [{ ...agent, skills: [skill, hidden], skills_extra_parameters }] }))
    expect(only(items, 'skill').fate).toEqual({ is: 'not copied' })
    expect(bodyOf(only(items, 'agent'))).toMatchObject({ agent: { name: 'helper', skills: [{ name: 'sales', tables: ['a'] }] } })
  })
})

describe('chatbots', () => {
  const bot = { name: 'bot', database: 'slack_db', params: {}, is_running: true }
  test('their agent answers, else their model, and what is not known is said', () => {
    const items = (fields: object) => only(plan(inShop({ chatbots: [{ ...bot, ...fields }] })), 'chatbot')
    expect(bodyOf(items({ agent: { name: 'helper' }, model_name: 'm' }))).toEqual({
      chatbot: { name: 'bot', agent_name: 'helper', database_name: 'slack_db', is_running: true, params: {} },
    })
    expect(items({ model_name: 'm' }).notes[0]).toContain('tells no agent')
    expect(items({}).fate).toEqual({ is: 'not copied' })
    expect(items({ model_name: 'm', database: '?' }).fate).toEqual({ is: 'not copied' })
  })
})

describe('jobs', () => {
  test('they go on where the old service is, and one that has run for the last time is left', () => {
    expect(bodyOf(only(plan(inShop({ jobs: [job] })), 'job'))).toEqual({
      job: { name: 'nightly', query: job.query, if_query: null, start_at: job.next_run_at, end_at: null, schedule_str: 'every 1 day' },
    })
    expect(only(plan(inShop({ jobs: [{ ...job, next_run_at: null }] })), 'job').fate).toEqual({ is: 'not copied' })
  })

  test('statements are the same however they are spaced', () => {
    const here = { ...job, query: 'SELECT 1;\nSELECT 2', schedule_str: 'every 1 day' }
    expect(only(plan(inShop({ jobs: [job] }), inShop({ jobs: [here] })), 'job').fate).toEqual({ is: 'same' })
  })
})

describe('models', () => {
  const old = (fields: object): Inventory => ({ ...inShop({}), models: [{ ...model, ...fields }] })
  const query = 'SELECT * FROM files.homes'

  test('a statement is given, and run only when training is asked for', () => {
    const given = only(plan(old({ engine: 'lightwood', select_data_query: query })), 'model')
    expect(given.fate).toEqual({ is: 'not copied' })
    expect(given.notes[0]).toContain('--train trains it here: CREATE MODEL `shop`.`rent` FROM (SELECT * FROM files.homes)')
    const trained = only(plan(old({ engine: 'lightwood', select_data_query: query }), nothing, true), 'model')
    expect(trained.fate).toMatchObject({ is: 'create', make: { by: 'training', project: 'shop' } })
  })

  test('an engine that is missing here is named, also behind a name of its own, and no secret is shown', () => {
    const options = { target: 'answer', using: { openai_api_key: 'sk-hidden-0123456789' } }
    const engines = [{ name: 'mine', handler: 'openai' }]
    const items = plan({ ...old({ engine: 'mine', training_options: JSON.stringify(options) }), engines }, nothing, true)
    const { fate, notes } = only(items, 'model')
    expect(fate).toEqual({ is: 'not copied' })
    expect(notes[0]).toContain('there is no engine openai here')
    expect(notes[0]).not.toContain('sk-hidden')
    expect(only(items, 'engine').notes).toEqual(['there is no engine openai here'])
  })

  test('an engine’s own name for one that is here is made first', () => {
    const engines = [{ name: 'lw', handler: 'lightwood' }, { name: 'lightwood', handler: 'lightwood' }] // prettier-ignore
    const items = plan({ ...old({ engine: 'lw', select_data_query: query }), engines }, nothing, true)
    expect(said(items)).toEqual(['project shop: create', 'engine lw: create', 'model rent: create'])
  })

  test('where nobody can tell the database of its query, its statement is for the user to complete', () => {
    const { fate, notes } = only(plan(old({ select_data_query: 'SELECT * FROM elsewhere' }), nothing, true), 'model')
    expect(fate).toEqual({ is: 'not copied' })
    expect(notes[0]).toContain('put it behind FROM: CREATE MODEL')
  })
})
