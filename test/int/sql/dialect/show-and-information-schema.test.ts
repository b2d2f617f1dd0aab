import { describe, test } from '@jest/globals'
import { dialectService, expectAnswer, type Case } from '../../../support/dialect.js'
import { uploadRentals } from '../../../support/models/rentals.js'

const at = dialectService(async (url) => {
  await uploadRentals(url)
  await expectAnswer(url, ['CREATE PROJECT shop', 'ok'])
  await expectAnswer(url, [
    'CREATE VIEW shop.good AS (SELECT sqft, count(*) FROM files.rentals WHERE location = "good" GROUP BY sqft)',
    'ok',
  ])
  await expectAnswer(url, ["CREATE AGENT shop.helper USING model = 'gpt-4o'", 'ok'])
})

const jobs = 'NAME, PROJECT, START_AT, END_AT, NEXT_RUN_AT, SCHEDULE_STR, QUERY, IF_QUERY, VARIABLES'
const triggers = 'NAME, PROJECT, DATABASE, TABLE, QUERY, LAST_ERROR'
const knowledgeBases =
  'NAME, PROJECT, EMBEDDING_MODEL, RERANKING_MODEL, STORAGE, METADATA_COLUMNS, CONTENT_COLUMNS, ID_COLUMN, PARAMS, INSERT_STARTED_AT, ' +
  'INSERT_FINISHED_AT, PROCESSED_ROWS, ERROR, QUERY_ID'
const status =
  'Name, Engine, Version, Row_format, Rows, Avg_row_length, Data_length, Max_data_length, Index_length, Data_free, Auto_increment, Create_time, ' +
  'Update_time, Check_time, Collation, Checksum, Create_options, Comment'
const routine =
  'Db, Name, Type, Definer, Modified, Created, Security_type, Comment, character_set_client, collation_connection, Database Collation'
const index =
  'Table, Non_unique, Key_name, Seq_in_index, Column_name, Collation, Cardinality, Sub_part, Packed, Null, Index_type, Comment, Index_comment, ' +
  'Visible, Expression'

const shows: Case[] = [
  ['SHOW TABLES FROM shop', 'Tables_in_shop', [['models'], ['good']]],
  ['SHOW TABLES FROM `SHOP`', 'Tables_in_SHOP', [['models'], ['good']]],
  ['SHOW TABLES', 'Tables_in_mindsdb', [['models']]],
  ["SHOW TABLES IN shop LIKE 'GO%'", 'Tables_in_shop', [['good']]],
  ["SHOW FULL TABLES FROM shop WHERE Table_type = 'VIEW'", 'Tables_in_shop, Table_type', [['good', 'VIEW']]],
  [
    "SHOW FULL TABLES FROM shop WHERE Tables_in_shop LIKE 'SKILL%'",
    'Tables_in_shop, Table_type',
    [
      ['skills', 'SYSTEM VIEW'],
      ['skills_history', 'SYSTEM VIEW'],
    ],
  ],
  [
    'SHOW TABLES FROM log',
    'Tables_in_log',
    [
      ['events'],
      ['resources'],
      ['predictions'],
      ['prediction_receipts'],
      ['outcomes'],
      ['accuracy'],
      ['coverage'],
      ['answers'],
      ['answer_steps'],
      ['answer_judgements'],
      ['evaluations'],
      ['evaluation_cases'],
      ['usage'],
      ['conversations'],
      ['messages'],
      ['database_queries'],
      ['knowledge_searches'],
      ['erasures'],
      ['job_runs'],
      ['jobs_history'],
      ['projections'],
      ['llm_log'],
    ],
  ],
  ["SHOW TABLES FROM information_schema LIKE 'KEY%'", 'Tables_in_information_schema', [['key_column_usage']]],
  ['SHOW TABLES FROM nope', /Database nope does not exists/],
  [
    'DESCRIBE shop.helper',
    'Field, Type, Null, Key, Default, Extra',
    ['answer', 'question', 'context', 'trace_id'].map((name) => [name, 'varchar', 'YES', null, null, null]),
  ],
  [
    "SHOW COLUMNS FROM shop.helper LIKE 'trace%'",
    'Field, Type, Null, Key, Default, Extra',
    [['trace_id', 'varchar', 'YES', null, null, null]],
  ],
  [
    "SELECT table_comment FROM information_schema.tables WHERE table_name = 'helper'",
    'TABLE_COMMENT',
    [['An agent: ask it with question = ….']],
  ],
  ["CREATE AGENT shop.jobs USING model = 'gpt-4o'", 'ok'],
  // FROM reads the table of each project, not the agent with its name.
  [
    "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'jobs' AND column_name = 'trace_id'",
    'count_0',
    [[0]],
  ],
  ['DROP AGENT shop.jobs', 'ok'],
  ['SHOW TABLE STATUS FROM files', status],
  ["SHOW TABLE STATUS FROM files LIKE 'x'", status, []],
  ["SHOW TABLE STATUS LIKE 'x'", status, []],
  ['SHOW JOBS', jobs, []],
  ["SHOW JOBS FROM shop WHERE name = 'x'", jobs, []],
  ['DESCRIBE JOB shop.x', jobs, []],
  ['SHOW TRIGGERS', triggers, []],
  ['DESCRIBE TRIGGER shop.x', triggers, []],
  ['SHOW KNOWLEDGE_BASES', knowledgeBases, []],
  ['SHOW KNOWLEDGE BASES FROM shop', knowledgeBases, []],
  ['DESCRIBE KNOWLEDGE_BASE shop.x', knowledgeBases, []],
  ['SHOW FUNCTION STATUS', routine, []],
  ["SHOW PROCEDURE STATUS WHERE Db = 'shop'", routine, []],
  ['SHOW INDEX FROM files.rentals', index, []],
  ['SHOW KEYS FROM rentals FROM files', index, []],
  ['SHOW INDEX FROM files.nope', /Table 'nope' not found in database: files/],
  ['SHOW PLUGINS', 'Name, Status, Type, Library, License', []],
  ['SHOW ENGINES', 'Engine, Support, Comment, Transactions, XA, Savepoints'],
  [
    'SHOW CHARSET WHERE Maxlen = 4',
    'Charset, Description, Default collation, Maxlen',
    [['utf8mb4', 'UTF-8 Unicode', 'utf8mb4_general_ci', 4]],
  ],
  [
    "SHOW CHARACTER SET LIKE 'latin%'",
    'Charset, Description, Default collation, Maxlen',
    [['latin1', 'cp1252 West European', 'latin1_swedish_ci', 1]],
  ],
  [
    'SHOW COLLATION',
    'Collation, Charset, Id, Default, Compiled, Sortlen, Pad_attribute',
    [
      ['utf8_general_ci', 'utf8', 33, 'Yes', 'Yes', 1, 'PAD SPACE'],
      ['latin1_swedish_ci', 'latin1', 8, 'Yes', 'Yes', 1, 'PAD SPACE'],
    ],
  ],
  ['SHOW SEARCH_PATH', 'search_path'],
]
describe('SHOW', () => test.each(shows)('%s', (...one) => expectAnswer(at.url, one)))

const tables: Case[] = [
  [
    "SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_schema = 'SHOP' AND table_type <> 'SYSTEM VIEW'",
    'TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE',
    [
      ['shop', 'models', 'BASE TABLE'],
      ['shop', 'good', 'VIEW'],
      ['shop', 'helper', 'AGENT'],
    ],
  ],
  [
    "SELECT * FROM information_schema.COLUMNS WHERE table_schema = 'shop' AND table_name = 'GOOD'",
    'TABLE_CATALOG, TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_DEFAULT, IS_NULLABLE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, ' +
      'CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, CHARACTER_SET_NAME, COLLATION_NAME, COLUMN_TYPE, COLUMN_KEY, ' +
      'EXTRA, PRIVILEGES, COLUMN_COMMENT, GENERATION_EXPRESSION, SRS_ID, ORIGINAL_TYPE',
    ['sqft', 'count_0'].map((name, i) => [
      ...['def', 'shop', 'good', name, i + 1, null, 'YES', 'bigint'],
      ...[null, null, null, null, null, null, null, 'bigint', null, null, 'select', 'Column of the view.', null, null, 'BIGINT'],
    ]),
  ],
  [
    "SELECT * FROM information_schema.schemata WHERE schema_name = 'Shop'",
    'CATALOG_NAME, SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME, SQL_PATH',
    [['def', 'shop', 'utf8mb4', 'utf8mb4_0900_ai_ci', null]],
  ],
  ['SELECT * FROM information_schema.DATABASES', 'NAME, TYPE, ENGINE, CONNECTION_DATA'],
  ['SELECT * FROM information_schema.SKILLS', 'NAME, PROJECT, TYPE, PARAMS', []],
  ['SELECT * FROM information_schema.AGENTS', 'NAME, PROJECT, MODEL_NAME, SKILLS, PARAMS', [['helper', 'shop', 'gpt-4o', [], '{}']]],
  ['SELECT * FROM information_schema.CHATBOTS', 'NAME, PROJECT, DATABASE, MODEL_NAME, PARAMS, IS_RUNNING, LAST_ERROR, WEBHOOK_TOKEN', []],
  ['SELECT project, name FROM information_schema.VIEWS', 'PROJECT, NAME', [['shop', 'good']]],
  ['SELECT * FROM information_schema.ML_ENGINES', 'NAME, HANDLER, CONNECTION_DATA'],
  ['SELECT * FROM information_schema.HANDLERS', 'NAME, TYPE, TITLE, DESCRIPTION, VERSION, CONNECTION_ARGS, IMPORT_SUCCESS, IMPORT_ERROR'],
  ["SELECT * FROM information_schema.jobs\nWHERE project='shop'\n", jobs, []],
  ['SELECT * FROM shop.jobs', jobs, []],
  ['SELECT * FROM information_schema.TRIGGERS', triggers, []],
  ["SELECT * FROM information_schema.knowledge_bases WHERE name='x';", knowledgeBases, []],
  [
    'SELECT * FROM information_schema.QUERIES',
    'ID, STARTED_AT, FINISHED_AT, PROCESSED_ROWS, ERROR, SQL, DATABASE, PARAMETERS, CONTEXT, UPDATED_AT',
    [],
  ],
  [
    'SELECT * FROM log.llm_log',
    'api_key, model_name, input, output, start_time, end_time, prompt_tokens, completion_tokens, total_tokens, success',
    [],
  ],
  ['SELECT * FROM information_schema.ENGINES', 'ENGINE, SUPPORT, COMMENT, TRANSACTIONS, XA, SAVEPOINTS'],
  ['SELECT maxlen FROM information_schema.CHARACTER_SETS ORDER BY 1', 'MAXLEN', [[1], [3], [4]]],
  [
    'SELECT * FROM information_schema.COLLATIONS WHERE id = 33',
    'COLLATION_NAME, CHARACTER_SET_NAME, ID, IS_DEFAULT, IS_COMPILED, SORTLEN, PAD_ATTRIBUTE',
    [['utf8_general_ci', 'utf8', 33, 'Yes', 'Yes', 1, 'PAD SPACE']],
  ],
  ['SELECT ROUTINE_NAME FROM information_schema.ROUTINES', 'ROUTINE_NAME', []],
  ['SELECT constraint_name, referenced_table_name FROM information_schema.KEY_COLUMN_USAGE', 'CONSTRAINT_NAME, REFERENCED_TABLE_NAME', []],
  ['SELECT index_name FROM information_schema.STATISTICS', 'INDEX_NAME', []],
  ['SELECT plugin_name FROM information_schema.PLUGINS', 'PLUGIN_NAME', []],
  ['SELECT event_name FROM information_schema.EVENTS', 'EVENT_NAME', []],
]
describe('information_schema', () => test.each(tables)('%s', (...one) => expectAnswer(at.url, one)))
