import { editDistance } from '../../basics/nearest.js'

/** The syntax of each statement, under its first words. Refusals show the nearest one. */
const usages: Readonly<Record<string, string>> = {
  SELECT: 'SELECT columns FROM table WHERE condition',
  WITH: 'WITH name AS (SELECT …) SELECT …',
  EXPLAIN: 'EXPLAIN SELECT …',
  USE: 'USE project',
  'CREATE PROJECT': 'CREATE PROJECT [IF NOT EXISTS] name',
  'CREATE DATABASE': "CREATE DATABASE [IF NOT EXISTS] name [WITH ENGINE = 'engine', PARAMETERS = {…}]",
  'CREATE SCHEMA': "CREATE SCHEMA [IF NOT EXISTS] name [WITH ENGINE = 'engine', PARAMETERS = {…}]",
  'ALTER DATABASE': "ALTER DATABASE name NAME = 'new' | ENGINE = 'engine' | PARAMETERS = {…}",
  'DROP PROJECT': 'DROP PROJECT [IF EXISTS] name',
  'DROP DATABASE': 'DROP DATABASE [IF EXISTS] name',
  'CREATE SKILL': "CREATE SKILL [IF NOT EXISTS] [project.]name USING type = 'type', key = value, …",
  'UPDATE SKILL': 'UPDATE SKILL [project.]name SET key = value, …',
  'ALTER SKILL': 'ALTER SKILL [project.]name USING key = value, …',
  'DROP SKILL': 'DROP SKILL [IF EXISTS] [project.]name',
  'CREATE AGENT': "CREATE AGENT [IF NOT EXISTS] [project.]name USING model = 'model', skills = ['skill'], key = value, …",
  'UPDATE AGENT': 'UPDATE AGENT [project.]name SET key = value, …',
  'ALTER AGENT': 'ALTER AGENT [project.]name USING key = value, …',
  'DROP AGENT': 'DROP AGENT [IF EXISTS] [project.]name',
  'CREATE CHATBOT': "CREATE CHATBOT [project.]name USING database = 'database', agent = 'agent', key = value, …",
  'UPDATE CHATBOT': 'UPDATE CHATBOT [project.]name SET key = value, …',
  'ALTER CHATBOT': 'ALTER CHATBOT [project.]name USING key = value, …',
  'DROP CHATBOT': 'DROP CHATBOT [IF EXISTS] [project.]name',
  'CREATE MODEL': 'CREATE MODEL [IF NOT EXISTS] [project.]name FROM database (SELECT …) PREDICT column [USING key = value, …]',
  'CREATE PREDICTOR': 'CREATE PREDICTOR [IF NOT EXISTS] [project.]name FROM database (SELECT …) PREDICT column [USING key = value, …]',
  RETRAIN: 'RETRAIN [project.]model [FROM database (SELECT …)] [PREDICT column] [USING key = value, …]',
  CANCEL: 'CANCEL TRAINING [project.]model[.version]',
  FINETUNE: 'FINETUNE [project.]model FROM database (SELECT …) [USING key = value, …]',
  'ALTER MODEL': "ALTER MODEL [project.]name SET recording = 'all' | 'off'",
  'DROP MODEL': 'DROP MODEL [IF EXISTS] [project.]name[.version]',
  'DROP PREDICTOR': 'DROP PREDICTOR [IF EXISTS] [project.]name[.version]',
  'SET ACTIVE': 'SET active [project.]model.version',
  DESCRIBE: 'DESCRIBE [project.]model[.version][.attribute]',
  'DESCRIBE AGENT': 'DESCRIBE AGENT [project.]name',
  'EVALUATE AGENT':
    "EVALUATE AGENT [project.]name USING test_table = 'database.table' [, version = n] [, metrics = 'exact,result_set,judge'] [, judge = {…}]",
  EVALUATE: 'EVALUATE metric FROM (SELECT … AS actual, … AS prediction)',
  'CREATE INDEX': 'CREATE INDEX ON KNOWLEDGE_BASE [IF NOT EXISTS] [project.]name [WITH (…)]',
  'DROP INDEX': 'DROP INDEX ON KNOWLEDGE_BASE [IF EXISTS] [project.]name',
  'CREATE VIEW': 'CREATE VIEW [IF NOT EXISTS] [project.]name [FROM database] AS (SELECT …)',
  'ALTER VIEW': 'ALTER VIEW [project.]name [FROM database] AS (SELECT …)',
  'DROP VIEW': 'DROP VIEW [IF EXISTS] [project.]name, …',
  'CREATE TABLE': 'CREATE [OR REPLACE] TABLE [IF NOT EXISTS] files.name (SELECT …)',
  'DROP TABLE': 'DROP TABLE [IF EXISTS] files.name',
  'INSERT INTO': 'INSERT INTO files.name [(columns)] VALUES (…)',
  'DELETE FROM': 'DELETE FROM database.table WHERE condition',
  'CREATE JOB': "CREATE JOB [IF NOT EXISTS] [project.]name (query; query) [START 'date'] [END 'date'] [EVERY n period] [IF (query)]",
  'DROP JOB': 'DROP JOB [IF EXISTS] [project.]name',
  'CREATE TRIGGER': 'CREATE TRIGGER [project.]name ON database.table [COLUMNS a, b] (query)',
  'DROP TRIGGER': 'DROP TRIGGER [IF EXISTS] [project.]name',
  'CREATE ML_ENGINE': 'CREATE ML_ENGINE [IF NOT EXISTS] name FROM handler [USING key = value, …]',
  'DROP ML_ENGINE': 'DROP ML_ENGINE [IF EXISTS] name',
  'SHOW DATABASES': "SHOW [FULL] DATABASES [LIKE 'pattern'] [WHERE condition]",
  'SHOW PROJECTS': 'SHOW PROJECTS',
  'SHOW TABLES': "SHOW [FULL] TABLES [FROM project] [LIKE 'pattern'] [WHERE condition]",
  'SHOW COLUMNS': 'SHOW [FULL] COLUMNS FROM table [FROM database]',
  'SHOW MODELS': 'SHOW MODELS [FROM project]',
  'SHOW AGENTS': 'SHOW AGENTS [FROM project]',
  'SHOW SKILLS': 'SHOW SKILLS [FROM project]',
  'SHOW CHATBOTS': 'SHOW CHATBOTS [FROM project]',
  'SHOW VIEWS': 'SHOW VIEWS [FROM project]',
  'SHOW JOBS': 'SHOW JOBS [FROM project]',
  'SHOW TRIGGERS': 'SHOW TRIGGERS [FROM project]',
  'SHOW ML_ENGINES': 'SHOW ML_ENGINES',
  'SHOW HANDLERS': "SHOW HANDLERS [WHERE type = 'ml']",
  'SHOW KNOWLEDGE_BASES': 'SHOW KNOWLEDGE_BASES [FROM project]',
  'SHOW CREATE TABLE': 'SHOW CREATE TABLE [database.]table',
  'SHOW CREATE VIEW': 'SHOW CREATE VIEW [project.]view',
  'SHOW TABLE STATUS': "SHOW TABLE STATUS [FROM database] [LIKE 'pattern']",
  'SHOW INDEX': 'SHOW INDEX FROM table [FROM database]',
  'SHOW FUNCTION STATUS': "SHOW FUNCTION STATUS [LIKE 'pattern']",
  'SHOW PROCEDURE STATUS': "SHOW PROCEDURE STATUS [LIKE 'pattern']",
  'SHOW COLLATION': "SHOW COLLATION [LIKE 'pattern']",
  'SHOW CHARSET': "SHOW CHARSET [LIKE 'pattern']",
  'SHOW ENGINES': 'SHOW ENGINES',
  'SHOW PLUGINS': 'SHOW PLUGINS',
  'SHOW WARNINGS': 'SHOW WARNINGS',
  'SHOW STATUS': "SHOW STATUS [LIKE 'pattern']",
  'SHOW VARIABLES': "SHOW VARIABLES [LIKE 'pattern']",
}

/** Words that may occur in a head without being part of it. */
const fillers = new Set(['OR', 'REPLACE', 'FULL', 'EXTENDED'])

/**
 * The syntax of the statement that probably should begin with these words. A wrong second word counts less than a wrong first word: `CREATE
 * AGNET` is an agent.
 *
 * @example nearestUsage(['CREAT', 'AGENT', 'x']) // CREATE AGENT [IF NOT EXISTS] …
 */
export const nearestUsage = (words: readonly string[]): string | undefined => {
  const typed = words.map((word) => word.toUpperCase().slice(0, 40)).filter((word) => !fillers.has(word))
  let nearest: string | undefined
  let least = 1
  for (const [head, usage] of Object.entries(usages)) {
    const size = head.split(' ').length
    const text = typed.slice(0, size).join(' ')
    const most = Math.max(1, Math.floor(head.length * 0.3))
    const far = editDistance(text, head)
    // Longer heads are more exact, so they come first among equals.
    const score = far / most - size * 0.01
    if (far <= most && score < least) {
      least = score
      nearest = usage
    }
  }
  return nearest
}
