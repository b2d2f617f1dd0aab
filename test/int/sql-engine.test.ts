import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import express from 'express'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import request from 'supertest'
import { streamId } from '../../events/common.js'
import { Ledger } from '../../src/commands/ledger.js'
import { Problem } from '../../src/basics/errors.js'
import { Blobs } from '../../src/files/blobs.js'
import { Call } from '../../src/http/protocol/call.js'
import { sqlRoutes } from '../../src/http/routes/sql.js'
import { send } from '../../src/http/server/send.js'
import { Embedders } from '../../src/knowledge/embedding/embedders.js'
import { FollowedIndexes } from '../../src/knowledge/followed-indexes.js'
import { IndexProcess } from '../../src/knowledge/index-client.js'
import { Knowledge } from '../../src/knowledge/knowledge.js'
import { PageReader } from '../../src/knowledge/read-pages.js'
import type { Origin } from '../../src/log/contract/log.js'
import { SqliteLog } from '../../src/log/sqlite/sqlite-log.js'
import type { SqlAnswer } from '../../src/sql/contract/answer.js'
import type { SelectService, PredictedRows, ScoreCount } from '../../src/sql/contract/select.js'
import { SqlEngine } from '../../src/sql/facade/execute.js'
import { TableWriter } from '../../src/sql/facade/table-writer.js'
import { unlimited } from '../../src/llm/tokens/daily-token-quotas.js'
import { Vault } from '../../src/vault/vault.js'

const noPages = new PageReader({ fetch, textOf: () => Promise.reject(new TypeError('no pages are read here')) })

const model = streamId.parse('0190b9a0-0000-7000-8000-000000000000')
const origin: Origin = { actor: 'ada', source: 'sql', request: 'r', correlation: null, causation: null }

/** Stands in for the SQL process: answers with what the test says. */
class StandIn implements SelectService {
  asked: object[] = []
  sql: string[] = []
  dbs: string[] = []
  chunks: (string | Error)[] = ['[1,"a"],[2,"b"]', '[3,"c"]']
  refusal: Problem | undefined
  served: PredictedRows[] = []
  scored: ScoreCount[] = []
  isScoredFirst = false

  query: SelectService['query'] = (request) => {
    const { sql, db } = request
    this.asked.push(request)
    this.sql.push(sql)
    this.dbs.push(db)
    if (this.refusal) return Promise.reject(this.refusal)
    const columns = [
      { name: 'a', type: 'INTEGER' },
      { name: 'b', type: 'VARCHAR' },
    ]
    const chunks = request.wanted?.kind === 'columns' ? ['["x","INTEGER"],["y","INTEGER"]'] : this.chunks
    const end = { rows: 3, scored: this.scored }
    async function* rows() {
      for (const chunk of chunks) {
        if (chunk instanceof Error) throw chunk
        yield await Promise.resolve(Buffer.from(chunk))
      }
      return end
    }
    const scored = this.isScoredFirst && { scored: this.scored }
    return Promise.resolve({ columns, rows: rows(), served: this.served, ...scored })
  }
}

let directory: string
let log: SqliteLog
let sqlProcess: StandIn
let engine: SqlEngine
let recorded: unknown[]

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sql-engine-'))
  const vault = new Vault(Buffer.alloc(32, 7))
  log = new SqliteLog({ file: join(directory, 'log.db'), vault })
  const ledger = new Ledger(log, vault)
  sqlProcess = new StandIn()
  recorded = []
  const note = (one: unknown) => Promise.resolve(recorded.push(one))
  engine = new SqlEngine({
    ledger,
    log,
    sqlProcess,
    trainings: {
      requireRows: () => Promise.resolve(),
      progressOf: () => undefined,
    },
    recorder: { records: () => Promise.resolve(true), served: note, scored: note },
    tables: new TableWriter({ ledger, log, blobs: new Blobs(directory), directory }),
    knowledge: new Knowledge({
      ledger,
      log,
      indexes: new FollowedIndexes(log, new IndexProcess(join(directory, 'knowledge'))),
      embedders: new Embedders({ log, blobs: new Blobs(directory), overHttp: () => Promise.resolve(undefined) }),
      pages: noPages,
      spendingOfProject: () => unlimited,
      reranker: () => Promise.reject(new Error('there is none')),
    }),
    defaultProject: 'mindsdb',
    version: '1.2.3',
  })
  await ledger.execute({ type: 'CreateProject', data: { project: 'mindsdb' } }, origin)
  await ok('CREATE PROJECT shop')
})

afterEach(async () => {
  await log.close()
  rmSync(directory, { recursive: true, force: true })
})

const run = (query: string, db?: string): Promise<SqlAnswer> => engine.execute({ query, db, origin })
const ok = async (query: string, db?: string) => {
  const answer = await run(query, db)
  if (answer.type === 'error') throw answer.problem
  return answer
}
const refusal = async (query: string, db?: string): Promise<string> => {
  const answer = await run(query, db)
  return answer.type === 'error' ? answer.error_message : `was answered: ${query}`
}
const tableOf = async (query: string, db?: string) => {
  const answer = await ok(query, db)
  if (answer.type !== 'table') throw new Error(`no table: ${query}`)
  let text = ''
  for await (const chunk of answer.rows) text += `${text === '' ? '' : ','}${chunk.toString()}`
  return { columns: answer.columns.map(({ name }) => name), rows: JSON.parse(`[${text}]`) as unknown[][] }
}
const found = async (kind: 'skill' | 'agent' | 'chatbot' | 'view' | 'model', name: string) => {
  const project = await log.resources.one('project', 'shop')
  return (await log.resources.one(kind, name, project))?.state
}

test('a DELETE of documents that was cut off before its turn removes nothing', async () => {
  await ok('CREATE KNOWLEDGE_BASE shop.docs')
  const left = new Problem('query_limit', 'Left', 'nobody waits for it')
  const signal = AbortSignal.abort(left)
  const answer = await engine.execute({ query: "DELETE FROM shop.docs WHERE id = '1'", origin, signal })
  expect(answer).toMatchObject({ type: 'error', problem: left })
})

describe('writing statements become the commands of REST', () => {
  test('skills', async () => {
    await ok("CREATE SKILL shop.s USING Type = 'sql', database = 'd', tables = ['a']")
    expect(await found('skill', 's')).toMatchObject({ type: 'sql', params: { database: 'd', tables: ['a'] } })
    await ok("UPDATE SKILL S SET database = 'e', tables = null, type = 'other'", 'shop')
    expect(await found('skill', 's')).toMatchObject({ type: 'other', params: { database: 'e' } })
    await ok('CREATE SKILL IF NOT EXISTS shop.s USING type = 1 = 1'.replace(' = 1 = 1', " = 'x'"))
    expect(await refusal("CREATE SKILL shop.s USING type = 'x'")).toContain('already exists')
    expect(await refusal("CREATE SKILL shop.t USING a = 'x'")).toContain('type')
    await ok('DROP SKILL shop.s')
    expect(await refusal('DROP SKILL shop.s')).toContain('does not exist')
    await ok('DROP SKILL IF EXISTS shop.s')
  })

  test('agents, with secrets that never stand in the log', async () => {
    await ok("CREATE SKILL shop.s USING type = 'sql'")
    await ok("CREATE AGENT shop.a USING model = 'gpt-4o', skills = ['s'], openai_api_key = 'sk-hidden', prompt_template = 'x'")
    expect(await found('agent', 'a')).toMatchObject({ model_name: 'gpt-4o', provider: 'openai', params: { prompt_template: 'x' } })
    await ok("ALTER AGENT shop.a USING skills_to_remove = ['s'], j = {'k': [1]}")
    expect(await found('agent', 'a')).toMatchObject({ skills: [], params: { prompt_template: 'x', j: { k: [1] } } })
    expect(JSON.stringify(await log.readAll(0, 100))).not.toContain('hidden')
    expect(await refusal('CREATE AGENT shop.b USING model = 5')).toContain('model')
  })

  test('connections and chatbots', async () => {
    await ok('CREATE DATABASE slack_db WITH ENGINE = \'slack\', PARAMETERS = {"token": "xo-hidden"}')
    await ok("CREATE AGENT shop.a USING model = 'm'")
    await ok("CREATE CHATBOT shop.c USING database = 'slack_db', agent = 'a', k = 1")
    expect(await found('chatbot', 'c')).toMatchObject({ is_running: true, params: { k: 1 } })
    await ok('UPDATE CHATBOT shop.c SET is_running = false, name = d'.replace('= d', "= 'd'"))
    expect(await found('chatbot', 'd')).toMatchObject({ is_running: false })
    await ok('DROP CHATBOT shop.d')
    expect(await refusal("CREATE CHATBOT shop.c USING agent = 'a', database = 'nope'")).toContain('nope')
    await ok("ALTER DATABASE slack_db NAME = 'talk', ENGINE = 'email'")
    expect(await log.resources.one('database', 'talk')).toBeDefined()
    await ok('DROP DATABASE talk')
    await ok('DROP DATABASE IF EXISTS talk')
    expect(await refusal("CREATE DATABASE w WITH ENGINE = 'no_such'")).toContain("There is no engine 'no_such'")
  })

  test('projects', async () => {
    await ok('CREATE DATABASE Depot')
    await ok('CREATE PROJECT IF NOT EXISTS depot')
    expect(await refusal('CREATE PROJECT depot')).toContain('already exists')
    await ok("ALTER DATABASE depot NAME = 'store'")
    await ok('DROP PROJECT store')
    expect(await refusal('DROP PROJECT mindsdb')).toContain('default project')
    expect(await refusal('DROP DATABASE nope')).toContain('does not exist')
  })

  test('digits are a name and never an id', async () => {
    await ok('CREATE PROJECT depot')
    await ok('CREATE KNOWLEDGE_BASE shop.docs')
    await ok("CREATE DATABASE chat WITH ENGINE = 'slack'")
    const shop = await log.resources.one('project', 'shop')
    const idOf = async (kind: 'project' | 'database' | 'knowledge_base', name: string, project?: typeof shop) =>
      `\`${(await log.resources.one(kind, name, project))?.id ?? 0}\``
    const [depot, docs, chat] = [await idOf('project', 'depot'), await idOf('knowledge_base', 'docs', shop), await idOf('database', 'chat')]
    expect(await refusal(`USE ${depot}`)).toContain('does not exist')
    expect(await refusal(`DROP DATABASE ${depot}`)).toContain('does not exist')
    expect(await refusal(`ALTER DATABASE ${chat} NAME = 'talk'`)).toContain('does not exist')
    expect(await refusal(`CREATE INDEX ON KNOWLEDGE_BASE shop.${docs}`)).toContain('does not exist')
    // A connection may have the id of a project as its name.
    await ok(`CREATE DATABASE ${depot} WITH ENGINE = 'slack'`)
    await ok(`ALTER DATABASE ${depot} PARAMETERS = {"a": 1}`)
    await ok(`DROP DATABASE ${depot}`)
    expect(await log.resources.one('project', 'depot')).toBeDefined()
  })

  test('views are checked before they are recorded, in their own database', async () => {
    await ok('CREATE VIEW v FROM files (SELECT * FROM rentals)', 'shop')
    expect(sqlProcess.asked).toMatchObject([{ within: { start: 26, end: 47 }, wanted: { kind: 'columns' }, user: 'ada' }])
    expect(sqlProcess.dbs).toEqual(['files'])
    expect(await found('view', 'v')).toMatchObject({ query: 'SELECT * FROM rentals', database: 'files' })
    expect(await refusal('CREATE VIEW shop.w AS (DROP PROJECT shop)')).toContain('SELECT')
    sqlProcess.refusal = new Problem('query_failed', 'No', 'there is no table rentals')
    expect(await refusal('ALTER VIEW shop.v AS (SELECT 2)')).toContain('no table rentals')
    await ok('DROP MODEL shop.v')
    expect(await found('view', 'v')).toBeUndefined()
  })

  test('models: one row, a training, versions, and what DESCRIBE says', async () => {
    const sql = "CREATE MODEL shop.m FROM files (SELECT * FROM t) PREDICT y USING tag = 'x', confidence = 0.8, seed = 5, active = 0"
    const created = await tableOf(sql)
    expect(Object.fromEntries(created.columns.map((column, i) => [column, created.rows[0]?.[i]]))).toMatchObject({
      NAME: 'm',
      PROJECT: 'shop',
      VERSION: 1,
      STATUS: 'generating',
      PREDICT: 'y',
      MINDSDB_VERSION: '1.2.3',
      SELECT_DATA_QUERY: 'SELECT * FROM t',
      TAG: 'x',
    })
    expect(await found('model', 'm')).toMatchObject({
      versions: [{ seed: 5, activate: false, using: { confidence: 0.8 }, database: 'files' }],
    })
    expect((await run('CREATE MODEL IF NOT EXISTS shop.m FROM files (SELECT 1) PREDICT y')).type).toBe('ok')
    expect(await found('model', 'm')).toMatchObject({ latest: 1 })
    expect(await refusal('RETRAIN shop.m')).toContain('still generating')
    const described = await tableOf('DESCRIBE m', 'shop')
    expect(described.columns.slice(0, 3)).toEqual(['TABLES', 'NAME', 'ENGINE'])
    expect(await refusal('DESCRIBE shop.m.features')).toContain('status generating')
    expect(await refusal('DESCRIBE shop.none.features')).toMatch(/^Model not found: shop\.none\.features\nDESCRIBE names a model/)
    expect(await refusal('SET active shop.m.1')).toContain('status generating')
    expect(await refusal('DROP MODEL shop.m.1')).toContain("Can't remove active version")
    await ok('DROP MODEL shop.m')
    expect(await refusal("CREATE MODEL shop.m FROM files (SELECT 1) PREDICT y USING engine = 'none'")).toContain('"none"')
    expect(await refusal('CREATE MODEL shop.m FROM files (SELECT 1) PREDICT y WINDOW 3')).toContain('there is no ORDER BY')
    expect(await refusal('CREATE MODEL shop.m PREDICT y')).toContain('what to learn from')
  })

  test.each([
    ['CREATE TRIGGER t ON files.homes (SELECT 1)', 'log --follow'],
    ['CREATE ANOMALY DETECTION MODEL m FROM db (SELECT 1)', 'CREATE MODEL name'],
    ['INSERT INTO shop.t VALUES (1)', 'files.t'],
    ['INSERT INTO files.t VALUES (1)', 'CREATE TABLE files.t'],
    ['CREATE TABLE shop.t (SELECT 1)', 'files.t'],
    ['DELETE FROM files.t WHERE a = 1', 'CREATE OR REPLACE TABLE files.t'],
    ['UPDATE files.t SET a = 1', 'CREATE OR REPLACE TABLE files.t'],
    ['EXPLAIN CREATE TABLE files.t (SELECT 1)', 'explain its query'],
    ['DROP TABLE other.t', 'DROP TABLE files.name'],
    ['CREATE ML_ENGINE e FROM openai', 'auto, boosted_trees, linear, forecast, onnx, constant, lightwood'],
    ['EVALUATE nope FROM (SELECT 1)', 'r2_score'],
  ])('%s says what to use instead', async (sql, instead) => expect(await refusal(sql)).toContain(instead))

  test.each(['CREATE ML_ENGINE lightwood FROM lightwood', 'DROP JOB IF EXISTS shop.j', 'SET names utf8', 'BEGIN', 'COMMIT'])(
    '%s has nothing to do',
    async (sql) => expect(await ok(sql)).toMatchObject({ type: 'ok', affected_rows: null, positions: [] }),
  )
})

describe('reading statements', () => {
  test('USE answers the context to send from now on', async () => {
    expect(await ok('USE Shop')).toMatchObject({ context: { db: 'shop', show_secrets: false } })
    expect(await ok('USE INFORMATION_SCHEMA')).toMatchObject({ context: { db: 'information_schema' } })
    expect(await refusal('USE nope')).toBe('Database nope does not exists')
  })

  test('SHOW of a project that is not there is refused', async () => {
    await tableOf('SHOW SKILLS FROM shop')
    expect(await refusal('SHOW SKILLS FROM nope')).toContain('nope')
    await tableOf('SHOW COLUMNS FROM files.t')
  })

  test('a SELECT goes to the SQL process as it is; scoring in it is recorded with secrets cut', async () => {
    sqlProcess.scored = [{ model, version: 2, rows: 9 }]
    expect(await tableOf("SELECT a FROM t WHERE token = 'hidden';")).toEqual({
      columns: ['a', 'b'],
      rows: [
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ],
    })
    expect(sqlProcess.sql).toEqual(["SELECT a FROM t WHERE token = 'hidden'"])
    expect(recorded).toMatchObject([{ version: 2, rows: 9, statement: "SELECT a FROM t WHERE token = '******';" }])
  })

  test('a scoring that is over before the first row is recorded before it, once', async () => {
    sqlProcess.scored = [{ model, version: 2, rows: 9 }]
    sqlProcess.isScoredFirst = true
    const answer = await ok('SELECT a FROM t')
    expect(answer.positions).toEqual([1])
    expect(recorded).toMatchObject([{ version: 2, rows: 9, statement: 'SELECT a FROM t' }])
    if (answer.type === 'table') for await (const _ of answer.rows);
    expect(recorded).toHaveLength(1)
  })

  test('predictions of given rows are recorded before they are answered', async () => {
    sqlProcess.served = [{ model, version: 1, rows: [{ input: {}, output: { value: 1, confidence: null, min: null, max: null } }] }]
    expect(await ok('SELECT * FROM shop.m WHERE a = 1')).toMatchObject({ type: 'table', positions: [1] })
    expect(recorded).toHaveLength(1)
  })
})

describe('POST /sql/query', () => {
  const app = () => {
    const server = express()
    server.use(express.json({ strict: false }))
    for (const route of sqlRoutes(engine, directory))
      server.post(route.path, async (req, res) => {
        const call = new Call(req, res)
        call.json = req.body
        await send(res, await route.handle(call, {}), call.answerHeaders)
      })
    const problems: express.ErrorRequestHandler = (error: unknown, _req, res, _next) => {
      if (error instanceof Problem) res.status(error.status).json({ code: error.code, detail: error.detail })
      else res.status(500).end()
    }
    server.use(problems)
    return request(server)
  }
  const post = (body: object) => app().post('/sql/query').send(body)
  const context = { db: 'shop', show_secrets: false }

  test('a table, an ok and an error are three envelopes with status 200', async () => {
    const table = await post({ query: 'SELECT 1', context: { db: 'shop', other: 1 } })
      .expect(200)
      .expect('content-type', /application\/json/)
    expect(table.body).toEqual({
      type: 'table',
      column_names: ['a', 'b'],
      column_types: ['INTEGER', 'VARCHAR'],
      data: [
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ],
      context,
    })
    expect((await post({ query: 'BEGIN', context: { db: 'shop' } }).expect(200)).body).toEqual({
      type: 'ok',
      column_names: [],
      affected_rows: null,
      context,
    })
    const error = await post({ query: 'SELEC 1', context: { db: 'shop' } }).expect(200)
    expect(error.body).toEqual({
      type: 'error',
      column_names: [],
      error_code: 0,
      error_message: expect.stringContaining('>SELEC 1\n-^'),
      context,
    })
  })

  test('an empty table', async () => {
    sqlProcess.chunks = []
    expect((await post({ query: 'SELECT 1' })).body).toMatchObject({ type: 'table', data: [], context: { db: 'mindsdb' } })
  })

  test('a failure after the first rows still says error', async () => {
    sqlProcess.chunks = ['[1,"a"]', new Problem('query_limit', 'Too long', 'it took too long')]
    expect((await post({ query: 'SELECT 1' }).expect(200)).body).toMatchObject({ type: 'error', error_message: 'it took too long' })
  })

  test('parameters that are nested without end are refused', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const { status } = await app().post('/sql/query').type('json').send(`{"query": "SELECT 1", "params": {"a": ${deep}}}`)
    expect(status).toBe(400)
  })

  test('bodies that carry no statement are refused', async () => {
    expect((await post({}).expect(400)).body).toMatchObject({ detail: 'Please provide "query" with the request.' })
    await post({ query: 5 }).expect(400)
    await post({ query: 'SELECT 1', context: 'x' }).expect(400)
    await post({ query: 'SELECT 1', response_format: 'xml' }).expect(400)
    await app().post('/sql/query').set('content-type', 'text/plain').send('SELECT 1').expect(415)
  })

  test('lines and server-sent events', async () => {
    const lines = await post({ query: 'SELECT 1', response_format: 'jsonlines' })
      .buffer(true)
      .parse((res, done) => {
        let text = ''
        res.on('data', (chunk: Buffer) => (text += chunk.toString()))
        res.on('end', () => done(null, text))
      })
    expect(lines.body).toBe(
      '{"type":"table","column_names":["a","b"],"column_types":["INTEGER","VARCHAR"],"context":{"db":"mindsdb","show_secrets":false}}\n[[1,"a"],[2,"b"]]\n[[3,"c"]]\n',
    )
    const events = await post({ query: 'USE shop', response_format: 'sse' })
    expect(events.text).toBe('data: {"type":"ok","affected_rows":null,"context":{"db":"shop","show_secrets":false},"column_names":[]}\n\n')
  })
})
