import { limits } from '../../limits.js'
import { printSelect } from '../ast/duckdb.js'
import { cloneAst } from '../ast/json.js'
import { running } from '../sources.js'
import type { Ready } from './answer-table.js'

/** A line of an explanation: `sql`, `table`, `model` or `plan`, and its text. */
type Line = [section: 'sql' | 'table' | 'model' | 'plan', text: string]

const linesOf = (section: Line[0], text: string): Line[] =>
  text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .map((line) => [section, line])

/** Functions that score, by the names of their models, and no path of this machine. */
const readable = ({ session }: Ready, text: string): string => {
  let shown = text
  for (const [called, { bound }] of session.run.uses)
    shown = shown.replaceAll(new RegExp(`\\b${called}\\(${session.run.id}(?:, )?`, 'g'), `"${bound.label}.${bound.version}"(`)
  return shown.replaceAll(session.blobsDirectory, 'blobs')
}

/** The rewritten SQL, with the user's names of tables in the place of the queries that give their rows. */
const readableSql = async (ready: Ready): Promise<string> => {
  const { connection, reads } = ready.session
  let shown = ready.text
  for (const { name, query, state } of reads)
    if (state !== 'a view, expanded') shown = shown.replaceAll(`(${await printSelect(connection, cloneAst(query))})`, name)
  return readable(ready, shown)
}

const clauses = /\s+(?=(?:FROM|WHERE|GROUP BY|HAVING|QUALIFY|WINDOW|ORDER BY|LIMIT|OFFSET|UNION|INTERSECT|EXCEPT)\b)/g

/** Each clause of the outer query begins a line; texts, names and what is in brackets stay as they are. */
const inLines = (sql: string): string => {
  let depth = 0
  const parts = sql.split(/('(?:[^']|'')*'|"(?:[^"]|"")*"|[()])/).map((part) => {
    if (part === '(') depth += 1
    if (part === ')') depth -= 1
    return depth === 0 && !/^['"]/.test(part) ? part.replace(clauses, '\n') : part
  })
  return parts.join('')
}

const modelLines = ({ session }: Ready): Line[] => {
  const inside = [...session.run.uses.values()].map(
    ({ bound: { label, version } }) =>
      `${label} version ${version}: up to ${limits.modelInsideMaxRows} rows are scored inside the query, more of them before it`,
  )
  const staged = session.staged.map(
    ({ bound: { label, version }, rows }) => `${label} version ${version}: ${rows} rows scored before the query`,
  )
  const served = session.served.map(({ version, rows }) => `version ${version}: ${rows.length} rows given in WHERE`)
  return [...new Set([...inside, ...staged, ...served])].map((text) => ['model', text])
}

const header = 'Query Profiling Information'

/** DuckDB's plan. One with measures begins with the whole query, which stands in the other lines already. */
const planOf = async ({ session, text, tree }: Ready, analyze: boolean): Promise<string> => {
  const verb = analyze ? 'EXPLAIN ANALYZE ' : 'EXPLAIN '
  const reader = await running(text, tree, () => session.connection.runAndReadAll(`${verb}${text}`), verb.length)
  const plan = String(reader.getRows()[0]?.[1] ?? '')
  return plan.includes(header) ? (plan.split(text)[1] ?? '') : plan
}

/**
 * How a query is answered: the SQL that it was rewritten to, the tables and models that it reads, and DuckDB's plan, line by
 * line. With `analyze` the query is run, and the plan says what each step took.
 */
export const explainPlan = async (ready: Ready, { analyze }: { analyze: boolean }) => {
  const plan = readable(ready, await planOf(ready, analyze))
  const tables = new Set(ready.session.reads.map(({ name, state }) => `${name}: ${state}`))
  const rows: Line[] = [
    ...linesOf('sql', inLines(await readableSql(ready))),
    ...[...tables].map((text): Line => ['table', text]),
    ...modelLines(ready),
    ...linesOf('plan', plan),
  ]
  const columns = ['section', 'text'].map((name) => ({ name, type: 'VARCHAR' }))
  return { columns, rows }
}
