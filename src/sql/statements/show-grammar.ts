import type { Cursor } from './cursor.js'
import type { Topic } from './forms.js'
import { takeName, takeParts, nameFollows } from './names.js'
import { describable, type DescribeTarget, type ShowStatement, type ShowTarget, type StatementOf } from './statement.js'

/** The lists of SHOW, by their words, longer phrases first. Null is a second name of a list, which refusals do not show. */
const phrases: readonly (readonly [words: string, what: ShowTarget, usage: string | null])[] = [
  ['CREATE TABLE', 'create_table', 'SHOW CREATE TABLE [database.]table'],
  ['CREATE VIEW', 'create_view', 'SHOW CREATE VIEW [project.]view'],
  ['TABLE STATUS', 'table_status', "SHOW TABLE STATUS [FROM database] [LIKE 'pattern']"],
  ['FUNCTION STATUS', 'function_status', "SHOW FUNCTION STATUS [LIKE 'pattern']"],
  ['PROCEDURE STATUS', 'procedure_status', "SHOW PROCEDURE STATUS [LIKE 'pattern']"],
  ['SESSION STATUS', 'status', null],
  ['GLOBAL STATUS', 'status', null],
  ['SESSION VARIABLES', 'variables', null],
  ['GLOBAL VARIABLES', 'variables', null],
  ['CHARACTER SET', 'charset', null],
  ['KNOWLEDGE BASES', 'knowledge_bases', null],
  ['ML ENGINES', 'ml_engines', null],
  ['STORAGE ENGINES', 'engines', null],
  ['OPEN TABLES', 'tables', null],
  ['DATABASES', 'databases', "SHOW [FULL] DATABASES [LIKE 'pattern'] [WHERE condition]"],
  ['SCHEMAS', 'databases', null],
  ['PROJECTS', 'projects', 'SHOW PROJECTS'],
  ['TABLES', 'tables', "SHOW [FULL] TABLES [FROM project] [LIKE 'pattern'] [WHERE condition]"],
  ['MODELS', 'models', 'SHOW MODELS [FROM project]'],
  ['PREDICTORS', 'models', null],
  ['AGENTS', 'agents', 'SHOW AGENTS [FROM project]'],
  ['SKILLS', 'skills', 'SHOW SKILLS [FROM project]'],
  ['CHATBOTS', 'chatbots', 'SHOW CHATBOTS [FROM project]'],
  ['JOBS', 'jobs', 'SHOW JOBS [FROM project]'],
  ['TRIGGERS', 'triggers', 'SHOW TRIGGERS [FROM project]'],
  ['VIEWS', 'views', 'SHOW VIEWS [FROM project]'],
  ['KNOWLEDGE_BASES', 'knowledge_bases', 'SHOW KNOWLEDGE_BASES [FROM project]'],
  ['ML_ENGINES', 'ml_engines', 'SHOW ML_ENGINES'],
  ['HANDLERS', 'handlers', "SHOW HANDLERS [WHERE type = 'ml']"],
  ['COLUMNS', 'columns', 'SHOW [FULL] COLUMNS FROM table [FROM database]'],
  ['FIELDS', 'columns', null],
  ['INDEX', 'index', 'SHOW INDEX FROM table [FROM database]'],
  ['INDEXES', 'index', null],
  ['KEYS', 'index', null],
  ['VARIABLES', 'variables', "SHOW VARIABLES [LIKE 'pattern']"],
  ['STATUS', 'status', "SHOW STATUS [LIKE 'pattern']"],
  ['ENGINES', 'engines', 'SHOW ENGINES'],
  ['PLUGINS', 'plugins', 'SHOW PLUGINS'],
  ['CHARSET', 'charset', "SHOW CHARSET [LIKE 'pattern']"],
  ['COLLATION', 'collation', "SHOW COLLATION [LIKE 'pattern']"],
  ['WARNINGS', 'warnings', 'SHOW WARNINGS'],
  ['ERRORS', 'errors', 'SHOW ERRORS'],
  ['EVENTS', 'events', 'SHOW EVENTS'],
  ['PROCESSLIST', 'processlist', 'SHOW [FULL] PROCESSLIST'],
  ['PRIVILEGES', 'privileges', 'SHOW PRIVILEGES'],
  ['SEARCH_PATH', 'search_path', 'SHOW SEARCH_PATH'],
]

/** These lists need the name of a table. */
const needsTable = new Set<ShowTarget>(['columns', 'index', 'create_table', 'create_view'])

const takeWhat = (cursor: Cursor): ShowTarget => {
  const phrase = phrases.find(([words]) => cursor.takeWords(...words.split(' ')))
  if (phrase) return phrase[1]
  const word = cursor.peek()
  // SHOW alone is refused with the list of possible words.
  if (word?.kind !== 'word') return cursor.fail()
  return cursor.refuse(word, `there is no SHOW ${word.text.slice(0, 60).toUpperCase()}; SHOW lists ${mostAsked}`)
}

const mostAsked = 'DATABASES, PROJECTS, TABLES, COLUMNS, MODELS, AGENTS, SKILLS, CHATBOTS, VIEWS, JOBS, ML_ENGINES, HANDLERS and VARIABLES'

const takeLike = (cursor: Cursor): string => {
  const token = cursor.peek()
  if (token?.kind === 'string' || token?.kind === 'quoted') return cursor.next().value
  const value = token?.kind === 'parameter' ? cursor.parameterOf(cursor.next()) : undefined
  if (typeof value === 'string') return value
  cursor.expect("'pattern'")
  return cursor.fail()
}

/** `FROM t FROM d` means d.t, so the second name comes first. */
const takeFrom = (cursor: Cursor, before: string[] | null): string[] => {
  const start = cursor.peek()
  const parts = [...takeParts(cursor, 3), ...(before ?? [])]
  if (parts.length > 3) cursor.refuse(start, 'a name has at most 3 parts here')
  return parts
}

/** SHOW with FROM/IN, LIKE and WHERE in any order; the word SHOW already taken. */
const takeShow = (cursor: Cursor): ShowStatement => {
  let full = false
  for (let word = cursor.takeOneOf('FULL', 'EXTENDED', 'ALL'); word; word = cursor.takeOneOf('FULL', 'EXTENDED', 'ALL'))
    full ||= word === 'FULL'
  const show: ShowStatement = { kind: 'show', what: takeWhat(cursor), full, from: null, like: null, where: null }
  if (show.what === 'create_table' || show.what === 'create_view') show.from = takeParts(cursor, 3, 'a table')
  while (!cursor.done) {
    if (cursor.takeOneOf('FROM', 'IN') !== undefined) show.from = takeFrom(cursor, show.from)
    else if (show.like === null && cursor.takeWords('LIKE')) show.like = takeLike(cursor)
    else if (cursor.takeWords('WHERE')) show.where = takeCondition(cursor)
    else if ((show.what === 'warnings' || show.what === 'errors') && cursor.takeWords('LIMIT')) cursor.takeRest()
    else cursor.needEnd()
  }
  if (needsTable.has(show.what) && show.from === null) {
    cursor.expect('FROM')
    cursor.fail()
  }
  return show
}

/** Takes the text of a condition. DuckDB reads it later. This only checks that there is a condition, and no second statement. */
const takeCondition = (cursor: Cursor): string => {
  if (cursor.done) {
    cursor.expect('a condition')
    cursor.fail()
  }
  return cursor.boundTextOf(cursor.takeRest())
}

const describableWords: readonly (readonly [words: readonly string[], what: DescribeTarget])[] = [
  [['KNOWLEDGE', 'BASE'], 'knowledge_base'],
  [['ML', 'ENGINE'], 'ml_engine'],
  ...describable.map((what) => [[what.toUpperCase()], what] as const),
]

/** `DESCRIBE AGENT a`, `DESCRIBE [MODEL] [p.]m[.n][.attribute]`; a model may have the name "agent". */
export const takeDescribe = (cursor: Cursor): StatementOf<'describe'> | StatementOf<'describe_model'> => {
  const found = describableWords.find(([words]) => nameFollows(cursor, words.length) && cursor.takeWords(...words))
  if (found) return { kind: 'describe', what: found[1], target: takeName(cursor) }
  if (nameFollows(cursor, 1)) cursor.takeOneOf('MODEL', 'PREDICTOR')
  return { kind: 'describe_model', parts: takeParts(cursor, 5, 'a model') }
}

const usages = Object.fromEntries(phrases.flatMap(([words, , usage]) => (usage === null ? [] : [[`SHOW ${words}`, usage]])))

/** Lists, and descriptions of one thing. */
export const lists = {
  show: { effect: 'query', forms: [{ verb: 'SHOW', usages, take: takeShow }] },
  describe: {
    effect: 'query',
    forms: [
      {
        verb: 'DESCRIBE',
        usages: { DESCRIBE: 'DESCRIBE [project.]model[.version][.attribute]', 'DESCRIBE AGENT': 'DESCRIBE AGENT [project.]name' },
        take: takeDescribe,
      },
      { verb: 'DESC', usages: {}, take: takeDescribe },
    ],
  },
  describe_model: { effect: 'query', forms: 'describe' },
} satisfies Topic
