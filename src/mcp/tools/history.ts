import * as z from 'zod'
import { limits } from '../../basics/limits.js'
import type { Moment } from '../../http/reads/read-routes.js'
import type { Histories } from '../../log/read/history.js'
import { streamOf } from '../../log/read/stream-of.js'
import { Budget } from '../tool-parts/budget.js'
import { tool, type Tool } from '../tool-parts/tool.js'
import { next, paging } from './arguments.js'
import { kindSchema, projectFor } from './resources.js'

const input = z.strictObject({
  kind: kindSchema.describe('What it is'),
  name: z.string().min(1).describe('The name; of a resource that was deleted, its id or stream'),
  in: z.string().min(1).optional().describe('The project of agents, models and the like; by default the default project'),
  ...paging,
})

const change = z.object({
  position: z.int(),
  version: z.int(),
  type: z.string(),
  recorded_at: z.string(),
  actor: z.string(),
  source: z.string(),
  request: z.string().nullable(),
  correlation: z.string().nullable(),
  causation: z.string().nullable(),
  traceparent: z.string().optional(),
  diff: z.array(z.looseObject({ op: z.string(), path: z.string() })).describe('The difference, as JSON Patch (RFC 6902)'),
})

const output = z.object({
  changes: z.array(change),
  next,
  version: z.int().describe('How many changes there are'),
  truncated: z.boolean().describe('Whether the difference of a change was left out, because it is too long'),
})

type Change = z.infer<typeof change>

type Parts = { moment: Moment; histories: Histories; defaultProject: string }

/** The changes that fit. If the first change is too long, it is shown without its difference. */
const fitting = (changes: readonly Change[]): { shown: Change[]; truncated: boolean } => {
  const shown = new Budget().first(changes)
  const [first] = changes
  return first && shown.length === 0 ? { shown: [{ ...first, diff: [] }], truncated: true } : { shown, truncated: false }
}

/** The changes of a resource. */
export const historyTool = ({ moment, histories, defaultProject }: Parts): Tool =>
  tool({
    name: 'history',
    title: 'History of a resource',
    description:
      'Tells the changes of a project, agent, skill, model, view, file or other resource, oldest first: author, time, event and difference.',
    effect: { readsOnly: true },
    input,
    output,
    async run({ kind, name, in: within, after = 0, limit = limits.mcpDefaultRows }) {
      const project = await projectFor(moment, kind, within, defaultProject)
      const stream = await streamOf(moment, kind, name, project?.stream)
      const page = await histories.page(kind, stream, { after, limit, head: await moment.streamVersion(stream) })
      const { shown, truncated } = fitting(page.changes.map((text) => JSON.parse(text) as Change))
      const last = shown.at(-1)?.version ?? after
      return { changes: shown, next: last < page.version && shown.length > 0 ? last : null, version: page.version, truncated }
    },
  })
