import { upperWord } from '../../dialect/tokens.js'
import { refuseAbsent, refuseUnknown, takeAnomalyModel } from './absent-statements.js'
import { spanOf } from './clauses.js'
import { keptNowhere, takeSet, takeTransaction, takeUse } from './client-settings.js'
import type { LeadingWords, Cursor } from './cursor.js'
import { takeAlterDatabase, takeCreateDatabase, takeDropDatabase } from './databases.js'
import { takeCreateJob, takeDropJob } from './jobs.js'
import { takeEvaluateKnowledge, takeKnowledgeIndex } from './knowledge-bases.js'
import {
  takeAlterModel,
  takeCancel,
  takeCreateEngine,
  takeCreateModel,
  takeDropEngine,
  takeDropModel,
  takeEvaluate,
  takeRetrain,
} from './models.js'
import { nameFollows } from './names.js'
import { takeCreateResource, takeDropResource, takeEvaluateAgent, takeUpdateResource } from './resources.js'
import { startsQuery, takeSelect } from './select.js'
import { takeDescribe, takeShow } from './show-grammar.js'
import type { Statement, StatementKind } from './statement.js'
import { takeAlterView, takeCreateTable, takeCreateView, takeDropTable, takeDropView, takeInsert, takeTableWrite } from './tables.js'
import { takeCreateTrigger, takeDropTrigger } from './triggers.js'

/**
 * The first words of a statement, and the function that reads the rest. `nouns` are the words that may follow the verb; without nouns, any
 * word may follow.
 */
export type Form = {
  verb: string
  nouns?: readonly string[]
  /** OR REPLACE may come between the verb and the noun. */
  orReplace?: true
  /** Whether the words have this meaning at their place; they may also be a name. */
  when?: (cursor: Cursor) => boolean
  take: (cursor: Cursor, begun: LeadingWords) => Statement
}

/**
 * The effect of a statement. A query returns rows, and its rows can decide whether a job runs. Queries and other reading statements can
 * read at a past position. All other statements write.
 */
export type Effect = 'query' | 'reads' | 'writes'

/** One kind of statement: its effect, and its forms or the kind with the same forms. */
export type Entry = { effect: Effect; forms: readonly Form[] | StatementKind }

const knowledgeBases = ['KNOWLEDGE_BASE', 'KNOWLEDGE BASE']
const resources = ['SKILL', 'AGENT', 'CHATBOT', ...knowledgeBases]
const databases = ['PROJECT', 'DATABASE', 'SCHEMA']
const models = ['MODEL', 'PREDICTOR']
const engines = ['ML_ENGINE', 'ML ENGINE']
const knowledgeIndexes = ['INDEX ON KNOWLEDGE_BASE', 'INDEX ON KNOWLEDGE BASE']

/**
 * All statements. The forms of one verb are tried in this order; forms without a noun come last. The meaning of a statement is defined in
 * `src/sql/facade`: its commands, or its answer.
 */
const grammar: { readonly [K in StatementKind]: Entry } = {
  select: { effect: 'query', forms: [] },
  system_select: { effect: 'query', forms: 'select' },
  explain: { effect: 'reads', forms: [{ verb: 'EXPLAIN', take: (cursor) => takeExplain(cursor) }] },
  explain_command: { effect: 'writes', forms: 'explain' },
  show: { effect: 'query', forms: [{ verb: 'SHOW', take: takeShow }] },
  describe: {
    effect: 'query',
    forms: [
      { verb: 'DESCRIBE', take: takeDescribe },
      { verb: 'DESC', take: takeDescribe },
    ],
  },
  describe_model: { effect: 'query', forms: 'describe' },
  use: { effect: 'reads', forms: [{ verb: 'USE', take: takeUse }] },
  client_setting: {
    effect: 'reads',
    forms: [
      { verb: 'SET', take: takeSet },
      { verb: 'START', nouns: ['TRANSACTION'], take: takeTransaction },
      ...['BEGIN', 'COMMIT', 'ROLLBACK'].map((verb): Form => ({ verb, take: takeTransaction })),
    ],
  },
  create_project: { effect: 'writes', forms: [{ verb: 'CREATE', orReplace: true, nouns: databases, take: takeCreateDatabase }] },
  create_database: { effect: 'writes', forms: 'create_project' },
  alter_database: { effect: 'writes', forms: [{ verb: 'ALTER', nouns: databases, take: takeAlterDatabase }] },
  drop_database: { effect: 'writes', forms: [{ verb: 'DROP', nouns: [...databases, 'DATASOURCE'], take: takeDropDatabase }] },
  create_model: { effect: 'writes', forms: [{ verb: 'CREATE', orReplace: true, nouns: models, take: takeCreateModel }] },
  retrain_model: {
    effect: 'writes',
    forms: [
      { verb: 'RETRAIN', take: (cursor) => takeRetrain(cursor, 'retrain') },
      { verb: 'FINETUNE', take: (cursor) => takeRetrain(cursor, 'finetune') },
    ],
  },
  cancel_training: { effect: 'writes', forms: [{ verb: 'CANCEL', take: takeCancel }] },
  drop_model: { effect: 'writes', forms: [{ verb: 'DROP', nouns: models, take: takeDropModel }] },
  activate_model: { effect: 'writes', forms: 'client_setting' },
  alter_model: { effect: 'writes', forms: [{ verb: 'ALTER', nouns: models, take: takeAlterModel }] },
  // It records its answers and their scores.
  evaluate_agent: {
    effect: 'writes',
    forms: [{ verb: 'EVALUATE', nouns: ['AGENT'], when: (cursor) => !cursor.isWord('FROM', 1), take: takeEvaluateAgent }],
  },
  evaluate: { effect: 'reads', forms: [{ verb: 'EVALUATE', take: takeEvaluate }] },
  evaluate_knowledge_base: { effect: 'reads', forms: [{ verb: 'EVALUATE', nouns: knowledgeBases, take: takeEvaluateKnowledge }] },
  index_knowledge_base: {
    effect: 'writes',
    forms: ['CREATE', 'DROP'].map((verb): Form => ({ verb, nouns: knowledgeIndexes, take: takeKnowledgeIndex })),
  },
  create_view: { effect: 'writes', forms: [{ verb: 'CREATE', orReplace: true, nouns: ['VIEW'], take: takeCreateView }] },
  alter_view: { effect: 'writes', forms: [{ verb: 'ALTER', nouns: ['VIEW'], take: takeAlterView }] },
  drop_view: { effect: 'writes', forms: [{ verb: 'DROP', nouns: ['VIEW'], take: takeDropView }] },
  create_table: { effect: 'writes', forms: [{ verb: 'CREATE', orReplace: true, nouns: ['TABLE'], take: takeCreateTable }] },
  insert: { effect: 'writes', forms: [{ verb: 'INSERT', nouns: ['INTO'], take: takeInsert }] },
  drop_table: { effect: 'writes', forms: [{ verb: 'DROP', nouns: ['TABLE', 'DATASET'], take: takeDropTable }] },
  create_resource: { effect: 'writes', forms: [{ verb: 'CREATE', nouns: resources, take: takeCreateResource }] },
  update_resource: {
    effect: 'writes',
    forms: [
      { verb: 'ALTER', nouns: resources, take: takeUpdateResource },
      // `UPDATE agent SET a = 1` writes to a table with that name; `UPDATE AGENT agent SET a = 1` does not.
      { verb: 'UPDATE', nouns: resources, when: (cursor) => nameFollows(cursor, 1), take: takeUpdateResource },
    ],
  },
  drop_resource: { effect: 'writes', forms: [{ verb: 'DROP', nouns: resources, take: takeDropResource }] },
  table_write: {
    effect: 'writes',
    forms: [
      { verb: 'UPDATE', take: (cursor) => takeTableWrite(cursor, 'update') },
      { verb: 'DELETE', nouns: ['FROM'], take: (cursor) => takeTableWrite(cursor, 'delete') },
    ],
  },
  create_job: { effect: 'writes', forms: [{ verb: 'CREATE', nouns: ['JOB'], take: takeCreateJob }] },
  drop_job: { effect: 'writes', forms: [{ verb: 'DROP', nouns: ['JOB'], take: takeDropJob }] },
  create_trigger: { effect: 'writes', forms: [{ verb: 'CREATE', nouns: ['TRIGGER'], take: takeCreateTrigger }] },
  drop_trigger: { effect: 'writes', forms: [{ verb: 'DROP', nouns: ['TRIGGER'], take: takeDropTrigger }] },
  create_ml_engine: { effect: 'writes', forms: [{ verb: 'CREATE', nouns: engines, take: takeCreateEngine }] },
  drop_ml_engine: { effect: 'writes', forms: [{ verb: 'DROP', nouns: engines, take: takeDropEngine }] },
  unavailable: {
    effect: 'writes',
    forms: [{ verb: 'CREATE', nouns: ['ANOMALY DETECTION MODEL'], take: takeAnomalyModel }],
  },
}

/** The effect in a statement's entry: `effectOf(parseStatement('SELECT 1')) // 'query'` */
export const effectOf = ({ kind }: Statement): Effect => grammar[kind].effect

const allForms = Object.values(grammar).flatMap(({ forms }) => (typeof forms === 'string' ? [] : forms))

const formsByVerb: ReadonlyMap<string, readonly Form[]> = new Map(
  allForms.map(({ verb }) => {
    const ofVerb = allForms.filter((form) => form.verb === verb)
    return [verb, [...ofVerb.filter(({ nouns }) => nouns), ...ofVerb.filter(({ nouns }) => !nouns)]]
  }),
)

const takeNoun = (cursor: Cursor, { nouns, when }: Form): string | undefined => {
  if (when && !when(cursor)) return undefined
  return nouns ? nouns.find((noun) => cursor.takeWords(...noun.split(' '))) : ''
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
