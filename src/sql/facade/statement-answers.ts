import type { JsonObject } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'
import type { SqlAnswer } from '../contract/answer.js'
import type { RunningStatement } from '../contract/request.js'
import type { StatementKind, StatementOf } from '../statements/statement.js'
import type { CommandKind } from './commands/interpret.js'
import { evaluateAsSelect } from './evaluate.js'
import type { KnowledgeWriter } from './knowledge-writer.js'
import { rowsAnswer, type Reader } from './reader.js'
import { refuseRowChange, refuseStatement, refuseTriggers } from './unsupported-statements.js'
import type { Writer } from './writer.js'

/** Asks an agent the questions of a table. The answer has a row for each question, and the position of the event with the summary. */
export type EvaluateAgent = (
  statement: StatementOf<'evaluate_agent'>,
  running: RunningStatement,
) => Promise<{ rows: JsonObject[]; position: number }>

type Parts = { reader: Reader; writer: Writer; knowledge: KnowledgeWriter; evaluateAgent: EvaluateAgent }

type Answer<S> = (statement: S, running: RunningStatement, parts: Parts) => SqlAnswer | Promise<SqlAnswer>

/** Commands that are checked first, or whose answer is more than their events. */
type MoreThanCommands = 'create_model' | 'retrain_model' | 'create_view' | 'alter_view'

/** The kinds of statements with a separate answer: all that are not commands, and a few that are. */
export type AnsweredKind = Exclude<StatementKind, CommandKind> | MoreThanCommands

const ok = ({ context }: RunningStatement, changes: { db?: string } = {}): SqlAnswer => ({
  type: 'ok',
  affected_rows: null,
  context: { ...context, ...changes },
  positions: [],
})

/** @throws Problem for a dry run, if the statement has none */
const refuseDryRun = ({ execution }: RunningStatement): void => {
  if (execution?.dryRun)
    throw new Problem('refused_statement', 'No dry run', 'a dry run is for statements that write a resource, such as CREATE AGENT', {
      hint: 'Leave out Prefer: dry-run, or "dry_run" in "context"; EXPLAIN tells how a query is answered.',
    })
}

/** The answer of a statement that does more than decide on events: it reads, or it writes rows before its event. */
const planless =
  <S>(answer: Answer<S>): Answer<S> =>
  (statement, running, parts) => {
    refuseDryRun(running)
    return answer(statement, running, parts)
  }

/** The function that answers each kind. */
const answers: { readonly [K in AnsweredKind]: Answer<StatementOf<K>> } = {
  select: planless(({ sql }, running, { reader }) => reader.selectSent(sql, running)),
  system_select: planless(
    (statement, running, { reader }) => reader.system(statement, running) ?? reader.select({ sql: statement.sql }, running),
  ),
  show: planless((statement, running, { reader }) => reader.show(statement, running)),
  describe: planless((statement, running, { reader }) => reader.describe(statement, running)),
  describe_model: planless(({ parts }, running, { reader }) => reader.describeNamed(parts, running)),
  evaluate_agent: planless(async (statement, running, { evaluateAgent }) => {
    const { rows, position } = await evaluateAgent(statement, running)
    return rowsAnswer(rows, running.context, [position])
  }),
  evaluate: planless((statement, running, { reader }) => reader.made(evaluateAsSelect(statement), running)),
  explain: planless(({ span, analyze }, running, { reader }) =>
    reader.select({ sql: running.query, within: span, wanted: { kind: 'plan', analyze } }, running),
  ),
  explain_command: planless(({ statement }, running, { writer }) => writer.explain(statement, running)),
  create_table: planless((statement, running, { writer }) => writer.writeTable(statement, running)),
  insert: planless(
    async (statement, running, { writer, knowledge }) =>
      (await writer.repeated(running)) ?? (await knowledge.insert(statement, running)) ?? writer.writeTable(statement, running),
  ),
  index_knowledge_base: planless(async (statement, running, { knowledge }) => {
    await knowledge.checkIndexed(statement, running)
    return ok(running)
  }),
  evaluate_knowledge_base: planless((statement, running, { knowledge }) => knowledge.evaluate(statement, running)),
  use: async ({ name }, running, { reader }) => ok(running, { db: await reader.databaseNamed(name, running) }),
  client_setting: (_, running) => ok(running),
  create_model: (statement, running, { writer }) => writer.train(statement, running),
  retrain_model: (statement, running, { writer }) => writer.train(statement, running),
  create_view: (statement, running, { writer }) => writer.writeView(statement, running),
  alter_view: (statement, running, { writer }) => writer.writeView(statement, running),
  unavailable: (statement) => refuseStatement(statement),
  create_trigger: () => refuseTriggers(),
  drop_trigger: ({ target, ifExists }, running) => (ifExists ? ok(running) : refuseTriggers(target.name)),
  table_write: planless(async (statement, running, { reader, writer, knowledge }) => {
    const answer = (await writer.repeated(running)) ?? (await knowledge.change(statement, running))
    if (answer) return answer
    const where = statement.target.database ?? running.context.db
    return refuseRowChange(statement, where, await reader.hasResources(where, running))
  }),
}

/**
 * The answer to a statement with a separate answer; undefined for a statement that is only a command.
 *
 * @example await answerOf(parseStatement('USE shop'), running, { reader, writer }) // { type: 'ok', … }
 */
export const answerOf = <K extends StatementKind>(
  statement: StatementOf<K>,
  running: RunningStatement,
  parts: Parts,
): SqlAnswer | Promise<SqlAnswer> | undefined => {
  const table: { readonly [A in StatementKind]?: Answer<StatementOf<A>> } = answers
  return table[statement.kind]?.(statement, running, parts)
}
