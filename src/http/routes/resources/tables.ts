import * as z from 'zod'
import { resourceName, text } from '../../../../events/common.js'
import type { Ledger } from '../../../commands/ledger.js'
import { conflict, notFound, Problem } from '../../../basics/errors.js'
import type { Log } from '../../../log/contract/log.js'
import { lex, splitSingle } from '../../../dialect/lexer.js'
import { backQuoteName } from '../../../dialect/strings.js'
import { allRows } from '../../../sql/contract/answer.js'
import type { SqlEngine } from '../../../sql/facade/execute.js'
import { wrapped } from '../../protocol/body-schema.js'
import type { Call } from '../../protocol/call.js'
import { carryOut } from '../../protocol/carry-out.js'
import { json, noContent } from '../../protocol/reply.js'
import { fileName } from './files.js'
import { databaseNamed, entriesOf, findEntry, type MomentResources, type Database, type Entry } from '../../reads/find-database.js'
import { list, listParameters } from '../../reads/paged-list.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import { commandHeaders, route, withoutDryRun, type Route } from '../../protocol/route.js'

const record = z
  .object({
    name: z.string(),
    type: z.enum(['data', 'model', 'view', 'agent', 'knowledge_base', 'system view']),
    schema: z.string().optional().describe('of a connected database: the schema of the table'),
    note: z.string().optional().describe('on the last table of a list that has not all of them'),
  })
  .meta({ id: 'Table' })
const column = z.object({ name: z.string(), type: z.string().describe('as DuckDB calls it') }).meta({ id: 'Column' })
const columnRows = z.array(z.tuple([z.string(), z.string()]).transform(([name, type]): z.infer<typeof column> => ({ name, type })))
const creation = z.object({ name: resourceName, select: text, replace: z.boolean().nullish() })
const path = '/databases/:database/tables'

const shown = ({ name, type, there }: Entry) => ({
  ...{ name, type: type === 'table' ? 'data' : type },
  ...(typeof there?.schema === 'string' && { schema: there.schema }),
  ...(there?.note !== undefined && { note: there.note }),
})

const tablesOf = (at: MomentResources, database: Database) =>
  entriesOf(at, database, (entry) => (entry.type === 'job' ? undefined : shown(entry)))

/** Refuses writes to anything but files. */
const writable = (database: Database, verb: string, table: string): void => {
  if (database.type === 'files') return
  const hints = {
    project: `Models and views are at /api/projects/${database.name}/models/${table} and /api/projects/${database.name}/views/${table}.`,
    connection: 'Upload the data as a file: PUT /api/files/<name>.',
    system: 'The tables of the system are read only.',
  }
  throw new Problem('wrong_arguments', 'Error', `a table cannot be ${verb} in ${database.name}: it is a ${database.type}, not files`, {
    hint: hints[database.type],
  })
}

/** The single SELECT of a body as text, without surrounding semicolons and comments, so that it fits into brackets. */
const queryText = (select: string): string => {
  const tokens = splitSingle(lex(select), select)
  return select.slice(tokens[0]?.start, tokens.at(-1)?.end)
}

/** The table with a name. @throws Problem 404 */
const tableNamed = async (at: MomentResources, database: Database, name: string): Promise<Entry> => {
  const found = await findEntry(at, database, name)
  if (!found) throw notFound('table', name)
  return found
}

/** The full name of a table, as written in SQL. */
const pathOf = (database: string, { name, there }: Entry): string =>
  (there ? [database, ...(there.schema === null ? [] : [there.schema]), there.name] : [database, name]).map(backQuoteName).join('.')

/**
 * The query for the names and types of columns. Models and other tables that answer questions cannot be read without a question, so their
 * columns are listed.
 */
const columnsQuery = (database: string, entry: Entry): { query: string; params?: Record<string, string> } =>
  ['model', 'agent', 'knowledge_base'].includes(entry.type)
    ? {
        query: `SELECT column_name, original_type FROM information_schema.columns
          WHERE table_schema = :database AND table_name = :name ORDER BY ordinal_position`,
        params: { database, name: entry.name },
      }
    : { query: `SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${pathOf(database, entry)})` }

type Services = { ledger: Ledger; log: Log; reading: ReadRouteFactory; sql: Pick<SqlEngine, 'execute'> }

/** The routes under `/databases/<database>/tables`. `sql` executes CREATE TABLE … as if the client had sent it as a statement. */
export const tableRoutes = ({ ledger, log, reading, sql }: Services): Route[] => {
  const create = async (of: string, { name, select, replace }: z.infer<typeof creation>, call: Call): Promise<Entry['name']> => {
    writable(await databaseNamed(log, of), 'created', name)
    const [origin, execution] = [call.origin(), call.execution()]
    const file = fileName(name)
    const taken = await log.resources.one('file', file)
    if (taken && replace !== true && !(await ledger.repeated(origin, execution))) throw conflict('table', name)
    const query = `CREATE ${replace === true ? 'OR REPLACE ' : ''}TABLE files.${backQuoteName(file)} (\n${queryText(select)}\n)`
    const answer = await sql.execute({ query, origin, client: call.client, execution })
    if (answer.type === 'error') throw answer.problem
    call.positions = answer.positions
    return file
  }
  return [
    reading({
      path,
      summary: 'List the readable tables of a database: files, models and views of a project, tables of a connected database, system views',
      query: listParameters,
      answers: { 200: z.array(record) },
      async handle(input, moment) {
        return list(input, tablesOf(moment, await databaseNamed(moment, input.segments.database)))
      },
    }),
    route({
      method: 'post',
      path,
      summary: 'Keep the rows of a SELECT as a file',
      commandHeaders: withoutDryRun,
      body: wrapped('table', creation),
      answers: { 201: record },
      async handle({ segments: { database }, body, call }) {
        return json({ name: await create(database, body, call), type: 'data' }, { status: 201 })
      },
    }),
    reading({
      path: `${path}/:table`,
      summary: 'Get one table of a database',
      answers: { 200: record },
      async handle({ segments }, moment) {
        return json(shown(await tableNamed(moment, await databaseNamed(moment, segments.database), segments.table)))
      },
    }),
    reading({
      path: `${path}/:table/columns`,
      summary: 'List the columns of a table; nothing of it is read',
      answers: { 200: z.array(column) },
      async handle({ segments, call }, moment) {
        const database = await databaseNamed(moment, segments.database)
        const asked = columnsQuery(database.name, await tableNamed(moment, database, segments.table))
        const who = { origin: call.origin(), client: call.client, signal: call.gone }
        const answer = await sql.execute({ ...asked, ...who, asOf: moment.position, readsOnly: true })
        if (answer.type !== 'table') throw answer.type === 'error' ? answer.problem : new TypeError('a table was described without rows')
        return json(columnRows.parse(await allRows(answer.rows)))
      },
    }),
    route({
      method: 'delete',
      path: `${path}/:table`,
      summary: 'Delete a file',
      commandHeaders,
      answers: { 204: null },
      async handle({ segments: { database: of, table: name }, call }) {
        const database = await databaseNamed(log, of)
        writable(database, 'deleted', name)
        const repeated = await ledger.repeated(call.origin(), call.execution())
        const file = repeated ? name : (await tableNamed(log, database, name)).name
        await carryOut(ledger, { type: 'DeleteFile', data: { file } }, call)
        return noContent
      },
    }),
  ]
}
