import { upperWord } from '../../dialect/tokens.js'
import { absent, refuseAbsent, refuseUnknown } from './absent-statements.js'
import { spanOf } from './clauses.js'
import { clientSettings, keptNowhere } from './client-settings.js'
import type { Cursor } from './cursor.js'
import { databases } from './databases.js'
import { usagesOf, type Effect, type Entry, type Form, type Usages } from './forms.js'
import { jobs } from './jobs.js'
import { knowledgeBases } from './knowledge-bases.js'
import { engines, models } from './models.js'
import { agents, resources } from './resources.js'
import { queries, startsQuery, takeSelect } from './select.js'
import { lists, takeDescribe } from './show-grammar.js'
import type { Statement, StatementKind } from './statement.js'
import { tables } from './tables.js'
import { triggers } from './triggers.js'

/**
 * All statements, by their topics. The forms of one verb are tried in this order; forms without a noun come last. Of equally near usages,
 * a refusal shows the first one: so databases and resources come before views and files, and lists come last. The meaning of a statement
 * is defined in `src/sql/facade`: its commands, or its answer.
 */
const grammar: { readonly [K in StatementKind]: Entry } = {
  ...databases,
  ...resources,
  ...queries,
  explain: {
    effect: 'reads',
    forms: [{ verb: 'EXPLAIN', usages: { EXPLAIN: 'EXPLAIN SELECT …' }, take: (cursor) => takeExplain(cursor) }],
  },
  explain_command: { effect: 'writes', forms: 'explain' },
  ...clientSettings,
  ...models,
  ...agents,
  ...knowledgeBases,
  ...tables,
  ...jobs,
  ...triggers,
  ...engines,
  ...absent,
  ...lists,
}

const entries: readonly Entry[] = Object.values(grammar)

/** How each statement is written, under its first words. */
export const usages: Usages = usagesOf(entries)

/** The effect in a statement's entry: `effectOf(parseStatement('SELECT 1')) // 'query'` */
export const effectOf = ({ kind }: Statement): Effect => grammar[kind].effect

const allForms = entries.flatMap(({ forms = [] }) => (typeof forms === 'string' ? [] : forms))

const formsByVerb: ReadonlyMap<string, readonly Form[]> = new Map(
  allForms.map(({ verb }) => {
    const ofVerb = allForms.filter((form) => form.verb === verb)
    return [verb, [...ofVerb.filter(({ nouns }) => nouns), ...ofVerb.filter(({ nouns }) => !nouns)]]
  }),
)

const takeNoun = (cursor: Cursor, { nouns, when }: Form): string | undefined => {
  if (when && !when(cursor)) return undefined
  return nouns ? Object.keys(nouns).find((noun) => cursor.takeWords(...noun.split(' '))) : ''
}

/** Takes a statement whose verb has been taken; undefined if the words after the verb begin no statement. */
const takeForm = (cursor: Cursor, verb: string): Statement | undefined => {
  const forms = formsByVerb.get(verb) ?? []
  const replace = forms.some(({ orReplace }) => orReplace) && cursor.takeWords('OR', 'REPLACE')
  for (const form of forms) {
    if (replace && !form.orReplace) continue
    const noun = takeNoun(cursor, form)
    if (noun !== undefined) return form.take(cursor, { verb, noun, replace })
  }
  return replace ? cursor.fail() : undefined
}

/** Whether one of our statements begins here and is no query. */
const startsStatement = (cursor: Cursor): boolean => formsByVerb.has(upperWord(cursor.peek()))

/** EXPLAIN of a query, or of a writing statement; before a name it is MySQL's word for DESCRIBE. */
const takeExplain = (cursor: Cursor): Statement => {
  const analyze = cursor.takeWords('ANALYZE')
  if (startsQuery(cursor)) return { kind: 'explain', analyze, span: spanOf(cursor.takeRest()) }
  if (cursor.isWord('EXPLAIN')) {
    cursor.expect('a query or a statement that writes')
    return cursor.fail()
  }
  return startsStatement(cursor) && cursor.peek(1) ? { kind: 'explain_command', statement: takeStatement(cursor) } : takeDescribe(cursor)
}

/** Takes the statement that begins here: a query, or a statement by its verb. */
export const takeStatement = (cursor: Cursor): Statement => {
  if (startsQuery(cursor)) return takeSelect(cursor)
  if (startsStatement(cursor)) {
    const verb = cursor.next().text.toUpperCase()
    return takeForm(cursor, verb) ?? refuseAbsent(cursor, verb)
  }
  if (cursor.peek()?.kind === 'variable' && cursor.isSymbol(':=', 1)) keptNowhere(cursor, cursor.peek())
  return refuseUnknown(cursor, [...formsByVerb.keys()])
}
