import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parseEnvelope } from '../../events/stored/envelope.js'
import { Random } from '../../src/models/numerics/random.js'
import { countOf } from '../support/counts.js'
import { settled } from '../support/models/rentals.js'
import { send, sql, startTestService } from '../support/service.js'

const times = countOf('PROPERTY_TIMES')

let service: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const names = ['one', 'two', 'Größe']
const projects = ['shop', 'office']

/** What a GET answers, without what is of the request itself. */
type Answer = { status: number; body: unknown; etag: string | null }
const get = async (path: string, asOf?: string): Promise<Answer & { at: string | null }> => {
  const query = asOf === undefined ? '' : `${path.includes('?') ? '&' : '?'}as_of=${encodeURIComponent(asOf)}`
  const { status, body, headers } = await send(service.url, 'GET', path + query)
  // Only refusals name the request.
  const { request: _, timestamp: __, ...kept } = body as Record<string, unknown>
  return { status, body: Array.isArray(body) ? body : kept, etag: headers.get('etag'), at: headers.get('x-as-of') }
}

const singles = (collection: string, list: readonly string[]) => [
  collection,
  ...list.map((name) => `${collection}/${encodeURIComponent(name)}`),
]
const addresses = [
  ...singles('/api/projects', projects),
  ...projects.flatMap((project) => [
    ...['skills', 'agents', 'chatbots', 'views', 'jobs'].flatMap((kind) => singles(`/api/projects/${project}/${kind}`, names)),
    `/api/projects/${project}/skills?agent=one`,
    ...singles(`/api/projects/${project}/models`, ['rent', 'rent.1', 'rent.2']),
    `/api/projects/${project}/models/rent/describe`,
    `/api/projects/${project}/models/rent/describe?attribute=features`,
    `/api/projects/${project}/jobs/one/history`,
    ...['skills', 'agents', 'views'].map((kind) => `/api/projects/${project}/${kind}/one/history`),
    `/api/projects/${project}/jobs/one/history?of=changes`,
    ...singles(`/api/databases/${project}/tables`, ['one']),
    `/api/tree/${project}`,
  ]),
  ...singles('/api/databases', ['one', 'two', 'shop', 'files', 'log']),
  ...singles('/api/files', ['one', 'two']),
  '/api/tree',
  '/api/databases/one/history',
  '/api/files/one/history',
  '/api/config',
  '/api/sql/list_databases',
]

/** One request at random. Many are refused: of what is not there, or is there already. */
const change = async (random: Random): Promise<void> => {
  const any = <T>(of: readonly T[]): T => of[random.below(of.length)]!
  const write = (method: string, path: string, body?: unknown) => send(service.url, method, encodeURI(path), body)
  const [project, name, other, number] = [any(projects), any(names), any(names), random.below(1_000)]
  const of = `/api/projects/${project}`
  const secret = { note: `n${number}`, api_key: `sk-${number}` }
  const writes: (() => Promise<unknown>)[] = [
    () => write('POST', '/api/projects', { project: { name: project } }),
    () => write('POST', `${of}/skills`, { skill: { name, type: 'sql', params: secret } }),
    () => write('PUT', `${of}/skills/${name}`, { skill: { name: other, params: { [any(['note', 'more'])]: number } } }),
    () => write('PUT', `${of}/skills/${name}`, { skill: { type: `t${number}` } }),
    () => write('DELETE', `${of}/skills/${name}`),
    () => write('POST', `${of}/agents`, { agent: { name, model_name: 'm', skills: [other], params: secret } }),
    () => write('PUT', `${of}/agents/${name}`, { agent: { name: other, skills_to_add: [any(names)], params: { number } } }),
    () => write('PUT', `${of}/agents/${name}`, { agent: { skills_to_remove: [other] } }),
    () => write('DELETE', `${of}/agents/${name}`),
    () =>
      write('POST', '/api/databases', { database: { name: any(['one', 'two']), engine: 'slack', parameters: { token: `x${number}` } } }),
    () => write('PUT', `/api/databases/${any(['one', 'two'])}`, { database: { parameters: { channel: `c${number}` } } }),
    () => write('DELETE', `/api/databases/${any(['one', 'two'])}`),
    () => write('POST', `${of}/chatbots`, { chatbot: { name, agent_name: other, database_name: any(['one', 'two']) } }),
    () => write('PUT', `${of}/chatbots/${name}`, { chatbot: { name: other, agent_name: any(names), params: { number } } }),
    () => write('DELETE', `${of}/chatbots/${name}`),
    () => write('POST', `${of}/views`, { view: { name, query: `SELECT ${number} AS n` } }),
    () => write('PUT', `${of}/views/${name}`, { view: { query: `SELECT ${number} AS m` } }),
    () => write('DELETE', `${of}/views/${name}`),
    () => write('POST', `${of}/jobs`, { job: { name: 'one', query: `SELECT ${number}`, schedule_str: 'every 5 hours' } }),
    () => write('PUT', `${of}/jobs/one`, { job: { query: `SELECT ${number}`, schedule_str: 'every 9 hours' } }),
    () => write('DELETE', `${of}/jobs/one`),
    () => upload(any(['one', 'two']), number),
    () => write('DELETE', `/api/files/${any(['one', 'two'])}`),
    () => write('PUT', '/api/config', { default_llm: any<object>([{}, secret, { number }]) }),
    () => sql(service.url, `ALTER DATABASE ${any(['shop', 'office'])} NAME = '${any(['shop', 'office', 'elsewhere'])}'`),
    () => sql(service.url, `ALTER DATABASE elsewhere NAME = '${any(['shop', 'office'])}'`),
    () => sql(service.url, `DROP MODEL rent.${1 + random.below(2)}`, 'shop'),
    () => sql(service.url, `SET active rent.${1 + random.below(2)}`, 'shop'),
  ]
  await any(writes)()
}

const upload = (name: string, number: number) => {
  const form = new FormData()
  const rows = Array.from({ length: 60 }, (_, i) => `${20 + i},${number + i * 7}`)
  form.set('file', new Blob([['size,rent', ...rows].join('\n')]), 'rows.csv')
  return send(service.url, 'PUT', `/api/files/${name}`, form)
}

const head = async () => (await service.service.head()).position
const recordedAt = async (position: number): Promise<string> => {
  const [event] = await service.service.log.readAll(position - 1, 1)
  return parseEnvelope(event!.text).recorded_at
}

/** An answer without what the log does not know: how far a training is while it runs. */
const lasting = <A extends object>(answer: A): A =>
  JSON.parse(
    JSON.stringify(answer, (key, value: unknown) => (key === 'progress' ? undefined : key === 'current_phase' ? null : value)),
  ) as A

/** What every address answers, and at which position; undefined when something happened meanwhile. */
const look = async () => {
  const before = await head()
  const answers = new Map(
    await Promise.all(
      addresses.map(async (path) => {
        const { at: _, ...answer } = await get(path)
        return [path, lasting(answer)] as const
      }),
    ),
  )
  return (await head()) === before ? { position: before, answers } : undefined
}

test('every GET with as_of answers what it answered then, by position and by time', async () => {
  const random = new Random(countOf('SEED'))
  const remembered: { position: number; answers: Map<string, Answer> }[] = []
  const remember = async () => {
    let seen = await look()
    // While a training or a job goes on, it is looked at again. They end, and no job runs again within hours.
    while (!seen) seen = await look()
    remembered.push(seen)
  }
  await sql(service.url, 'CREATE PROJECT shop')
  await upload('one', 1)
  await sql(service.url, "CREATE MODEL rent FROM files (SELECT * FROM one) PREDICT rent USING engine = 'linear'", 'shop')
  await remember()
  expect(await settled(service.url, 'rent', 'shop')).toBe('complete')
  await remember()
  await sql(service.url, 'RETRAIN rent FROM files (SELECT * FROM one WHERE size > 30) PREDICT rent', 'shop')
  expect(await settled(service.url, 'rent.2', 'shop')).toBe('complete')
  for (let round = 0; round < 2 * times; round++) {
    for (let n = 0; n < 80; n++) await change(random)
    await remember()
  }
  expect(remembered.length).toBeGreaterThan(2 * times)
  for (const { position, answers } of remembered) {
    const time = await recordedAt(position)
    const forms = [String(position), time, time.replace('T', ' ').replace('Z', '')]
    const same = async ([path, answer]: [string, Answer]) => {
      const when = forms[random.below(forms.length)]!
      expect({ path, when, ...(await get(path, when)) }).toEqual({ path, when, ...answer, at: String(position) })
    }
    await Promise.all([...answers].map(same))
  }
  // What is compared is worth comparing.
  const seen = remembered.flatMap(({ answers }) => [...answers].filter(([, { status }]) => status === 200).map(([path]) => path))
  expect(new Set(seen).size).toBeGreaterThan(addresses.length * 0.4)
})
