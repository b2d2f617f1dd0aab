import { isObject } from '../../api/sql.js'
import type { ResourceRecord } from '../../basics/kinds.js'
import { shown } from '../../components/value.js'

/**
 * The origin of a member of a record: paths in the states of its history (JSON pointers), the first change, the last change, or no change,
 * because the member is the same for all resources or comes from other resources. `parts` are the origins of its parts, if the states have
 * them in another form.
 */
export type Origin =
  { at: readonly string[]; but?: readonly string[]; parts?: Readonly<Record<string, Origin>> } | 'first' | 'last' | 'none'

const at = (...places: string[]): Origin => ({ at: places })

/** Members with the same meaning in the records of all kinds. */
const common: Readonly<Record<string, Origin>> = { id: 'first', created_at: 'first', updated_at: 'last', project_id: at('/project') }

/** Members of `params` that are also members of the record of an agent without skills. */
const besideParams = ['data', 'model', 'prompt_template'] as const

/** The name of each skill in the record of an agent. */
const skillsOf = ({ skills = null }: ResourceRecord): string[] =>
  (Array.isArray(skills) ? skills : []).map((skill) => (isObject(skill) ? shown(skill['name']) : ''))

/** The record shows the skills themselves, whose parts belong to them, and what the agent adds to each. */
const ofSkills = (names: readonly string[]): Record<string, Origin> => ({
  skills: { at: ['/skills'], parts: Object.fromEntries(names.map((_, i) => [i, at(`/skills/${i}/skill`)])) },
  skills_extra_parameters: { at: ['/skills'], parts: Object.fromEntries(names.map((name, i) => [name, at(`/skills/${i}/params`)])) },
})

const ofAgent = (record: ResourceRecord): Record<string, Origin> => ({
  ...ofSkills(skillsOf(record)),
  ...(!('skills' in record) && {
    ...Object.fromEntries(besideParams.map((name) => [name, at(`/params/${name}`)])),
    params: { at: ['/params'], but: besideParams.map((name) => `/params/${name}`) },
  }),
})

const ofModel = ({ version, active }: ResourceRecord): Record<string, Origin> => {
  const of = (...members: string[]) => at(...members.map((member) => `/versions/${shown(version)}/${member}`))
  return {
    version: at(active === true ? '/active' : '/latest'),
    predict: of('target'),
    problem_definition: of('target', 'using'),
    accuracy: of('result/accuracy'),
    training_time: of('result/seconds'),
    data_source: of('database'),
    fetch_data_query: of('query'),
    status: of('status'),
    error: of('error'),
    engine: of('engine'),
    engine_name: of('engine'),
    is_active: 'none',
    current_phase: 'none',
    progress: 'none',
    update: 'none',
    mindsdb_version: 'none',
  }
}

/** Members whose path differs from their name, by kind. */
const ofKinds: Readonly<Record<string, (record: ResourceRecord) => Record<string, Origin>>> = {
  skill: () => ({ agent_ids: 'none' }),
  agent: ofAgent,
  chatbot: () => ({ database_id: at('/database'), last_error: 'none', webhook_token: 'none' }),
  knowledge_base: () => ({
    vector_database: at('/storage/database'),
    vector_database_table: at('/storage/table'),
    preprocessing: { at: ['/chunking'], parts: { chunk_size: at('/chunking/size'), chunk_overlap: at('/chunking/overlap') } },
    query_id: 'none',
  }),
  database: () => ({
    connection_data: at('/parameters'),
    date_last_update: 'last',
    type: 'none',
    class_type: 'none',
    permanent: 'none',
  }),
  job: () => ({ schedule_str: at('/schedule'), variables: 'none' }),
  file: () => ({ erased: 'none' }),
  model: ofModel,
}

/**
 * The origin of a member of the record that the API returns.
 *
 * @example originOf('database', 'connection_data', record) // { at: ['/parameters'] }
 */
export const originOf = (kind: string, member: string, record: ResourceRecord): Origin =>
  ofKinds[kind]?.(record)[member] ?? common[member] ?? at(`/${member}`)
