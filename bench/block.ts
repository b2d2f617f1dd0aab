import { once } from 'node:events'
import { connect } from 'node:net'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { makeDirectory, removeDirectory } from './processes.js'
import { send, serviceAfter, trainModel, upload, type Target } from './harness.js'
import { bodies, type Largest } from './largest.js'

const skills = Number(process.env['BENCH_SKILLS'] ?? 20_000)
const writers = 64
const cars = join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '..', 'data', 'cars.json')
const bound = 250

/** How long the loop of the server was held up at most, in milliseconds, since this was asked before. */
const heldUp = async (socket: string): Promise<number> => {
  const client = connect(socket)
  let said = ''
  client.setEncoding('utf8').on('data', (text: string) => (said += text))
  await once(client, 'end')
  return Number(said)
}

const prepare = async (target: Target): Promise<void> => {
  await upload(target, 'cars', 'cars.json', readFileSync(cars, 'utf8'))
  await send(target, 'POST', '/api/databases', { database: { name: 'chat', engine: 'slack' } })
  for (const name of ['sales', 'taken'])
    await send(target, 'POST', '/api/projects/mindsdb/skills', { skill: { name, type: 'sql', params: {} } })
  for (const name of ['helper', 'taken'])
    await send(target, 'POST', '/api/projects/mindsdb/agents', { agent: { name, model_name: 'm', skills: ['sales'] } })
  await trainModel(target, 'cars_model', 'CREATE MODEL cars_model FROM files (SELECT * EXCLUDE (Name) FROM cars) PREDICT Miles_per_Gallon')
  let next = 0
  const write = async () => {
    for (let n = next++; n < skills; n = next++)
      await send(target, 'POST', '/api/projects/mindsdb/skills', {
        skill: { name: `s${n}`, type: 'sql', params: { about: 'x'.repeat(100) } },
      })
  }
  await Promise.all(Array.from({ length: writers }, write))
}

/** Every address that is read, from the document; the lists have all that was made. */
const reads = async (target: Target): Promise<Largest[]> => {
  const { paths } = (await send(target, 'GET', '/api/openapi.json')) as { paths: Record<string, Record<string, unknown>> }
  const names: Record<string, string> = {
    ...{ project: 'mindsdb', skill: 's7', agent: 'helper', model: 'cars_model', database: 'mindsdb', file: 'cars' },
    ...{ table: 'cars_model', handler: 'slack', position: '3' },
  }
  const known = Object.entries(paths).filter(([path, methods]) => 'get' in methods && !path.endsWith('/stream'))
  const addresses = known.map(([path]) => path.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? 'taken'))
  const past = ['skills', 'agents'].map((kind) => `/api/projects/mindsdb/${kind}?as_of=${skills}`)
  return [...addresses, ...past, '/api/tree/mindsdb?as_of=5'].map((path) => ({ name: `GET ${path}`, method: 'GET', path }))
}

const shows = [
  'SHOW SKILLS',
  'SHOW TABLES',
  'SHOW DATABASES',
  'SELECT * FROM skills',
  'SELECT * FROM skills_history',
  'SELECT * FROM log.events',
]

/** Feeds every address and statement the largest it takes, and prints how long others had to wait for each, the worst first. */
export const block = async (): Promise<void> => {
  const directory = makeDirectory('delay')
  const socket = join(directory, 'delay')
  const target = await serviceAfter(['bench/delay-probe.js'], { DELAY_SOCKET: socket })
  try {
    await prepare(target)
    const asked = [
      ...(await reads(target)),
      ...shows.map((query): Largest => ({ name: query, method: 'POST', path: '/api/sql/query', body: () => JSON.stringify({ query }) })),
      ...bodies,
    ]
    const lines: { delay: number; line: string }[] = []
    for (const { name, method, path, body } of asked) {
      const text = body?.()
      await heldUp(socket)
      const began = performance.now()
      const response = await fetch(target.url + path, {
        method,
        ...(text !== undefined && { body: text, headers: { 'content-type': 'application/json' } }),
      })
      let bytes = 0
      for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length
      const taken = performance.now() - began
      const delay = await heldUp(socket)
      const sizes = `${((text?.length ?? 0) / 1e6).toFixed(2)} MB in, ${(bytes / 1e6).toFixed(2)} MB out`
      lines.push({ delay, line: `${delay.toFixed(0).padStart(6)} ms  ${name}: ${response.status}, ${sizes}, ${taken.toFixed(0)} ms` })
    }
    lines.sort((a, b) => b.delay - a.delay)
    console.log(
      `block: the event loop is held up at most ${lines[0]?.delay.toFixed(0)} ms; ${lines.length} requests, those over ${bound} ms first`,
    )
    const over = lines.filter(({ delay }) => delay > bound).length
    for (const { line } of lines.slice(0, Math.max(20, over))) console.log(line)
  } finally {
    await target.stop()
    removeDirectory(directory)
  }
}
