import { describe, expect, test } from '@jest/globals'
import { ask, dialectService, expectAnswer, type Case } from '../../../support/dialect.js'

const at = dialectService()

const settings: Case[] = [
  ['SET names utf8', 'ok'],
  ["SET NAMES 'utf8mb4' COLLATE 'utf8mb4_general_ci'", 'ok'],
  ['SET autocommit=1', 'ok'],
  ['SET character_set_results = NULL', 'ok'],
  ['SET @@session.autocommit = ON', 'ok'],
  ['SET profiling = 1', 'ok'],
  ['SET predictor_cache = off', 'ok'],
  ['SET context = 1', 'ok'],
  ['SET CHARACTER SET utf8', 'ok'],
  ["SET SESSION sql_mode = 'ANSI', wait_timeout = 600", 'ok'],
  ['SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED', 'ok'],
  ['BEGIN', 'ok'],
  ['START TRANSACTION', 'ok'],
  ['COMMIT', 'ok'],
  ['ROLLBACK', 'ok'],
  ['SELECT @@version', '@@version', [['8.0.17']]],
  ['SELECT @@session.tx_isolation, @@autocommit AS a', '@@session.tx_isolation, a', [['REPEATABLE-READ', '1']]],
  ['SELECT @@version_comment LIMIT 1', '@@version_comment'],
  ['SELECT 1 AS one, @@time_zone AS zone, @@autocommit AS a', 'one, zone, a', [[1, 'SYSTEM', 1]]],
  ['SELECT upper(@@sql_mode) = @@SESSION.sql_mode AS same, @@local.wait_timeout + 1 AS more', 'same, more', [[true, 28801]]],
  ['SELECT VERSION()', 'VERSION', [['8.0.17']]],
  ['SELECT database()', 'database', [['mindsdb']]],
  ['SELECT DATABASE() AS db, version()', 'db, version', [['mindsdb', '8.0.17']]],
  ['SELECT CURRENT_USER()', 'CURRENT_USER', [['anonymous@localhost']]],
  ['SELECT current_user', 'current_user', [['anonymous@localhost']]],
  ['SELECT USER(), CONNECTION_ID()', 'USER, CONNECTION_ID', [['anonymous@localhost', 1]]],
  [
    "SHOW VARIABLES LIKE 'tx_%'",
    'Variable_name, Value',
    [
      ['tx_isolation', 'REPEATABLE-READ'],
      ['tx_read_only', '0'],
    ],
  ],
  ["SHOW SESSION VARIABLES WHERE Variable_name = 'autocommit'", 'Variable_name, Value', [['autocommit', '1']]],
  ['SHOW WARNINGS', 'Level, Code, Message', []],
  ['SHOW ERRORS LIMIT 10', 'Level, Code, Message', []],
  [
    'SHOW SESSION STATUS',
    'Variable_name, Value',
    [
      ['auto_increment_increment', '1'],
      ['tx_isolation', 'REPEATABLE-READ'],
      ['tx_read_only', '0'],
    ],
  ],
]
describe('what clients say when they connect', () => test.each(settings)('%s', (...one) => expectAnswer(at.url, one)))

// Each refusal says what is missing and what to use instead.
const absent: [statement: string, says: RegExp][] = [
  ['SELEC 1', /SELEC begins no statement.*Did you mean SELECT columns FROM table/s],
  ['CREAT AGENT a', /Did you mean CREATE AGENT/],
  ['CREATE AGNET a USING model = 1', /"AGNET" is not understood here.*Did you mean CREATE AGENT/s],
  ['SHOW FUNCTIONS', /there is no SHOW FUNCTIONS.*Did you mean SHOW FUNCTION STATUS/s],
  ['SHOW TABELS', /there is no SHOW TABELS.*Did you mean SHOW \[FULL\] TABLES/s],
  ['SHOW NONSENSE', /there is no SHOW NONSENSE; SHOW lists DATABASES, PROJECTS/],
  ['HELP', /HELP begins no statement of this service; .*CREATE, ALTER, DROP.* and SELECT do/],
  ['TRUNCATE files.x', /does not have TRUNCATE.*Use DROP TABLE files\.name/s],
  ['GRANT ALL ON x TO y', /does not have GRANT.*Use AUTH=session/s],
  ['COPY x TO y', /does not have COPY.*Use SELECT/s],
  ["ATTACH 'x.db'", /does not have ATTACH.*Use CREATE DATABASE/s],
  ['PREPARE p AS SELECT 1', /does not have PREPARE.*Use parameters/s],
  ['@v := 3', /variables are not kept between statements.*params/s],
  ['SET @v = 3', /variables are not kept between statements.*params/s],
  ['SET autocommit = 1, @v := 3', /variables are not kept between statements \(line 1, column 21\)/],
  ['SET sql_select_limit = 3', /there is no variable sql_select_limit that could be set.*SHOW VARIABLES/s],
  ['SET names utf8, nope = 1', /there is no variable nope that could be set \(line 1, column 17\)/],
  ['SET show_secrets = true', /secrets are never shown/],
  ['CREATE INDEX ON KNOWLEDGE_BASE k', /Knowledge base with name k does not exist/],
  ['CREATE INDEX ON KNOWLEDGE_BASE k twice', /"twice" is not understood here/],
  ['CREATE TRIGGER t ON files.x (SELECT 1)', /does not have triggers\nFollow the log/],
  ['CREATE TRIGGER t ON files.x COLUMNS a, b (SELECT 1)', /does not have triggers/],
  ['DROP TRIGGER t', /t does not exist/],
  ['DESCRIBE NONSENSE x', /"x" is not understood here.*Did you mean DESC/s],
  ['UPDATE files.x SET a = 1', /UPDATE is not possible/],
  ['DELETE FROM files.x', /DELETE is not possible.*CREATE OR REPLACE TABLE files\.x/s],
  ['DELETE FROM files.skills', /CREATE OR REPLACE TABLE files\.skills/],
  ["DELETE FROM mindsdb.Skills WHERE name = 'x'", /resources are changed by statements of their own\nUse DROP SKILL name/],
  ["UPDATE agents SET name = 'x'", /UPDATE is not possible.*Use UPDATE AGENT name SET/s],
  ["UPDATE crm.orders SET state = 'paid'", /crm\.orders is not a file\n.*tables of connections are changed where they are/],
  ['DELETE FROM crm.jobs WHERE id = 1', /crm\.jobs is not a file/],
  ['DELETE FROM nothing', /\.nothing is not a file/],
  ['ALTER TABLE files.x ADD COLUMN a INT', /does not have ALTER TABLE \(line 1, column 7\).*Use CREATE OR REPLACE TABLE/s],
  ['ALTER MODEL m USING a = 1', /ALTER MODEL sets recording, not a.*RETRAIN/s],
  ['CREATE INDEX i ON files.x (a)', /does not have CREATE INDEX.*without an index/s],
  ['CREATE TEMP TABLE t (SELECT 1)', /does not have CREATE TEMP .*Use WITH/s],
  ['DROP INDEX i', /does not have DROP INDEX/],
  ['CREATE MACRO f(a) AS a', /does not have CREATE MACRO.*Use CREATE VIEW/s],
]
test.each(absent)('%s is refused with what to use instead', async (statement, says) => {
  expect(await ask(at.url, statement)).toMatchObject({ type: 'error', error_message: expect.stringMatching(says) })
})
