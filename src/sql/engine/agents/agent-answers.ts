/**
 * Room: agents in a FROM: their questions, and the answers in their place. It imports only events, basics, sql/contract, sql/engine/ast,
 * sql/engine/session, sql/engine/read and sql/engine/models.
 */

import type { DuckDBConnection } from '@duckdb/node-api'
import { foldName, illFormed, type StreamId } from '../../../../events/common.js'
import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import type { AgentQuestions, AgentReply } from '../../contract/select.js'
import { conjuncts, equality, isConstant, isOfQueries, isTrue } from '../ast/conditions.js'
import { printSelect, readChecked } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import {
  aliased,
  allOf,
  become,
  cast,
  columnRef,
  emptyRef,
  isColumnRef,
  nodeOf,
  nodesOf,
  nullConstant,
  placeOf,
  sameValue,
  selectNode,
  star,
  subqueryRef,
  textConstant,
  textOf,
  textsOf,
} from '../ast/nodes.js'
import { template } from '../ast/templates.js'
import { readsOnly } from '../models/references.js'
import { leavesOf } from '../models/detach.js'
import { limitRows } from '../read/limit-rows.js'
import { aliasOf, describe, standalone } from '../session/describe.js'
import type { Leaf, Scope } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { atPlace, withText } from '../session/sources.js'

/** An agent in a FROM. `at` is the past position at which it is asked. */
export type AgentUse = { ref: AstNode; alias: string; agent: StreamId; label: string; at: number | undefined }

/** Thrown when the query lacks answers of an agent. Its sender asks the agent, and sends the query again with the answers. */
export class MissingAnswers extends Error {
  constructor(readonly questions: AgentQuestions) {
    super('the query needs answers of an agent')
  }
}

/** The columns of an agent in SQL. */
export const agentColumns: readonly string[] = ['answer', 'question', 'context', 'trace_id']
const question = 'question'

const noQuestion = ({ label }: AgentUse): Problem =>
  new Problem('bad_statement', 'An agent needs questions', `Nothing in the query gives a question to the agent ${label}`, {
    hint: `Write SELECT answer FROM ${label} WHERE question = '…', or join it: SELECT q.id, a.answer FROM files.questions AS q JOIN ${label} AS a ON a.question = q.text.`,
  })

const tooMany = ({ label }: AgentUse): Problem =>
  new Problem(
    'query_limit',
    'Too many questions',
    `The query has more than ${limits.agentQuestionsMax} questions for the agent ${label} (agentQuestionsMax)`,
    { hint: 'Ask fewer at a time: JOIN (SELECT … LIMIT 100) AS q with the agent.' },
  )

const ownRows = ({ label }: AgentUse): Problem =>
  new Problem(
    'refused_statement',
    'No question from a recursion',
    `The agent ${label} cannot be asked about the rows of a recursive WITH`,
    {
      hint: 'Let the recursion end first, and join its result with the agent.',
    },
  )

const unreadable = (reason: string): Problem =>
  new Problem('bad_statement', 'A question that cannot be asked', `A question ${reason}`, { hint: 'Leave the character out.' })

const refusedHere = ({ label }: AgentUse): Problem =>
  new Problem('refused_statement', 'Agents are not asked here', `${label} is an agent, and this statement cannot ask it`, {
    hint: 'Ask it in a SELECT of its own, or keep its answers first: CREATE TABLE files.answers (SELECT … FROM agent …).',
  })

/** Refuses agents in places where no WHERE and no ON could give them questions. */
export const agentsNeedQuestions = ([first]: readonly AgentUse[]): void => {
  if (first) throw atPlace(noQuestion(first), first.ref)
}

/** The join that contains an agent, and the table on its other side. */
type Place = { join: AstNode; other: AstNode }

const placeIn = (from: AstNode, ref: AstNode): Place | undefined => {
  const [left, right] = [nodeOf(from, 'left'), nodeOf(from, 'right')]
  if (textOf(from, 'type') !== 'JOIN' || !left || !right) return undefined
  if (left === ref) return { join: from, other: right }
  if (right === ref) return { join: from, other: left }
  return placeIn(left, ref) ?? placeIn(right, ref)
}

const isQuestion = ({ alias }: AgentUse, node: AstNode, leaves: readonly Leaf[]): boolean => {
  if (!isColumnRef(node)) return false
  const [first = '', second] = textsOf(node, 'column_names')
  if (second !== undefined) return foldName(first) === foldName(alias) && foldName(second) === question
  return foldName(first) === question && !readsOnly(node, leaves.length > 0 ? leaves : [nothing])
}

const nothing: Leaf = { ref: emptyRef(), alias: '', columns: [] }

const isGiven = (value: AstNode, leaves: readonly Leaf[]): boolean =>
  isConstant(value) || isOfQueries(value) || (leaves.length > 0 && readsOnly(value, leaves))

/** MySQL writes texts in double quotes. This service reads names in double quotes. */
const readQuoted = ({ quoted }: Session, value: AstNode, leaves: readonly Leaf[]): void => {
  const [name = '', second] = isColumnRef(value) ? textsOf(value, 'column_names') : []
  if (second === undefined && quoted.has(name) && !readsOnly(value, leaves)) become(value, { ...textConstant(name), ...placeOf(value) })
}

/** The values that a condition compares the question with: `question = 'a'` or `question IN ('a', 'b')`. */
const valuesIn = (session: Session, use: AgentUse, condition: AstNode, leaves: readonly Leaf[]): AstNode[] | undefined => {
  const asked = (node: AstNode | undefined) => node !== undefined && isQuestion(use, node, leaves)
  if (textOf(condition, 'type') === 'COMPARE_IN') {
    const [column, ...values] = nodesOf(condition, 'children')
    if (asked(column)) for (const value of values) readQuoted(session, value, leaves)
    return asked(column) && values.every((value) => isGiven(value, leaves)) ? values : undefined
  }
  const [left, right] = equality(condition) ?? []
  const value = asked(left) ? right : asked(right) ? left : undefined
  if (value) readQuoted(session, value, leaves)
  return value && isGiven(value, leaves) ? [value] : undefined
}

/** Reads the texts of a query with one column. It reads at most one text more than the limit of questions. */
const textsOfQuery = async (connection: DuckDBConnection, query: AstNode): Promise<string[]> => {
  const wrapped = await template(
    connection,
    'SELECT DISTINCT question FROM (SELECT NULL AS question) AS asked WHERE question IS NOT NULL',
    {},
  )
  const inner = nodeOf(wrapped, 'from_table')
  if (!inner) throw new TypeError('a template has no FROM')
  inner['subquery'] = { node: query, named_param_map: [] }
  limitRows(wrapped, limits.agentQuestionsMax + 1)
  const text = await printSelect(connection, wrapped)
  const rows = await withText(text, wrapped, () => readChecked(connection, text))
  return rows.flatMap(([value]) => (typeof value === 'string' ? [value] : []))
}

/** The values as questions: the values in those rows of the table that pass the conditions of WHERE, or the constants themselves. */
const questionsOf = async (
  { connection }: Session,
  use: AgentUse,
  values: readonly AstNode[],
  { other, where, scope }: { other: AstNode | undefined; where: AstNode | null; scope: Scope },
): Promise<string[]> => {
  const found = new Set<string>()
  for (const value of values) {
    const item = aliased(question, cast({ ...value, alias: '' }, 'VARCHAR'))
    const isAlone = isConstant(value) || isOfQueries(value)
    const query = standalone([item], isAlone || !other ? emptyRef() : other, isAlone ? null : where, scope)
    for (const text of await textsOfQuery(connection, query)) {
      const reason = illFormed(text)
      if (reason !== undefined) throw unreadable(reason)
      found.add(text)
    }
    if (found.size > limits.agentQuestionsMax) throw tooMany(use)
  }
  // The rows of a table have no fixed order.
  return [...found].sort()
}

/** The answers as a table. It is empty for a query that is only planned. */
const tableOf = (use: AgentUse, replies: readonly AgentReply[]): AstNode => {
  const text = (value: string | null) => cast(value === null ? nullConstant() : textConstant(value), 'VARCHAR')
  const rows = replies.map(({ answer, question: asked, context, traceId }) => [answer, asked, context, traceId].map(text))
  const values = rows.length > 0 ? rows : [agentColumns.map(() => text(null))]
  const list = { ...emptyRef(), type: 'EXPRESSION_LIST', alias: 'valueslist', expected_names: [], expected_types: [], values }
  const query = selectNode([star('')], list)
  if (rows.length === 0) limitRows(query, 0)
  return { ...subqueryRef(query, use.alias, [...agentColumns]), ...placeOf(use.ref) }
}

const answersTo = ({ replies, isPlanned }: Session, use: AgentUse, questions: readonly string[]): AgentReply[] => {
  if (!replies) throw refusedHere(use)
  if (isPlanned) return []
  const { agent, label, at } = use
  const known = questions.map((asked) => replies.find((reply) => reply.agent === agent && reply.at === at && reply.question === asked))
  const missing = questions.filter((_, i) => known[i] === undefined)
  if (missing.length > 0) throw new MissingAnswers({ agent, label, questions: missing, ...(at !== undefined && { at }) })
  return known.filter((reply) => reply !== undefined)
}

const asLeaves = async ({ connection }: Session, refs: readonly AstNode[], scope: Scope): Promise<Leaf[]> => {
  const leaves: Leaf[] = []
  // One after the other: a connection to DuckDB does one task at a time.
  for (const ref of refs) leaves.push({ ref, alias: aliasOf(ref), columns: await describe(connection, ref, scope) })
  return leaves
}

/** The conditions of a query that need only these tables. */
const conditionsOn = (select: AstNode, leaves: readonly Leaf[]): AstNode | null =>
  allOf(conjuncts(nodeOf(select, 'where_clause')).filter((condition) => leaves.length > 0 && readsOnly(condition, leaves)))

/** Joins by the column `question` of the other side, if no condition gives the question. */
const joinByName = (use: AgentUse, { join }: Place, leaves: readonly Leaf[]): AstNode | undefined => {
  const having = leaves.filter(({ columns }) => columns.some(({ name }) => foldName(name) === question))
  const [leaf] = having
  if (!leaf || having.length > 1) return undefined
  const value = columnRef(leaf.alias, question)
  if (textsOf(join, 'using_columns').some((name) => foldName(name) === question)) return value
  const own = conjuncts(nodeOf(join, 'condition')).filter((condition) => !isTrue(condition))
  join['condition'] = allOf([...own, sameValue(columnRef(use.alias, question), cast(value, 'VARCHAR'))])
  if (textOf(join, 'ref_type') === 'CROSS') join['ref_type'] = 'REGULAR'
  return value
}

const answerOne = async (session: Session, select: AstNode, use: AgentUse, waiting: readonly AstNode[], scope: Scope): Promise<void> => {
  const from = nodeOf(select, 'from_table')
  const place = from && placeIn(from, use.ref)
  const others = place ? leavesOf(place.other) : []
  if (others.some((leaf) => textOf(leaf, 'table_name') === scope.itself)) throw ownRows(use)
  // If a table beside it contains an agent that is answered later, this table cannot be read yet.
  const leaves = others.some((leaf) => waiting.includes(leaf)) ? [] : await asLeaves(session, others, scope)
  const conditions = [...(place ? conjuncts(nodeOf(place.join, 'condition')) : []), ...conjuncts(nodeOf(select, 'where_clause'))]
  const given = conditions.map((condition) => valuesIn(session, use, condition, leaves)).find((values) => values !== undefined)
  // Both sides are compared as texts, because a question that is a number elsewhere was also asked as a text.
  for (const value of given ?? []) become(value, { ...cast({ ...value, alias: '' }, 'VARCHAR'), ...placeOf(value) })
  const byName = given || !place ? undefined : joinByName(use, place, leaves)
  const values = given ?? (byName && [byName])
  if (!values) throw noQuestion(use)
  const where = conditionsOn(select, leaves)
  const questions = session.isPlanned ? [] : await questionsOf(session, use, values, { other: place?.other, where, scope })
  become(use.ref, tableOf(use, answersTo(session, use, questions)))
}

/**
 * Replaces the names of agents with their answers. An agent takes its questions from WHERE or ON, or from the column `question` of the
 * table that it is joined with. Each question is asked once.
 *
 * @throws MissingAnswers for questions without answers; Problem when there are no questions, or too many
 * @example await answerAgents(session, select, [{ ref, alias: 'a', agent, label: 'shop.helper', at: undefined }], scope)
 */
export const answerAgents = async (session: Session, select: AstNode, uses: readonly AgentUse[], scope: Scope): Promise<void> => {
  // An answer is only valid for this moment.
  session.keep = false
  const waiting = new Set(uses.map(({ ref }) => ref))
  for (const use of uses) {
    waiting.delete(use.ref)
    try {
      await answerOne(session, select, use, [...waiting], scope)
    } catch (error) {
      throw error instanceof MissingAnswers ? error : atPlace(error, use.ref)
    }
  }
}
