import type { ResourceRecord } from '../../basics/kinds.js'
import { shown } from '../../components/value.js'

/**
 * The origin of a member of a record: paths in the states of its history (JSON pointers), the first change, the last change, or no change,
 * because the member is the same for all resources or comes from other resources.
 */
export type Origin = { at: readonly string[]; but?: readonly string[] } | 'first' | 'last' | 'none'

const at = (...places: string[]): Origin => ({ at: places })

/** Members with the same meaning in the records of all kinds. */
const common: Readonly<Record<string, Origin>> = { id: 'first', created_at: 'first', updated_at: 'last', project_id: at('/project') }

/** Members of `params` that are also members of the record of an agent without skills. */
const besideParams = ['data', 'model', 'prompt_template'] as const

const ofAgent = (record: ResourceRecord): Record<string, Origin> => ({
  skills_extra_parameters: at('/skills'),
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
    preprocessing: at('/chunking'),
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
