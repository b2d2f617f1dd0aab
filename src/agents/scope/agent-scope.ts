/**
 * Room: the tables, models and knowledge bases that an agent may use. It imports only events, basics, catalogue, log/contract, log/read,
 * dialect, connections/contract, knowledge/contract and sql/contract.
 */

import type { ModelVersion } from '../../../events/model.js'
import { foldName, type JsonObject } from '../../../events/common.js'
import { someAtOnce } from '../../basics/concurrency/some-at-once.js'
import { isProblem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Log, Resource } from '../../log/contract/log.js'
import { lastKnown } from '../../log/read/last-known.js'
import { grantsOf, type Grants, type NameGrant } from '../../catalogue/grants.js'
import type { Knowledge, NamedBase } from './knowledge.js'
import { fits, isPattern, partsOfName } from '../../catalogue/names.js'
import { resourcesNamed } from './resources-named.js'
import { quoteName } from '../../dialect/strings.js'
import { leftOutBy, tablesNamed, type Catalogue, type ScopeTable } from './tables-in.js'

/** A model that an agent may ask, and the version that answers. */
export type ScopeModel = { label: string; project: Resource<'project'>; found: Resource<'model'>; version: ModelVersion; artefact: string }

/**
 * What an agent may use, at one position of the log. `missing` has names in its settings that it cannot use. It `isGone` if the agent was
 * granted data, and nothing of them is there.
 */
export type AgentScope = {
  agent: Resource<'agent'>
  skills: readonly Resource<'skill'>[]
  tables: readonly ScopeTable[]
  models: readonly ScopeModel[]
  bases: readonly NamedBase[]
  about: readonly string[]
  missing: readonly string[]
  isGone: boolean
}

/** The empty scope, before any look-up. */
export const scopeOfNothing = (agent: Resource<'agent'>): AgentScope => ({
  agent,
  ...{ skills: [], tables: [], models: [], bases: [], about: [], missing: [], isGone: false },
})

/** Where to look up an agent and the names in its settings. The log tells the names of deleted skills. */
export type ScopePlace = Catalogue & { log: Pick<Log, 'readStream' | 'resources'>; knowledge: Knowledge | undefined }

/** Whether grants name data, found or not. */
const givesData = ({ tables, models, knowledgeBases, faults, missing }: Grants): boolean =>
  tables.length + models.length + knowledgeBases.length + faults.length + missing.length > 0

/** The skills with the agent's additions, the names of those that were deleted, and whether one of these gave data. */
const skillsOf = async ({ resources, log }: ScopePlace, { state }: Resource<'agent'>) => {
  const found = await Promise.all(
    state.skills.map(async ({ skill, params }) => ({ stream: skill, params, skill: await resources.byStream('skill', skill) })),
  )
  const deleted = await Promise.all(
    found
      .filter(({ skill }) => !skill)
      .map(async ({ stream, params }) => ({ stream, params, last: await lastKnown(log, 'skill', stream) })),
  )
  const missing = deleted.map(({ stream, last }) => `the skill ${last?.state.name ?? stream}, which was deleted`)
  const gave = deleted.some(
    ({ last, params }) => !last || givesData(grantsOf([{ type: last.state.type, params: { ...last.state.params, ...params } }], {})),
  )
  const skills = found.flatMap(({ skill, params }) => (skill ? [{ skill, params: { ...skill.state.params, ...params } }] : []))
  return { skills, missing, gave }
}

/** Collects the resources behind names, each once, and notes names without a resource. */
class NameCollection<T> {
  readonly #known = new Map<string, T>()
  readonly missing: string[] = []

  add(key: string, item: T): void {
    const folded = foldName(key)
    if (!this.#known.has(folded)) this.#known.set(folded, item)
  }

  get items(): T[] {
    return [...this.#known.values()]
  }
}

const whyMissing = (error: unknown): string => {
  if (!isProblem(error)) throw error
  return error.title
}

const tablesOf = async (place: ScopePlace, granted: readonly NameGrant[]) => {
  const tables = new NameCollection<ScopeTable>()
  const models: string[] = []
  const named = granted.flatMap(({ in: where, names, except }) => {
    const isLeftOut = leftOutBy(except)
    return names.map((name) => ({ where, name, isLeftOut }))
  })
  // A connection that lists its tables slowly does not delay the others.
  const listed = await someAtOnce(named, limits.agentNamesReadAtOnce, ({ where, name }) =>
    tablesNamed(place, name, where).catch((error: unknown) => whyMissing(error)),
  )
  for (const [i, { where, name, isLeftOut }] of named.entries()) {
    const label = where === undefined ? name : `${where}: ${name}`
    const found = listed[i] ?? []
    if (typeof found === 'string') {
      tables.missing.push(`${label} (${found})`)
      continue
    }
    for (const table of found) if (!isLeftOut(table)) tables.add(JSON.stringify(table.path), table)
    if (found.length > 0) continue
    // Some clients list models among the tables.
    const at = await inProject(place, where, name)
    const isModel = at !== undefined && !isPattern(name) && (await modelsIn(place, at.project, at.name)).length > 0
    if (isModel) models.push(`${quoteName(at.project.state.name)}.${quoteName(at.name)}`)
    else tables.missing.push(label)
  }
  if (tables.items.length > limits.agentTablesMax)
    tables.missing.push(`all tables after the first ${limits.agentTablesMax} (agentTablesMax)`)
  return {
    tables: tables.items.slice(0, limits.agentTablesMax),
    missing: tables.missing,
    models: { in: undefined, names: models, except: [] },
  }
}

/** The project that a name of one or two parts is in, and its last part. */
const inProject = async ({ resources, project }: Catalogue, where: string | undefined, written: string) => {
  const parts = partsOfName(written)
  const [first = '', ...rest] = parts
  const named = rest.length > 0 ? await resources.one('project', first) : undefined
  if (named) return { project: named, name: rest.join('.') }
  const inside = where === undefined ? project : await resources.one('project', where)
  return inside && { project: inside, name: parts.join('.') }
}

const modelsIn = ({ resources }: Catalogue, project: Resource<'project'>, name: string): Promise<Resource<'model'>[]> =>
  resourcesNamed(resources, 'model', name, { project, most: limits.agentModelsMax })

const modelsOf = async (place: ScopePlace, granted: readonly NameGrant[]) => {
  const models = new NameCollection<ScopeModel>()
  for (const { in: where, names } of granted)
    for (const written of names) {
      const at = await inProject(place, where, written)
      const found = at ? await modelsIn(place, at.project, at.name) : []
      for (const model of found) {
        const version = model.state.versions.find((one) => one.version === model.state.active)
        const label = `${at?.project.state.name ?? ''}.${model.state.name}`
        if (at && version?.result)
          models.add(label, { label, project: at.project, found: model, version, artefact: version.result.artefact })
        else models.missing.push(`the model ${label}, which is not ready`)
      }
      if (found.length === 0) models.missing.push(`the model ${written}`)
    }
  return { models: models.items.slice(0, limits.agentModelsMax), missing: models.missing }
}

const basesOf = async (place: ScopePlace, granted: readonly NameGrant[]) => {
  const bases = new NameCollection<NamedBase>()
  for (const { in: where, names, except } of granted)
    for (const written of names) {
      const at = await inProject(place, where, written)
      const found = at && place.knowledge ? await place.knowledge.basesOf(place.resources, at.project, at.name) : []
      for (const one of found) {
        const label = `${at?.project.state.name ?? ''}.${one.name}`
        const isKept = !except.some((name) => fits(partsOfName(name).at(-1) ?? '', one.name))
        if (isKept) bases.add(label, { ...one, name: label })
      }
      if (found.length === 0) bases.missing.push(`the knowledge base ${written}`)
    }
  return { bases: bases.items.slice(0, limits.agentKnowledgeBasesMax), missing: bases.missing }
}

/**
 * Finds the tables, models and knowledge bases that the skills and the data of an agent name, and nothing else. Missing ones are left out,
 * and named in `missing`.
 *
 * @example (await scopeOf(place, agent)).tables // [{ path: ['files', 'cars'], kind: 'file', … }]
 */
export const scopeOf = async (place: ScopePlace, agent: Resource<'agent'>): Promise<AgentScope> => {
  const { skills, missing: noSkills, gave } = await skillsOf(place, agent)
  const grants = grantsOf(
    skills.map(({ skill, params }): { type: string; params: JsonObject } => ({ type: skill.state.type, params })),
    agent.state.params,
  )
  const { tables, missing: noTables, models: amongTables } = await tablesOf(place, grants.tables)
  const { models, missing: noModels } = await modelsOf(place, [...grants.models, amongTables])
  const { bases, missing: noBases } = await basesOf(place, grants.knowledgeBases)
  const missing = [...noSkills, ...grants.faults, ...grants.missing, ...noTables, ...noModels, ...noBases]
  const isGranted = gave || givesData(grants)
  return {
    agent,
    skills: skills.map(({ skill }) => skill),
    ...{ tables, models, bases, missing },
    about: grants.about,
    isGone: isGranted && tables.length + models.length + bases.length === 0,
  }
}
