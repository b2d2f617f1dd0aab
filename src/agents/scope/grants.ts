import { isObject, type Json, type JsonObject } from '../../../events/common.js'
import { limits } from '../../basics/limits.js'
import { namesIn } from './names.js'

/** Names as they were written, the names to exclude, and the place where to look them up; undefined: in the agent’s own project. */
export type NameGrant = { in: string | undefined; names: readonly string[]; except: readonly string[] }

/** The names that one skill, or the data of an agent, allows, as its author wrote them. `about` has the descriptions. */
type PartialGrants = { tables: NameGrant[]; models: NameGrant[]; knowledgeBases: NameGrant[]; about: string[] }

/** Everything that the skills and data of an agent allow. `missing` names the omitted part of lists that are too long. */
export type Grants = PartialGrants & { missing: string[] }

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** The names under the first of these keys that has names. */
const firstOf = (params: JsonObject, ...keys: readonly string[]): string[] | undefined => {
  const key = keys.find((one) => namesIn(params[one]).length > 0)
  return key === undefined ? undefined : namesIn(params[key])
}

const named = (where: string | undefined, names: readonly string[] | undefined, except: readonly string[] = []): NameGrant[] =>
  names === undefined ? [] : [{ in: where, names, except }]

const modelsOf = (params: JsonObject): NameGrant[] => named(undefined, firstOf(params, 'models', 'model'))

const basesOf = (params: JsonObject, ...keys: readonly string[]): NameGrant[] => {
  const where = textOf(params['knowledge_base_database']) ?? textOf(params['knowledge_base_project'])
  return named(
    where,
    firstOf(params, 'knowledge_bases', 'knowledge_base', 'include_knowledge_bases', ...keys),
    namesIn(params['ignore_knowledge_bases']),
  )
}

/** A skill of SQL without any table allows its whole database; without a database it allows only the tables that it names. */
const tablesOf = (params: JsonObject): NameGrant[] => {
  const database = textOf(params['database'])
  const names = firstOf(params, 'tables', 'include_tables', 'include') ?? (database === undefined ? undefined : ['*'])
  return named(database, names, [...namesIn(params['ignore_tables']), ...namesIn(params['exclude_tables']), ...namesIn(params['exclude'])])
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
  const none: PartialGrants = { tables: [], models: [], knowledgeBases: [], about: about === undefined ? [] : [about] }
  switch (typeOf(type)) {
    case 'sql':
    case 'text2sql':
    case 'text_to_sql':
      return { ...none, tables: tablesOf(params), models: named(undefined, firstOf(params, 'models')), knowledgeBases: basesOf(params) }
    case 'knowledge_base':
    case 'retrieval':
      return { ...none, knowledgeBases: basesOf(params, 'source', 'name') }
    case 'model':
    case 'predict':
      return { ...none, models: modelsOf(params) }
    default:
      return { ...none, about: [] }
  }
}

/** What the `data` of an agent allows: full names, or names in its own project; `db.*` is a whole database. */
const ofData = (data: Json | undefined): PartialGrants => {
  if (!isObject(data)) return { tables: [], models: [], knowledgeBases: [], about: [] }
  return {
    tables: named(undefined, firstOf(data, 'tables'), namesIn(data['ignore_tables'])),
    models: named(undefined, firstOf(data, 'models')),
    knowledgeBases: named(undefined, firstOf(data, 'knowledge_bases'), namesIn(data['ignore_knowledge_bases'])),
    about: [],
  }
}

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
  const own: PartialGrants = { tables: [], models: named(undefined, firstOf(agentParams, 'models')), knowledgeBases: [], about: [] }
  const all = [...skills.map(({ type, params }) => ofSkill(type, params)), ofData(agentParams['data']), own]
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
    missing: [...tables.missing, ...models.missing, ...bases.missing],
  }
}
