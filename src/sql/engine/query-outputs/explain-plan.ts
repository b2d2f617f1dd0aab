import { StatementType } from '@duckdb/node-api'
import { limits } from '../../../basics/limits.js'
import { printSelect, readChecked } from '../ast/checked-text.js'
import { cloneAst } from '../ast/json.js'
import { withText } from '../session/sources.js'
import { planLines } from './plan-lines.js'
import type { PreparedQuery } from './prepared-query.js'

/** A line of an explanation: `sql`, `table`, `model` or `plan`, and its text. */
type Line = [section: 'sql' | 'table' | 'model' | 'plan', text: string]

/** Replaces internal names: a scoring function by its model, and a CTE by the name that its author gave it. */
const readable = ({ session }: PreparedQuery, text: string): string => {
  let shown = text
  for (const { name, number, bound } of session.run.uses.values())
    shown = shown.replaceAll(new RegExp(`\\b${name}\\(${number}\\b(?:, )?`, 'g'), `"${bound.label}.${bound.version}"(`)
  for (const [unique, written] of session.ctes) shown = shown.replaceAll(new RegExp(`\\b${unique}\\b`, 'g'), written)
  return shown
    .replaceAll(session.blobsDirectory, 'blobs')
    .replace(/\bledger_(?=[0-9])/g, 'input_')
    .replace(/\b\w+\.ledger\.|\bledger\.|\bledger_/g, '')
}

/** The rewritten SQL. The user's names of tables replace the queries that give their rows. */
const readableSql = async (ready: PreparedQuery): Promise<string> => {
  const { connection, reads } = ready.session
  let shown: string = ready.text
  for (const { name, query, state } of reads)
    if (state !== 'a view, expanded') shown = shown.replaceAll(`(${await printSelect(connection, cloneAst(query))})`, name)
  return readable(ready, shown)
}

const clauses = /(?<!\s)\s+(?=(?:FROM|WHERE|GROUP BY|HAVING|QUALIFY|WINDOW|ORDER BY|LIMIT|OFFSET|UNION|INTERSECT|EXCEPT)\b)/g

/** Each clause of the outer query begins a line. Texts, names and the content of brackets stay unchanged. */
const inLines = (sql: string): string[] => {
  let depth = 0
  const parts = sql.split(/('(?:[^']|'')*'|"(?:[^"]|"")*"|[()])/).map((part) => {
    if (part === '(') depth += 1
    if (part === ')') depth -= 1
    return depth === 0 && !/^['"]/.test(part) ? part.replace(clauses, '\n') : part
  })
  return parts.join('').split('\n')
}

const modelLines = ({ session }: PreparedQuery): Line[] => {
  const inside = [...session.run.uses.values()].map(
    ({ bound: { label, version } }) =>
      `${label} version ${version}: up to ${limits.modelInsideMaxRows} rows are scored inside the query, more of them before it`,
  )
  const staged = session.staged.map(
    ({ bound: { label, version }, rows }) => `${label} version ${version}: ${rows} rows scored before the query`,
  )
  return [...new Set([...inside, ...staged])].map((text) => ['model', text])
}

/** DuckDB's plan. To get measures, the query is run and its rows are dropped. */
const planOf = async ({ session, text, tree }: PreparedQuery, analyze: boolean): Promise<string[]> => {
  const before = `EXPLAIN (${analyze ? 'ANALYZE, ' : ''}FORMAT json) `
  const around = { before, kind: StatementType.EXPLAIN }
  const [[, plan] = []] = await withText(text, tree, () => readChecked(session.connection, text, around), before.length)
  return planLines(String(plan ?? '[]'))
}

/**
 * Explains a query line by line: the rewritten SQL, the tables and models that it reads, and DuckDB's plan. With `analyze` the query is
 * run, and the plan shows the time of each step.
 */
export const explainPlan = async (ready: PreparedQuery, { analyze }: { analyze: boolean }) => {
  const plan = await planOf(ready, analyze)
  const tables = new Set(ready.session.reads.map(({ name, state }) => `${name}: ${state}`))
  const rows: Line[] = [
    ...inLines(await readableSql(ready)).map((line): Line => ['sql', line]),
    ...[...tables].map((text): Line => ['table', text]),
    ...modelLines(ready),
    ...plan.map((line): Line => ['plan', readable(ready, line)]),
  ]
  const columns = ['section', 'text'].map((name) => ({ name, type: 'VARCHAR' }))
  return { columns, rows }
}
