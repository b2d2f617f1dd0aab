import * as z from 'zod'
import type { Kind } from '../../../events/catalogue/catalogue.js'
import { limits } from '../../basics/limits.js'
import { shownQuery } from '../../commands/rules/data-source.js'
import type { Moment } from '../../http/reads/read-routes.js'
import type { AnyResource } from '../../log/contract/log.js'
import type { SqlEngine } from '../../sql/facade/execute.js'
import { askRows } from '../tool-parts/ask-sql.js'
import { Budget } from '../tool-parts/budget.js'
import { tool, type CallContext, type Tool } from '../tool-parts/tool.js'
import { next, paging } from './arguments.js'
import { lists, projectFor } from './resources.js'

const names = ['tables', ...lists.keys()] as [string, ...string[]]

const input = z.strictObject({
  kind: z.enum(names).describe('What to list; tables are all that FROM can name in one database, models and views too'),
  in: z
    .string()
    .min(1)
    .optional()
    .describe('The project of agents, models and the like; of tables: a project, a connected database, files, log or information_schema'),
  ...paging,
})

const item = z.object({
  name: z.string(),
  id: z.int().nullable(),
  type: z.string().nullable().describe('The type of the resource, if its kind has several'),
  about: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
})
const output = z.object({ items: z.array(item), next })
type Item = z.infer<typeof item>

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The details of a resource in a list, beside its name. */
const told = (found: AnyResource): Pick<Item, 'type' | 'about'> => {
  switch (found.kind) {
    case 'skill':
      return { type: found.state.type, about: null }
    case 'agent':
      return { type: found.state.provider ?? null, about: found.state.model_name ?? null }
    case 'database':
    case 'engine':
      return { type: textOf(Reflect.get(found.state, 'engine')), about: null }
    case 'model': {
      const version = found.state.versions.at(-1)
      return {
        type: version?.engine ?? null,
        about: version ? `predicts ${version.target}; version ${version.version} is ${version.status}` : null,
      }
    }
    case 'view':
    case 'job':
      return { type: null, about: found.state.query }
    case 'file':
      return { type: null, about: `${found.state.row_count} rows, ${found.state.columns.length} columns` }
    default:
      return { type: null, about: null }
  }
}

/** A list cuts longer texts. */
const aboutMaxChars = 300
const shortened = (text: string | null): string | null =>
  text !== null && text.length > aboutMaxChars ? `${text.slice(0, aboutMaxChars).toWellFormed()}…` : text

const itemOf = (found: AnyResource): Item => {
  const { type, about } = told(found)
  return { name: found.state.name, id: found.id, type, about: shortened(about), created_at: found.created_at, updated_at: found.updated_at }
}

/** A page of the items that were read. One more item than requested was read. `placeOf` returns the place of the page after an item. */
const pageOf = <T>(read: readonly T[], limit: number, show: (one: T) => Item, placeOf: (one: T, index: number) => number) => {
  const items = new Budget().first(read.slice(0, limit).map(show))
  const last = read[items.length - 1]
  return { items, next: last !== undefined && items.length < read.length ? placeOf(last, items.length) : null }
}

type Parts = { sql: Pick<SqlEngine, 'execute'>; moment: Moment; defaultProject: string }

const tablesSql = `SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT, CAST(CREATE_TIME AS VARCHAR), CAST(UPDATE_TIME AS VARCHAR)
  FROM information_schema.tables WHERE TABLE_SCHEMA = :schema LIMIT :most OFFSET :after`

/** Lists resources, and the tables of a database. */
export const listTool = ({ sql, moment, defaultProject }: Parts): Tool => {
  const tables = async (schema: string, after: number, limit: number, asked: CallContext) => {
    const most = { rows: limit + 1, bytes: limits.mcpAnswerMaxBytes }
    const { rows } = await askRows(sql, { query: tablesSql, params: { schema, most: most.rows, after } }, most, asked)
    const show = ([name, type, about, created, updated]: (typeof rows)[number]): Item => ({
      ...{ name: textOf(name) ?? '', id: null, type: textOf(type), about: shortened(textOf(about)) },
      ...{ created_at: textOf(created), updated_at: textOf(updated) },
    })
    return pageOf(rows, limit, show, (_, index) => after + index)
  }
  const resources = async (kind: Kind, inProject: string | undefined, after: number, limit: number) => {
    const project = await projectFor(moment, kind, inProject, defaultProject)
    const found = (await moment.resources.page(kind, project, after, limit + 1)) as AnyResource[]
    const queryOf = async (one: AnyResource) =>
      one.kind === 'view' && project ? { ...one, state: { ...one.state, query: await shownQuery(moment.resources, one, project) } } : one
    return pageOf(await Promise.all(found.map(queryOf)), limit, itemOf, ({ id }) => id)
  }
  return tool({
    name: 'list',
    title: 'List what there is',
    description:
      'Lists projects, databases, or the contents of a project or database: tables, models, agents, skills, files and so on, in pages.',
    effect: { readsOnly: true },
    input,
    output,
    run: ({ kind, in: within, after = 0, limit = limits.mcpDefaultRows }, asked) => {
      const listed = lists.get(kind)
      return listed === undefined ? tables(within ?? defaultProject, after, limit, asked) : resources(listed, within, after, limit)
    },
  })
}
