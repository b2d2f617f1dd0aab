import { limits } from '../../src/basics/limits.js'
import { showable, type ShowTarget, type StatementKind } from '../../src/sql/statements/statement.js'
import { largestQuestion } from '../harness/language-model.js'
import { manyTokens, nested, repeated, values, type Maker } from './texts.js'

const named = (before: string, after = '') => repeated(before, 'a', after)

const word = "'abcdefghijklmnop',"
/** The text of an item may be a secret, like every setting. So this form takes the longest to read. */
const setting = "'abcd=efghijklmno',"

const select: Record<string, Maker> = {
  'SELECT of brackets': nested('SELECT ', '(', '1', ')'),
  'SELECT of a list': manyTokens('SELECT ', '1,', 2, '1'),
  'SELECT of texts': repeated("SELECT '", 'text ', "'"),
  'SELECT of backslashes': repeated("SELECT '", '\\\\', "'"),
  'SELECT of escapes': repeated("SELECT '", '\\n', "'"),
  'SELECT of doubled quotes': repeated("SELECT '", "''", "'"),
  'SELECT of words': manyTokens('SELECT ', word, 2, '1'),
  'SELECT of settings': manyTokens('SELECT ', setting, 2, '1'),
  'SELECT of operators': manyTokens('SELECT 1', '+1', 2),
  'SELECT of lists in lists': nested('SELECT ', '[', '', ']'),
  'SELECT … IN': manyTokens('SELECT 1 WHERE 1 IN (', '1,', 2, '1)'),
  'SELECT of joins': manyTokens('SELECT * FROM cars', ' JOIN cars', 2),
  'SELECT of PIVOTs': manyTokens('SELECT * FROM cars ', 'PIVOT ', 1),
  'SELECT of a broken text': repeated("SELECT '", 'a '),
  'SELECT of lines': repeated('SELECT ', '\n', ')'),
  'SELECT of emoji': repeated("SELECT '", '😀', "' )"),
  'SELECT of settings in a text': (share) =>
    `SELECT '${Array.from({ length: (share * limits.statementMaxChars) / 15 }, (_, n) => `key${n}a= `).join('')}' )`,
  'SELECT and comments': repeated('SELECT 1 ', '/* a = b */ '),
}

/** Statements that ask an agent for its largest answers. */
export const asking: Readonly<Record<string, Maker>> = {
  'SELECT of an agent': (share) => {
    const questions = Array.from({ length: Math.ceil(share * 20) }, (_, n) => `'${largestQuestion(share)} ${n}'`)
    return `SELECT answer, context FROM speaker WHERE question IN (${questions.join(', ')})`
  },
}

// SHOW of each kind, with the table for the statements that need one.
const words = (what: ShowTarget): string => {
  const phrase: Partial<Record<ShowTarget, string>> = {
    ml_engines: 'ML_ENGINES',
    knowledge_bases: 'KNOWLEDGE_BASES',
    charset: 'CHARACTER SET',
  }
  return phrase[what] ?? (what === 'search_path' ? 'SEARCH_PATH' : what.replaceAll('_', ' ').toUpperCase())
}
const ofTable = new Set<ShowTarget>(['columns', 'index', 'create_table', 'create_view'])
const show: Record<string, Maker> = Object.fromEntries([
  ...showable.map((what): [string, Maker] => {
    const table = what.startsWith('create_') ? ' files.cars' : ' FROM files.cars'
    return [`SHOW ${words(what)}`, () => `SHOW ${words(what)}${ofTable.has(what) ? table : ''}`]
  }),
  ['SHOW … LIKE', repeated("SHOW COLLATION LIKE '", '%_', "'")],
  ['SHOW … WHERE', manyTokens("SHOW SKILLS WHERE name <> 'a'", " AND name <> 'a'", 4)],
])

export const settings: Maker = (share) =>
  Array.from({ length: Math.max(1, Math.floor(share * (limits.objectMaxKeys - 10))) }, (_, n) => `, a${n} = 1`).join('')
const object: Maker = (share) => `{${values(limits.objectMaxKeys, (n) => `"k${n}": 1`)(share)}}`
const levels = (share: number) => Math.max(1, Math.floor(20 * share))

/** The rows of a model that is trained in a moment. */
const trained = 'FROM files (SELECT Acceleration AS a, Horsepower AS b FROM cars'
/** The longest accepted name. */
const longName = 'n'.repeat(255)
/** A query whose text is as long as a statement may be, over few rows. */
const long = (before: string, item: string, after: string): Maker => manyTokens(`${before} WHERE 'a' NOT IN (`, item, 2, `'b')${after}`)

/**
 * The longest texts of every kind of statement. Some are refused, but for each kind that may succeed one is carried out: it creates what
 * this service then lists and deletes.
 */
export const statements: Readonly<Record<StatementKind, Readonly<Record<string, Maker>>>> = {
  select,
  system_select: { 'SELECT of variables': manyTokens('SELECT ', '@@version,', 2, '@@version') },
  explain: { 'EXPLAIN SELECT': manyTokens('EXPLAIN SELECT ', '1,', 2, '1') },
  explain_command: { 'EXPLAIN CREATE SKILL': (share) => `EXPLAIN CREATE SKILL explained USING type = 'x'${settings(share)}` },
  show,
  describe: { 'DESCRIBE AGENT': named('DESCRIBE AGENT ') },
  describe_model: { 'DESCRIBE of a name': named('DESCRIBE '), 'DESCRIBE of a model': () => 'DESCRIBE cars_model' },
  use: { USE: named('USE '), 'USE of a project': () => 'USE mindsdb' },
  client_setting: { SET: named("SET names = '", "'"), 'SET of many': manyTokens('SET autocommit = 1', ', autocommit = 1', 4) },
  create_project: { 'CREATE PROJECT': named('CREATE PROJECT '), 'CREATE PROJECT of a long name': () => `CREATE PROJECT ${longName}` },
  create_database: {
    'CREATE DATABASE': (share) => `CREATE DATABASE wide_database WITH ENGINE = 'slack', PARAMETERS = ${object(share)}`,
    'CREATE DATABASE of levels': (share) =>
      `CREATE DATABASE deep_database WITH ENGINE = 'slack', PARAMETERS = ${'{"a":'.repeat(2 * levels(share))}1${'}'.repeat(2 * levels(share))}`,
  },
  alter_database: { 'ALTER DATABASE': (share) => `ALTER DATABASE chat PARAMETERS = ${object(share)}` },
  drop_database: {
    'DROP PROJECT of many things': () => 'DROP PROJECT mindsdb',
    'DROP DATABASE': named('DROP DATABASE '),
    'DROP DATABASE of a long name': () => `DROP DATABASE ${longName}`,
  },
  create_resource: {
    'CREATE SKILL': (share) => `CREATE SKILL wide_skill USING type = 'x'${settings(share)}`,
    'CREATE SKILL with a list': manyTokens("CREATE SKILL long_skill USING type = 'x', a = [", '1,', 2, '1]'),
    'CREATE SKILL with words': manyTokens("CREATE SKILL words USING type = 'x', a = [", word, 2, '1]'),
    'CREATE SKILL with settings': manyTokens("CREATE SKILL settings USING type = 'x', a = [", setting, 2, '1]'),
    'CREATE AGENT': (share) => `CREATE AGENT wide_agent USING model = 'm', skills = ['sales']${settings(share)}`,
    'CREATE CHATBOT': (share) => `CREATE CHATBOT wide_chatbot USING agent = 'helper', database = 'chat'${settings(share)}`,
  },
  update_resource: { 'UPDATE AGENT': (share) => `UPDATE AGENT taken SET b = 1${settings(share)}` },
  drop_resource: {
    'DROP SKILL': named('DROP SKILL '),
    'DROP SKILL of a list': () => 'DROP SKILL long_skill',
    'DROP AGENT of many chatbots': () => 'DROP AGENT helper',
  },
  create_model: {
    'CREATE MODEL of many columns': manyTokens('CREATE MODEL cars_model FROM files (SELECT ', '1,', 2, '1) PREDICT x'),
    'CREATE MODEL of words': long(`CREATE MODEL words_model ${trained}`, word, ') PREDICT a'),
    'CREATE MODEL of settings': long(`CREATE MODEL settings_model ${trained}`, setting, ') PREDICT a'),
  },
  // The models from above may still be trained.
  retrain_model: { RETRAIN: long(`RETRAIN again_model ${trained}`, word, ')') },
  cancel_training: { 'CANCEL TRAINING': named('CANCEL TRAINING '), 'CANCEL TRAINING of a model': () => 'CANCEL TRAINING again_model' },
  drop_model: { 'DROP MODEL': named('DROP MODEL '), 'DROP MODEL of settings': () => 'DROP MODEL settings_model' },
  activate_model: { 'SET active': named('SET active ', '.1'), 'SET active of a model': () => 'SET active cars_model.1' },
  alter_model: {
    'ALTER MODEL of settings': (share) => `ALTER MODEL cars_model SET recording = 'all'${settings(share)}`,
    'ALTER MODEL': () => "ALTER MODEL cars_model SET recording = 'all'",
  },
  evaluate_agent: {
    'EVALUATE AGENT': () => "EVALUATE AGENT speaker USING test_table = 'files.asked', metrics = 'exact'",
    'EVALUATE AGENT of settings': (share) => `EVALUATE AGENT speaker USING test_table = 'files.asked'${settings(share)}`,
  },
  evaluate: {
    'EVALUATE of brackets': nested('EVALUATE r2_score FROM (SELECT ', '(', '1', ')', ')'),
    'EVALUATE of words': long('EVALUATE r2_score FROM (SELECT 1 AS actual, 1 AS prediction', word, ')'),
  },
  create_view: {
    'CREATE VIEW of columns': manyTokens('CREATE VIEW wide_view AS (SELECT ', '1,', 2, '1)'),
    'CREATE VIEW of words': long('CREATE VIEW words_view AS (SELECT 1 AS a', word, ')'),
    'CREATE VIEW of a text': repeated("CREATE VIEW long_view AS (SELECT '", 'text ', "' AS a)"),
  },
  alter_view: {
    'ALTER VIEW of columns': manyTokens('ALTER VIEW stored AS (SELECT ', '1,', 2, '1)'),
    'ALTER VIEW of words': long('ALTER VIEW stored AS (SELECT 1 AS a', word, ')'),
    'ALTER VIEW of settings': long('ALTER VIEW stored AS (SELECT 1 AS a', setting, ')'),
  },
  drop_view: { 'DROP VIEW of many': (share) => `DROP VIEW IF EXISTS ${values(limits.dropMaxNames, (n) => `gone${n}`)(share)}` },
  create_table: {
    'CREATE TABLE of too many columns': manyTokens('CREATE TABLE files.wide_table (SELECT ', '1,', 2, '1)'),
    'CREATE TABLE of a query': (share) =>
      `CREATE TABLE files.wide_table (SELECT ${values(limits.fileMaxColumns, (n) => `'text ${n}' AS column${n}`)(share)})`,
    'CREATE TABLE of settings': long('CREATE TABLE files.long_table (SELECT 1 AS a', setting, ')'),
    'CREATE TABLE of columns': (share) =>
      `CREATE TABLE files.wide_columns (${values(limits.fileMaxColumns, (n) => `column${n} INTEGER`)(share)})`,
  },
  insert: {
    'INSERT of rows': manyTokens('INSERT INTO files.pairs VALUES ', "(1,'a'),", 6, "(1,'a')"),
    'INSERT into a file of many': () => 'INSERT INTO files.pears VALUES (1)',
    'INSERT of settings': manyTokens('INSERT INTO files.pairs VALUES ', "(1,'abcd=efghijklmno'),", 6, "(1,'a')"),
  },
  drop_table: { 'DROP TABLE of many': (share) => `DROP TABLE IF EXISTS ${values(limits.dropMaxNames, (n) => `files.gone${n}`)(share)}` },
  table_write: { 'DELETE with conditions': manyTokens('DELETE FROM files.cars WHERE a = 1', ' AND a = 1', 4) },
  create_job: {
    'CREATE JOB of brackets': nested('CREATE JOB deep_job (SELECT ', '(', '1', ')', ") START '2099-01-01'"),
    'CREATE JOB of statements': (share) => `CREATE JOB many_job (${'SELECT 1; '.repeat(Math.ceil(200 * share))})`,
    'CREATE JOB of a list': manyTokens('CREATE JOB wide_job (SELECT ', "'ab',", 2, "1) START '2099-01-01'"),
    'CREATE JOB of words': manyTokens('CREATE JOB words_job (SELECT ', word, 2, "1) START '2099-01-01'"),
    'CREATE JOB of settings': manyTokens('CREATE JOB settings_job (SELECT ', setting, 2, "1) START '2099-01-01'"),
    'CREATE JOB of a text': repeated("CREATE JOB long_job (SELECT '", 'text ', "') START '2099-01-01'"),
  },
  alter_job: {
    'ALTER JOB of statements': (share) => `ALTER JOB taken (${'SELECT 1; '.repeat(Math.ceil(200 * share))})`,
    'ALTER JOB of words': manyTokens('ALTER JOB taken (SELECT ', word, 2, "1) START '2099-01-01'"),
    'ALTER JOB of settings': manyTokens('ALTER JOB taken (SELECT ', setting, 2, "1) START '2099-01-01'"),
    'ALTER JOB of a text': repeated("ALTER JOB taken (SELECT '", 'text ', "') START '2099-01-01'"),
  },
  drop_job: { 'DROP JOB': named('DROP JOB '), 'DROP JOB of a list': () => 'DROP JOB wide_job' },
  create_trigger: { 'CREATE TRIGGER': manyTokens('CREATE TRIGGER t ON files.cars COLUMNS ', 'a,', 2, 'a (SELECT 1)') },
  drop_trigger: { 'DROP TRIGGER': named('DROP TRIGGER ') },
  create_ml_engine: { 'CREATE ML_ENGINE': (share) => `CREATE ML_ENGINE wide_engine FROM auto USING x = 1${settings(share)}` },
  drop_ml_engine: { 'DROP ML_ENGINE': named('DROP ML_ENGINE '), 'DROP ML_ENGINE of settings': () => 'DROP ML_ENGINE wide_engine' },
  unavailable: { 'CREATE ANOMALY DETECTION MODEL': manyTokens('CREATE ANOMALY DETECTION MODEL m ', 'a ', 1) },
  index_knowledge_base: {
    'CREATE INDEX ON KNOWLEDGE_BASE': manyTokens('CREATE INDEX ON KNOWLEDGE_BASE documents WITH (', 'a = 1, ', 4, 'b = 1)'),
  },
  evaluate_knowledge_base: {
    'EVALUATE KNOWLEDGE_BASE': () => "EVALUATE KNOWLEDGE_BASE documents USING test_table = files.asked, version = 'doc_id'",
    'EVALUATE KNOWLEDGE_BASE of settings': (share) => `EVALUATE KNOWLEDGE_BASE documents USING test_table = files.asked${settings(share)}`,
  },
}

/** Texts that are no statement. They are read until that is clear. */
export const refusedTexts: Readonly<Record<string, Maker>> = {
  'words that are no statement': manyTokens('', 'ab ', 1),
  'settings that are no statement': manyTokens('', setting, 2),
  'words of secrets': manyTokens('', 'token = a b, ', 5),
  'comments in comments': repeated('', '/*'),
}
