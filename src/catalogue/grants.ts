import { isObject, type Json, type JsonObject } from '../../events/common.js'
import { wrong } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { isNameList, namesIn } from './names.js'

/** Params of earlier agents. They gave an agent its data, which now stands in `data`; taken without a word, they would give it none. */
export const formerAgentParams: readonly string[] = [
  'database',
  'knowledge_base_database',
  'include_tables',
  'ignore_tables',
  'include_knowledge_bases',
  'ignore_knowledge_bases',
]

/** Names as they were written, the names to exclude, and the place where to look them up; undefined: in the agent’s own project. */
export type NameGrant = { in: string | undefined; names: readonly string[]; except: readonly string[] }

/**
 * The names that one skill, or the data of an agent, allows, as its author wrote them. `about` has the descriptions, and `faults` the
 * lists that cannot be read.
 */
type PartialGrants = { tables: NameGrant[]; models: NameGrant[]; knowledgeBases: NameGrant[]; about: string[]; faults: string[] }

/** Everything that the skills and data of an agent allow. `missing` names the omitted part of lists that are too long. */
export type Grants = PartialGrants & { missing: string[] }

/**
 * The params that grant names. Of `lists` and of `places`, the first one that is given counts: the names, and where to look them up.
 * `exclusions` exclude names. `hasAll`: a place without a list is granted as a whole.
 */
type GrantParams = { lists: readonly string[]; places?: readonly string[]; exclusions?: readonly string[]; hasAll?: boolean }

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

const firstGiven = (params: JsonObject, keys: readonly string[]): string | undefined => keys.find((key) => params[key] !== undefined)

/**
 * What some params grant. A list without names grants no name, and not all names. If an exclusion or a place cannot be read, nothing is
 * granted, because a grant without its exclusion or place would be wider than it was meant.
 */
const granted = (params: JsonObject, { lists, places = [], exclusions = [], hasAll = false }: GrantParams) => {
  const [list, place] = [firstGiven(params, lists), firstGiven(params, places)]
  const where = place === undefined ? undefined : textOf(params[place])
  const names = list === undefined ? (hasAll && where !== undefined ? ['*'] : []) : namesIn(params[list])
  const isEmptyOfAll = hasAll && names.length === 0
  const faultyList = list !== undefined && (isEmptyOfAll || !isNameList(params[list])) ? [list] : []
  const faultyBounds = exclusions.filter((key) => !isNameList(params[key]))
  const faultyPlace = place !== undefined && where === undefined ? [place] : []
  const isGranted = names.length > 0 && faultyBounds.length + faultyPlace.length === 0
  return {
    grants: isGranted ? [{ in: where, names, except: exclusions.flatMap((key) => namesIn(params[key])) }] : [],
    faults: [
      ...faultyPlace.map((key) => `${key}: must be a name`),
      ...[...faultyList, ...faultyBounds].map((key) => `${key}: must be a list of names`),
    ],
  }
}

const tablesOfSkill: GrantParams = {
  lists: ['tables', 'include_tables', 'include'],
  places: ['database'],
  exclusions: ['ignore_tables', 'exclude_tables', 'exclude'],
  hasAll: true,
}

const basesOfSkill = (...others: readonly string[]): GrantParams => ({
  lists: ['knowledge_bases', 'knowledge_base', 'include_knowledge_bases', ...others],
  places: ['knowledge_base_database', 'knowledge_base_project'],
  exclusions: ['ignore_knowledge_bases'],
})

const modelsOfParams: GrantParams = { lists: ['models'] }

const noParams: GrantParams = { lists: [] }

type GrantedKinds = { tables?: GrantParams; models?: GrantParams; bases?: GrantParams; about?: string | undefined }

/** What params grant, by the kinds of data that they may name. */
const grantsIn = (params: JsonObject, { tables = noParams, models = noParams, bases = noParams, about }: GrantedKinds): PartialGrants => {
  const [ofTables, ofModels, ofBases] = [granted(params, tables), granted(params, models), granted(params, bases)]
  return {
    tables: ofTables.grants,
    models: ofModels.grants,
    knowledgeBases: ofBases.grants,
    about: about === undefined ? [] : [about],
    faults: [...ofTables.faults, ...ofModels.faults, ...ofBases.faults],
  }
}

/** The type of a skill: clients write it in different ways. @example typeOf('Knowledge Base') // 'knowledge_base' */
const typeOf = (written: string): string =>
  written
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')

/** What one skill allows. Unknown types allow nothing. */
const ofSkill = (type: string, params: JsonObject): PartialGrants => {
  const about = textOf(params['description'])
  switch (typeOf(type)) {
    case 'sql':
    case 'text2sql':
    case 'text_to_sql':
      return grantsIn(params, { tables: tablesOfSkill, models: modelsOfParams, bases: basesOfSkill(), about })
    case 'knowledge_base':
    case 'retrieval':
      return grantsIn(params, { bases: basesOfSkill('source', 'name'), about })
    case 'model':
    case 'predict':
      return grantsIn(params, { models: { lists: ['models', 'model'] }, about })
    default:
      return grantsIn({}, {})
  }
}

/** What the `data` of an agent allows: full names, or names in its own project; `db.*` is a whole database. */
const ofData = (data: Json | undefined): PartialGrants =>
  grantsIn(isObject(data) ? data : {}, {
    tables: { lists: ['tables'], exclusions: ['ignore_tables'] },
    models: modelsOfParams,
    bases: { lists: ['knowledge_bases'], exclusions: ['ignore_knowledge_bases'] },
  })

/** What the params of an agent allow by themselves, without its skills. */
const ofAgent = (params: JsonObject): PartialGrants[] => [ofData(params['data']), grantsIn(params, { models: modelsOfParams })]

/**
 * Cuts a list to the number of names that an agent may list. A list of exclusions is never cut, because that would allow more: the whole
 * grant is left out instead.
 */
const bounded = (granted: readonly NameGrant[], what: string): { granted: NameGrant[]; missing: string[] } => {
  const most = limits.agentNamesMax
  const fitting = granted.filter(({ except }) => except.length <= most)
  const missing = fitting.length < granted.length ? [`${what} of a list that leaves out more than ${most} names (agentNamesMax)`] : []
  let left: number = most
  const kept = fitting.map((one) => {
    const names = one.names.slice(0, left)
    left -= names.length
    if (names.length < one.names.length) missing.push(`${what} after the first ${most} names (agentNamesMax)`)
    return { ...one, names }
  })
  return { granted: kept, missing: [...new Set(missing)] }
}

/**
 * What an agent may use: only what its skills and its data name. The agent's own params of a skill override those of the skill.
 *
 * @example
 * grantsOf([{ type: 'sql', params: { database: 'files', tables: ['cars'] } }], {}).tables // [{ in: 'files', names: ['cars'], except: [] }]
 */
export const grantsOf = (skills: readonly { type: string; params: JsonObject }[], agentParams: JsonObject): Grants => {
  const all = [...skills.map(({ type, params }) => ofSkill(type, params)), ...ofAgent(agentParams)]
  const tables = bounded(
    all.flatMap((one) => one.tables),
    'all tables',
  )
  const models = bounded(
    all.flatMap((one) => one.models),
    'all models',
  )
  const bases = bounded(
    all.flatMap((one) => one.knowledgeBases),
    'all knowledge bases',
  )
  return {
    ...{ tables: tables.granted, models: models.granted, knowledgeBases: bases.granted },
    about: all.flatMap(({ about }) => about),
    faults: [...new Set(all.flatMap(({ faults }) => faults))],
    missing: [...tables.missing, ...models.missing, ...bases.missing],
  }
}

/**
 * Refuses lists of tables, models and knowledge bases with entries that are no names, in the params of a skill or of an agent, and a list of
 * tables in a skill for SQL that names none. Any other list may name nothing; it grants nothing.
 *
 * @example refuseUnfitNames({ type: 'sql', params: { database: 'crm', tables: [null] } }) // throws
 * @throws Problem wrong_arguments that names the list
 */
export const refuseUnfitNames = (of: { type: string; params: JsonObject } | { agentParams: JsonObject }): void => {
  const [fault] = ('type' in of ? [ofSkill(of.type, of.params)] : ofAgent(of.agentParams)).flatMap(({ faults }) => faults)
  if (fault === undefined) return
  throw wrong(fault, 'Write each name as a text, such as "orders". Leave the list out if it is to narrow nothing.')
}
