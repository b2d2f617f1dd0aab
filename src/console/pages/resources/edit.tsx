import { request } from '../../api/request.js'
import { bodyForm } from '../../api/schemas.js'
import type { Value } from '../../api/sql.js'
import { listResources, type KindInfo } from '../../basics/kinds.js'
import { useLoaded } from '../../basics/loading.js'
import { Busy, Refusal } from '../../parts/notice.js'
import { choicesOf, kindsOfChoices } from './choices.js'
import { ResourceForm } from './form.js'

/** The name of the path parameter for a resource in the API's document. */
const segments: Readonly<Record<string, string>> = { knowledge_base: 'base' }

/** Members that have one name in a body, and another one in the record of the resource. */
const asSent: Readonly<Record<string, (record: Record<string, Value>) => Record<string, Value>>> = {
  database: ({ connection_data: parameters = null }) => ({ parameters }),
  chatbot: ({ agent = null, database: database_name = null }) => ({
    agent_name: agent !== null && typeof agent === 'object' && !Array.isArray(agent) ? (agent['name'] ?? null) : agent,
    database_name,
  }),
}

const readRecord = async (kind: string, response: Response): Promise<Record<string, Value>> => {
  const record = (await response.json()) as Record<string, Value>
  return { ...record, ...asSent[kind]?.(record) }
}

/** A form with the current values of a resource. */
export const Edit = ({
  info,
  path,
  project,
  done,
}: {
  info: KindInfo
  path: string
  project: string | null
  done: (renamed: string | undefined) => void
}) => {
  const segment = segments[info.kind] ?? info.kind
  const described = info.isInProject ? `/api/projects/{project}/${info.plural}/{${segment}}` : `/api/${info.plural}/{${segment}}`
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const [form, response, all] = await Promise.all([
        bodyForm('put', described),
        request(path, { signal }),
        listResources(undefined, signal, { kinds: kindsOfChoices }),
      ])
      const etag = response.headers.get('ETag') ?? undefined
      return { form, all, etag, record: await readRecord(info.kind, response), loadedAt: performance.now() }
    },
    [path],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  return (
    <ResourceForm
      key={value.loadedAt}
      form={value.form}
      record={value.record}
      method="PUT"
      path={path}
      etag={value.etag}
      word="Save"
      choices={(field) => choicesOf(field, project, value.all)}
      done={({ name }) => {
        done(typeof name === 'string' ? name : undefined)
        reload()
      }}
    />
  )
}
