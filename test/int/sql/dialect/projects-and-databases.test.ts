import { expect, test } from '@jest/globals'
import { ask, dialectService, expectAnswer, type Case } from '../../../support/dialect.js'

const at = dialectService()

const databases = 'NAME, TYPE, ENGINE, CONNECTION_DATA'

const cases: Case[] = [
  ['CREATE PROJECT Shop', 'ok'],
  ['CREATE PROJECT shop', /Project with name shop already exists/],
  ['CREATE PROJECT IF NOT EXISTS SHOP', 'ok'],
  ['CREATE OR REPLACE PROJECT shop', /already exists\nA project is not replaced/],
  ['CREATE DATABASE IF NOT EXISTS shop', 'ok'],
  ['CREATE DATABASE plain\n\n', 'ok'],
  ["CREATE DATABASE py WITH ENGINE = 'mindsdb', PARAMETERS = {}", 'ok'],
  ['CREATE SCHEMA third', 'ok'],
  [`CREATE DATABASE crm WITH ENGINE 'postgres' PARAMETERS {"host": "a", "password": "hidden"}`, 'ok'],
  [`CREATE DATABASE crm WITH ENGINE = 'postgres', PARAMETERS = {"host": "b"}`, /already exists/],
  [`CREATE DATABASE IF NOT EXISTS crm WITH ENGINE = 'postgres', PARAMETERS = {"host": "b"}`, 'ok'],
  ['DESCRIBE DATABASE crm', databases, [['crm', 'data', 'postgres', '{"host":"a","password":"******"}']]],
  [`CREATE OR REPLACE DATABASE crm USING ENGINE = 'postgres', PARAMETERS = {"host": "127.0.0.1"}`, 'ok'],
  ['DESCRIBE DATABASE CRM', databases, [['crm', 'data', 'postgres', '{"host":"127.0.0.1"}']]],
  ["CREATE DATABASE warehouse WITH ENGINE='no_such', PARAMETERS={'a':1}", /There is no engine 'no_such'/],
  ["CREATE DATABASE warehouse WITH ENGINE='postgers'", /There is no engine 'postgers'\nDid you mean 'postgres'\? Known engines: slack/],
  ['CREATE DATABASE crm2\n,\nPARAMETERS = {"a":1}', /cannot be parsed: "," is not understood/],
  ['ALTER DATABASE crm PARAMETERS = {"port": 1}', 'ok'],
  ["ALTER DATABASE crm NAME = 'sales'", 'ok'],
  ['DESCRIBE DATABASE sales', databases, [['sales', 'data', 'postgres', '{"host":"127.0.0.1","port":1}']]],
  ["ALTER DATABASE third NAME = 'fourth'", 'ok'],
  ['ALTER DATABASE fourth PARAMETERS = {"a": 1}', /fourth is a project: it has a NAME and nothing else to alter/],
  ["ALTER DATABASE nope NAME = 'x'", /nope does not exist/],
  ['DROP DATABASE log', /Database 'log' can not be deleted, because it is part of this service/],
  ['DROP DATABASE IF EXISTS Files', /Database 'Files' can not be deleted, because it is part of this service/],
  ["ALTER DATABASE information_schema NAME = 'x'", /Database 'information_schema' can not be changed/],
  ['DESCRIBE PROJECT fourth', databases, [['fourth', 'project', null, null]]],
  ['DESCRIBE PROJECT sales', databases, []],
  ['SHOW PROJECTS', 'project', [['fourth'], ['mindsdb'], ['plain'], ['py'], ['Shop']]],
  ["SHOW PROJECTS LIKE 'P%'", 'project', [['plain'], ['py']]],
  ["SHOW PROJECTS WHERE project = 'SHOP'", 'project', [['Shop']]],
  [
    'SHOW DATABASES',
    'Database',
    ['information_schema', 'log', 'fourth', 'mindsdb', 'plain', 'py', 'Shop', 'files', 'sales'].map((name) => [name]),
  ],
  ["SHOW SCHEMAS LIKE 'sh%'", 'Database', [['Shop']]],
  ["SHOW DATABASES WHERE Database = 'SHOP' OR name = 'files'", 'Database', [['Shop'], ['files']]],
  [
    "SHOW FULL DATABASES WHERE type <> 'project'",
    'Database, TYPE, ENGINE',
    [
      ['information_schema', 'system', null],
      ['log', 'system', null],
      ['files', 'data', 'files'],
      ['sales', 'data', 'postgres'],
    ],
  ],
  ['SHOW FULL SCHEMAS', 'Database, TYPE, ENGINE'],
  ["select NAME from information_schema.databases where TYPE='project' ORDER BY 1 LIMIT 1", 'NAME', [['fourth']]],
  [
    "select NAME, ENGINE, CONNECTION_DATA from information_schema.databases where TYPE='data'",
    'NAME, ENGINE, CONNECTION_DATA',
    [
      ['files', 'files', null],
      ['sales', 'postgres', '{"host":"127.0.0.1","port":1}'],
    ],
  ],
  ['SELECT * FROM sales.orders', /Nothing listens at 127/],
  ['SELECT * FROM sales (SELECT a #> b FROM "x"."y")', /Nothing listens at 127/],
  ['SHOW TABLES FROM sales', /Nothing listens at 127/],
  ['DROP DATABASE `sales`', 'ok'],
  ['DROP DATABASE sales', /Database with name sales does not exist/],
  ['DROP DATABASE IF EXISTS sales', 'ok'],
  ['DROP PROJECT IF EXISTS nope', 'ok'],
  ['DROP PROJECT nope', /nope does not exist/],
  ['DROP PROJECT mindsdb', /can not be deleted, because it is the default project/],
  ['CREATE SKILL Shop.s USING type = 1', /type must be a text/],
  ["CREATE SKILL Shop.s USING type = 'sql'", 'ok'],
  ['DROP PROJECT shop', /can not be deleted, because it contains: skill s/],
  ['DROP PROJECT fourth', 'ok'],
  ['DROP SCHEMA plain', 'ok'],
  ['DROP DATASOURCE py', 'ok'],
]
test.each(cases)('%s', (...one) => expectAnswer(at.url, one))

test.each([
  ['USE Shop', 'Shop'],
  ['USE `shop`', 'Shop'],
  ['USE files', 'files'],
  ['USE INFORMATION_SCHEMA', 'information_schema'],
])('%s answers with the context to send next', async (statement, db) => {
  expect(await ask(at.url, statement)).toMatchObject({ type: 'ok', context: { db } })
})

test('USE of what is not there says so, and leaves the context', async () => {
  expect(await ask(at.url, 'USE nope')).toMatchObject({
    type: 'error',
    error_message: expect.stringContaining('Database nope does not exists'),
    context: { db: 'mindsdb' },
  })
})
