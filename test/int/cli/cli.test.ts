import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, jest } from '@jest/globals'
import Database from 'better-sqlite3'
import { cliFile, freePort, mindledger, runProgram, type Ended } from '../../support/cli.js'
import { commandHere } from '../../support/command-here.js'
import { send, spawnService, startTestService, temporaryDirectory } from '../../support/service.js'

const place = temporaryDirectory()
const data = join(place.path, 'data')
const environment = { DATA_DIR: data, PORT: '' }
const cli = (...args: string[]) => mindledger(args, environment, place.path)
/** The same in this process, for what is no matter of the process. */
const here = (...args: string[]) => commandHere(args, environment)
const fails = (ended: Ended) => ({ code: ended.code, out: ended.out, lines: ended.err.trimEnd().split('\n').length, err: ended.err })

let server: Awaited<ReturnType<typeof spawnService>>

beforeAll(async () => {
  environment.PORT = String(await freePort())
  server = await spawnService(data, environment)
  const skill = { name: 'sales', type: 'sql', params: { database: 'files', tables: ['cars'] } }
  await send(server.url, 'POST', '/api/projects/mindsdb/skills', { skill })
})

afterAll(async () => {
  server.child.kill('SIGKILL')
  await server.ended
  place.remove()
})

describe('beside a running server', () => {
  test('sql asks that server, and its status says whether the statement succeeded', async () => {
    const answer = await cli('sql', '--quiet', 'SELECT name, type FROM skills')
    expect(answer).toMatchObject({ code: 0, out: 'NAME  | TYPE\n------+-----\nsales | sql\n', err: '' })
    expect(await here('sql', 'CREATE PROJECT shop')).toMatchObject({ code: 0, out: 'ok\n' })
    expect(await here('sql', '--db', 'shop', 'SELECT name FROM skills')).toMatchObject({ code: 0, out: 'NAME\n----\n' })
    expect(await here('sql', '--as-of', '1', 'SELECT name FROM skills')).toMatchObject({ code: 0, out: 'NAME\n----\n' })
    expect(await here('sql', '--as-of', '1', 'CREATE PROJECT then')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^as_of 1 is for/),
    })
    const refused = await cli('sql', 'SELECT * FROM nothing_of_this_name')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('nothing_of_this_name')
  })

  test('rows are printed as JSON and CSV, statements come from standard input, and one sets the database of the next', async () => {
    const query = `SELECT 9007199254740993 AS n, NULL AS none, 'a,"b' AS s, [1] AS n`
    const { code, out } = await here('sql', '--json', query)
    expect([code, JSON.parse(out)]).toEqual([0, [{ n: '9007199254740993', none: null, s: 'a,"b', n_1: [1] }]])
    expect(JSON.parse((await here('sql', '--json', 'SELECT 1 AS a, 2 AS a, 3 AS a_1')).out)).toEqual([{ a: 1, a_2: 2, a_1: 3 }])
    expect(await here('sql', '--quiet', '--csv', query)).toMatchObject({
      code: 0,
      out: 'n,none,s,n\r\n9007199254740993,,"a,""b",[1]\r\n',
      err: '',
    })
    expect((await here('sql', '--vertical', 'SELECT 1 AS a, 2 AS bb')).out).toBe('-- row 1\na  | 1\nbb | 2\n')
    expect(await here('sql', "USE files; SELECT 'a;b' AS s; ")).toMatchObject({ code: 0, out: 'ok\ns\n---\na;b\n' })
    const piped = `printf 'USE files;\nSELECT 1\nAS a;\nSELECT * FROM nowhere; SELECT 2' | "${process.execPath}" "${cliFile}" sql`
    const ended = await runProgram('sh', ['-c', piped], { env: environment })
    expect(ended).toMatchObject({ code: 1, out: 'ok\na\n-\n1\n', err: expect.stringContaining('database: files') as unknown })
    const refused = await here('sql', '--csv', 'SELECT * FROM nowhere')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toBe((await here('sql', 'SELECT * FROM nowhere')).err)
  })

  test('commands find the server that holds the directory, whatever PORT says', async () => {
    const elsewhere = { ...environment, PORT: String(await freePort()) }
    expect(await mindledger(['sql', '--quiet', 'SELECT 1 AS n'], elsewhere)).toMatchObject({ code: 0, out: 'n\n-\n1\n', err: '' })
    const status = await mindledger(['status'], elsewhere)
    expect(status).toMatchObject({ code: 0, err: '' })
    expect(status.out).toContain(`running at ${server.url}`)
  })

  test('--url names the server, wherever its directory is', async () => {
    const nowhere = { DATA_DIR: join(place.path, 'nowhere'), PORT: '1' }
    for (const url of [server.url, `${server.url}/`, `${server.url}/api`])
      expect(await commandHere(['sql', '--url', url, 'SELECT 1 AS n'], nowhere)).toMatchObject({ code: 0, out: 'n\n-\n1\n' })
    expect(await commandHere(['status', '--url', server.url], nowhere)).toMatchObject({ code: 0 })
    const silent = await mindledger(['sql', '--url', `http://127.0.0.1:${await freePort()}`, 'SELECT 1'], environment)
    expect(fails(silent)).toMatchObject({ code: 2, lines: 1, out: '' })
    expect(silent.err).toMatch(/^mindledger: no server answers at http:\/\/127\.0\.0\.1:\d+/)
    expect(existsSync(nowhere.DATA_DIR)).toBe(false)
  })

  test('a command gives up a server that accepts connections and does not answer', async () => {
    const hanging = createServer(() => undefined)
    await once(hanging.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    const shortened = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 100))
    const said = await commandHere(['status', '--url', url], environment)
    shortened.mockRestore()
    hanging.closeAllConnections()
    hanging.close()
    expect(fails(said)).toMatchObject({ code: 2, lines: 1, out: '', err: `mindledger: the server at ${url} does not answer within 30 s\n` })
  })

  test('an address that is another program’s, or another run’s of the service, is not spoken with', async () => {
    const gateway = createServer((req, res) =>
      req.method === 'POST'
        ? res.writeHead(502, { 'content-type': 'text/html' }).end('<html>')
        : res.end(JSON.stringify({ service: 'mindledger', instance: 'i' })),
    )
    gateway.listen(0, '127.0.0.1')
    await once(gateway, 'listening')
    const behind = `http://127.0.0.1:${(gateway.address() as { port: number }).port}`
    const away = fails(await here('sql', '--url', behind, 'SELECT 1'))
    gateway.close()
    expect(away).toMatchObject({ code: 2, out: '', lines: 1, err: expect.stringMatching(/status 502.* a proxy may have given it/) })
    const other = createServer((_req, res) => res.end('<html>'))
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const program = await commandHere(['sql', '--url', url, 'SELECT 1'], environment)
    expect(fails(program)).toMatchObject({ code: 2, lines: 1, out: '' })
    expect(program.err).toContain(`the server at ${url} is not this service`)
    other.close()
    const file = join(data, 'server.json')
    const address = readFileSync(file, 'utf8')
    const foreign = await startTestService()
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(address) as object), url: foreign.url }))
    const run = await here('sql', 'CREATE PROJECT astray')
    writeFileSync(file, address)
    expect(fails(run)).toMatchObject({ code: 2, lines: 1, out: '' })
    expect(run.err).toContain(`the server that answers at ${foreign.url} is not the one that holds ${data}`)
    expect((await send(foreign.url, 'GET', '/api/projects')).body).toEqual([{ name: 'mindsdb' }])
    await foreign.stop()
  })

  test('rows that are cut off in the middle are told in one line', async () => {
    const ended = await here('sql', '--csv', "SELECT CAST(CASE WHEN i < 900000 THEN '1' ELSE 'x' END AS INT) AS n FROM range(1000000) t(i)")
    expect(ended.out).toMatch(/^n\r\n1\r\n/)
    expect({ ...fails(ended), out: '' }).toEqual({
      code: 2,
      lines: 1,
      out: '',
      err: expect.stringMatching(/answer of http:.* was cut off/),
    })
  })

  test('an answer is waited for longer than a fetch of Node would wait', async () => {
    const late = createServer((req, res) => {
      const answer = req.url === '/api/health' ? { service: 'mindledger', instance: 'i' } : { type: 'ok', context: { db: 'mindsdb' } }
      setTimeout(() => res.end(JSON.stringify(answer)), req.url === '/api/sql/query' ? 4_000 : 0)
    })
    await once(late.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(late.address() as AddressInfo).port}`
    // The process gets a second instead of five minutes.
    const impatient = `import u from '${pathToFileURL(createRequire(import.meta.url).resolve('undici')).href}'
      u.setGlobalDispatcher(new u.Agent({ headersTimeout: 1000, bodyTimeout: 1000 }))`
    const first = ['--import', `data:text/javascript,${encodeURIComponent(impatient)}`]
    const ended = await runProgram(process.execPath, [...first, cliFile, 'sql', '--quiet', '--url', url, 'SELECT 1'], { env: environment })
    late.close()
    expect(ended).toEqual({ code: 0, out: 'ok\n', err: '' })
  })

  test('the address is for its owner alone', () => {
    expect(statSync(join(data, 'server.json')).mode & 0o777).toBe(0o600)
  })

  test('log prints each event as it is stored, from a position on', async () => {
    const all = (await cli('log')).out.trimEnd().split('\n')
    expect(all.map((line) => (JSON.parse(line) as { position: number }).position)).toEqual(all.map((_, i) => i + 1))
    const later = await cli('log', '--from', '2')
    expect(later).toMatchObject({ code: 0, out: `${all.slice(1).join('\n')}\n` })
  })

  test('log --follow sees what happens later, and ends with the interrupt', async () => {
    const follower = spawn(process.execPath, [cliFile, 'log', '--follow'], { env: { ...process.env, ...environment } })
    const ended = once(follower, 'exit')
    let seen = ''
    const sees = (name: string) =>
      new Promise<void>((resolve) => {
        follower.stdout.on('data', (bytes: Buffer) => {
          seen += bytes.toString()
          if (seen.includes(name)) resolve()
        })
      })
    await sees('"sales"')
    const later = sees('"made_meanwhile"')
    await send(server.url, 'POST', '/api/projects', { project: { name: 'made_meanwhile' } })
    await later
    follower.kill('SIGINT')
    expect(await ended).toEqual([0, null])
  })

  test('verify holds, and a head that was kept proves how far', async () => {
    expect((await cli('verify')).out).toContain('Unproven: positions 1 to')
    const kept = await cli('head', '--json')
    const head = JSON.parse(kept.out) as { logId: string; position: number; chain: string }
    writeFileSync(join(place.path, 'head.json'), kept.out)
    await send(server.url, 'POST', '/api/projects', { project: { name: 'after_the_head' } })
    expect(await cli('head', '--into', 'heads.txt')).toEqual({ code: 0, out: '', err: '' })
    const verified = await cli('verify', '--head', 'head.json')
    expect(verified).toMatchObject({ code: 0, err: '' })
    expect(verified.out).toContain('The log holds')
    expect(verified.out).toContain(`Proven: positions 1 to ${head.position}, by the head that was kept.`)
    const both = await cli('verify', '--head', 'head.json', '--head', 'heads.txt', '--vkey', (await cli('head', '--key')).out.trim())
    expect(both).toMatchObject({ code: 0, out: expect.stringContaining(`Proven: positions 1 to ${head.position + 1}`) as unknown })
  })

  test('verify refuses a head of another log, of a history that was rewritten, and of events that were taken away', async () => {
    const head = JSON.parse((await here('head', '--json')).out) as { logId: string; position: number; chain: string }
    const against = async (other: Partial<typeof head>) => {
      const file = join(place.path, 'other.json')
      writeFileSync(file, JSON.stringify({ ...head, ...other }))
      const { code, out } = await here('verify', '--head', file)
      expect(code).toBe(1)
      expect(out).toContain('THE LOG DOES NOT HOLD')
      return out
    }
    expect(await against({ logId: 'another' })).toContain('the head that was kept belongs to another log (another)')
    expect(await against({ chain: '0'.repeat(64) })).toContain(`position ${head.position}: the chain differs from the head`)
    expect(await against({ position: head.position + 5 })).toContain(`position ${head.position + 1}: missing: the head that was kept`)
  })

  test('verify takes no other file for a head', async () => {
    writeFileSync(join(place.path, 'no-head.json'), 'not a head')
    for (const file of ['no-head.json', 'absent.json']) {
      const ended = await here('verify', '--head', join(place.path, file))
      expect(fails(ended)).toMatchObject({ code: 2, lines: 1, out: '' })
      expect(ended.err).toContain(file)
    }
  })

  test('the head of an empty log proves nothing', async () => {
    writeFileSync(join(place.path, 'empty.txt'), String((await send(server.url, 'GET', '/api/log/checkpoint?size=0')).body))
    const { code, out } = await here('verify', '--head', join(place.path, 'empty.txt'))
    expect(code).toBe(0)
    expect(out).toContain('Unproven: positions 1 to')
    expect(out).not.toContain('Proven: positions 1 to 0')
  })

  test('what reads sealed rows with another log’s key says so, and neither accuses the log nor leaves rows out', async () => {
    const stale = { ...environment, VAULT_KEY: 'ab'.repeat(32) }
    for (const args of [['verify'], ['diff'], ['replay', '--into', join(place.path, 'stale.duckdb')]]) {
      const ended = await commandHere(args, stale)
      expect(fails(ended)).toMatchObject({ code: 2, lines: 1, out: '' })
      expect(ended.err).toMatch(/sealed with the master key [0-9a-f]{16}, and VAULT_KEY is another one/)
    }
    expect(existsSync(join(place.path, 'stale.duckdb'))).toBe(false)
  })

  test('replay builds the tables up to a position, and overwrites nothing', async () => {
    const replayed = await cli('replay', '--into', 'audit.duckdb', '--until', '2')
    expect(replayed).toMatchObject({ code: 0, err: '' })
    expect(replayed.out).toMatch(/^audit\.duckdb holds the log up to position 2 \(/)
    const bytes = readFileSync(join(place.path, 'audit.duckdb'))
    const again = await cli('replay', '--into', 'audit.duckdb')
    expect(fails(again)).toEqual({ code: 2, out: '', lines: 1, err: 'mindledger: audit.duckdb exists already; replay writes a new file\n' })
    expect(readFileSync(join(place.path, 'audit.duckdb')).equals(bytes)).toBe(true)
    const beyond = await cli('replay', '--into', 'beyond.duckdb', '--until', '999999')
    expect(fails(beyond)).toMatchObject({ code: 2, lines: 1 })
    expect(beyond.err).toContain('--until 999999 is not there yet: the log ends at position')
    expect(existsSync(join(place.path, 'beyond.duckdb'))).toBe(false)
    const nowhere = await cli('replay', '--into', 'no/such/folder.duckdb')
    expect(fails(nowhere)).toMatchObject({ code: 2, lines: 1 })
    expect(nowhere.err).toContain('mindledger: no/such/folder.duckdb cannot be written')
  })

  test('rebuild and a second server leave a running server alone', async () => {
    for (const command of ['rebuild', 'serve']) {
      const ended = await cli(command)
      expect(fails(ended)).toMatchObject({ code: 2, lines: 1, out: '' })
      expect(ended.err).toBe(`mindledger: ${data} is in use by another server. Stop it first, or set DATA_DIR to another directory.\n`)
    }
  })

  test.each(['log', 'log --follow', 'head', 'verify'])('a reader that closes the pipe ends %s without a word', async (command) => {
    const line = `{ "${process.execPath}" "${cliFile}" ${command}; echo "status $?" >&2; } | head -c 1`
    let ended: Ended | undefined
    const running = runProgram('sh', ['-c', line], { env: environment }).then((result) => (ended = result))
    // Who follows hears of the closed pipe with the next event.
    for (let n = 0; command.includes('--follow') && ended === undefined; n++) {
      await send(server.url, 'POST', '/api/projects', { project: { name: `followed_${n}` } })
      await sleep(100)
    }
    const { code, out, err } = await running
    expect({ code, out: out.length }).toEqual({ code: 0, out: 1 })
    expect(err).toMatch(/^status (0|141)\n$/)
  })
})

describe('with the server stopped', () => {
  beforeAll(async () => {
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual([0, null])
    expect(existsSync(join(data, 'server.json'))).toBe(false)
  })

  test('an address that a killed server left behind is nobody’s', async () => {
    writeFileSync(join(data, 'server.json'), JSON.stringify({ url: `http://127.0.0.1:${await freePort()}`, instance: 'killed' }))
    expect((await here('status')).out).toMatch(/^server +none$/m)
    expect(await here('sql', '--quiet', 'SELECT 1 AS n')).toMatchObject({ code: 0, out: 'n\n-\n1\n', err: '' })
    expect(existsSync(join(data, 'server.json'))).toBe(false)
  })

  test('sql answers by itself, and gives the directory back', async () => {
    expect(await cli('sql', '--quiet', 'SELECT name FROM skills')).toMatchObject({ code: 0, out: 'NAME\n-----\nsales\n', err: '' })
    const made = "CREATE SKILL other USING type = 'sql', database = 'files'; SELECT count(*) AS n FROM skills"
    expect(await here('sql', made)).toMatchObject({ code: 0, out: 'ok\nn\n-\n2\n' })
  })

  test('sql that trains a model returns when the model is there', async () => {
    const numbers = 'CREATE VIEW numbers AS (SELECT range AS x, range * 2 + range % 3 AS y FROM range(60))'
    const few = 'CREATE VIEW few AS (SELECT * FROM numbers LIMIT 3)'
    const train = 'CREATE MODEL twice FROM mindsdb (SELECT * FROM numbers) PREDICT y'
    const made = await here('sql', '--quiet', [numbers, few, train, 'SELECT y IS NOT NULL AS known FROM twice WHERE x = 5'].join('; '))
    expect(made).toMatchObject({ code: 0, err: '' })
    expect(made.out).toMatch(/twice +\| mindsdb +\| 1 +\| complete/)
    expect(made.out.endsWith('\nknown\n-----\ntrue\n')).toBe(true)
    const failed = await here('sql', '--quiet', 'CREATE MODEL never FROM mindsdb (SELECT * FROM numbers) PREDICT yy')
    expect(failed).toMatchObject({ code: 1, out: '' })
    expect(failed.err).toContain('Did you mean "y"?')
    const unfit = await here('sql', '--quiet', 'CREATE MODEL never FROM mindsdb (SELECT * FROM few) PREDICT y')
    expect(unfit).toMatchObject({ code: 1, err: '' })
    expect(unfit.out).toMatch(/never +\| mindsdb +\| 1 +\| error/)
  })

  test('log, head, verify and replay read the directory', async () => {
    const { position } = JSON.parse((await cli('head', '--json')).out) as { position: number }
    expect((await cli('log')).out.trimEnd().split('\n')).toHaveLength(position)
    expect((await cli('verify', '--head', 'head.json')).code).toBe(0)
    expect((await cli('replay', '--into', 'later.duckdb')).out).toContain(`position ${position}`)
  })

  test('rebuild makes resources follow from the log again', async () => {
    const db = new Database(join(data, 'log.sqlite'))
    db.prepare(`UPDATE resources SET name = 'forged' WHERE kind = 'skill'  AND name = 'sales'`).run()
    db.close()
    const broken = await cli('verify')
    expect(broken.code).toBe(1)
    expect(broken.out).toContain('skill sales in resources differs from what its events say')
    const rebuilt = await cli('rebuild')
    expect(rebuilt).toMatchObject({ code: 0, err: '' })
    expect(rebuilt.out).toMatch(/^resources and the tree follow from \d+ events again\n$/)
    expect((await cli('verify')).code).toBe(0)
  })

  test('verify names the position of an event that was changed, and no server starts on it', async () => {
    const db = new Database(join(data, 'log.sqlite'))
    db.exec('DROP TRIGGER events_stay_as_they_are')
    const { position, text } = db
      .prepare<[], { position: number; text: string }>(`SELECT position, text FROM events WHERE type = 'SkillCreated' ORDER BY position`)
      .get()!
    const put = db.prepare<[string, number]>('UPDATE events SET text = ? WHERE position = ?')
    put.run(text.replace('"sales"', '"soles"'), position)
    const { code, out } = await cli('verify', '--head', 'head.json')
    expect(code).toBe(1)
    expect(out).toContain(`position ${position}: the text is not the one that was chained here`)
    expect(out).toContain('THE LOG DOES NOT HOLD')
    for (const command of ['serve', 'head']) {
      const ended = await cli(command)
      expect(fails(ended)).toMatchObject({ code: 2, lines: 1, out: '' })
      expect(ended.err).toContain(`the log is broken at position ${position}`)
    }
    put.run(text.replace('SkillCreated', 'SkillCreatex'), position)
    for (let i = 0; i < 2; i += 1) {
      const ended = await here('replay', '--into', join(place.path, 'part.duckdb'))
      expect(fails(ended)).toMatchObject({ code: 2, lines: 1, out: '' })
      expect(ended.err).toContain(`position ${position} cannot be projected`)
      expect(readdirSync(place.path).filter((name) => name.startsWith('part.'))).toEqual([])
    }
    put.run(text, position)
    db.close()
    expect((await cli('verify', '--head', 'head.json')).code).toBe(0)
  })
})

describe('what cannot be done is one line and status 2', () => {
  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['an unknown command', ['frobnicate'], {}, /there is no command frobnicate; "mindledger help" lists them/],
    ['a misspelt command', ['vrify'], {}, /there is no command vrify; did you mean verify\?/],
    ['help misspelt', ['hlep'], {}, /there is no command hlep; did you mean help\?/],
    ['help of a misspelt command', ['help', 'vrify'], {}, /there is no command vrify; did you mean verify\?/],
    ['a misspelt option', ['sql', '--jsn', 'SELECT 1'], {}, /sql takes no option --jsn; did you mean --json\?/],
    ['two formats', ['sql', '--csv', '--json', 'SELECT 1'], {}, /sql takes one of --json and --csv/],
    ['a proof without its event', ['verify', '--proof', 'p.txt'], {}, /--proof and --event go together/],
    ['an address that is none', ['sql', '--url', 'nowhere', 'SELECT 1'], {}, /--url takes an address/],
    ['an address with a password', ['sql', '--url', 'http://me:hidden@nowhere', 'SELECT 1'], {}, /--url takes an address without a user/],
    ['an unknown option', ['head', '--nope'], {}, /head takes no option --nope/],
    ['an option of another command', ['head', '--until', 'x'], {}, /head takes no option --until/],
    ['an argument too many', ['verify', 'head.json'], {}, /verify takes no argument head\.json/],
    ['two things to erase', ['erase', 'prediction', '12', '13'], {}, /erase prediction takes no argument 13/],
    ['a time without quotes', ['erase', 'before', '2026-01-01', '12:00'], {}, /erase before takes no argument 12:00/],
    ['a secret too many', ['erase', 'secrets', 'agent', 'shop.a', 'shop.b'], {}, /erase secrets takes no argument shop\.b/],
    ['a version of no file', ['erase', 'answer', '12', '--content-version', '2'], {}, /erase answer takes no --content-version/],
    ['a position that is none', ['log', '--from', 'zero'], {}, /--from takes a position from 1 on/],
    ['a replay into nothing', ['replay'], {}, /--into is required/],
    ['a port that is no number', ['serve'], { PORT: 'abc' }, /PORT: must be a whole number from 0 to 65535/],
    ['a port out of range', ['serve'], { PORT: '70000' }, /PORT: must be a whole number from 0 to 65535/],
    ['sessions without a password', ['serve'], { AUTH: 'session' }, /AUTH_PASSWORD: must be set when AUTH=session/],
    ['a malformed key', ['serve'], { VAULT_KEY: 'abc' }, /VAULT_KEY: must be 64 hex digits/],
    ['an unknown log level', ['serve'], { LOG_LEVEL: 'loud' }, /LOG_LEVEL: /],
    ['no data directory', ['head'], { DATA_DIR: '/nonexistent/data' }, /is not a data directory/],
  ])('%s', async (_, args, settings, message) => {
    const ended = await commandHere(args, { ...environment, ...settings })
    expect(fails(ended)).toMatchObject({ code: 2, lines: 1, out: '' })
    expect(ended.err).toMatch(message)
    expect(ended.err).toMatch(/^mindledger: /)
  })

  test.each<[string, Record<string, string>, string]>([
    ['vrify', {}, 'there is no command vrify; did you mean verify?'],
    // It would read one from stdin, which the process of a test shares.
    ['sql', {}, 'sql takes a statement'],
    ['serve', { PORT: 'abc' }, 'PORT: must be a whole number from 0 to 65535'],
  ])('and so the process of %s ends', async (command, settings, message) => {
    const ended = await mindledger([command], { ...environment, ...settings })
    expect(fails(ended)).toMatchObject({ code: 2, lines: 1, out: '' })
    expect(ended.err).toMatch(/^mindledger: /)
    expect(ended.err).toContain(message)
  })

  const nowhere = (path: string) => `${path} is not a data directory: it does not exist. Set DATA_DIR`

  test.each(['sql "SELECT 1"', ...['status', 'log', 'head', 'verify', 'export', 'diff', 'rebuild', 'rotate-key', 'reproduce --all']])(
    '%s where there is no data directory makes none, and says where it looked',
    async (command) => {
      const empty = mkdtempSync(join(place.path, 'empty-'))
      const data = join(empty, 'data')
      const ended = await commandHere(command.split(' '), { DATA_DIR: data })
      expect(fails(ended)).toMatchObject({ code: 2, lines: 1, out: '' })
      expect(ended.err).toContain(nowhere(data))
      expect(readdirSync(empty)).toEqual([])
    },
  )

  test.each(['sql "SELECT 1"', 'log'])('%s looks in the working directory where DATA_DIR is not set', async (command) => {
    const empty = mkdtempSync(join(place.path, 'empty-'))
    const ended = await mindledger(command.split(' '), { DATA_DIR: '' }, empty)
    expect(fails(ended)).toMatchObject({ code: 2, lines: 1, out: '' })
    expect(ended.err).toContain(nowhere(join(empty, 'data')))
    expect(readdirSync(empty)).toEqual([])
  })

  test('sql --create makes the data directory that is not there', async () => {
    const empty = mkdtempSync(join(place.path, 'empty-'))
    const settings = { DATA_DIR: join(empty, 'data') }
    expect(await mindledger(['sql', '--quiet', '--create', 'CREATE PROJECT shop'], settings)).toMatchObject({
      code: 0,
      out: 'ok\n',
      err: '',
    })
    expect((await commandHere(['sql', "SELECT name FROM information_schema.databases WHERE name = 'shop'"], settings)).code).toBe(0)
  })

  test.each(['head', 'verify', 'log', 'rebuild', `replay --into ${join(place.path, 'x.duckdb')}`])(
    '%s on a directory without a log, which stays as it was',
    async (command) => {
      const bare = join(place.path, `bare-${command.split(' ')[0] ?? ''}`)
      mkdirSync(bare)
      writeFileSync(join(bare, 'FORMAT'), '1\n')
      const ended = await commandHere(command.split(' '), { DATA_DIR: bare })
      expect(fails(ended)).toMatchObject({ code: 2, lines: 1, out: '' })
      expect(ended.err).toContain(`${bare} holds no log`)
      expect(existsSync(join(bare, 'log.sqlite'))).toBe(false)
    },
  )

  test.each(['head', 'verify', 'serve'])('%s on a log that is no SQLite file', async (command) => {
    const odd = join(place.path, `odd-${command}`)
    mkdirSync(odd)
    writeFileSync(join(odd, 'FORMAT'), '1\n')
    writeFileSync(join(odd, 'vault.key'), `${'ab'.repeat(32)}\n`)
    writeFileSync(join(odd, 'log.sqlite'), 'no database at all, but long enough to be looked at '.repeat(100))
    const ended = await mindledger([command], { DATA_DIR: odd, PORT: '0' })
    expect(fails(ended)).toMatchObject({ code: 2, lines: 1, out: '' })
    expect(ended.err).toMatch(/file is not a database/)
  })
})

test('help and version need no settings, and no command is an error', async () => {
  const help = await mindledger(['--help'], { PORT: 'abc' })
  expect(help).toMatchObject({ code: 0, err: '' })
  for (const word of ['serve', 'sql', 'log', 'head', 'verify', 'replay', 'rebuild', 'DATA_DIR', 'VAULT_KEY'])
    expect(help.out).toContain(word)
  const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as { version: string }
  for (const asked of ['--version', '-v', 'version']) expect(await commandHere([asked])).toMatchObject({ code: 0, out: `${version}\n` })
  expect(await commandHere(['help'])).toEqual(help)
  const ofSql = await commandHere(['sql', '--help'])
  expect(ofSql).toMatchObject({ code: 0, err: '' })
  expect(await commandHere(['help', 'sql'])).toEqual(ofSql)
  for (const word of ['--as-of <when>', '--json', '--csv', '--url <address>', '--create']) expect(ofSql.out).toContain(word)
  for (const { out } of [help, ofSql]) expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  expect(await mindledger([])).toMatchObject({ code: 2, out: help.out })
})

test('sql logs in where sessions are required, and says when it may not', async () => {
  const settings = { AUTH: 'session', AUTH_USERNAME: 'me', AUTH_PASSWORD: 'right' }
  const { url, directory, stop } = await startTestService(settings)
  const reach = { DATA_DIR: directory, PORT: new URL(url).port }
  expect(await mindledger(['sql', '--quiet', 'SHOW PROJECTS'], { ...reach, ...settings })).toMatchObject({ code: 0, err: '' })
  const wrong = await commandHere(['sql', 'SHOW PROJECTS'], { ...reach, ...settings, AUTH_PASSWORD: 'wrong' })
  expect(fails(wrong)).toMatchObject({ code: 2, lines: 1 })
  expect(wrong.err).toContain('check AUTH_USERNAME and AUTH_PASSWORD')
  const none = await commandHere(['sql', 'SHOW PROJECTS'], reach)
  expect(none.code).toBe(1)
  expect(none.out).not.toContain('{')
  await stop()
})
