import type * as z from 'zod'
import { foldName } from '../../events/common.js'
import { limits } from '../basics/limits.js'
import { ServiceError, type Client } from './client.js'
import {
  agentRecord,
  chatbotRecord,
  connectionRecord,
  engineRow,
  fileRecord,
  jobRecord,
  modelRow,
  placeRow,
  projectRecord,
  skillRecord,
  viewRecord,
  type AgentRecord,
  type ChatbotRecord,
  type ConnectionRecord,
  type EngineRow,
  type FileRecord,
  type JobRecord,
  type ModelRow,
  type SkillRecord,
  type ViewRecord,
} from './records.js'

/** The content of a project, except its models. */
export type Contents = { views: ViewRecord[]; skills: SkillRecord[]; agents: AgentRecord[]; chatbots: ChatbotRecord[]; jobs: JobRecord[] }

/** Everything in a service that an import handles. The keys of `contents` are folded names of projects. */
export type Inventory = {
  projects: string[]
  engines: EngineRow[]
  connections: ConnectionRecord[]
  files: FileRecord[]
  contents: ReadonlyMap<string, Contents>
  /** One row per model: its active version, or its newest one. */
  models: ModelRow[]
}

/** Called with an unreadable item and the reason. It may throw to stop the reading. */
export type OnUnread = (what: string, why: string) => void

export const noContents: Contents = { views: [], skills: [], agents: [], chatbots: [], jobs: [] }

/** Parses records one by one: reports a broken record and keeps the others. */
const recordsIn = <T>(items: readonly unknown[], schema: z.ZodType<T>, what: string, unread: OnUnread): T[] => {
  if (items.length > limits.importListMaxItems) {
    unread(what, `it has ${items.length} items, the most is ${limits.importListMaxItems} (importListMaxItems)`)
    return []
  }
  return items.flatMap((item, i) => {
    const read = schema.safeParse(item)
    if (read.success) return [read.data]
    const [issue] = read.error.issues
    unread(`${what}, item ${i + 1}`, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'it is no record'}`)
    return []
  })
}

/** Reads records from one service. If the service does not have a list, the list is empty. */
class Reader {
  constructor(
    private readonly client: Client,
    private readonly unread: OnUnread,
  ) {}

  async #tried(what: string, read: () => Promise<unknown[]>): Promise<unknown[]> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      this.unread(what, error.message)
      return []
    }
  }

  async list<T>(path: string, schema: z.ZodType<T>): Promise<T[]> {
    const items = await this.#tried(path, async () => {
      const body = (await this.client.read(path)) ?? []
      if (Array.isArray(body)) return body as unknown[]
      throw new ServiceError('its answer is no list')
    })
    return recordsIn(items, schema, path, this.unread)
  }

  /** The rows of a statement as objects with the column names in lower case. */
  async rows<T>(statement: string, schema: z.ZodType<T>): Promise<T[]> {
    const items = await this.#tried(statement, async () => {
      const { columns, rows } = await this.client.query(statement)
      return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name.toLowerCase(), row[i]])))
    })
    return recordsIn(items, schema, statement, this.unread)
  }
}

const contentsOf = async (reader: Reader, project: string): Promise<Contents> => {
  const path = `/api/projects/${encodeURIComponent(project)}`
  return {
    views: await reader.list(`${path}/views`, viewRecord),
    skills: await reader.list(`${path}/skills`, skillRecord),
    agents: await reader.list(`${path}/agents`, agentRecord),
    chatbots: await reader.list(`${path}/chatbots`, chatbotRecord),
    jobs: await reader.list(`${path}/jobs`, jobRecord),
  }
}

/** The row of each model's active version, or of its newest one. */
const oneVersionEach = (rows: readonly ModelRow[]): ModelRow[] => {
  const chosen = new Map<string, ModelRow>()
  for (const row of rows) {
    const key = JSON.stringify([foldName(row.project), foldName(row.name)])
    const before = chosen.get(key)
    if (!before || row.active === true || (before.active !== true && row.version > before.version)) chosen.set(key, row)
  }
  return [...chosen.values()]
}

/**
 * Reads the inventory of a service: MindsDB, or this service, which has the same API.
 *
 * @param isWanted returns whether to read the content of a project
 * @example const old = await readInventory(client, () => true, (what, why) => out.error(`${what}: ${why}`))
 */
export const readInventory = async (client: Client, isWanted: (project: string) => boolean, unread: OnUnread): Promise<Inventory> => {
  const reader = new Reader(client, unread)
  const projects = (await reader.list('/api/projects/', projectRecord)).map(({ name }) => name)
  const contents = new Map<string, Contents>()
  for (const project of projects.filter(isWanted)) contents.set(foldName(project), await contentsOf(reader, project))
  const databases = await reader.list('/api/databases/', connectionRecord)
  return {
    projects,
    engines: await reader.rows('SHOW ML_ENGINES', engineRow),
    connections: databases.filter(({ type, engine }) => type === 'data' && engine !== 'files'),
    files: await reader.list('/api/files/', fileRecord),
    contents,
    models: oneVersionEach(await reader.rows('SELECT * FROM information_schema.models', modelRow)),
  }
}

/** Things that MindsDB may have, and that cannot be copied. */
export type UnsupportedResource = { kind: 'knowledge base' | 'trigger'; project: string; name: string }

/** Reads the items that cannot be copied, so that the import can name them. */
export const readAbsent = async (client: Client, unread: OnUnread): Promise<UnsupportedResource[]> => {
  const reader = new Reader(client, unread)
  const rowsOf = async (table: string, kind: UnsupportedResource['kind']): Promise<UnsupportedResource[]> =>
    (await reader.rows(`SELECT * FROM information_schema.${table}`, placeRow)).map(({ project, name }) => ({ kind, project, name }))
  return [...(await rowsOf('knowledge_bases', 'knowledge base')), ...(await rowsOf('triggers', 'trigger'))]
}
