import { setMaxListeners } from 'node:events'
import type { Agent } from '../../events/agent.js'
import { unlessAborted } from '../basics/concurrency/bounded-waits.js'
import { someAtOnce } from '../basics/concurrency/some-at-once.js'
import { notFound, wrong } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import type { Tables } from '../connections/contract/requests.js'
import type { LanguageModel } from '../llm/contract/language-model.js'
import { charsOfTools } from '../llm/tokens/estimates.js'
import type { Resource, Log, Resources } from '../log/contract/log.js'
import { withoutIds } from '../log/contract/lookups.js'
import type { SelectService, TablePath } from '../sql/contract/select.js'
import type { AnswerRows, AgentRequest } from './contract/answering.js'
import type { ListColumns } from './prompt/columns-of.js'
import { isUnread, nameInSql, tooSlow, type DescribedTable, type TableDescriptions } from './prompt/describe.js'
import { Fence } from './prompt/fence.js'
import { learnColumns } from './prompt/learn-columns.js'
import { promptOf } from './prompt/prompt.js'
import { settingsOf } from './prompt/settings.js'
import { Queries } from './queries/queries.js'
import { scopeOf, type AgentScope } from './scope/agent-scope.js'
import type { Knowledge } from './scope/knowledge.js'
import type { ScopeTable } from './scope/tables-in.js'
import { describeTool } from './tools/describe-tool.js'
import { modelsText, predictTool, type PredictionParts } from './tools/predict-tool.js'
import { RecordedUses, replayedTool } from './tools/replayed-tool.js'
import { searchTool, type PerformedSearch } from './tools/search-tool.js'
import { sqlTool } from './tools/sql-tool.js'
import type { Tool } from './tools/tool.js'

/** The parts that prepare answers. */
export type PrepareParts = PredictionParts & {
  log: Log
  sqlProcess: SelectService
  defaultProject: string
  /**
   * The language model of an agent, by the agent's settings, the service’s defaults and the environment. @throws Problem llm_failed,
   * egress_refused
   */
  modelOf: (agent: Pick<Agent, 'model_name' | 'provider' | 'params'>) => Promise<LanguageModel>
  connectedTables: (connection: Resource<'database'>) => Promise<Tables>
  connectedColumns: ListColumns
  /** Resources as they were at an earlier position. */
  resourcesAt: (position: number, client?: string) => Resources
  knowledge?: Knowledge | undefined
}

/** An answer before its language model is asked. */
export type PreparedAnswer = Awaited<ReturnType<typeof prepare>>

const triesMax = 3

/** Whether the data that was read is current at a position: a write may have come in between. */
const isAsOf = async (log: Log, position: number, { agent, skills, models }: AgentScope, isGiven: boolean): Promise<boolean> => {
  if ((await log.head()).position === position) return true
  const read = [...(isGiven ? [] : [agent]), ...skills, ...models.map(({ found }) => found)]
  const versions = await Promise.all(read.map(({ stream }) => log.versionAt(stream, position)))
  return read.every(({ version }, i) => version === versions[i])
}

/** The data that an agent may use, and the log position at which it was read. */
const readScope = async (parts: PrepareParts, asked: AgentRequest): Promise<{ scope: AgentScope; head: number; position: number }> => {
  const { log, knowledge, connectedTables } = parts
  const read = async (resources: Resources, isPast: boolean) => {
    const agent = asked.isGiven === true ? asked.agent : await resources.byStream('agent', asked.agent.stream)
    if (!agent) throw notFound('agent', asked.agent.state.name, asked.asOf)
    return scopeOf({ log, resources: withoutIds(resources), isPast, project: asked.project, knowledge, connectedTables }, agent)
  }
  for (let tries = 0; asked.asOf === undefined && tries < triesMax; tries++) {
    const { position: head } = await log.head()
    const scope = await read(log.resources, false)
    if (await isAsOf(log, head, scope, asked.isGiven === true)) return { scope, head, position: head }
  }
  const { position: head } = await log.head()
  const position = asked.asOf ?? head
  return { scope: await read(parts.resourcesAt(position, asked.client), position !== head), head, position }
}

/** The database for names without one: the only database in the scope, or the agent’s project. */
const databaseOf = ({ tables }: AgentScope, project: Resource<'project'>): string => {
  const databases = new Set(tables.map(({ path }) => path[0] ?? ''))
  const [only] = databases
  return databases.size === 1 && only !== undefined ? only : project.state.name
}

/** The data that an agent may use and the bounds of its queries, at one position of the log. `answer`: what the queries belong to. */
const readable = async (parts: PrepareParts, asked: AgentRequest, signal: AbortSignal, answer?: string) => {
  const { scope, head, position } = await readScope(parts, asked)
  const queries = new Queries(parts, { origin: asked.origin, client: asked.client, answer, head, position, signal })
  const only: TablePath[] = [
    ...scope.tables.map(({ path }) => path),
    ...scope.models.map(({ project, found }) => [project.state.name, found.state.name]),
  ]
  return { scope, head, position, queries, only, db: databaseOf(scope, asked.project) }
}

/** The rows of a query over the data that an agent may read, as the agent's own query would return them. @throws Problem of the query */
export const rowsFor = async (parts: PrepareParts, asked: AgentRequest, query: string): Promise<AnswerRows> => {
  const { scope, queries, only, db } = await readable(parts, asked, asked.signal)
  if (scope.tables.length === 0) throw wrong('the agent has no tables to query')
  const { bounds } = settingsOf(scope.agent.state)
  return (await sqlTool(queries, only, db, bounds).use({ query })).query
}

/** Describes tables. Those of one connection are described a few at a time, because others need its database as well. */
const describedBy = async (tables: readonly ScopeTable[], describe: (table: ScopeTable) => Promise<DescribedTable>) => {
  const found = new Map<ScopeTable, DescribedTable>()
  const ofConnection = (stream: string | undefined) => {
    const some = tables.filter(({ connection }) => connection?.stream === stream)
    const atOnce = stream === undefined ? some.length : limits.agentTablesReadAtOnce
    return someAtOnce(some, atOnce, async (table) => found.set(table, await describe(table)))
  }
  await Promise.all([...new Set(tables.map(({ connection }) => connection?.stream))].map(ofConnection))
  return found
}

/**
 * Whether none of some tables could be read just now. Of many tables only the first are described: a further one counts as its connection,
 * which may be away.
 */
const areUnreadable = (tables: readonly ScopeTable[], descriptionOf: ReadonlyMap<ScopeTable, DescribedTable>): boolean => {
  const away = new Set([...descriptionOf].flatMap(([{ connection }, described]) => (isUnread(described) ? connection?.stream : [])))
  return tables.every((table) => {
    const described = descriptionOf.get(table)
    return described ? isUnread(described) : table.connection !== undefined && away.has(table.connection.stream)
  })
}

/**
 * Finds the data that an agent may use, and makes its prompt and its tools. Connected databases have half of the answer's time to list
 * their tables; the rest is for the language model. `answer`: the id of the answer, if there will be one.
 *
 * @throws Problem when the agent cannot answer
 */
export const prepare = async (
  parts: PrepareParts,
  descriptions: TableDescriptions,
  asked: AgentRequest,
  { signal, answer }: { signal: AbortSignal; answer?: string },
) => {
  const patience = AbortSignal.timeout(settingsOf(asked.agent.state).timeoutMs / 2)
  setMaxListeners(0, patience)
  const connectedTables = (connection: Resource<'database'>) =>
    unlessAborted(parts.connectedTables(connection), patience, () => tooSlow(connection.state.name))
  const { scope, head, position, queries, only, db } = await readable({ ...parts, connectedTables }, asked, signal, answer)
  const { tables, models, bases } = scope
  const settings = settingsOf(scope.agent.state)
  const fence = new Fence()
  // A description from before an erasure may have rows that were erased.
  const moment = `${position === head ? 'now' : position} ${await parts.log.erasedAt()}`
  const describe = (table: ScopeTable) => descriptions.of(table, queries, moment)
  const describeSoon = (table: ScopeTable) => descriptions.of(table, queries, moment, patience)
  const conversation = asked.turns.map(({ content }) => content).slice(-3)
  const { links } = descriptions
  const linked = (some: readonly ScopeTable[]) => links.linked(some, conversation.join('\n'))
  if (tables.length > limits.agentTablesDescribedMax) await learnColumns(links, tables, parts.connectedColumns, patience)
  const order = linked(tables)
  const first = order.slice(0, limits.agentTablesDescribedMax)
  // Many tables are read at the same time, and each adds a listener for the end of the question: Node would warn of a leak.
  setMaxListeners(0, signal)
  const [model, descriptionOf] = await Promise.all([parts.modelOf(scope.agent.state), describedBy(first, describeSoon)])
  // Descriptions tell columns that were unknown before, so that the best tables fit into the prompt.
  const described = linked(first).flatMap((table) => descriptionOf.get(table) ?? [])
  const searched: PerformedSearch[] = []
  const { knowledge } = parts
  const describing = describeTool(tables, db, describe)
  const tools: Tool[] = [
    ...(tables.length > 0 ? [sqlTool(queries, only, db, settings.bounds), describing] : []),
    ...(knowledge && bases.length > 0
      ? [searchTool({ bases, search: knowledge.search, asOf: position, onSearched: (one) => searched.push(one) })]
      : []),
    ...(models.length > 0 ? [predictTool({ ...parts, models, origin: asked.origin, readAt: position })] : []),
  ]
  const { messages, shown } = promptOf({
    ...{ scope, settings, fence, db, turns: asked.turns },
    tables: { described, others: order.slice(first.length).map(({ path }) => nameInSql(path)) },
    models: await modelsText(models, parts.store),
    toolChars: charsOfTools(tools.map(({ description }) => description)),
  })
  const needed = shown.described.length < tables.length ? tools : tools.filter((tool) => tool !== describing)
  const isGone = scope.isGone || (tables.length > 0 && models.length + bases.length === 0 && areUnreadable(tables, descriptionOf))
  const { replay } = asked
  // A tool that was cut off gave no data.
  const uses = replay && new RecordedUses(replay.tools.filter(({ aborted }) => aborted !== true))
  const given = uses ? needed.map((tool) => replayedTool(tool, uses, replay.runsOthers)) : needed
  return { scope, isGone, settings, model, readAt: position, fence, tools: given, messages, searched, shown }
}
