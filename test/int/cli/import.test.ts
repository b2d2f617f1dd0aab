import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { cliFile, freePort, mindledger, type Ended } from '../../support/cli.js'
import { commandHere } from '../../support/command-here.js'
import { modelTable, startMindsdb, type Instead, type MindsdbContents } from '../../support/mindsdb-server.js'
import { send, sql, startSqlService, type startTestService } from '../../support/service.js'

const skill = { id: 1, name: 'sales', project_id: 2, agent_ids: [1], type: 'text2sql', params: { database: 'files', tables: ['homes'] } }
const rented = Array.from({ length: 40 }, (_, i) => `[${i},${i * 10}.5]`)

const contents = (): MindsdbContents => ({
  databases: [
    { name: 'information_schema', type: 'system', id: null, engine: null },
    { name: 'shop', type: 'project', id: 2, engine: null },
    { name: 'files', type: 'data', id: 1, engine: 'files', connection_data: {} },
    { name: 'slack_db', type: 'data', id: 2, engine: 'slack', connection_data: { token: 'xoxb-none', app_token: '******' } },
    { name: 'odd', type: 'data', id: 3, engine: 'made_up', connection_data: {} },
  ],
  files: {
    homes: {
      columns: ['id', 'note', 'big', 'maybe', 'when'],
      rows: [
        '[1,"quo\\"te, and\\nline",9007199254740993,1.0,"2024-01-01 10:00:00.000000"]',
        '[2,"007",9007199254740994,null,"2024-01-02 10:00:00.000000"]',
        '[3,"",9007199254740995,2.5,null]',
      ],
    },
    rented: { columns: ['n', 'price'], rows: rented },
    empty: { columns: ['a', 'b'], rows: [] },
  },
  projects: {
    mindsdb: {},
    shop: {
      // The first stands on the second.
      views: [
        { id: 1, name: 'a_first', query: 'SELECT id FROM shop.cheap' },
        { id: 2, name: 'cheap', query: 'SELECT * FROM files.homes WHERE id < 3' },
      ],
      skills: [skill],
      agents: [
        {
          id: 1,
          name: 'helper',
          project_id: 2,
          model_name: 'gpt-4o',
          provider: 'openai',
          skills: [skill],
          skills_extra_parameters: { sales: {} },
          params: { openai_api_key: 'sk-none', k: 1 },
        },
        { id: 2, name: 'inline', project_id: 2, model: { provider: 'openai', model_name: 'gpt-4o' }, data: { tables: ['files.homes'] } },
      ],
      chatbots: [{ id: 1, name: 'bot', project: 'shop', agent: { name: 'helper' }, database: 'slack_db', model_name: 'gpt-4o', params: {}, is_running: false }],
      jobs: [{ id: 1, name: 'nightly', query: 'SELECT 1; SELECT 2', if_query: null, start_at: '2024-01-01 00:00:00.5', next_run_at: '2040-01-01 00:00:00.500000', end_at: null, schedule_str: 'every 1 day', variables: [] }],
    },
  },
  tables: {
    'SHOW ML_ENGINES': { columns: ['NAME', 'HANDLER', 'CONNECTION_DATA'], rows: [['lightwood', 'lightwood', '{}']] },
    knowledge_bases: { columns: ['NAME', 'PROJECT'], rows: [['kb', 'shop']] },
    models: modelTable(
      ['rent', 'lightwood', 'shop', false, 1, 'complete', 'price', 'SELECT old', '{"target": "price"}'],
      ['rent', 'lightwood', 'shop', true, 2, 'complete', 'price', 'SELECT * FROM rented', '{"__mdb_sql_task": null, "target": "price", "using": {"preset": "fast"}}'],
      ['talk', 'openai', 'shop', true, 1, 'complete', 'answer', null, '{"target": "answer", "using": {"openai_api_key": "******"}}'],
    ),
  },
}) // prettier-ignore

let old: Awaited<ReturnType<typeof startMindsdb>>
let here: Awaited<ReturnType<typeof startTestService>>
const length = async () => (await here.service.head()).position
let begun: number

const startHere = async () => {
  here = await startSqlService()
  begun = await length()
}

beforeAll(startHere)
beforeEach(async () => {
  old = await startMindsdb(contents())
})

afterEach(async () => {
  await old.stop()
  // One that nothing was written to serves the next test, too.
  if ((await length()) === begun) return
  await here.stop()
  await startHere()
})
afterAll(() => here.stop())

const importing = (...args: string[]) => ['import', '--url', here.url, ...args]
const run = (...args: string[]): Promise<Ended> => commandHere(importing(...args))
const importFrom = (...args: string[]): Promise<Ended> => run('--from', old.url, ...args)
const rowsOf = async (query: string) => (await sql(here.url, query)).data
const head = async () => (await rowsOf('SELECT max(position) FROM log.events'))[0]?.[0]
/** What the table says of each thing. */
const fates = ({ out }: Ended): Record<string, string> =>
  Object.fromEntries(out.split('\n').flatMap((line) => {
    const [, kind = '', name = '', what = ''] = /^(\S.*?) +\| (\S*) +\| (\S.*)$/.exec(line) ?? []
    return kind === '' || kind === 'KIND' ? [] : [[`${kind} ${name}`, what]]
  })) // prettier-ignore
const all = (found: Record<string, string>, what: string) => Object.entries(found).flatMap(([name, said]) => (said === what ? [name] : []))

const copied = [
  'project shop',
  'connection slack_db',
  'file homes',
  'file rented',
  'file empty',
  'view shop.a_first',
  'view shop.cheap',
  'skill shop.sales',
  'agent shop.helper',
  'agent shop.inline',
  'chatbot shop.bot',
  'job shop.nightly',
]
const notCopied = ['connection odd', 'model shop.rent', 'model shop.talk', 'knowledge base shop.kb']

describe('a dry run', () => {
  test('says what would be made, what is here and what cannot be copied, and writes nothing', async () => {
    const before = await head()
    const ended = await importFrom()
    expect(ended).toMatchObject({ code: 0, err: '' })
    expect(all(fates(ended), 'create')).toEqual(copied)
    expect(all(fates(ended), 'not copied')).toEqual(notCopied)
    expect(all(fates(ended), 'same')).toEqual(['project mindsdb'])
    expect(ended.out).toContain('- connection slack_db: its secrets come along and are encrypted here: parameters.token\n')
    expect(ended.out).toContain('- connection slack_db: the old service masks parameters.app_token: set it again here\n')
    expect(ended.out).toContain('- connection odd: there is no engine made_up for connections here\n')
    expect(ended.out).toContain(
      '- model shop.rent: --train trains it here: CREATE MODEL `shop`.`rent` FROM `files` (SELECT * FROM rented) PREDICT `price` USING `engine` = "lightwood", `preset` = "fast"\n',
    )
    expect(ended.out).toContain('- model shop.talk: there is no engine openai here: CREATE MODEL')
    expect(ended.out).not.toMatch(/sk-none|xoxb-none/)
    expect(ended.out).toMatch(/Nothing was written: --apply makes what is missing\.\n$/)
    expect(await importFrom('--dry-run')).toEqual(ended)
    expect(await head()).toBe(before)
    expect(old.state.asked.filter((asked) => !/^(?:GET|POST \/api\/sql\/query)/.test(asked))).toEqual([])
  })

  test('is what one asks for, or not: both at once is refused, and so is an address that is none', async () => {
    expect(await importFrom('--apply', '--dry-run')).toMatchObject({ code: 2, err: expect.stringContaining('one of --apply') as unknown })
    expect(await run('--from', 'old')).toMatchObject({ code: 2, err: 'mindledger: --from takes an address: http://127.0.0.1:47334\n' })
    expect(await run('--apply')).toMatchObject({ code: 2, err: 'mindledger: --from is required\n' })
  })
})

describe('an import', () => {
  test('makes everything here as it was there, and the second time finds it so', async () => {
    const ended = await mindledger(importing('--from', old.url, '--apply'))
    expect(ended).toMatchObject({ code: 0, err: '' })
    expect(all(fates(ended), 'created')).toEqual(copied)
    expect(await rowsOf('SELECT * FROM files.homes')).toEqual([
      [1, 'quo"te, and\nline', 9007199254740993, 1, '2024-01-01 10:00:00.000000'],
      [2, '007', 9007199254740994, null, '2024-01-02 10:00:00.000000'],
      [3, '', 9007199254740995, 2.5, null],
    ]) // prettier-ignore
    expect(await rowsOf('SELECT CAST(big AS VARCHAR) FROM files.homes WHERE id = 1')).toEqual([['9007199254740993']])
    expect(await rowsOf('SELECT typeof(id), typeof(note), typeof(maybe), typeof("when") FROM files.homes LIMIT 1')).toEqual([
      ['BIGINT', 'VARCHAR', 'DOUBLE', 'TIMESTAMP'],
    ])
    expect(await rowsOf('SELECT count(*), max(price) FROM files.rented')).toEqual([[40, 390.5]])
    expect(await rowsOf('SELECT a, b FROM files.empty')).toEqual([])
    expect(await rowsOf('SELECT * FROM shop.a_first ORDER BY id')).toEqual([[1], [2]])
    const agents = (await send(here.url, 'GET', '/api/projects/shop/agents')).body
    expect(agents).toMatchObject([
      { name: 'helper', model_name: 'gpt-4o', provider: 'openai', skills: [{ name: 'sales' }], params: { openai_api_key: '******', k: 1 } },
      { name: 'inline', model: { provider: 'openai', model_name: 'gpt-4o' }, data: { tables: ['files.homes'] } },
    ])
    expect((await send(here.url, 'GET', '/api/databases/slack_db')).body).toMatchObject({ connection_data: { token: '******' } })
    const [bot] = (await send(here.url, 'GET', '/api/projects/shop/chatbots')).body as unknown[]
    expect(bot).toMatchObject({ name: 'bot', agent: { name: 'helper' }, database: 'slack_db', is_running: false })
    const [job] = (await send(here.url, 'GET', '/api/projects/shop/jobs')).body as unknown[]
    expect(job).toMatchObject({ query: 'SELECT 1;\nSELECT 2', schedule_str: 'every 1 day', next_run_at: '2040-01-01 00:00:00.500000' })

    const before = await head()
    const again = await importFrom('--apply')
    expect(again).toMatchObject({ code: 0, err: '' })
    expect(all(fates(again), 'same')).toEqual(['project mindsdb', ...copied])
    expect(await head()).toBe(before)
  })

  test('keeps a connection whose parameters cannot be used here, and gives an old agent its data', async () => {
    const { databases, projects } = contents()
    const lite = { name: 'lite', type: 'data', id: 4, engine: 'sqlite', connection_data: { db_file: '/old/place/shop.db' } }
    const params = { database: 'files', include_tables: ['homes'], ignore_tables: ['empty'], include_knowledge_bases: ['kb'], k: 1 }
    const former = { id: 3, name: 'former', project_id: 2, model_name: 'gpt-4o', provider: 'openai', skills: [], params }
    await old.stop()
    old = await startMindsdb({
      ...contents(),
      databases: [...databases, lite],
      projects: { ...projects, shop: { ...projects['shop'], agents: [former], chatbots: [] } },
    })
    const ended = await mindledger(importing('--from', old.url, '--apply'))
    expect(ended).toMatchObject({ code: 0, err: '' })
    expect(ended.out).toContain('- connection lite: it is kept without its parameters, which have to be set here: ')
    expect((await send(here.url, 'GET', '/api/databases/lite')).body).toMatchObject({ engine: 'sqlite', connection_data: {} })
    expect((await send(here.url, 'GET', '/api/projects/shop/agents/former')).body).toMatchObject({
      data: { tables: ['files.homes'], ignore_tables: ['files.empty'], knowledge_bases: ['kb'] },
    })
  })

  test('leaves alone what is here and differs, and says in what', async () => {
    await importFrom('--apply')
    await send(here.url, 'PUT', '/api/projects/shop/skills/sales', { skill: { params: { tables: ['others'] } } })
    await send(here.url, 'DELETE', '/api/projects/shop/jobs/nightly')
    const ended = await importFrom('--apply')
    expect(all(fates(ended), 'different')).toEqual(['skill shop.sales'])
    expect(all(fates(ended), 'created')).toEqual(['job shop.nightly'])
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('differs in params, and stays unchanged') as unknown })
    expect(await rowsOf("SELECT params->>'tables' FROM shop.skills")).toEqual([['["others"]']])
  })

  test('of one project brings what is in it and what is in none', async () => {
    const ended = await importFrom('--project', 'MindsDB')
    expect(all(fates(ended), 'create')).toEqual(['connection slack_db', 'file homes', 'file rented', 'file empty'])
    expect(await importFrom('--project', 'nope')).toMatchObject({ code: 2, err: 'mindledger: the old service has no project nope; it has mindsdb, shop\n' })
  }) // prettier-ignore

  test('with --train trains the models here, and the second time finds them', async () => {
    const ended = await importFrom('--apply', '--train')
    expect(ended).toMatchObject({ code: 0, err: '' })
    expect(fates(ended)).toMatchObject({ 'model shop.rent': 'created', 'model shop.talk': 'not copied' })
    expect(await rowsOf('SELECT name, engine, version, status FROM shop.models')).toEqual([['rent', 'lightwood', 1, 'complete']])
    expect(fates(await importFrom('--train'))).toMatchObject({ 'model shop.rent': 'same' })
  })
})

describe('where it is cut off', () => {
  const connectionLost: Instead = (_path, query, res) => {
    if (!query.includes('`rented` LIMIT')) return false
    res.destroy()
    return true
  }

  test('by the old service: the rest is made, what failed is listed, and another run makes it', async () => {
    old.state.instead = connectionLost
    const ended = await mindledger(importing('--from', old.url, '--apply'))
    expect(ended.code).toBe(1)
    expect(all(fates(ended), 'FAILED')).toEqual(['file rented'])
    expect(all(fates(ended), 'created')).toEqual(copied.filter((name) => name !== 'file rented'))
    expect(ended.out).toMatch(/- file rented: it does not answer \(\w+\)\n/)
    old.state.instead = undefined
    const again = await importFrom('--apply')
    expect(again).toMatchObject({ code: 0, err: '' })
    expect(all(fates(again), 'created')).toEqual(['file rented'])
  })

  test('by a signal in the middle of a file: another run makes the rest, and nothing twice', async () => {
    const reached = new Promise<void>((resolve) => {
      old.state.instead = (_path, query) => {
        if (!query.includes('`rented` LIMIT')) return false
        resolve()
        return true
      }
    })
    const child = spawn(process.execPath, [cliFile, 'import', '--from', old.url, '--url', here.url, '--apply'], { stdio: 'ignore' })
    const exited = once(child, 'exit')
    await reached
    child.kill('SIGKILL')
    await exited
    expect(await rowsOf("SELECT count(*) FROM log.events WHERE type = 'SkillCreated'")).toEqual([[0]])
    old.state.instead = undefined
    const again = await importFrom('--apply')
    expect(again).toMatchObject({ code: 0, err: '' })
    expect(all(fates(again), 'same')).toEqual(['project mindsdb', ...copied.slice(0, 3)])
    expect(all(fates(again), 'created')).toEqual(copied.slice(3))
    expect(await rowsOf("SELECT count(*) FROM log.events WHERE type LIKE 'File%'")).toEqual([[3]])
  })
})

describe('an old service that answers anything', () => {
  const answering = (at: string, body: string, status = 200, headers = {}): Instead => (path, query, res) => {
    if (path !== at && !query.startsWith(at)) return false
    res.writeHead(status, headers).end(body)
    return true
  } // prettier-ignore
  const unread = (at: string, why: string) => ({ code: 1, err: `could not be read: ${at}: ${why}\n` })
  const skills = '/api/projects/shop/skills'

  test('a list that cannot be read is told, the rest is made, and the status is 1', async () => {
    const broken: [body: string, status: number, why: string][] = [
      ['<html>', 200, 'its answer is not JSON'],
      ['{"a": 1}', 200, 'its answer is no list'],
      ['{"title":"KeyError","detail":"broken"}', 500, 'broken'],
      ['<html>', 502, 'it answers with status 502'],
      ['', 308, 'it answers with status 308'],
    ]
    for (const [body, status, why] of broken) {
      old.state.instead = answering(skills, body, status, { location: 'http://127.0.0.1:1/' })
      const ended = await importFrom()
      expect(ended).toMatchObject(unread(skills, why))
      expect(all(fates(ended), 'create')).toEqual(copied.filter((name) => name !== 'skill shop.sales'))
    }
  })

  test('an answer without an end is not read to its end', async () => {
    old.state.instead = (path, _query, res) => {
      if (path !== skills) return false
      res.on('error', () => undefined)
      const piece = Buffer.alloc(1024 * 1024, '[')
      const pour = () => {
        while (!res.destroyed && res.write(piece));
      }
      res.on('drain', pour)
      pour()
      return true
    }
    expect(await importFrom()).toMatchObject(
      unread(skills, `its answer is larger than ${limits.importAnswerMaxBytes} bytes (importAnswerMaxBytes)`),
    )
  })

  test('records that are none are told one by one, and the others are copied', async () => {
    const deep = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`
    const records = ['null', '{"name":1}', `{"name":"deep","type":"t","params":${deep}}`, JSON.stringify(skill)]
    old.state.instead = answering(skills, `[${records.join(',')}]`)
    const ended = await importFrom()
    expect(ended.code).toBe(1)
    expect(ended.err.trimEnd().split('\n')).toHaveLength(3)
    expect(ended.err).toContain(`${skills}, item 2: name: `)
    expect(fates(ended)).toMatchObject({ 'skill shop.sales': 'create' })
  })

  test('names that would leave their place are not copied, and none steers the terminal', async () => {
    const names = ['../../databases', 'a\u001b[2Jb', 'x/y']
    old.state.instead = answering(skills, JSON.stringify([...names, skill.name].map((name) => ({ ...skill, name }))))
    const ended = await importFrom('--apply')
    expect(ended.code).toBe(0)
    expect(ended.out).not.toContain('\u001b')
    expect(await rowsOf('SELECT name FROM shop.skills')).toEqual([['sales']])
    expect(all(fates(ended), 'not copied')).toHaveLength(notCopied.length + names.length)
  })

  test('a file whose rows do not hold together is not stored', async () => {
    const broken: [body: string, why: string][] = [
      ['{"type":"table","column_names":["n","price"],"data":[]}', 'it has 40 rows, and gave 0'],
      ['{"type":"table","column_names":["n","price"],"data":[[1]]}', 'row 1 has 1 values for 2 columns'],
      ['{"type":"table","column_names":["n","N"],"data":[[1,2]]}', 'two of its columns have the name N'],
      ['{"type":"error","error_message":"the file is gone"}', 'the file is gone'],
      ['{"type":"table","data":[[1]]}', 'its answer is not an answer to SQL'],
    ]
    for (const [body, why] of broken) {
      old.state.instead = answering('SELECT * FROM files.`rented` LIMIT', body)
      const ended = await importFrom('--apply')
      expect(ended).toMatchObject({ code: 1, out: expect.stringContaining(`- file rented: ${why}\n`) as unknown })
      expect(all(fates(ended), 'FAILED')).toEqual(['file rented'])
      expect((await send(here.url, 'GET', '/api/files/rented')).status).toBe(404)
    }
  })

  test('what this service refuses is told in its words, after it was tried again', async () => {
    old.state.instead = answering('/api/projects/shop/views', '[{"name":"broken","query":"SELECT FROM nowhere WHERE"}]')
    const ended = await importFrom('--apply')
    expect(ended.code).toBe(1)
    expect(all(fates(ended), 'FAILED')).toEqual(['view shop.broken'])
  })

  test('what is not MindsDB, or not there, is refused with one line', async () => {
    const nobody = here.url.replace(/\d+$/, String(await freePort()))
    expect(await mindledger(importing('--from', nobody))).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^mindledger: http:\S+ cannot be read: it does not answer \(ECONNREFUSED\)\n$/) as unknown,
    })
    old.state.instead = answering('/api/status', '{"status":"ok"}')
    expect(await importFrom()).toMatchObject({ code: 2, err: expect.stringContaining('is not MindsDB') as unknown })
  })
})

describe('a login at the old service', () => {
  let locked: Awaited<ReturnType<typeof startMindsdb>>
  beforeAll(async () => {
    locked = await startMindsdb(contents(), true)
  })
  afterAll(() => locked.stop())
  const as = (env: Record<string, string>) => mindledger(['import', '--from', locked.url, '--url', here.url], env)

  test('is read from the environment: a name and a password, for a token or a cookie, or a token', async () => {
    for (const env of [
      { IMPORT_USERNAME: 'token', IMPORT_PASSWORD: 'right' },
      { IMPORT_USERNAME: 'cookie', IMPORT_PASSWORD: 'right' },
      { IMPORT_TOKEN: 'pat_1' },
    ]) {
      const ended = await as(env)
      expect(ended).toMatchObject({ code: 0, err: '' })
      expect(all(fates(ended), 'create')).toEqual(copied)
    }
  })

  test('that is missing or wrong is said in one line', async () => {
    expect(await as({})).toMatchObject({ code: 2, err: expect.stringContaining('asks for a login: set IMPORT_USERNAME') as unknown })
    const wrong = await as({ IMPORT_USERNAME: 'me', IMPORT_PASSWORD: 'wrong' })
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('refused the login: check IMPORT_USERNAME') as unknown })
  })
})
