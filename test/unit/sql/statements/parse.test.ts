import { describe, expect, test } from '@jest/globals'
import { parseStatement } from '../../../../src/sql/statements/parse.js'
import type { Statement } from '../../../../src/sql/statements/statement.js'

const noTraining = { source: null, predict: [], orderBy: [], groupBy: [], window: null, horizon: null, using: {} }
const session = (name: string) => ({ project: null, name })
const shop = (name: string) => ({ project: 'shop', name })

/** Statements with what they mean; one line each so that a missing one is easy to see. */
const cases: [sql: string, statement: Statement][] = [
  // Projects and connections
  ['CREATE PROJECT shop', { kind: 'create_project', name: 'shop', ifNotExists: false, replace: false }],
  ['create project if not exists `my shop`;', { kind: 'create_project', name: 'my shop', ifNotExists: true, replace: false }],
  ['CREATE DATABASE x\n\n', { kind: 'create_project', name: 'x', ifNotExists: false, replace: false }],
  ["CREATE DATABASE x WITH ENGINE = 'mindsdb', PARAMETERS = {}", { kind: 'create_project', name: 'x', ifNotExists: false, replace: false }],
  [
    'CREATE DATABASE crm\nWITH ENGINE = \'postgres\',\nPARAMETERS = {"host":"h","port":5432,"ssl":true}',
    {
      kind: 'create_database',
      name: 'crm',
      ifNotExists: false,
      replace: false,
      engine: 'postgres',
      parameters: { host: 'h', port: 5432, ssl: true },
    },
  ],
  [
    "CREATE OR REPLACE DATABASE IF NOT EXISTS d USING ENGINE 'slack' PARAMETERS {'token': 'x'}",
    { kind: 'create_database', name: 'd', ifNotExists: true, replace: true, engine: 'slack', parameters: { token: 'x' } },
  ],
  [
    'CREATE SCHEMA d ENGINE = "slack"',
    { kind: 'create_database', name: 'd', ifNotExists: false, replace: false, engine: 'slack', parameters: {} },
  ],
  ['DROP PROJECT shop', { kind: 'drop_database', name: 'shop', ifExists: false }],
  ['DROP DATABASE `x`', { kind: 'drop_database', name: 'x', ifExists: false }],
  ['DROP SCHEMA IF EXISTS x', { kind: 'drop_database', name: 'x', ifExists: true }],
  ['DROP DATASOURCE x', { kind: 'drop_database', name: 'x', ifExists: false }],
  ["ALTER DATABASE x NAME = 'y'", { kind: 'alter_database', name: 'x', newName: 'y', engine: null, parameters: null }],
  ['ALTER DATABASE x PARAMETERS = {"a": 1}', { kind: 'alter_database', name: 'x', newName: null, engine: null, parameters: { a: 1 } }],
  ['USE shop', { kind: 'use', name: 'shop' }],

  // Skills, agents, chatbots
  [
    "CREATE SKILL shop.sql_skill USING type = 'text2sql', database = 'example_db', tables = ['a','b']",
    {
      kind: 'create_resource',
      resource: 'skill',
      target: shop('sql_skill'),
      ifNotExists: false,
      using: { type: 'text2sql', database: 'example_db', tables: ['a', 'b'] },
    },
  ],
  [
    'create skill if not exists S using TYPE="sql", `Source` = "a""b"',
    {
      kind: 'create_resource',
      resource: 'skill',
      target: session('S'),
      ifNotExists: true,
      using: { type: 'sql', source: 'a"b' },
    },
  ],
  [
    "UPDATE SKILL shop.s SET database = 'other'",
    { kind: 'update_resource', resource: 'skill', target: shop('s'), set: { database: 'other' } },
  ],
  ['DROP SKILL IF EXISTS shop.s', { kind: 'drop_resource', resource: 'skill', target: shop('s'), ifExists: true }],
  [
    "CREATE AGENT shop.a USING model={'provider': 'openai', 'Model_Name': 'gpt-4o', 'api_key': 'sk-none'}, data = {\"tables\": [\"files.t\"]}, timeout = 1.5, mode = null, ok = True",
    {
      kind: 'create_resource',
      resource: 'agent',
      target: shop('a'),
      ifNotExists: false,
      using: {
        model: { provider: 'openai', Model_Name: 'gpt-4o', api_key: 'sk-none' },
        data: { tables: ['files.t'] },
        timeout: 1.5,
        mode: null,
        ok: true,
      },
    },
  ],
  [
    "CREATE AGENT a USING model = {'provider': 'openai', 'base_url': None, 'stop': [None], 'encoder': pca(kind = k)}, mode = None",
    {
      kind: 'create_resource',
      resource: 'agent',
      target: session('a'),
      ifNotExists: false,
      using: { model: { provider: 'openai', base_url: null, stop: [null], encoder: { type: 'pca', args: { kind: 'k' } } }, mode: null },
    },
  ],
  [
    "ALTER AGENT a USING skills_to_add = ['x'], skills_to_remove = []",
    { kind: 'update_resource', resource: 'agent', target: session('a'), set: { skills_to_add: ['x'], skills_to_remove: [] } },
  ],
  [
    'UPDATE AGENT a SET model = my_model, llm.`Max_Tokens` = -5, llm.temperature = 0.5',
    {
      kind: 'update_resource',
      resource: 'agent',
      target: session('a'),
      set: { model: 'my_model', llm: { max_tokens: -5, temperature: 0.5 } },
    },
  ],
  [
    'UPDATE AGENT a SET a = 0x1E, b = 1e23, c = 0.10000000000000001, d = -.5, e = 1_000.250',
    { kind: 'update_resource', resource: 'agent', target: session('a'), set: { a: 30, b: 1e23, c: 0.1, d: -0.5, e: 1000.25 } },
  ],
  ['DROP AGENT agent', { kind: 'drop_resource', resource: 'agent', target: session('agent'), ifExists: false }],
  [
    "CREATE CHATBOT shop.c USING database='d', agent='a', is_running=false",
    {
      kind: 'create_resource',
      resource: 'chatbot',
      target: shop('c'),
      ifNotExists: false,
      using: { database: 'd', agent: 'a', is_running: false },
    },
  ],
  [
    'UPDATE CHATBOT c SET is_running=TRUE',
    { kind: 'update_resource', resource: 'chatbot', target: session('c'), set: { is_running: true } },
  ],
  ['DROP CHATBOT c', { kind: 'drop_resource', resource: 'chatbot', target: session('c'), ifExists: false }],
  [
    'CREATE AGENT a USING encoder = pca(dims = 3, Kind = "k")',
    {
      kind: 'create_resource',
      resource: 'agent',
      target: session('a'),
      ifNotExists: false,
      using: { encoder: { type: 'pca', args: { dims: 3, kind: 'k' } } },
    },
  ],

  // Models
  [
    "CREATE MODEL `shop`.`rent`\nFROM `files`\n(SELECT * FROM rentals WHERE a IN (1, 2))\nPREDICT `rental_price`\nUSING\n`engine` = 'lightgbm', `a.b` = 1",
    {
      kind: 'create_model',
      target: shop('rent'),
      ifNotExists: false,
      replace: false,
      training: {
        ...noTraining,
        source: { database: 'files', query: 'SELECT * FROM rentals WHERE a IN (1, 2)' },
        predict: ['rental_price'],
        using: { engine: 'lightgbm', 'a.b': 1 },
      },
    },
  ],
  [
    'CREATE OR REPLACE PREDICTOR IF NOT EXISTS m USING a.b = 1 HORIZON 3 WINDOW 10 GROUP BY g, h ORDER BY d DESC PREDICT y FROM (SELECT 1)',
    {
      kind: 'create_model',
      target: session('m'),
      ifNotExists: true,
      replace: true,
      training: {
        source: { database: null, query: 'SELECT 1' },
        predict: ['y'],
        orderBy: [{ column: 'd', descending: true }],
        groupBy: ['g', 'h'],
        window: 10,
        horizon: 3,
        using: { a: { b: 1 } },
      },
    },
  ],
  [
    'CREATE MODEL m PREDICT a, b',
    { kind: 'create_model', target: session('m'), ifNotExists: false, replace: false, training: { ...noTraining, predict: ['a', 'b'] } },
  ],
  ['RETRAIN shop.rent', { kind: 'retrain_model', verb: 'retrain', target: { ...shop('rent'), version: null }, training: noTraining }],
  [
    'RETRAIN MODEL m FROM files (SELECT 1) PREDICT y USING active = 0',
    {
      kind: 'retrain_model',
      verb: 'retrain',
      target: { ...session('m'), version: null },
      training: { ...noTraining, source: { database: 'files', query: 'SELECT 1' }, predict: ['y'], using: { active: 0 } },
    },
  ],
  [
    'FINETUNE `p`.`m` FROM `db`\n(select 1)\nUSING a=1',
    {
      kind: 'retrain_model',
      verb: 'finetune',
      target: { project: 'p', name: 'm', version: null },
      training: { ...noTraining, source: { database: 'db', query: 'select 1' }, using: { a: 1 } },
    },
  ],
  ['RETRAIN model', { kind: 'retrain_model', verb: 'retrain', target: { ...session('model'), version: null }, training: noTraining }],
  ['DROP MODEL shop.rent.2', { kind: 'drop_model', target: { ...shop('rent'), version: 2 }, ifExists: false }],
  ['DROP PREDICTOR IF EXISTS rent.2', { kind: 'drop_model', target: { ...session('rent'), version: 2 }, ifExists: true }],
  ['DROP MODEL `shop`.`rent`.`2`', { kind: 'drop_model', target: { ...shop('rent'), version: 2 }, ifExists: false }],
  ['DROP MODEL rent .2', { kind: 'drop_model', target: { ...session('rent'), version: 2 }, ifExists: false }],
  ['CANCEL TRAINING m', { kind: 'cancel_training', target: { ...session('m'), version: null } }],
  ['cancel training p.m.2', { kind: 'cancel_training', target: { project: 'p', name: 'm', version: 2 } }],
  ['SET active p.m.`3`', { kind: 'activate_model', target: { project: 'p', name: 'm', version: 3 } }],
  ['SET model_active = `p`.`m`.`2`;', { kind: 'activate_model', target: { project: 'p', name: 'm', version: 2 } }],
  ['SET model_active = p.m.2', { kind: 'activate_model', target: { project: 'p', name: 'm', version: 2 } }],
  ['SET active m.2', { kind: 'activate_model', target: { ...session('m'), version: 2 } }],
  ['DESCRIBE `p`.`m`.`1`.`features`', { kind: 'describe_model', parts: ['p', 'm', '1', 'features'] }],
  ['DESCRIBE MODEL shop.rent', { kind: 'describe_model', parts: ['shop', 'rent'] }],
  ['DESC rent.2.info', { kind: 'describe_model', parts: ['rent', '2', 'info'] }],
  ['DESCRIBE agent', { kind: 'describe_model', parts: ['agent'] }],
  ['DESCRIBE AGENT shop.a', { kind: 'describe', what: 'agent', target: shop('a') }],
  ['DESCRIBE KNOWLEDGE BASE k', { kind: 'describe', what: 'knowledge_base', target: session('k') }],
  ['DESCRIBE ML_ENGINE e', { kind: 'describe', what: 'ml_engine', target: session('e') }],
  [
    `EVALUATE AGENT shop.a USING test_table = 'files.questions', version = 2`,
    { kind: 'evaluate_agent', target: shop('a'), using: { test_table: 'files.questions', version: 2 } },
  ],
  ['EVALUATE agent FROM (SELECT 1)', { kind: 'evaluate', metric: 'agent', query: 'SELECT 1', using: {} }],
  [
    'EVALUATE accuracy_score FROM (SELECT a AS actual, b AS prediction FROM t) USING k = 1',
    { kind: 'evaluate', metric: 'accuracy_score', query: 'SELECT a AS actual, b AS prediction FROM t', using: { k: 1 } },
  ],

  // Views, tables
  [
    'CREATE VIEW `p`.`v` AS (select * from t -- all\n)',
    {
      kind: 'create_view',
      target: { project: 'p', name: 'v' },
      ifNotExists: false,
      replace: false,
      source: { database: null, query: 'select * from t', span: { start: 24, end: 39 } },
    },
  ],
  [
    'CREATE VIEW IF NOT EXISTS v FROM files (SELECT sqft FROM rentals)',
    {
      kind: 'create_view',
      target: session('v'),
      ifNotExists: true,
      replace: false,
      source: { database: 'files', query: 'SELECT sqft FROM rentals', span: { start: 40, end: 64 } },
    },
  ],
  [
    'ALTER VIEW shop.v AS (SELECT 1;)',
    { kind: 'alter_view', target: shop('v'), source: { database: null, query: 'SELECT 1', span: { start: 22, end: 30 } } },
  ],
  ['DROP VIEW IF EXISTS v, shop.w', { kind: 'drop_view', targets: [session('v'), shop('w')], ifExists: true }],
  [
    'CREATE OR REPLACE TABLE `files`.`t`\n(select 1)',
    { kind: 'create_table', target: { database: 'files', name: 't' }, ifNotExists: false, replace: true, rows: { start: 37, end: 45 } },
  ],
  [
    'create table if not exists t AS SELECT 1',
    { kind: 'create_table', target: { database: null, name: 't' }, ifNotExists: true, replace: false, rows: { start: 32, end: 40 } },
  ],
  ['DROP TABLE IF EXISTS files.`f`', { kind: 'drop_table', targets: [{ database: 'files', name: 'f' }], ifExists: true }],
  [
    'CREATE TABLE files.t (a INT, `b c` DECIMAL(10, 2) NULL)',
    {
      kind: 'create_table',
      target: { database: 'files', name: 't' },
      ifNotExists: false,
      replace: false,
      rows: [
        { name: 'a', type: 'INT', span: { start: 24, end: 27 } },
        { name: 'b c', type: 'DECIMAL(10, 2)', span: { start: 35, end: 49 } },
      ],
    },
  ],
  [
    'INSERT INTO files.rentals VALUES (1)',
    { kind: 'insert', target: { database: 'files', name: 'rentals' }, columns: null, rows: { start: 26, end: 36 } },
  ],
  [
    'INSERT INTO `files`.`f` (a, `b`) (SELECT 1, 2)',
    { kind: 'insert', target: { database: 'files', name: 'f' }, columns: ['a', 'b'], rows: { start: 34, end: 45 } },
  ],
  ['INSERT INTO f (SELECT 1)', { kind: 'insert', target: { database: null, name: 'f' }, columns: null, rows: { start: 15, end: 23 } }],
  ['UPDATE files.rentals SET sqft=1', { kind: 'table_write', verb: 'update', target: { database: 'files', name: 'rentals' }, where: '' }],
  [
    'update files.rentals on a from (SELECT 1 AS a)',
    { kind: 'table_write', verb: 'update', target: { database: 'files', name: 'rentals' }, where: '' },
  ],
  ['UPDATE agent SET a=1', { kind: 'table_write', verb: 'update', target: { database: null, name: 'agent' }, where: '' }],
  ['DELETE FROM t WHERE a = 1', { kind: 'table_write', verb: 'delete', target: { database: null, name: 't' }, where: 'a = 1' }],

  // Knowledge bases
  [
    'CREATE KNOWLEDGE BASE p.k USING MODEL = p.m STORAGE = a.b PARAMS = {"a": 1};',
    {
      kind: 'create_resource',
      resource: 'knowledge_base',
      target: { project: 'p', name: 'k' },
      ifNotExists: false,
      using: { model: 'p.m', storage: 'a.b', params: { a: 1 } },
    },
  ],
  [
    'CREATE KNOWLEDGE_BASE IF NOT EXISTS k',
    { kind: 'create_resource', resource: 'knowledge_base', target: session('k'), ifNotExists: true, using: {} },
  ],
  [
    'ALTER KNOWLEDGE_BASE k USING id_column = a',
    { kind: 'update_resource', resource: 'knowledge_base', target: session('k'), set: { id_column: 'a' } },
  ],
  ['DROP KNOWLEDGE_BASE IF EXISTS k', { kind: 'drop_resource', resource: 'knowledge_base', target: session('k'), ifExists: true }],
  [
    "EVALUATE KNOWLEDGE_BASE k USING test_table = files.t, version = 'doc_id'",
    { kind: 'evaluate_knowledge_base', target: session('k'), using: { test_table: 'files.t', version: 'doc_id' } },
  ],

  // Jobs, triggers, engines
  [
    "CREATE JOB `p`.`j` (\nSELECT 1;\nSELECT ';'\n)\nSTART '2024-01-01'\nEND '2025-01-01'\nEVERY 2 hours\nIF (\nSELECT 1\n)",
    {
      kind: 'create_job',
      target: { project: 'p', name: 'j' },
      ifNotExists: false,
      queries: ['SELECT 1', "SELECT ';'"],
      condition: 'SELECT 1',
      schedule: { start: '2024-01-01', end: '2025-01-01', every: '2 hours' },
    },
  ],
  [
    "CREATE JOB IF NOT EXISTS j AS (SELECT 1) EVERY '3 day' START now;",
    {
      kind: 'create_job',
      target: session('j'),
      ifNotExists: true,
      queries: ['SELECT 1'],
      condition: null,
      schedule: { start: 'now', end: null, every: '3 day' },
    },
  ],
  [
    "ALTER JOB `p`.`j` (SELECT 1; SELECT ';') START now END '2025-01-01' EVERY 2 hours IF (SELECT 2);",
    {
      kind: 'alter_job',
      target: { project: 'p', name: 'j' },
      changes: { queries: ['SELECT 1', "SELECT ';'"], start: 'now', end: '2025-01-01', every: '2 hours', condition: 'SELECT 2' },
    },
  ],
  ['ALTER JOB j AS (SELECT 1)', { kind: 'alter_job', target: session('j'), changes: { queries: ['SELECT 1'] } }],
  [
    'alter job j if null every null end null',
    { kind: 'alter_job', target: session('j'), changes: { end: null, every: null, condition: null } },
  ],
  ['DROP JOB IF EXISTS `p`.`j`;', { kind: 'drop_job', target: { project: 'p', name: 'j' }, ifExists: true }],
  [
    'CREATE TRIGGER t ON db.tbl COLUMNS a, b (SELECT 1)',
    { kind: 'create_trigger', target: session('t'), table: { database: 'db', name: 'tbl' }, columns: ['a', 'b'], queries: ['SELECT 1'] },
  ],
  ['DROP TRIGGER t', { kind: 'drop_trigger', target: session('t'), ifExists: false }],
  [
    "CREATE ML_ENGINE IF NOT EXISTS e FROM lightwood USING a = 'b'",
    { kind: 'create_ml_engine', name: 'e', handler: 'lightwood', ifNotExists: true, using: { a: 'b' } },
  ],
  ['DROP ML_ENGINE IF EXISTS `e`', { kind: 'drop_ml_engine', name: 'e', ifExists: true }],

  // SHOW
  ['SHOW DATABASES', { kind: 'show', what: 'databases', full: false, from: null, like: null, where: null }],
  ['SHOW FULL DATABASES', { kind: 'show', what: 'databases', full: true, from: null, like: null, where: null }],
  ['SHOW FULL TABLES FROM `p`', { kind: 'show', what: 'tables', full: true, from: ['p'], like: null, where: null }],
  ["show tables in p like 'a%'", { kind: 'show', what: 'tables', full: false, from: ['p'], like: 'a%', where: null }],
  ["SHOW HANDLERS WHERE type = 'ml'", { kind: 'show', what: 'handlers', full: false, from: null, like: null, where: "type = 'ml'" }],
  ['SHOW KNOWLEDGE BASES', { kind: 'show', what: 'knowledge_bases', full: false, from: null, like: null, where: null }],
  ['SHOW COLUMNS FROM t FROM p', { kind: 'show', what: 'columns', full: false, from: ['p', 't'], like: null, where: null }],
  ['SHOW FULL COLUMNS IN p.t', { kind: 'show', what: 'columns', full: true, from: ['p', 't'], like: null, where: null }],
  ['SHOW CREATE TABLE p.t', { kind: 'show', what: 'create_table', full: false, from: ['p', 't'], like: null, where: null }],
  ["SHOW TABLE STATUS FROM p LIKE 't'", { kind: 'show', what: 'table_status', full: false, from: ['p'], like: 't', where: null }],
  ['SHOW SESSION STATUS', { kind: 'show', what: 'status', full: false, from: null, like: null, where: null }],
  ['EXPLAIN SELECT 1', { kind: 'explain', analyze: false, span: { start: 8, end: 16 } }],
  ['explain analyze WITH a AS (SELECT 1) FROM a', { kind: 'explain', analyze: true, span: { start: 16, end: 43 } }],
  ['EXPLAIN DROP VIEW v', { kind: 'explain_command', statement: { kind: 'drop_view', targets: [session('v')], ifExists: false } }],

  // Indexes
  ['CREATE INDEX ON KNOWLEDGE_BASE k', { kind: 'index_knowledge_base', target: session('k'), ifExists: false }],
  [
    'CREATE INDEX ON KNOWLEDGE BASE IF NOT EXISTS p.k WITH (type = 1)',
    { kind: 'index_knowledge_base', target: { project: 'p', name: 'k' }, ifExists: false },
  ],
  ['DROP INDEX ON KNOWLEDGE_BASE k', { kind: 'index_knowledge_base', target: session('k'), ifExists: false }],
  ['DROP INDEX ON KNOWLEDGE_BASE IF EXISTS k', { kind: 'index_knowledge_base', target: session('k'), ifExists: true }],

  // ClientSetting
  ['SET autocommit=1', { kind: 'client_setting', verb: 'set', variables: ['autocommit'] }],
  ['SET names utf8', { kind: 'client_setting', verb: 'set', variables: ['names'] }],
  [
    'SET SESSION wait_timeout = 1, @@global.sql_mode = (2, 3), NAMES utf8',
    { kind: 'client_setting', verb: 'set', variables: ['wait_timeout', 'sql_mode', 'names'] },
  ],
  ['SET profiling = 1', { kind: 'client_setting', verb: 'set', variables: ['profiling'] }],
  ['BEGIN', { kind: 'client_setting', verb: 'begin', variables: [] }],
  ['START TRANSACTION READ ONLY', { kind: 'client_setting', verb: 'begin', variables: [] }],
  ['COMMIT', { kind: 'client_setting', verb: 'commit', variables: [] }],
  ['ROLLBACK;', { kind: 'client_setting', verb: 'rollback', variables: [] }],

  // What DuckDB answers
  ['SELECT 1', { kind: 'select', sql: 'SELECT 1' }],
  ['  /* c */ select * from a ;', { kind: 'select', sql: '          select * from a' }],
  ['WITH a AS (SELECT 1) SELECT * FROM a', { kind: 'select', sql: 'WITH a AS (SELECT 1) SELECT * FROM a' }],
  ['VALUES (1), (2)', { kind: 'select', sql: 'VALUES (1), (2)' }],
  ['FROM files.t', { kind: 'select', sql: 'FROM files.t' }],
  ['(SELECT 1)', { kind: 'select', sql: '(SELECT 1)' }],
  ['TABLE t', { kind: 'select', sql: 'TABLE t' }],
  [
    'SELECT @@version_comment LIMIT 1',
    {
      kind: 'system_select',
      items: [{ source: 'variable', name: 'version_comment', column: '@@version_comment' }],
      sql: 'SELECT @@version_comment LIMIT 1',
    },
  ],
  [
    'SELECT database(), @@session.tx_isolation AS t',
    {
      kind: 'system_select',
      items: [
        { source: 'function', name: 'database', column: 'database' },
        { source: 'variable', name: 'tx_isolation', column: 't' },
      ],
      sql: 'SELECT database(), @@session.tx_isolation AS t',
    },
  ],
  ['SELECT version() || 1', { kind: 'select', sql: 'SELECT version() || 1' }],
]

describe('a statement is read into what it means', () => {
  test.each(cases)('%s', (sql, statement) => expect(parseStatement(sql)).toEqual(statement))

  const known: [sql: string, what: string][] = [['CREATE ANOMALY DETECTION MODEL m FROM db (SELECT 1)', 'CREATE ANOMALY DETECTION MODEL']]
  test.each(known)('%s is known and says what to use instead', (sql, what) =>
    expect(parseStatement(sql)).toMatchObject({ kind: 'unavailable', what, instead: expect.any(String) }),
  )

  const lists =
    'PROJECTS MODELS PREDICTORS AGENTS SKILLS CHATBOTS JOBS TRIGGERS VIEWS KNOWLEDGE_BASES ML_ENGINES HANDLERS PLUGINS VARIABLES ENGINES CHARSET COLLATION WARNINGS SEARCH_PATH'
  test.each([...lists.split(' '), 'CHARACTER SET', 'FUNCTION STATUS', 'PROCEDURE STATUS'])('SHOW %s takes FROM, LIKE and WHERE', (what) =>
    expect(parseStatement(`SHOW ${what} FROM p LIKE 'a' WHERE b = 1`)).toMatchObject({
      kind: 'show',
      from: ['p'],
      like: 'a',
      where: 'b = 1',
    }),
  )
})

describe('what is typed in another way means the same', () => {
  const using = (sql: string) => parseStatement(`CREATE AGENT a USING ${sql}`)
  test('a forgotten comma between keys', () => expect(using("a = 'x' b.c = 2")).toEqual(using("a = 'x', b.c = 2")))
  test('comments and white space between any two tokens', () =>
    expect(parseStatement('CREATE /*a*/ AGENT -- b\n a\tUSING\r\n a/**/=/**/1')).toEqual(using('a = 1')))
  test('both escapes of a quote', () => expect(using(String.raw`a = 'it\'s'`)).toEqual(using(`a = 'it''s'`)))
  test("JSON's escapes inside double quotes", () => expect(using(String.raw`a = {"k": "\u00e9\n"}`)).toEqual(using(`a = {'k': 'é\n'}`)))
  test('a parameter stands for its value', () =>
    expect(parseStatement('CREATE AGENT a USING k = :v, l = [:w]', { v: { b: 1 }, w: 2 })).toEqual(using("k = {'b': 1}, l = [2]")))
  test('words of clauses are keys and names after a dot, too', () =>
    expect(parseStatement('CREATE AGENT p.from USING set = 1, using.with = 2')).toMatchObject({
      target: { project: 'p', name: 'from' },
      using: { set: 1, using: { with: 2 } },
    }))
  test('a dotted key is added to the object before it', () => expect(using("a = {'b': 1}, a.c = 2")).toEqual(using("a = {'b': 1, 'c': 2}")))
})

describe('a query may begin with any word that DuckDB takes', () => {
  const rowsIn = (sql: string): unknown => {
    const statement = parseStatement(sql)
    const rows = statement.kind === 'create_view' ? statement.source.span : 'rows' in statement ? statement.rows : []
    return 'start' in rows ? sql.slice(rows.start, rows.end) : rows
  }
  test.each([
    'TABLE files.t',
    'PIVOT files.t ON a USING sum(b)',
    'PIVOT (SELECT 1 AS a, 2 AS b) ON a',
    'PIVOT t AS p ON a',
    'UNPIVOT t ON a, b',
    'SUMMARIZE t',
    'SUMMARIZE SELECT 1, 2',
    'SUMMARIZE VALUES (1)',
    'DESCRIBE SELECT 1',
    'DESC (SELECT 1)',
  ])('%s is the query of a table, a view and an INSERT', (query) => {
    for (const statement of ['CREATE TABLE files.x', 'CREATE TABLE files.x AS', 'CREATE VIEW v AS', 'INSERT INTO files.x'])
      for (const written of [query, `(${query})`]) expect([statement, rowsIn(`${statement} ${written}`)]).toEqual([statement, query])
  })

  test.each([
    ['table VARCHAR, b INT', ['table', 'b']],
    ['table VARCHAR', ['table']],
    ['pivot DECIMAL(10, 2)', ['pivot']],
    ['unpivot INT[], describe DOUBLE PRECISION', ['unpivot', 'describe']],
    ['pivot_wider DOUBLE PRECISION', ['pivot_wider']],
    ['summarize TEXT NULL, desc TEXT', ['summarize', 'desc']],
  ])('(%s) are columns', (columns, names) => {
    expect(rowsIn(`CREATE TABLE files.x (${columns})`)).toMatchObject(names.map((name) => ({ name })))
    const insert = parseStatement(`INSERT INTO files.x (${names.join(', ')}) VALUES (1)`)
    expect(insert).toMatchObject({ kind: 'insert', columns: names })
  })

  test.each(['pivot', 'table', 'summarize.features'])('DESCRIBE %s is about a model', (name) =>
    expect(parseStatement(`DESCRIBE ${name}`)).toEqual({ kind: 'describe_model', parts: name.split('.') }),
  )
})
