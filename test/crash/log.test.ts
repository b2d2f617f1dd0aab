import { expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnvelope } from '../../events/stored/envelope.js'
import { SqliteLog } from '../../src/log/sqlite/sqlite-log.js'
import { verifyLog } from '../../src/log/verify/verify.js'
import { Vault } from '../../src/vault/vault.js'
import { countOf } from '../support/counts.js'
import { temporaryDirectory, testKey } from '../support/log/log.js'

const rounds = countOf('LOG_ROUNDS')
const writer = fileURLToPath(new URL('./log-writer.js', import.meta.url))

/** Lets the writer run until it has said something and some milliseconds more, kills it, and returns its whole lines. */
const killedAfter = (file: string, round: number, milliseconds: number): Promise<string[]> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [writer, file, `r${round}`], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.setEncoding('utf8')
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), milliseconds))
    child.stdout.on('data', (part: string) => (said += part))
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(said.split('\n').slice(0, -1))
      else reject(new Error(`the writer ended by itself with ${code ?? ''}`))
    })
  })

test('however a writer is killed, nothing acknowledged is lost or doubled, the chain holds, and resources follow from it', async () => {
  const { path, remove } = temporaryDirectory()
  const file = join(path, 'log.sqlite')
  const acknowledged = new Map<string, number>()
  try {
    for (let round = 1; round <= rounds; round++) {
      const before = acknowledged.size
      for (const line of await killedAfter(file, round, Math.floor(Math.random() ** 2 * 400))) {
        const [skill, n, position] = line.split(' ')
        acknowledged.set(`${skill ?? ''} ${n ?? ''}`, Number(position))
      }
      expect(acknowledged.size).toBeGreaterThan(before)
      // Before anything recovers it: a reader beside, and then the next writer.
      expect((await verifyLog({ logFile: file })).findings).toEqual([])
    }

    const log = new SqliteLog({ file, vault: new Vault(testKey) })
    const written = new Map<string, number>()
    const names = new Map<string, string>()
    const last = new Map<string, { n: number; secret: string }>()
    const { position: head } = await log.head()
    for (let after = 0; after < head; after += 1_000)
      for (const { position, text } of await log.readAll(after, 1_000)) {
        const { type, stream, data } = parseEnvelope(text)
        if (type !== 'SkillCreated' && type !== 'SkillUpdated') continue
        const { name, params } = data as { name?: string; params: { n: number; api_key: { $secret: string } } }
        if (name !== undefined) names.set(stream, name)
        const { n, api_key: key } = params
        const what = `${names.get(stream) ?? ''} ${n}`
        expect(written.has(what)).toBe(false)
        written.set(what, position)
        last.set(stream, { n, secret: key.$secret })
      }
    for (const [what, position] of acknowledged) if (written.get(what) !== position) throw new Error(`lost or moved: ${what} ${position}`)

    for (const [stream, { n, secret }] of last) {
      const name = names.get(stream) ?? ''
      expect((await log.resources.one('project', 'shop'))?.version).toBe(1)
      expect((await log.resources.byStream('skill', stream as never))?.state).toMatchObject({ name, params: { n } })
      expect((await log.payload(secret))?.toString()).toBe(JSON.stringify(`key ${name} ${n}`))
    }
    expect(await log.resources.list('skill')).toHaveLength(last.size)
    await log.close()
    expect((await verifyLog({ logFile: file })).ok).toBe(true)
  } finally {
    remove()
  }
})
