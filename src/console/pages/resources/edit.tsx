import { jsonWithHeaders } from '../../api/request.js'
import { bodyForm, type BodyForm } from '../../api/schemas.js'
import { isObject, type Value } from '../../api/sql.js'
import type { KindInfo } from '../../basics/kinds.js'
import { useLoaded } from '../../basics/loading.js'
import { hrefOf, pathOf } from '../../basics/place.js'
import { Busy, Refusal } from '../../components/notice.js'
import { alsoInParams } from './form/changed-members.js'
import { ResourceForm } from './form/form.js'

/** The name of the path parameter for a resource in the API's document. */
const segments: Readonly<Record<string, string>> = { knowledge_base: 'base' }

/** The skills of an agent by their names, with the agent's own params for each. */
const skillRefs = (skills: Value, own: Value): Value =>
  (Array.isArray(skills) ? skills : []).filter(isObject).map(({ name = null }) => {
    const params = isObject(own) && typeof name === 'string' ? own[name] : undefined
    return { name, ...(isObject(params) && params) }
  })

/** The members of an agent that its params have, as its record shows them if it has skills. A body has them beside the params. */
const liftedOf = (params: Value): Record<string, Value> => {
  if (!isObject(params)) return {}
  const those = (areLifted: boolean) => Object.fromEntries(Object.entries(params).filter(([name]) => alsoInParams.has(name) === areLifted))
  return { ...those(true), params: those(false) }
}

/** Members that have another name or form in a body than in the record of the resource. */
const asSent: Readonly<Record<string, (record: Record<string, Value>) => Record<string, Value>>> = {
  database: ({ connection_data: parameters = null }) => ({ parameters }),
  agent: ({ skills = null, skills_extra_parameters: own = null, params = null }) => ({
    ...liftedOf(params),
    skills: skillRefs(skills, own),
  }),
  chatbot: ({ agent = null, database: database_name = null }) => ({
    agent_name: isObject(agent) ? (agent['name'] ?? null) : agent,
    database_name,
  }),
}

const recordOf = (kind: string, record: Record<string, Value>): Record<string, Value> => ({ ...record, ...asSent[kind]?.(record) })

type Named = { info: KindInfo; project: string | null; name: string }

/** What a form does not change, and what another name leaves as it is. */
const Beside = ({ info: { kind }, project, name }: Named) => {
  if (kind === 'project')
    return <p class="quiet">Its views, models and jobs still work under another name, unless their texts name the project.</p>
  if (kind === 'job')
    return (
      <p class="quiet">
        A run under way ends with the statements that it began with. A statement that does not change keeps its secrets; one that changes
        needs them again.
      </p>
    )
  if (kind === 'model')
    return (
      <p class="quiet">
        A version never changes. <a href={hrefOf(pathOf('models', project ?? '', name), { tab: 'versions' })}>The card</a> trains another
        one, and chooses the one that answers.
      </p>
    )
  return null
}

/** What a form begins with. */
type Loaded = { form: BodyForm; record: Record<string, Value>; etag: string | undefined }

/** The values that a form shows, as one text. */
const shownIn = ({ form: { fields }, record }: Pick<Loaded, 'form' | 'record'>): string =>
  JSON.stringify(fields.map(({ name }) => record[name] ?? null))

/** The version for a change. Each run of a job makes new versions of it: if its values are still those of the form, it is the newest one. */
const versionFor = async ({ info: { kind } }: Named, path: string, loaded: Loaded): Promise<string | undefined> => {
  if (kind !== 'job') return loaded.etag
  const { value: record, headers } = await jsonWithHeaders<Record<string, Value>>(path)
  return shownIn({ ...loaded, record }) === shownIn(loaded) ? (headers.get('ETag') ?? undefined) : loaded.etag
}

/** A form with the current values of a resource. */
export const Edit = ({
  path,
  done,
  ...named
}: Named & {
  path: string
  /** Returns whether the page stays. */
  done: (name: string | undefined) => boolean
}) => {
  const { info, project } = named
  const segment = segments[info.kind] ?? info.kind
  const described = info.isInProject ? `/api/projects/{project}/${info.plural}/{${segment}}` : `/api/${info.plural}/{${segment}}`
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const [form, { value: record, headers }] = await Promise.all([
        bodyForm('put', described),
        jsonWithHeaders<Record<string, Value>>(path, { signal }),
      ])
      const etag = headers.get('ETag') ?? undefined
      return { form, etag, record: recordOf(info.kind, record), loadedAt: performance.now() }
    },
    [path],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  return (
    <>
      <Beside {...named} />
      <ResourceForm
        key={value.loadedAt}
        form={value.form}
        record={value.record}
        method="PUT"
        path={path}
        base={info.kind === 'job' ? shownIn(value) : value.etag}
        etag={() => versionFor(named, path, value)}
        word="Save"
        draft={`edit ${path}`}
        project={project}
        done={({ name }) => {
          if (done(typeof name === 'string' ? name : undefined)) reload()
        }}
      />
    </>
  )
}
