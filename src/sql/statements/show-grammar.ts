import type { Cursor } from './cursor.js'
import { takeName, takeParts, nameFollows } from './names.js'
import { describable, type DescribeTarget, type ShowStatement, type ShowTarget, type StatementOf } from './statement.js'

/** The lists of SHOW, by their words, longer phrases first. */
const phrases: readonly (readonly [words: string, what: ShowTarget])[] = [
  ['CREATE TABLE', 'create_table'],
  ['CREATE VIEW', 'create_view'],
  ['TABLE STATUS', 'table_status'],
  ['FUNCTION STATUS', 'function_status'],
  ['PROCEDURE STATUS', 'procedure_status'],
  ['SESSION STATUS', 'status'],
  ['GLOBAL STATUS', 'status'],
  ['SESSION VARIABLES', 'variables'],
  ['GLOBAL VARIABLES', 'variables'],
  ['CHARACTER SET', 'charset'],
  ['KNOWLEDGE BASES', 'knowledge_bases'],
  ['ML ENGINES', 'ml_engines'],
  ['STORAGE ENGINES', 'engines'],
  ['OPEN TABLES', 'tables'],
  ['DATABASES', 'databases'],
  ['SCHEMAS', 'databases'],
  ['PROJECTS', 'projects'],
  ['TABLES', 'tables'],
  ['MODELS', 'models'],
  ['PREDICTORS', 'models'],
  ['AGENTS', 'agents'],
  ['SKILLS', 'skills'],
  ['CHATBOTS', 'chatbots'],
  ['JOBS', 'jobs'],
  ['TRIGGERS', 'triggers'],
  ['VIEWS', 'views'],
  ['KNOWLEDGE_BASES', 'knowledge_bases'],
  ['ML_ENGINES', 'ml_engines'],
  ['HANDLERS', 'handlers'],
  ['COLUMNS', 'columns'],
  ['FIELDS', 'columns'],
  ['INDEX', 'index'],
  ['INDEXES', 'index'],
  ['KEYS', 'index'],
  ['VARIABLES', 'variables'],
  ['STATUS', 'status'],
  ['ENGINES', 'engines'],
  ['PLUGINS', 'plugins'],
  ['CHARSET', 'charset'],
  ['COLLATION', 'collation'],
  ['WARNINGS', 'warnings'],
  ['ERRORS', 'errors'],
  ['EVENTS', 'events'],
  ['PROCESSLIST', 'processlist'],
  ['PRIVILEGES', 'privileges'],
  ['SEARCH_PATH', 'search_path'],
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
export const takeShow = (cursor: Cursor): ShowStatement => {
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
