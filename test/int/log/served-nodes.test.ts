import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../../src/basics/limits.js'
import { undoAll } from '../../../src/basics/undo.js'
import { mindledger } from '../../support/cli.js'
import { password } from '../../support/connections/postgres.js'
import { countOf } from '../../support/counts.js'
import { logServer } from '../../support/log/each-log.js'
import { rowsIn } from '../../support/log/nodes.js'
import { settled } from '../../support/models/rentals.js'
import { filesUnder, tracesInFiles } from '../../support/observe/traces.js'
import { answered, rowsNow, send, spawnService, sql, temporaryDirectory, type Reply } from '../../support/service.js'
import { until } from '../../support/until.js'
import { isRunning, signalTo } from '../../support/processes.js'

const { server } = logServer()
const keys = { VAULT_KEY: 'ab'.repeat(32), HEAD_KEY: 'cd'.repeat(32) }

type Node = { url: string; directory: string; lines: string[]; pid: number; stop: () => Promise<void> }

/** What ends after each test: a node that nobody needs any more would take time from the next ones. */
const undo: (() => unknown)[] = []
afterEach(() => undoAll(undo.splice(0)))

/** `after` gets what ends the node, and removes its directory. */
const startNode = async (logUrl: string, settings: Record<string, string> = {}, directory?: string, after = undo): Promise<Node> => {
  const fresh = directory === undefined ? temporaryDirectory() : undefined
  const path = directory ?? fresh?.path ?? ''
  if (fresh) after.push(fresh.remove)
  const { child, url, lines } = await spawnService(path, { ...keys, LOG_URL: logUrl, ...settings })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  after.push(stop)
  return { url, directory: path, lines, pid: child.pid ?? 0, stop }
}

const skillsPath = '/api/projects/mindsdb/skills'
const createSkill = (node: Node, name: string): Promise<Reply> =>
  send(node.url, 'POST', skillsPath, { skill: { name, type: 'sql', params: { database: 'files', tables: [name] } } })
const readOnce = (node: Node, path: string, headers: Record<string, string> = {}): Promise<Reply> =>
  send(node.url, 'GET', path, undefined, headers)
const read = (...asked: Parameters<typeof readOnce>): Promise<Reply> => answered(() => readOnce(...asked))
const positionOf = ({ headers }: Reply): string => headers.get('mindledger-position') ?? ''
const ready = async (node: Node, part = ''): Promise<{ status: number; body: Record<string, Record<string, unknown>> }> => {
  const { status, body } = await readOnce(node, `/api/ready${part}`)
  return { status, body: body as Record<string, Record<string, unknown>> }
}

/** Bytes of each payload and of its key, as they stand in the file of a node. */
const sealedAt = ({ directory }: Node): Map<string, Buffer[]> => {
  const db = new Database(join(directory, 'log.sqlite'), { readonly: true })
  type Payload = { hash: string; wrapped: Buffer; body: Buffer }
  const rows = db.prepare<[], Payload>('SELECT hash, wrapped, body FROM payloads WHERE wrapped IS NOT NULL').all()
  db.close()
  return new Map(rows.map(({ hash, wrapped, body }) => [hash, [wrapped.subarray(0, 12), body.subarray(12, 24)]]))
}

const preload = new URL('../../support/shifted-date.js', import.meta.url).href

describe('two nodes of one log', () => {
  let [url, a, b, local]: [string, Node, Node, Node] = ['', ...([] as unknown as [Node, Node, Node])]
  const undoOfAll: typeof undo = []
  const startForAll = (settings: Record<string, string> = {}, directory?: string) => startNode(url, settings, directory, undoOfAll)
  beforeAll(async () => {
    url = await server().newUrl()
    a = await startForAll()
    b = await startForAll()
    local = await startForAll({ READS: 'local' })
  })
  afterAll(() => undoAll(undoOfAll))

  test('read over REST and SQL what the other acknowledged, at once', async () => {
    for (let i = 0; i < countOf('NODE_READS'); i++) {
      const [writing, reading] = i % 2 === 0 ? [a, b] : [b, a]
      expect((await createSkill(writing, `s${i}`)).status).toBe(201)
      const [rest, rows] = await Promise.all([
        read(reading, `${skillsPath}/s${i}`),
        sql(reading.url, `SELECT name FROM skills WHERE name = 's${i}'`),
      ])
      expect([rest.status, rows.data]).toEqual([200, [[`s${i}`]]])
    }
  })

  test('decide together: a name is taken once, and a key gives one answer on both', async () => {
    const both = await Promise.all([createSkill(a, 'once'), createSkill(b, 'once')])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
    const body = { skill: { name: 'keyed', type: 'sql', params: {} } }
    const keyed = (node: Node) => send(node.url, 'POST', skillsPath, body, { 'idempotency-key': 'k1' })
    const [first, again] = [await keyed(a), await answered(() => keyed(b))]
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.body).toEqual(first.body)
  })

  test('share the defaults that one of them was given', async () => {
    const llm = { provider: 'openai', model_name: 'gpt-4o', api_key: 'sk-of-all-nodes' }
    expect((await send(a.url, 'PUT', '/api/config', { default_llm: llm })).status).toBe(200)
    expect((await read(b, '/api/config')).body).toMatchObject({ default_llm: { model_name: 'gpt-4o', api_key: '******' } })
  })

  test('with READS=local see a position that the header names, or that as_of and AT name', async () => {
    await sql(local.url, 'SELECT 1')
    for (let i = 0; i < 10; i++) {
      const written = await createSkill(a, `h${i}`)
      const position = positionOf(written)
      expect(Number(position)).toBeGreaterThan(0)
      expect((await read(local, `${skillsPath}/h${i}`, { 'Mindledger-Position': position })).status).toBe(200)
      const asked = positionOf(await createSkill(b, `q${i}`))
      const query = { query: `SELECT name FROM skills WHERE name = 'q${i}'` }
      const rows = await answered(() => send(local.url, 'POST', '/api/sql/query', query, { 'Mindledger-Position': asked }))
      expect(rows.body).toMatchObject({ data: [[`q${i}`]] })
      const event = positionOf(await createSkill(b, `e${i}`))
      expect((await read(local, `/api/events/${event}`)).status).toBe(200)
      const followed = new AbortController()
      const last = positionOf(await createSkill(b, `l${i}`))
      await until(async () => {
        const stream = await fetch(`${local.url}/api/events/stream`, { headers: { 'Last-Event-ID': last }, signal: followed.signal })
        return stream.status === 200
      })
      followed.abort()
      const then = positionOf(await createSkill(b, `t${i}`))
      expect((await read(local, `${skillsPath}/t${i}?as_of=${then}`)).status).toBe(200)
      const at = positionOf(await createSkill(a, `v${i}`))
      expect((await sql(local.url, `SELECT name FROM skills AT (VERSION => ${at}) WHERE name = 'v${i}'`)).data).toEqual([[`v${i}`]])
    }
  })

  test('refuse a position that nobody acknowledged, and a header that is none', async () => {
    for (const node of [a, local]) {
      let refused: Reply | undefined
      // A busy machine may keep the node from hearing how far the others are.
      await until(async () => {
        refused = await readOnce(node, skillsPath, { 'Mindledger-Position': '999999' })
        return JSON.stringify(refused.body).includes('asks for 999999')
      })
      expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([503, '1'])
      expect(refused?.body).toMatchObject({ code: 'behind', detail: expect.stringContaining('asks for 999999') })
      expect((await read(node, skillsPath, { 'Mindledger-Position': 'x' })).status).toBe(400)
      const behind = await send(node.url, 'POST', '/api/sql/query', { query: 'SELECT 1' }, { 'Mindledger-Position': '999999' })
      expect(behind).toMatchObject({ status: 503, body: { code: 'behind' } })
      expect((await read(node, `${skillsPath}?as_of=999999`)).status).toBe(400)
      expect((await sql(node.url, 'SELECT * FROM skills AT (VERSION => 999999)')).error_message).toContain('is beyond the head of the log')
    }
  })

  test('are listed with what they have, and tell how they stand to PostgreSQL', async () => {
    await until(async () => {
      const { out } = await mindledger(['nodes', '--json'], { ...keys, LOG_URL: url })
      const nodes = out.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>) // prettier-ignore
      return nodes.length === 3 && nodes.every(({ address, lag }) => address !== null && lag === 0)
    })
    const { code, out } = await mindledger(['nodes'], { ...keys, LOG_URL: url })
    expect(code).toBe(0)
    const [head, ...rows] = out.trim().split('\n')
    expect(head).toMatch(/^state +id +version +address +seen +position +lag$/)
    expect(rows).toHaveLength(3)
    for (const node of [a, b]) {
      const id = readFileSync(join(node.directory, 'node.id'), 'utf8').trim()
      expect(rows.some((row) => row.startsWith('alive') && row.includes(id) && row.includes(node.url))).toBe(true)
    }
    const { status, body } = await ready(a)
    expect([status, body['log']?.['shared']]).toEqual([200, { state: 'following', lag: { batches: 0, events: 0 } }])
    const metrics = (await read(b, '/api/metrics')).body as string
    expect(metrics).toContain('mindledger_log_shared_state{state="following"} 1')
    expect(metrics).toContain('mindledger_log_shared_lag{unit="batches"} 0')
    expect((await mindledger(['status'], { ...keys, DATA_DIR: a.directory })).out).toMatch(
      /^shared log +following, at the head of the log$/m,
    )
  })

  test('go on without PostgreSQL as far as they can, and by themselves when it is back', async () => {
    await createSkill(a, 'before')
    await until(async () => (await read(local, `${skillsPath}/before`)).status === 200)
    const { postgres } = server()
    await postgres.kill()
    expect((await createSkill(a, 'away')).status).toBe(503)
    let refused: Reply | undefined
    await until(async () => {
      refused = await readOnce(a, `${skillsPath}/before`)
      return JSON.stringify(refused.body).includes('cannot be reached')
    })
    expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([503, '1'])
    expect(refused?.body).toMatchObject({ code: 'behind', detail: expect.stringContaining('cannot be reached') })
    expect((await send(a.url, 'POST', '/api/sql/query', { query: 'SELECT 1' })).status).toBe(503)
    expect((await read(local, `${skillsPath}/before`)).status).toBe(200)
    expect((await sql(local.url, `SELECT name FROM skills WHERE name = 'before'`)).data).toEqual([['before']])
    const isAway = async (node: Node) => {
      const { status, body } = await ready(node)
      return status === 503 && JSON.stringify(body['log']).includes('"unreachable"')
    }
    await until(async () => (await isAway(a)) && (await isAway(local)))
    expect((await ready(a)).body['log']).toMatchObject({ writable: false, shared: { state: 'unreachable' } })
    expect((await ready(a, '?for=reads')).status).toBe(503)
    expect((await ready(local, '?for=reads')).status).toBe(200)
    expect((await read(a, '/api/health')).status).toBe(200)
    await postgres.revive()
    await until(async () => {
      const all = await Promise.all([a, b, local].map((node) => ready(node)))
      return all.every(({ status }) => status === 200)
    })
    expect((await createSkill(b, 'after')).status).toBe(201)
    expect((await read(a, `${skillsPath}/after`)).status).toBe(200)
  })

  test('name what PostgreSQL lost, and write no more', async () => {
    const lonely = await server().newUrl()
    const node = await startNode(lonely)
    const stream = await fetch(`${node.url}/api/events/stream`)
    for (const name of ['x', 'y', 'z']) await createSkill(node, name)
    const head = Number(positionOf(await createSkill(node, 'last')))
    await server().inDatabase(
      lonely,
      `SET session_replication_role = replica;
       DELETE FROM mindledger.events WHERE position = ${head};
       UPDATE mindledger.head SET position = position - 1, seq = seq - 1,
         chain = (SELECT chain FROM mindledger.events WHERE position = ${head - 1});
       DELETE FROM mindledger.batches WHERE position = ${head}`,
    )
    await until(async () => JSON.stringify((await ready(node)).body['log']).includes('"other_log"'))
    expect((await ready(node)).body['log']).toMatchObject({
      reason: expect.stringContaining(`positions ${head} to ${head}`),
      shared: { state: 'other_log' },
    })
    expect((await createSkill(node, 'more')).status).toBe(503)
    const { body } = await readOnce(node, skillsPath)
    expect(body).toMatchObject({ code: 'behind', detail: expect.stringContaining('lacks the positions') })
    // Its clients have to ask another node.
    expect(await stream.text()).toContain('event: SkillCreated')
  })

  test('have no byte of what was erased in any file when that is answered; one that was away has none when it serves', async () => {
    const word = () =>
      `q${randomBytes(8)
        .toString('hex')
        .replaceAll(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '')}q`
    const tracesAt = (node: Node, needles: readonly (string | Buffer)[]) =>
      tracesInFiles(
        filesUnder(node.directory),
        needles.map((needle) => Buffer.from(needle)),
      ).map(({ file, needles: which }) => `${file.slice(node.directory.length + 1)}: ${which.length}`)
    const rows = `SELECT i AS x, CASE i % 2 WHEN 0 THEN 'near' ELSE 'far' END AS place, 2 * i AS y FROM range(60) AS r(i)`
    await sql(a.url, `CREATE MODEL rent FROM files (${rows}) PREDICT y USING engine = 'linear'`)
    await until(async () => (await settled(a.url, 'rent')) === 'complete')
    const known = new Set(sealedAt(a).keys())

    const bases = '/api/projects/mindsdb/knowledge_bases'
    const [place, documents] = [word(), Array.from({ length: 8 }, () => ({ id: word(), content: word() }))]
    expect((await send(a.url, 'POST', bases, { knowledge_base: { name: 'docs' } })).status).toBe(201)
    expect((await send(a.url, 'PUT', `${bases}/docs`, { knowledge_base: { rows: documents } })).status).toBe(200)
    const predicted = [{ x: 1, place }]
    const ofRequest = { 'x-request-id': 'to-be-erased' }
    const predict = () => send(b.url, 'POST', '/api/projects/mindsdb/models/rent/predict', predicted, ofRequest)
    expect((await answered(predict)).status).toBe(200)
    const words = documents.flatMap(({ id, content }) => [id, content])
    // An answer says that this node has all of it.
    await sql(a.url, 'SELECT 1')
    const sealed = [...sealedAt(a)].flatMap(([hash, bytes]) => (known.has(hash) ? [] : bytes))
    expect(sealed.length).toBeGreaterThan(2)
    const all = [place, ...words, ...sealed]
    for (const node of [a, b, local]) {
      await until(async () => (await rowsNow(node.url, `SELECT input FROM log.predictions WHERE readable`)).length === 1)
      await until(async () => (await rowsNow(node.url, `SELECT id FROM docs WHERE content = '${words[1]!}'`)).length > 0)
      expect(tracesAt(node, [place])).not.toEqual([])
      expect(tracesAt(node, words)).not.toEqual([])
    }
    await b.stop()
    expect(tracesAt(b, sealed)).not.toEqual([])
    expect((await send(a.url, 'POST', '/api/log/erasures', { request: 'to-be-erased' })).status).toBe(200)
    for (const node of [a, local]) expect(tracesAt(node, [place])).toEqual([])
    const asked = await send(a.url, 'POST', '/api/log/erasures', { documents: { project: 'mindsdb', knowledge_base: 'docs' } })
    for (const node of [a, local]) expect(tracesAt(node, all)).toEqual([])
    expect(asked).toMatchObject({ status: 200, body: { rows: 8 } })
    b = await startForAll({}, b.directory)
    expect(tracesAt(b, all)).toEqual([])
  })

  test('stop and start again with the same id, and one that was killed, too', async () => {
    const { directory } = b
    const id = readFileSync(join(directory, 'node.id'), 'utf8')
    await b.stop()
    b = await startForAll({}, directory)
    signalTo(b.pid, 'SIGKILL')
    await until(() => !isRunning(b.pid))
    await createSkill(a, 'meanwhile')
    b = await startForAll({}, directory)
    expect(readFileSync(join(directory, 'node.id'), 'utf8')).toBe(id)
    expect((await read(b, `${skillsPath}/meanwhile`)).status).toBe(200)
  })

  test('no line and no answer has the password', async () => {
    const said = [a, b, local].flatMap(({ lines }) => lines).join('\n')
    expect(said).toContain('serving')
    expect(said).not.toContain(password)
    for (const path of ['/api/ready', '/api/status', '/api/metrics', '/api/config'])
      expect(JSON.stringify((await readOnce(a, path)).body)).not.toContain(password)
  })
})

describe('a login', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const login = { AUTH: 'session', AUTH_USERNAME: 'me', AUTH_PASSWORD: 'of the nodes' }
  const enter = async (node: Node): Promise<string> => {
    const { body } = await send(node.url, 'POST', '/api/login', { username: 'me', password: 'of the nodes' })
    return (body as { token: string }).token
  }
  const statusAt = async (node: Node, token: string) => (await read(node, '/api/projects', bearer(token))).status

  test('holds at every node and after a restart; a logout at one ends it at all, its streams too, and no token is kept', async () => {
    const url = await server().newUrl()
    const a = await startNode(url, login)
    const b = await startNode(url, login)
    const token = await enter(a)
    expect([await statusAt(a, token), await statusAt(b, token)]).toEqual([200, 200])
    expect(await statusAt(b, `pat_${'x'.repeat(43)}`)).toBe(401)
    expect(await statusAt(b, 'nothing of this kind')).toBe(401)
    const kept: string[] = []
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query('SELECT * FROM mindledger.logins')
    await client.end()
    kept.push(JSON.stringify(rows))
    expect(kept.join()).not.toContain(token)
    expect(rows).toHaveLength(1)

    const stream = await fetch(`${b.url}/api/events/stream`, { headers: { authorization: `Bearer ${token}` } })
    const ended = stream.text().then(
      () => true,
      () => true,
    )
    await a.stop()
    const again = await startNode(url, login, a.directory)
    expect(await statusAt(again, token)).toBe(200)
    expect((await send(again.url, 'POST', '/api/logout', undefined, { authorization: `Bearer ${token}` })).status).toBe(200)
    expect(await statusAt(again, token)).toBe(401)
    await until(async () => (await statusAt(b, token)) === 401)
    expect(await ended).toBe(true)
  })

  test('beyond those that may be valid at the same time ends the oldest one, of all nodes', async () => {
    const url = await server().newUrl()
    const [a, b] = [await startNode(url, login), await startNode(url, login)]
    const first = await enter(a)
    const others = `SELECT 'other ' || n, 'me', now() + interval '1 year' FROM generate_series(1, ${limits.sessionsMax - 1}) AS n`
    await rowsIn(url, `INSERT INTO mindledger.logins (login, actor, until) ${others}`)
    const second = await enter(b)
    expect(await rowsIn(url, 'SELECT count(*)::int AS n FROM mindledger.logins')).toEqual([{ n: limits.sessionsMax }])
    expect(await statusAt(b, first)).toBe(401)
    expect(await statusAt(b, second)).toBe(200)
  })

  const isAway = async (node: Node, token: string) => {
    const { status, body } = await readOnce(node, '/api/projects', bearer(token))
    return status === 503 && (body as { title: string }).title === 'Logins away'
  }

  test('that cannot be looked up is a 503, and what needs none is answered', async () => {
    const url = await server().newUrl()
    const node = await startNode(url, login)
    const token = await enter(node)
    await server().postgres.kill()
    try {
      await until(() => isAway(node, token))
      expect((await read(node, '/api/util/ping')).status).toBe(200)
      expect((await send(node.url, 'POST', '/api/login', { username: 'me', password: 'wrong' })).status).toBe(401)
      expect((await send(node.url, 'POST', '/api/login', { username: 'me', password: 'of the nodes' })).status).toBe(503)
    } finally {
      await server().postgres.revive()
    }
    await until(async () => (await statusAt(node, token)) === 200)
  })

  test('goes on for local reads without PostgreSQL where it was seen as valid; a write and an unknown login are refused', async () => {
    const url = await server().newUrl()
    const node = await startNode(url, { ...login, READS: 'local' })
    const other = await startNode(url, login)
    const token = await enter(node)
    const elsewhere = await enter(other)
    const skill = { name: 'away', type: 'sql', params: {} }
    await server().postgres.kill()
    try {
      await until(() => isAway(other, elsewhere))
      const begun = performance.now()
      await until(async () => {
        expect(await statusAt(node, token)).toBe(200)
        return performance.now() - begun > 2 * limits.sessionLookMs
      })
      await until(async () => {
        const { body } = await send(node.url, 'POST', '/api/sql/query', { query: 'SELECT 1' }, bearer(token))
        return (body as { type?: string }).type === 'table'
      })
      expect((await send(node.url, 'POST', skillsPath, { skill }, bearer(token))).status).toBe(503)
      expect(await isAway(node, elsewhere)).toBe(true)
    } finally {
      await server().postgres.revive()
    }
    await until(async () => (await statusAt(node, elsewhere)) === 200)
    expect((await answered(() => send(other.url, 'POST', '/api/logout', undefined, bearer(token)))).status).toBe(200)
    await until(async () => (await statusAt(node, token)) === 401)
  })
})

describe('a start with LOG_URL', () => {
  const serve = async (settings: Record<string, string>, directory = temporaryDirectory()) => {
    undo.push(directory.remove)
    const ended = await mindledger(['serve'], { ...keys, PORT: '0', DATA_DIR: directory.path, ...settings })
    expect(ended.err.trim().split('\n')).toHaveLength(1)
    expect(ended.err + ended.out).not.toContain(password)
    return ended
  }

  test('needs the keys that all nodes have', async () => {
    const { code, err } = await serve({ LOG_URL: 'postgres://u@h/d', HEAD_KEY: '' })
    expect([code, err]).toEqual([2, expect.stringContaining('HEAD_KEY: must be set when LOG_URL is')])
  })

  test.each([
    ['mysql://u@h/d', 'LOG_URL: must be postgres://'],
    [`postgres://u:${password}@h`, 'LOG_URL: must be postgres://'],
    [`postgres://u:${password}%@h:x/d`, 'LOG_URL: must be postgres://'],
    [`postgres://u:${password}@127.0.0.1:1/d`, 'the shared log at 127.0.0.1:1/d cannot be opened: connect ECONNREFUSED'],
    [`postgres://u:${password}@localhost:1/d`, 'the shared log at localhost:1/d cannot be opened: connect ECONNREFUSED'],
    [`postgres://u:${password}@nowhere.invalid/d`, 'the shared log at nowhere.invalid/d cannot be opened: getaddrinfo'],
    [`postgres://u:${password}@127.0.0.1:1/d?sslmode=verify-full&sslrootcert=/absent.pem`, '/absent.pem'],
  ])('says in one line what is wrong with %s', async (LOG_URL, says) => {
    const { code, err } = await serve({ LOG_URL })
    expect([code, err]).toEqual([2, expect.stringContaining(says)])
  })

  test('says in one line that the password is wrong, and that TLS was asked for where there is none', async () => {
    const url = await server().newUrl()
    const wrong = await serve({ LOG_URL: url.replace(password, 'wr0ng-one') })
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('password authentication failed for user "postgres"')])
    expect(wrong.err).not.toContain('wr0ng-one')
    const plain = await serve({ LOG_URL: `${url}?sslmode=verify-full` })
    expect([plain.code, plain.err]).toEqual([2, expect.stringContaining('does not support SSL connections')])
  })

  test('refuses a data directory of another log, and one with a log of its own', async () => {
    const [one, other] = [await server().newUrl(), await server().newUrl()]
    const directory = temporaryDirectory()
    undo.push(directory.remove)
    await (await startNode(one, {}, directory.path)).stop()
    expect((await serve({ LOG_URL: other }, directory)).err).toContain('and the shared log is')
    const alone = await serve({ LOG_URL: '' }, directory)
    expect(alone.err).toContain('a copy of a log that nodes share: set LOG_URL')

    const own = temporaryDirectory()
    undo.push(own.remove)
    const { child } = await spawnService(own.path, keys)
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
    const unused = await server().newUrl()
    expect((await serve({ LOG_URL: unused }, own)).err).toContain('a log of its own')
    expect((await mindledger(['nodes'], { ...keys, LOG_URL: unused })).err).toContain('this database has no log yet')
  })

  test('refuses a copied data directory while the first one is served', async () => {
    const url = await server().newUrl()
    let first = await startNode(url)
    const copy = temporaryDirectory()
    undo.push(copy.remove)
    writeFileSync(join(copy.path, 'node.id'), readFileSync(join(first.directory, 'node.id')))
    let refused = ''
    // A node that is not heard for a moment, as on a busy machine, loses its id to the copy, which then serves.
    await until(async () => {
      const started = await startNode(url, {}, copy.path).catch(String)
      if (typeof started === 'string') {
        refused = started
        return true
      }
      await started.stop()
      await first.stop()
      first = await startNode(url, {}, first.directory)
      return false
    })
    expect(refused.trim().split('\n')).toEqual([expect.stringMatching(/ended with 2: .* delete its file node\.id/)])
    expect(refused).not.toContain(password)
  })
})

test('nodes whose clocks are slow and fast know by that of PostgreSQL the time of events, what is in the future, and when a job starts', async () => {
  const hour = 3_600_000
  const url = await server().newUrl()
  const shifted = (ms: number) => startNode(url, { NODE_OPTIONS: `--import=${preload}`, SHIFT_MS: String(ms) })
  const nodes = [await shifted(-hour), await shifted(hour)]
  const clock = async (): Promise<number> =>
    (await rowsIn<{ now: number }>(url, 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now'))[0]?.now ?? NaN
  const times: number[] = []
  for (const [n, node] of [...nodes, ...nodes].entries()) {
    const before = await clock()
    const position = positionOf(await createSkill(node, `timed${n}`))
    const after = await clock()
    times.push(after)
    for (const each of nodes) {
      const { data } = await sql(each.url, `SELECT epoch_ms(recorded_at) FROM log.events WHERE position = ${position}`)
      expect(Number(data[0]?.[0])).toBeGreaterThan(before - 1_000)
      expect(Number(data[0]?.[0])).toBeLessThan(after + 1_000)
    }
  }
  const time = new Date(times[1] ?? NaN).toISOString()
  for (const node of nodes) {
    expect((await read(node, `${skillsPath}/timed0?as_of=${time}`)).status).toBe(200)
    expect((await sql(node.url, `SELECT name FROM skills AT (TIMESTAMP => '${time}') WHERE name = 'timed0'`)).data).toEqual([['timed0']])
    const soon = new Date((await clock()) + hour / 2).toISOString()
    expect(await read(node, `${skillsPath}?as_of=${soon}`)).toMatchObject({ status: 400 })
    // SQL also takes times before that of its machine, because now() is one of these.
    const later = new Date((await clock()) + 2 * hour).toISOString()
    expect((await sql(node.url, `SELECT name FROM skills AT (TIMESTAMP => '${later}')`)).error_message).toContain('in the future')
    const job = { name: `of_${new URL(node.url).port}`, query: 'SELECT 1', schedule_str: 'every 2 hours' }
    const made = await send(node.url, 'POST', '/api/projects/mindsdb/jobs', { job })
    const start = Date.parse(`${(made.body as { start_at: string }).start_at.replace(' ', 'T')}Z`)
    expect(Math.abs(start - (await clock()))).toBeLessThan(hour / 2)
  }
})

test('jobs and trainings are done where SQL can answer: a node that cannot open its tables leaves them to another', async () => {
  const url = await server().newUrl()
  const b = await startNode(url)
  const directory = temporaryDirectory()
  undo.push(directory.remove)
  writeFileSync(join(directory.path, 'tables'), 'in the way')
  const a = await startNode(url, {}, directory.path)
  expect((await ready(a)).body['sql']).toMatchObject({ ready: false })
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) {
    const job = { name, query: 'SELECT 1', start_at: new Date().toISOString().slice(0, 23) }
    // The node that was asked is the first one to see that the job is due.
    expect((await answered(() => send(a.url, 'POST', '/api/projects/mindsdb/jobs', { job }))).status).toBe(200)
    const rows = 'SELECT i AS x, 2 * i AS y FROM range(200) AS r(i)'
    await sql(b.url, `CREATE MODEL ${name} FROM files (${rows}) PREDICT y USING engine = 'linear'`)
  }
  const count = (query: string) => async () => Number((await rowsNow(b.url, query))[0]?.[0]) === names.length
  await until(count(`SELECT count(*) FROM models WHERE status = 'complete'`), 5 * 60_000)
  await until(count(`SELECT count(*) FROM log.job_runs WHERE outcome = 'complete'`), 5 * 60_000)
})

test('a backup of a node is a log of its own, which goes on without PostgreSQL', async () => {
  const url = await server().newUrl()
  const node = await startNode(url)
  await createSkill(node, 'kept')
  const place = temporaryDirectory()
  undo.push(place.remove)
  const [backup, restored] = [join(place.path, 'backup'), join(place.path, 'restored')]
  const env = { ...keys, DATA_DIR: node.directory }
  expect((await mindledger(['backup', '--into', backup], env)).code).toBe(0)
  await node.stop()
  expect((await mindledger(['verify'], env)).code).toBe(0)
  expect((await mindledger(['head', '--new-key'], { ...env, HEAD_KEY: 'ef'.repeat(32) })).err).toContain('set LOG_URL')
  expect((await mindledger(['rotate-key'], { ...env, NEW_VAULT_KEY: 'ef'.repeat(32) })).err).toContain('set LOG_URL')
  expect((await mindledger(['restore', backup, '--into', restored], keys)).code).toBe(0)
  const { child, url: alone } = await spawnService(restored, keys)
  undo.push(() => child.kill('SIGKILL'))
  expect((await send(alone, 'GET', `${skillsPath}/kept`)).status).toBe(200)
  expect((await send(alone, 'POST', skillsPath, { skill: { name: 'own', type: 'sql', params: {} } })).status).toBe(201)
  expect(existsSync(join(restored, 'node.id'))).toBe(false)
})

test('a node begins with a backup of another one, and gets what was written and erased since; not one that went on alone', async () => {
  const url = await server().newUrl()
  const first = await startNode(url)
  const secret = 'Xk7-in-the-backup'
  await send(first.url, 'POST', skillsPath, { skill: { name: 'known', type: 'sql', params: { password: secret } } })
  await createSkill(first, 'old')
  const place = temporaryDirectory()
  undo.push(place.remove)
  const [backup, joined, alone] = ['backup', 'joined', 'alone'].map((name) => join(place.path, name)) as [string, string, string]
  expect((await mindledger(['backup', '--into', backup], { ...keys, DATA_DIR: first.directory })).code).toBe(0)
  for (const into of [joined, alone]) expect((await mindledger(['restore', backup, '--into', into], keys)).code).toBe(0)

  await createSkill(first, 'new')
  expect(
    (await send(first.url, 'POST', '/api/log/erasures', { secrets: { kind: 'skill', project: 'mindsdb', name: 'known' } })).status,
  ).toBe(200)
  const second = await startNode(url, {}, joined)
  const verified = await mindledger(['verify'], { ...keys, LOG_URL: url, DATA_DIR: joined })
  expect([verified.code, verified.err]).toEqual([0, ''])
  const events = 'SELECT position, type, data FROM log.events ORDER BY position'
  expect((await sql(second.url, events)).data).toEqual((await sql(first.url, events)).data)
  expect((await createSkill(second, 'own')).status).toBe(201)
  expect((await read(first, `${skillsPath}/own`)).status).toBe(200)
  await second.stop()

  const { child, url: at } = await spawnService(alone, keys)
  await send(at, 'POST', skillsPath, { skill: { name: 'other', type: 'sql', params: {} } })
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
  const refused = await mindledger(['serve'], { ...keys, LOG_URL: url, DATA_DIR: alone, PORT: '0' })
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('the shared log does not have the events of this node')])
})
