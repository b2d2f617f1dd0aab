import * as z from 'zod'
import { kinds, type Kind } from '../../../events/catalogue/catalogue.js'
import { isProblem, notFound } from '../../basics/errors.js'
import type { Moment } from '../../http/reads/read-routes.js'
import type { AnyResource, Resource } from '../../log/contract/log.js'
import type { SqlEngine } from '../../sql/facade/execute.js'
import { Budget } from '../tool-parts/budget.js'
import { columnSchema, columnsOf } from '../tool-parts/columns.js'
import { tool, type CallContext, type Tool } from '../tool-parts/tool.js'
import { projectFor, recordOf } from './resources.js'

const described = ['table', ...kinds] as ['table', ...Kind[]]

const input = z.strictObject({
  name: z.string().min(1).describe('The name, or the id of a resource'),
  kind: z.enum(described).optional().describe('What it is: table (unless it is said), model, agent, skill …'),
  in: z
    .string()
    .min(1)
    .optional()
    .describe('The project of agents, models and the like; of a table: a project, a connected database, files, log or information_schema'),
})

const output = z.object({
  kind: z.string(),
  name: z.string(),
  columns: z.array(columnSchema).describe('Columns of a table, view, file or model'),
  record: z.record(z.string(), z.unknown()).describe('The fields of a resource; secrets show as ******'),
  truncated: z.boolean().describe('Whether columns or fields were left out, because the answer would be too long'),
  left_out: z.array(z.string()).describe('The fields that were left out; query reads them'),
})

/** Kinds that FROM can name. */
const ofTables: ReadonlySet<Kind> = new Set<Kind>(['model', 'view', 'file'])

type Parts = { sql: Pick<SqlEngine, 'execute'>; moment: Moment; defaultProject: string }

/** Describes a table by its columns, and a resource by its record. */
export const describeTool = ({ sql, moment, defaultProject }: Parts): Tool => {
  const columnsIfAny = async (found: AnyResource, project: Resource<'project'> | undefined, asked: CallContext) => {
    if (!ofTables.has(found.kind)) return { columns: [], isCut: false }
    try {
      return await columnsOf(sql, { schema: project?.state.name ?? 'files', table: found.state.name }, asked)
    } catch (error) {
      // A model without a training has no columns, and neither has a view whose query cannot be planned.
      if (isProblem(error) && error.code === 'not_found') return { columns: [], isCut: false }
      throw error
    }
  }
  const resource = async (kind: Kind, name: string, within: string | undefined, asked: CallContext) => {
    const project = await projectFor(moment, kind, within, defaultProject)
    const found = (await moment.resources.one(kind, name, project)) as AnyResource | undefined
    if (!found) throw notFound(kind, name)
    const { columns, isCut } = await columnsIfAny(found, project, asked)
    const budget = new Budget()
    const { record, leftOut } = budget.members(await recordOf(found, project, moment))
    const shown = budget.first(columns)
    const truncated = isCut || shown.length < columns.length || leftOut.length > 0
    return { kind, name: found.state.name, columns: shown, record, truncated, left_out: leftOut }
  }
  return tool({
    name: 'describe',
    title: 'Describe a table or resource',
    description: 'Tells the columns and types of a table, view, file or model, or the record of an agent, skill, model and so on.',
    effect: { readsOnly: true },
    input,
    output,
    async run({ name, kind = 'table', in: within }, asked) {
      if (kind !== 'table') return resource(kind, name, within, asked)
      const { columns, isCut } = await columnsOf(sql, { schema: within ?? defaultProject, table: name }, asked)
      const shown = new Budget().first(columns)
      return { kind, name, columns: shown, record: {}, truncated: isCut || shown.length < columns.length, left_out: [] }
    },
  })
}
