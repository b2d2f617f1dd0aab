import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ScriptedModel } from '../../support/agents/scripted-model.js'
import { freePort, mindledger } from '../../support/cli.js'
import { send, spawnService, temporaryDirectory } from '../../support/service.js'

const place = temporaryDirectory()
const environment = { DATA_DIR: join(place.path, 'data'), PORT: '' }
const cli = (...args: string[]) => mindledger(args, environment, place.path)
let server: Awaited<ReturnType<typeof spawnService>>

const file = (name: string, content: string): string => {
  writeFileSync(join(place.path, name), content)
  return name
}
const text = async (path: string) => (await fetch(`${server.url}${path}`)).text()

/** As an auditor runs it. */
const verify = async (...args: string[]): Promise<{ status: number | null; out: string }> => {
  const child = spawn(process.execPath, ['verifier.mjs', ...args], { cwd: place.path })
  let out = ''
  child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => (out += bytes.toString()))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, out }
}

const createSkill = (project: string, name: string) =>
  send(server.url, 'POST', `/api/projects/${project}/skills`, { skill: { name, type: 'sql', params: { n: name } } })

beforeAll(async () => {
  environment.PORT = String(await freePort())
  server = await spawnService(environment.DATA_DIR, environment)
  for (const name of ['shop', 'lab']) await send(server.url, 'POST', '/api/projects', { project: { name } })
  for (let n = 0; n < 40; n++) for (const project of ['shop', 'lab']) await createSkill(project, `s${n}`)
  file('old.txt', await text('/api/log/checkpoint?size=50'))
  file('key.txt', await text('/api/log/key'))
  file('verifier.mjs', (await cli('verifier')).out)
})
afterAll(async () => {
  server.child.kill('SIGKILL')
  await server.ended
  place.remove()
})

describe('an export that an auditor takes away', () => {
  test('by the command and over HTTP is the same, and the offline verifier accepts it with key and older head', async () => {
    const whole = await cli('export', '--until', '80')
    expect(whole).toMatchObject({ code: 0, err: '' })
    expect(await text('/api/log/export?until=80')).toBe(whole.out)
    const said = await verify(file('whole.jsonl', whole.out), '--vkey', 'key.txt', '--head', 'old.txt')
    expect(said).toMatchObject({ status: 0 })
    expect(said.out).toContain('80 events up to position 80')
    expect(said.out).toContain('the first 50 events are those of then')
  })

  test('of a project has its events alone, and is compared with a head only where it is divided', async () => {
    const shop = await cli('export', '--project', 'SHOP', '--head', 'old.txt', '--until', '80')
    expect(shop.out).not.toContain('"name":"lab"')
    expect(await text('/api/log/export?project=shop&until=80&split=50')).toBe(shop.out)
    expect(await verify(file('shop.jsonl', shop.out), '--vkey', 'key.txt', '--head', 'old.txt')).toMatchObject({ status: 0 })
  })

  test('of a project that has another name by now, and of one that is gone, is found by the name that it had', async () => {
    await send(server.url, 'POST', '/api/projects', { project: { name: 'brief' } })
    await send(server.url, 'DELETE', '/api/projects/brief')
    const brief = await cli('export', '--project', 'brief')
    expect(brief.out.split('\n').filter((line) => line.startsWith('{"position"'))).toHaveLength(2)
    expect(await verify(file('brief.jsonl', brief.out), '--vkey', 'key.txt')).toMatchObject({ status: 0 })
    // Everything before it is left out in a few subtrees, and 50 is in the midst of one.
    const said = await verify('brief.jsonl', '--vkey', 'key.txt', '--head', 'old.txt')
    expect(said).toMatchObject({ status: 1, out: expect.stringContaining('NOT PROVEN: the head of size 50 ends inside what is left out') })
  })

  test('of a project has the answers of its agents and the documents and searches of its knowledge bases', async () => {
    const model = new ScriptedModel()
    await model.start()
    const call = async (method: string, path: string, body: object) =>
      expect((await send(server.url, method, `/api/projects/shop${path}`, body)).status).toBeLessThan(300)
    await call('POST', '/agents', { agent: { name: 'helper', model: model.model } })
    await call('POST', '/agents/helper/completions', { messages: [{ role: 'user', content: 'Who are you?' }] })
    await call('POST', '/knowledge_bases', { knowledge_base: { name: 'docs', reranking_model: model.model } })
    await call('PUT', '/knowledge_bases/docs', { knowledge_base: { rows: [{ id: 'a', content: 'a lamp' }] } })
    model.script = () => '[5]'
    await call('POST', '/knowledge_bases/docs/completions', { query: 'lamp', type: 'context' })
    await model.stop()
    const shop = await cli('export', '--project', 'shop')
    for (const type of ['AgentAnswered', 'KnowledgeInserted', 'KnowledgeSearched']) expect(shop.out).toContain(`"type":"${type}"`)
    expect(await verify(file('records.jsonl', shop.out), '--vkey', 'key.txt')).toMatchObject({ status: 0 })
  })

  test('is of the size that the log had at the beginning, while others write', async () => {
    const writing = new AbortController()
    const written = (async () => {
      for (let n = 100; !writing.signal.aborted; n++) await createSkill('shop', `s${n}`)
    })()
    for (let i = 0; i < 5; i++) {
      const taken = file('busy.jsonl', await text(`/api/log/export${i % 2 === 0 ? '' : '?project=shop'}`))
      expect(await verify(taken, '--vkey', 'key.txt')).toMatchObject({ status: 0 })
    }
    writing.abort()
    await written
  })

  test('is refused in words where there is nothing to export', async () => {
    expect(await cli('export', '--project', 'nowhere')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('no project was called nowhere'),
    })
    expect(await cli('export', '--until', '1000000')).toMatchObject({ code: 2, err: expect.stringContaining('the log ends at position') })
    expect((await send(server.url, 'GET', '/api/log/export?project=nowhere')).status).toBe(404)
    expect((await send(server.url, 'GET', '/api/log/export?until=1000000')).status).toBe(400)
  })
})

test('one proof is checked by the verifier and by the command alike, and names what was changed', async () => {
  const proof = async (position: number, size: number): Promise<string> => {
    const path = `/api/log/proofs/inclusion?position=${position}&size=${size}`
    return (await fetch(server.url + path, { headers: { accept: 'text/plain' } })).text()
  }
  const events = (await cli('log')).out.split('\n')
  for (const [position, size] of [
    [1, 1],
    [1, 50],
    [50, 50],
    [33, 50],
    [3, 5],
    [5, 5],
    [64, 70],
    [65, 70],
    [70, 70],
  ] as const) {
    // prettier-ignore
    const files = [file('proof.txt', await proof(position, size)), '--event', file('event.json', `${events[position - 1]}\n`)]
    const said = await verify(...files, '--vkey', 'key.txt', ...(size === 50 ? ['--head', 'old.txt'] : []))
    expect({ position, size, ...said }).toMatchObject({ status: 0, out: expect.stringContaining(`the event of position ${position} is`) })
  }
  const command = (...args: string[]) => cli('verify', '--proof', 'proof.txt', '--event', ...args)
  expect(await command('event.json', '--vkey', 'key.txt')).toMatchObject({ code: 0, err: '' })
  expect(await command('event.json', '--vkey', (await text('/api/log/key')).trim())).toMatchObject({ code: 0 })
  file('changed.json', (events[69] ?? '').replace('"source":"rest"', '"source":"ress"'))
  const changed = await command('changed.json', '--vkey', 'key.txt')
  expect(changed).toMatchObject({ code: 1, out: expect.stringContaining('position 70: the event and the hashes do not add up') as unknown })
  expect(await command('event.json', '--head', 'old.txt')).toMatchObject({ code: 1, out: expect.stringContaining('NOT PROVEN') as unknown })
  file('proof.txt', (await proof(69, 70)).replace(/^index 68/m, 'index 69'))
  expect(await command('event.json', '--vkey', 'key.txt')).toMatchObject({ code: 1 })
  file('proof.txt', 'nothing')
  expect(await command('event.json')).toMatchObject({ code: 1, out: expect.stringContaining('is not a proof') as unknown })
  file('heads.txt', (await cli('head')).out)
  expect(await cli('verify', '--head', 'heads.txt', '--vkey', 'key.txt')).toMatchObject({ code: 0 })
})

test('the verifier is served as the file that the command prints, and imports nothing but what Node brings', async () => {
  const served = await fetch(`${server.url}/api/log/verifier`)
  expect(served.headers.get('content-type')).toContain('text/javascript')
  expect(served.headers.get('content-disposition')).toContain('verifier.mjs')
  const code = await served.text()
  expect((await cli('verifier')).out).toBe(code)
  const imported = [...code.matchAll(/(?:from|import\(?|require\(?)\s*'([^']+)'/g)].map(([, name]) => name)
  expect(imported.length).toBeGreaterThan(0)
  for (const name of imported) expect(name).toMatch(/^node:/)
})
